#!/usr/bin/env bash
# Filters on recordings: what a view has of the threads that were asked for is what it has of them without a filter. No root.
. tests/tap.sh

example=examples/late-frames.tactus
cat >"$scratch/differ.py" <<'END'
import json, sys
def rows(path, condition):
    return sorted(json.dumps(r, sort_keys=True) for r in map(json.loads, open(path)) if eval(condition, {"r": r}))
whole, filtered = rows(sys.argv[1], sys.argv[3]), rows(sys.argv[2], sys.argv[3])
others = [r for r in rows(sys.argv[2], "True") if r not in filtered] if len(sys.argv) < 5 else []
print("none to compare" if not whole else "")
print("\n".join([f"missing: {r[:400]}" for r in whole if r not in filtered][:3] + [f"added: {r[:400]}" for r in filtered if r not in whole][:3] + [f"of another: {r[:200]}" for r in others[:3]]))
END
# same NAME VIEW CONDITION OPTIONS...: what a view has with a filter is what it has without of those that the condition holds for.
same() {
	local name=$1 view=$2 condition=$3
	shift 3
	# shellcheck disable=SC2086
	"$tactus" $view -i "$example" --json >"$scratch/all" 2>/dev/null
	# shellcheck disable=SC2086
	"$tactus" $view -i "$example" --json "$@" >"$scratch/filtered" 2>/dev/null
	# shellcheck disable=SC2086
	is "$name" "$(python3 "$scratch/differ.py" "$scratch/all" "$scratch/filtered" "$condition" $other_rows | sed '/^$/d')" ""
}
other_rows=

game='r.get("pid") == 8660'
same "tasks -p has the process's threads, each as without the filter" tasks "$game" -p 8660
names() { "$tactus" tasks -i "$example" --json "$@" | json 'sorted((r["tid"], r["comm"]) for r in rows if r["cpu_ns"])'; }
is "tasks -c has the threads of that name" "$(names -c cc1)" "$("$tactus" tasks -i "$example" --json | json 'sorted((r["tid"], r["comm"]) for r in rows if r["comm"] == "cc1")')"
is "tasks -c takes a pattern" "$(names -c 'cc?,nobody')" "$(names -c cc1)"
is "tasks -p -c has those that are on both lists" "$(names -p 8660 -c 'llvm*')" "[(8702, 'llvmpipe-0')]"
same "affinity -p has the process's threads" affinity "$game" -p 8660
same "roles -p has the process's threads" roles "$game" -p 8660
same "frames --why -p has the process's frames, each with its cause" "frames --why" "$game" -p 8660
same "misses --all -p has the process's" "misses --all" "$game" -p 8660
other_rows=others
same "migrations -p has the process's moves" migrations "$game and r[\"record\"] == \"migration\"" -p 8660
same "latency --over -p has the process's waits, and behind whom" "latency --over 10ms" "$game and r[\"record\"] in (\"latency_task\", \"wait\")" -p 8660
same "inversions -p has the process's threads as waiters" inversions 'r["waiter_tid"] in (8660, 8702)' -p 8660
for view in "latency --over 10ms" inversions "migrations --summary" gpu input events cuda; do
	# shellcheck disable=SC2086
	holds "$view takes -p, -c and -C" "$tactus" $view -i "$example" -p 8660 -c 'choc*' -C 0-1
done
"$tactus" events -i "$example" -p 8660 --json >"$scratch/json"
is "events -p has wake-ups of the process's threads only" "$(json 'set(r["tid"] for r in rows if r["event"] == "wakeup") - set(r["tid"] for r in rows if r["event"] == "thread" and r["pid"] == 8660)' <"$scratch/json")" "set()"
is "events -p has all switches of its threads" "$(json 'sum(r["event"] == "switch" and 8702 in (r["tid"], r["next_tid"]) for r in rows)' <"$scratch/json")" \
	"$("$tactus" events -i "$example" --json | json 'sum(r["event"] == "switch" and 8702 in (r["tid"], r["next_tid"]) for r in rows)')"
