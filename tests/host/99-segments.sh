#!/usr/bin/env bash
# 'tactus record --segments' on real hooks: each segment can be read by itself, the index lists those that are there, and the oldest go.
. tests/tap.sh

ends "--segments without a folder is bad usage" 2 'give one with --to DIR' "$tactus" record --segments 60s
ends "--to without --segments is bad usage" 2 'are for --segments' "$tactus" record --to "$scratch/x" -o "$scratch/y"
ends "--segments beside -o is bad usage" 2 'takes neither -o nor' "$tactus" record --segments 60s --to "$scratch/x" -o "$scratch/y"
ends "a span that is too short is bad usage" 2 'not a span from 1s' "$tactus" record --segments 10ms --to "$scratch/x"
touch "$scratch/file"
ends "a folder that is none is said so" 1 'is no folder' "$tactus" record --segments 60s --to "$scratch/file"
sensors=launch,gpu,wine,input,frame,socket,sound,names,learned
# Long enough for several of a second each, whatever the machine does: it ends by itself once there are four.
"$tactus" record --segments 1s --to "$scratch/all" --without "$sensors" --json >"$scratch/out" 2>"$scratch/err" &
recorder=$!
trap 'kill $recorder 2>/dev/null; wait; rm -rf "$scratch"' EXIT
for ((i = 0; i < 1200; i++)); do
	[ "$(grep -c '"segment"' "$scratch/all/index.jsonl" 2>/dev/null)" -lt 4 ] 2>/dev/null || [ ! -e "$scratch/all/index.jsonl" ] || break
	sleep 0.1
done
kill -INT $recorder
wait $recorder
is "a recorder of segments ends with status 0 on Ctrl-C" "$?" 0
is "the index lists the segments that are there" "$(json 'sorted(r["file"] for r in rows)' <"$scratch/all/index.jsonl")" "$(cd "$scratch/all" && python3 -c 'import glob; print(sorted(glob.glob("*.tactus")))')"
is "the index has as many events and bytes as the summary" "$(json '(len(rows), sum(r["events"] for r in rows), sum(r["bytes"] for r in rows))' <"$scratch/all/index.jsonl")" "$(json '(d["segments"], d["events"], d["bytes"])' <"$scratch/out")"
is "segments follow each other in time" "$(json 'all(a["to_wall_ns"] <= b["from_wall_ns"] + 10**9 and a["from_wall_ns"] < b["from_wall_ns"] for a, b in zip(rows, rows[1:]))' <"$scratch/all/index.jsonl")" True
second=$(json 'rows[1]["file"]' <"$scratch/all/index.jsonl")
"$tactus" tasks -i "$scratch/all/$second" --json -n all >"$scratch/tasks" 2>"$scratch/err"
is "a segment is read by itself" "$? $(cat "$scratch/err")" "0 "
holds "threads that began before a segment have their names in it" test "$(json 'sum(r.get("comm", "") != "" and r.get("cpu_ns", 0) > 0 for r in rows)' <"$scratch/tasks")" -ge 1
say_measured "$(json '"%d events, %.1f bytes an event, %d lost" % (d["events"], d["bytes"] / d["events"], d["lost"])' <"$scratch/out")"
"$tactus" export -i "$scratch/all/$second" --partition "$scratch/tables" >"$scratch/export" 2>&1
is "a segment goes to its host's and day's folder" "$? $(find "$scratch/tables" -name '*.parquet' | wc -l)" "0 1"
like "the folder is this machine's" "$(find "$scratch/tables" -name '*.parquet')" "/host=$(hostname | tr -c 'A-Za-z0-9.\n-' '-')/day=[0-9]{4}-[0-9]{2}-[0-9]{2}/"

# With a bound the oldest go, but for the last.
cp -r "$scratch/all" "$scratch/bounded"
"$tactus" record --segments 1s --to "$scratch/bounded" --keep-mb 1 --segment-mb 1 --without "$sensors" -d 3 --json >"$scratch/out" 2>"$scratch/err"
truncate -s 3000000 "$scratch/bounded/$second"
"$tactus" record --segments 1s --to "$scratch/bounded" --keep-mb 1 --without "$sensors" -d 3 --json >"$scratch/out" 2>"$scratch/err"
is "where a folder is too large the oldest segments go" "$(test -e "$scratch/bounded/$second" && echo there)" ""
holds "what is left is listed" test "$(json 'len(rows)' <"$scratch/bounded/index.jsonl")" -le "$(find "$scratch/bounded" -name '*.tactus' | wc -l)"
done_testing
