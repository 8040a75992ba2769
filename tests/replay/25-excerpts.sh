#!/usr/bin/env bash
# A part of a recording, by --from and --to: what was before is known and counted nowhere, and parts add up to the whole. No root.
. tests/tap.sh

example=examples/late-frames.tactus
views=(tasks affinity latency roles frames migrations misses inversions gpu input events)

# What two parts have of each thread is what the whole has.
cat >"$scratch/adds.py" <<'END'
import collections, json, sys
FIELDS = {"task": ("cpu_ns", "runs", "wait_ns", "switches", "wakeups", "migrations"), "latency_task": ("waits", "wait_ns"),
          "frames": ("frames", "late", "dropped", "stutters", "pauses"), "migration_thread": ("moves",), "migration": ("count",),
          "late_frame": ("count", "late_ns"), "miss": ("count", "late_ns"), "event": ("count",)}
def sums(path):
    found = collections.Counter()
    for row in map(json.loads, open(path)):
        for field in FIELDS.get(row["record"], ()):
            found[row["record"], row.get("tid", row.get("pid")), row.get("event"), field] += row.get(field, 1)
    return {key: value for key, value in found.items() if value}
whole, parts = sums(sys.argv[1]), collections.Counter()
for path in sys.argv[2:]:
    parts.update(sums(path))
assert whole, "nothing was compared"
print("\n".join(f"{key}: {whole.get(key, 0)} in all, {parts.get(key, 0)} in parts" for key in sorted(whole | parts, key=str) if whole.get(key, 0) != parts.get(key, 0)))
END
for view in tasks latency "frames --why" migrations "misses --all" events; do
	# shellcheck disable=SC2086
	for part in "" "--to 3.3s" "--from 3.3s --to 5.611s" "--from 5611ms"; do
		"$tactus" $view -i "$example" --json $part >"$scratch/part${part//[^0-9a-z]/}" 2>/dev/null
	done
	is "what three parts have in '$view' adds up to the whole" "$(python3 "$scratch/adds.py" "$scratch/part" "$scratch/partto33s" "$scratch/partfrom33sto5611s" "$scratch/partfrom5611ms")" ""
done
"$tactus" tasks -i "$example" --json --from 2s --to 3500ms >"$scratch/json"
is "the window of a part is as long as the part" "$(json 'set(r["window_ns"] for r in rows)' <"$scratch/json")" "{1500000000}"
is "of no thread a part has more CPU time than it is long" "$(json 'max(r["cpu_ns"] for r in rows) <= 1500000000' <"$scratch/json")" True