is "events -C has no switch of another CPU" "$("$tactus" events -i "$example" -C 1 --json | json 'set(r["cpu"] for r in rows if r["event"] == "switch")')" "{1}"
cpu_of() { "$tactus" tasks -i "$example" --json "$@" | json 'sum(r["cpu_ns"] for r in rows)'; }
say_measured "CPU time: $(cpu_of -C 0) ns on CPU 0, $(cpu_of -C 1) ns on CPU 1, $(cpu_of) ns in all"
is "what the CPUs have adds up to the whole" "$(($(cpu_of -C 0) + $(cpu_of -C 1)))" "$(cpu_of)"
is "filters and a part go together" "$("$tactus" tasks -i "$example" --json -p 8660 --from 5s --to 6s | json 'all(r["pid"] == 8660 and r["cpu_ns"] <= 10**9 for r in rows)')" True
holds "top takes a filter" "$tactus" top -i "$example" --once --at 6s -p 8660
is "top with a filter has no other thread" "$("$tactus" top -i "$example" --once --at 6s -p 8660 | grep -cE '^(cc1|cppcheck)')" 0
like "top begins at --from" "$("$tactus" top -i "$example" --batch --from 8s | head -n 1)" ' 9\.0 of 10\.2 s'
like "top ends at --to" "$("$tactus" top -i "$example" --batch --from 2s --to 4.5s | grep 'tactus top' | tail -n 1)" ' 4\.5 of 4\.5 s'
ends "top from past the end says how long the recording is" 1 'is 10\.209 s long' "$tactus" top -i "$example" --once --from 11s

# What is wrong, and what matches nothing.
ends "a process that is not in the recording is said" 0 'no thread in the recording matched -p 1234' "$tactus" tasks -i "$example" -p 1234
ends "a name that is not in the recording is said by a view without accounts" 0 'no thread in the recording matched -c nobody' "$tactus" roles -i "$example" -c nobody --json
ends "a CPU that the machine did not have is refused" 1 "there is no CPU 7: the recording's machine has 0 to 1" "$tactus" tasks -i "$example" -C 7
ends "top refuses a CPU that the machine did not have" 1 "there is no CPU 7: the recording's machine has 0 to 1" "$tactus" top -i "$example" --once -C 7
ends "a cgroup is refused, with the reason" 2 'a recording does not say which cgroup a thread is in' "$tactus" tasks -i "$example" --cgroup /user.slice

# Around a frame.
"$tactus" frames --why -i "$example" --around 182 >"$scratch/out"
is "--around shows the frame, and no other late one within 100 ms" "$(grep -oE 'frame [0-9]+, .* late: ' "$scratch/out" | cut -d, -f1)" "frame 182"
is "--margin 0s leaves the frame alone" "$("$tactus" frames -i "$example" --around 182 --margin 0s --json | json 'd["frames"] <= 2')" True
is "--margin makes the part wider" "$("$tactus" frames --why -i "$example" --around 182 --margin 500ms | grep -oE 'frame [0-9]+,' | xargs)" "frame 167, frame 182, frame 185, frame 188,"
holds "tasks takes --around" "$tactus" tasks -i "$example" --around 182
like "top takes --around" "$("$tactus" top -i "$example" --once --around 182 --margin 50ms | head -n 1)" ' 6\.6 of 6\.6 s'
ends "a frame that is not there is refused, with how many there are" 1 'there is no frame 233: the last one is 232' "$tactus" tasks -i "$example" --around 233
for wrong in 0 -3 x '' 1.5 99999999999999999999; do
	ends "--around '$wrong' is bad usage" 2 'is not the number of a frame' "$tactus" tasks -i "$example" --around="$wrong"
done
ends "--around beside --from is bad usage" 2 'not both' "$tactus" tasks -i "$example" --around 3 --from 1s
ends "--margin without --around is bad usage" 2 '--margin is for --around' "$tactus" tasks -i "$example" --margin 1s
ends "--margin without a recording is bad usage" 2 'name it with -i' "$tactus" tasks --margin 1s
for ((pid = 10; pid < 21; pid += 10)); do
	echo "thread 0 $pid 0 pid=$pid comm=game$pid"
	for ((i = 1; i < 5; i++)); do echo "frame $((i * 16000 + pid)) $pid 0 interval_ns=16000000 number=$i"; done
done | sort -n -k 2 >"$scratch/events"
python3 tests/recording.py "$scratch/two.tac" <"$scratch/events"
ends "a frame that two processes have is refused with both" 1 'processes 10 and 20 each have a frame 3: choose one with -p' "$tactus" frames -i "$scratch/two.tac" --around 3
is "a frame that two processes have is found with -p" "$("$tactus" frames -i "$scratch/two.tac" --around 3 -p 20 --margin 1ms --json | json '[r["pid"] for r in rows if r["record"] == "frames"]')" "[20]"
ends "of a recording without frames that is said" 1 'none was presented' "$tactus" tasks -i tests/recordings/h200-startup.tac --around 3
done_testing
