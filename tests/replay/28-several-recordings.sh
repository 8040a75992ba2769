#!/usr/bin/env bash
# Several recordings in one call: each is shown by itself, with a heading, and in JSON with its name. No root.
. tests/tap.sh

example=examples/late-frames.tactus
"$tactus" cut -i "$example" -o "$scratch/a.tactus" --to 4s >/dev/null
"$tactus" cut -i "$example" -o "$scratch/b.tactus" --from 4s >/dev/null
"$tactus" tasks -i "$scratch/a.tactus" -i "$scratch/b.tactus" -n 3 >"$scratch/both"
{
	printf '==> %s <==\n' "$scratch/a.tactus"
	"$tactus" tasks -i "$scratch/a.tactus" -n 3
	printf '\n==> %s <==\n' "$scratch/b.tactus"
	"$tactus" tasks -i "$scratch/b.tactus" -n 3
} >"$scratch/each"
holds "two recordings are shown one after the other, each under its name" cmp "$scratch/both" "$scratch/each"
"$tactus" tasks -i "$scratch/a.tactus" -i "$scratch/b.tactus" --json >"$scratch/json"
is "a record in JSON has the file that it is of" "$(json '[sum(r["file"].endswith(name) for r in rows) for name in ("/a.tactus", "/b.tactus")]' <"$scratch/json")" \
	"[$("$tactus" tasks -i "$scratch/a.tactus" --json | wc -l), $("$tactus" tasks -i "$scratch/b.tactus" --json | wc -l)]"
is "records of several recordings are those of each alone, but for the file" "$(json '"\n".join(json.dumps({k: v for k, v in r.items() if k != "file"}) for r in rows)' <"$scratch/json")" \
	"$({ "$tactus" tasks -i "$scratch/a.tactus" --json && "$tactus" tasks -i "$scratch/b.tactus" --json; } | json '"\n".join(json.dumps(r) for r in rows)')"
is "a recording by itself has no heading, and no file in JSON" "$("$tactus" tasks -i "$example" | grep -c '==>') $("$tactus" tasks -i "$example" --json | grep -c '"file"')" "0 0"
for view in tasks affinity latency roles "frames --why" migrations misses inversions gpu input events cuda; do
	# shellcheck disable=SC2086
	is "$view takes two recordings" "$("$tactus" $view -i "$scratch/a.tactus" -i "$example" 2>/dev/null | grep -c '^==> ')" 2
done
is "a part and a filter are of each" "$("$tactus" tasks -i "$scratch/a.tactus" -i "$scratch/b.tactus" -p 8660 --from 1s --to 2s --json | json 'set((r["pid"], r["window_ns"]) for r in rows)')" "{(8660, 1000000000)}"
ends "a recording that is not there does not keep the next from being shown, and is the status" 1 '/nonexistent: No such file' "$tactus" tasks -i /nonexistent -i "$example"
holds "the recording after one that is not there is shown" grep -q cc1 "$scratch/out"
ends "several recordings to one report is bad usage" 2 'several recordings are read and one file is written' "$tactus" tasks -i "$example" -i "$scratch/a.tactus" --report "$scratch/report"
ends "several recordings to one CSV is bad usage" 2 'several recordings are read and one file is written' "$tactus" frames -i "$example" -i "$scratch/a.tactus" --csv "$scratch/csv"
ends "top takes one" 2 'one recording is read, not several' "$tactus" top -i "$example" -i "$scratch/a.tactus" --once
ends "cut takes one" 2 'one recording is read, not several' "$tactus" cut -i "$example" -i "$scratch/a.tactus" -o "$scratch/c.tactus"
many=()
for ((i = 0; i < 65; i++)); do many+=(-i "$example"); done
ends "more than 64 is bad usage" 2 'more recordings than 64' "$tactus" tasks "${many[@]}"
"$tactus" events -i "$example" -i "$example" 2>/dev/null | head -n 5 >"$scratch/head"
is "a reader that goes away ends it" "$(wc -l <"$scratch/head")" 5
done_testing