# What was before is known: names, paces and numbers of frames, who ran.
"$tactus" frames --why -i "$example" >"$scratch/whole"
"$tactus" frames --why -i "$example" --from 6.5s --to 6.9s >"$scratch/part"
like "a late frame in a part has the number and the cause that it has in the whole" "$(cat "$scratch/part")" "$(grep -F 'frame 182, ' "$scratch/whole" | sed 's/[][()]/\\&/g')"
is "only the late frames of the part are listed" "$(grep -c ' late: ' "$scratch/part")" 3
like "times are those since the start of the recording" "$(cat "$scratch/part")" 'frame 182 at 6\.597 s'
"$tactus" events -i "$example" --from 5s --to 5.1s >"$scratch/out"
is "a switch in a part has both names" "$(grep -cE '\| +\[|\?' "$scratch/out")" 0
like "the first line of a part is of its beginning" "$(sed -n 2p "$scratch/out")" '^ *500[0-9]\.'
like "the last line of a part is of its end" "$(tail -n 1 "$scratch/out")" '^ *509[0-9]\.'
role_of_game() { "$tactus" roles -i "$example" --json "$@" | json '[r["role"] for r in rows if r["comm"] == "chocolate-doom"]'; }
like "a role that was found out before is known in a part" "$(role_of_game --from 5s --to 6s)" render
python3 tests/recording.py "$scratch/hand.tac" <<'END'
thread 0 10 0 pid=10 comm=runs
thread 0 20 0 pid=20 comm=waits
thread 0 30 1 pid=30 comm=ended
sample 1 10 0 prio=121
sample 1 30 1 prio=121
switch 500 30 1 next_tid=0 prev_state=128 prev_prio=121 next_prio=140
wakeup 1000 20 0 waker_tid=10 target_cpu=0 prio=121
switch 6000 10 0 next_tid=20 prev_state=1 prev_prio=121 next_prio=121
switch 8000 20 0 next_tid=0 prev_state=1 prev_prio=121 next_prio=140
END
"$tactus" tasks -i "$scratch/hand.tac" --json --from 4ms >"$scratch/json"
is "who runs at the beginning of a part has its time from there on" "$(json '[r["cpu_ns"] for r in rows if r["comm"] == "runs"]' <"$scratch/json")" "[2000000]"
is "who waits at the beginning of a part has all of the wait that ends in it" "$(json '[r["wait_ns"] for r in rows if r["comm"] == "waits"]' <"$scratch/json")" "[5000000]"
is "who ended before a part is not in it" "$(json '[r["comm"] for r in rows if r["comm"] == "ended"]' <"$scratch/json")" "[]"
is "who runs at the end of a part has its time up to there" "$("$tactus" tasks -i "$scratch/hand.tac" --json --from 2ms --to 4ms 2>/dev/null | json '[r["cpu_ns"] for r in rows]')" "[2000000]"
like "latency --over in a part has the wait that began before it" "$("$tactus" latency -i "$scratch/hand.tac" --from 4ms --over 1ms)" '0\.006000 +5\.00 ms +waits'
is "what happens at the very moment of --to is in the next part" "$("$tactus" tasks -i "$scratch/hand.tac" --json --to 6ms | json '[r["runs"] for r in rows if r["comm"] == "waits"] or [0]')" "[0]"
for view in "${views[@]}" "frames --why" "cuda"; do
	# shellcheck disable=SC2086
	holds "$view takes --from and --to" "$tactus" $view -i "$example" --from 2s --to 2.5s
done

# What is wrong with it.
ends "--from past the end says how long the recording is" 1 'is 10\.209 s long: nothing lies after --from' "$tactus" tasks -i "$example" --from 11s
is "--from past the end prints no table" "$("$tactus" tasks -i "$example" --from 11s 2>/dev/null)" ""
is "--to past the end is the end" "$("$tactus" tasks -i "$example" --from 10s --to 1h)" "$("$tactus" tasks -i "$example" --from 10s)"
ends "--to before --from is bad usage" 2 'not later than --from' "$tactus" tasks -i "$example" --from 2s --to 1s
ends "--to at --from is bad usage" 2 'not later than --from' "$tactus" tasks -i "$example" --from 2s --to 2s
is "--to past the end of all time is the end" "$("$tactus" tasks -i "$example" --from 10s --to 99999999999999999999s)" "$("$tactus" tasks -i "$example" --from 10s)"
ends "--from past the end of all time says how long the recording is" 1 'is 10\.209 s long: nothing lies after --from' "$tactus" tasks -i "$example" --from 99999999999999999999s
ends "--to 0s is bad usage" 2 'nothing comes before --to 0' "$tactus" tasks -i "$example" --to 0s
is "--from 0s is the whole" "$("$tactus" tasks -i "$example" --from 0s)" "$("$tactus" tasks -i "$example")"
ends "a moment without a unit is refused with a hint" 2 "'2.5' has no unit" "$tactus" tasks -i "$example" --from 2.5
for wrong in -1s 1x '' . 0x1s 1e3s nan; do
	ends "--from '$wrong' is bad usage" 2 'is not a span of time' "$tactus" tasks -i "$example" --from="$wrong"
done
ends "--from without a recording is bad usage" 2 'choose a part of a recording: name it with -i' "$tactus" tasks --from 2s
ends "a part without any event says so" 0 'no event lies in that part' "$tactus" tasks -i "$scratch/hand.tac" --from 2ms --to 3ms

# A recording that ends with its beginning.
head -c 120 "$example" >"$scratch/empty.tactus"
for view in tasks "latency --json" frames events misses "top --once" "top --batch"; do
	# shellcheck disable=SC2086
	ends "'$view' of a recording without events says so" 0 'empty.tactus: has no events' "$tactus" $view -i "$scratch/empty.tactus"
done
done_testing
