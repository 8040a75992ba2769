#!/usr/bin/env bash
# Traces of 'tactus export' in Perfetto's own trace_processor, as WebAssembly (tests/traceprocessor.mjs; tools/deps.sh fetches it where there is a network):
# no error in its statistics, and by SQL what the views say of the same recordings. No root.
. tests/tap.sh
. tools/lib.sh

example=examples/late-frames.tactus
wasm=$cache/trace_processor/trace_processor.wasm
if [ ! -e "$wasm" ] || ! command -v node >/dev/null; then
	skip "Perfetto's trace_processor reads traces" "$([ -e "$wasm" ] && echo "node is not installed" || echo "no trace_processor: 'make test' fetches it")"
	done_testing
fi

export_to() { "$tactus" export -i "$1" -o "$scratch/$2" "${@:3}" >"$scratch/out" 2>"$scratch/err" || flunk "$2 is written" "$(cat "$scratch/err")"; }
export_to $example example.pftrace
export_to $example part.pftrace --from 3s --to 5s
export_to $example chrome.json
head -c 300000 $example >"$scratch/torn.tactus"
export_to "$scratch/torn.tactus" torn.pftrace
python3 tests/recording.py "$scratch/every-kind.tac" <tests/recordings/every-kind.txt
export_to "$scratch/every-kind.tac" every-kind.pftrace
python3 tests/steps.py | python3 tests/recording.py "$scratch/steps.tac"
export_to "$scratch/steps.tac" steps.pftrace
# The first thread of a process ends before another of it, which runs on; two switches of a CPU fall on one moment, and one of them was not seen.
python3 tests/recording.py "$scratch/fork.tac" <<'LINES'
thread 0 7 0 pid=7 comm=first
thread 0 8 0 pid=7 comm=second parent_tid=7
thread 0 9 0 pid=9 comm=hog
sample 0 7 0 prio=121
switch 10000 7 0 next_tid=9 prev_state=1 prev_prio=121 next_prio=121
switch 20000 8 0 next_tid=7 prev_state=1 prev_prio=121 next_prio=121
switch 30000 7 0 next_tid=8 prev_state=0x80 prev_prio=121 next_prio=121
rename 35000 8 0 comm=last
switch 40000 8 0 next_tid=9 prev_state=1 prev_prio=121 next_prio=121
switch 45000 9 0 next_tid=8 prev_state=1 prev_prio=121 next_prio=121
switch 70000 8 0 next_tid=0 prev_state=0x80 prev_prio=121
sample 90000 0 0 flags=4
LINES
export_to "$scratch/fork.tac" fork.pftrace

# Two machines that began at one moment of their own clocks, whose clocks on the wall say that it was not one.
for machine in one:1800000000000000000 two:1800000002500000000; do
	python3 tests/recording.py "$scratch/machine.tac" 2 ${machine##*:} <tests/recordings/every-kind.txt
	export_to "$scratch/machine.tac" ${machine%%:*}.pftrace --machine ${machine%%:*}
done
tar -C "$scratch" -cf "$scratch/machines.tar" one.pftrace two.pftrace

for view in frames "frames --why" "latency --over 1ms" "tasks -n all"; do
	# shellcheck disable=SC2086
	"$tactus" $view -i $example --json >"$scratch/$(case $view in *why) echo why ;; *) echo "${view%% *}" ;; esac)" 2>/dev/null
done
"$tactus" tasks -i $example --from 3s --to 5s -n all --json >"$scratch/part-tasks" 2>/dev/null
"$tactus" events -i $example --only switch,wakeup --json >"$scratch/events" 2>/dev/null
"$tactus" cuda --steps -i "$scratch/steps.tac" --json >"$scratch/steps" 2>/dev/null
python3 - $example >"$scratch/clock" <<'PYTHON'
import json, struct, sys
head = struct.unpack_from("<8sIIQQ", open(sys.argv[1], "rb").read(64))  # src/stream/recording_format.h
print(json.dumps({"realtime_ns": head[3], "monotonic_ns": head[4]}))
PYTHON
python3 tests/perfetto_sql.py "$wasm" "$scratch" >"$scratch/browser" 2>&1
browser_results $? "what asks trace_processor"
done_testing
