#!/usr/bin/env bash
# tactus export: a trace for Perfetto, read back by a decoder that shares nothing with the encoder (tests/perfetto.py). No root.
. tests/tap.sh

example=examples/late-frames.tactus
trace=$scratch/example.pftrace
# errors NAME FILE: reads it; what it says is in FILE.read/
errors() {
	python3 tests/perfetto.py "$2" "$2.read" 2>&1
	is "$1" "$(cat "$2.read/errors" 2>&1)" ""
}
# of FILE WHAT EXPRESSION: over the decoder's rows
of() { json "$3" <"$1.read/$2"; }
# cpu_times OPTIONS...: as tasks shows them
cpu_times() { "$tactus" tasks -i "$example" --json -n all "$@" | json '"\n".join("%u %u" % (r["tid"], r["cpu_ns"]) for r in rows if r.get("cpu_ns"))' | sort; }

"$tactus" export -i "$example" -o "$trace" >"$scratch/out" 2>"$scratch/err"
is "the example is exported" "$? $(cat "$scratch/err")" "0 "
like "export says what it wrote" "$(cat "$scratch/out")" 'example\.pftrace: 25957 events in 0\.[0-9] MB'
errors "the example's trace has nothing that trace_processor counts as an error" "$trace"
say_measured "$(cat "$trace.read/sizes"), $(stat -c %s "$trace") bytes of $(stat -c %s "$example")"

cpu_times >"$scratch/tasks"
sort "$trace.read/cpu" >"$scratch/cpu"
is "in the trace each thread has the CPU time that tasks shows" "$(join "$scratch/tasks" "$scratch/cpu" | awk '$2 == $3' | wc -l)" "$(wc -l <"$scratch/tasks")"
like "tasks of the example has 10 to 19 threads whose times are compared" "$(wc -l <"$scratch/tasks")" '^1[0-9]$'
is "a trace has the clocks of one moment, REALTIME among them, and the kernel's version" "$(of "$trace" clocks '(d["3"] == d["6"] and d["1"] > 1.7e18 and d["primary"] == 6, d["release"][:4], d["cpus"])')" \
	"(True, '6.18', 2)"
"$tactus" events -i "$example" --only switch,wakeup --json >"$scratch/events"
json '"\n".join("%u %u %u" % (r["time_ns"], r["cpu"], r["next_tid"]) for r in rows if r["event"] == "switch")' <"$scratch/events" | sort >"$scratch/switches"
is "every switch of the recording is in the trace, at its time" "$(sort "$trace.read/switches" | comm -13 - "$scratch/switches" | wc -l)" 0
is "every wake-up of the recording is in the trace with its waker" "$(of "$trace" wakeups 'sorted((r["at"], r["tid"], r["waker"]) for r in rows)' | cksum)" \
	"$(json 'sorted((r["time_ns"], r["tid"], r["waker_tid"]) for r in rows if r["event"] == "wakeup")' <"$scratch/events" | cksum)"

# What the views say, and what the trace says.
"$tactus" frames --why -i "$example" --json | json '[(r["late_frame"], r["late_ns"], r["cause"], r["other_tid"]) for r in rows if r["record"] == "late_frame"]' >"$scratch/late"
is "late frames, how late, their cause and who was in the way are those of frames --why" \
	"$(of "$trace" slices '[(r["args"]["frame"], r["args"]["late_ns"], r["args"]["cause"], r["args"]["behind_tid"]) for r in rows if r["category"] == "late" and r["track"] == "frames"]')" "$(cat "$scratch/late")"
like "a late frame's reason is there in words" "$(of "$trace" slices '[r["args"]["reason"] for r in rows if r["name"] == "late frame 182"]')" \
	'chocolate-doom waited [0-9.]+ ms on CPU 1 behind cc1 \[8883\]'
is "an arrow leads from each late frame to a wait or to who was in the way" \
	"$(of "$trace" slices '[len([o for o in rows if set(o["flows"]) & set(r["flows"]) and o is not r]) > 0 for r in rows if r["name"].startswith("late frame") and r["track"] == "frames"]')" \
	"$(python3 -c "print([True] * len($(cat "$scratch/late")))")"
is "the arrow of a frame that waited leads to a slice of the thread that had the CPU" \
	"$(of "$trace" slices '(lambda frame: [r["tid"] for r in rows if set(r["flows"]) & set(frame["flows"]) and r["track"] == "in the way"])([r for r in rows if r["name"] == "late frame 182"][0])')" "[8883]"
"$tactus" latency -i "$example" --over 1ms --json >"$scratch/latency"
is "long waits and behind whom are those of latency --over" \
	"$(of "$trace" slices 'sorted((r["tid"], r["dur"], r["args"]["behind_tid"]) for r in rows if r["track"] == "waits")')" \
	"$(json 'sorted((r["tid"], r["wait_ns"], r["behind_tid"] or 0) for r in rows if r["record"] == "wait")' <"$scratch/latency")"
is "the trace has as many missed deadlines as misses shows" "$(of "$trace" slices 'sum(r["category"] == "miss" for r in rows)')" \
	"$("$tactus" misses -i "$example" --json -n all | json 'sum(r["record"] == "miss" for r in rows)')"
is "the trace has as many moves as migrations shows" "$(of "$trace" slices 'sum(r["category"] == "move" for r in rows)')" \
	"$("$tactus" migrations -i "$example" --json -n all | json 'sum(r["record"] == "migration" for r in rows)')"
is "the last role of each thread is the one that roles shows" "$(of "$trace" slices 'sorted({r["tid"]: r["name"] for r in rows if r["track"] == "role"}.items())')" \
	"$("$tactus" roles -i "$example" --json -n all | json 'sorted((r["tid"], r["role"]) for r in rows)')"
is "processes have their threads, and threads their names" "$(of "$trace" threads '[(r["pid"], r["name"]) for r in rows if r["tid"] in (8660, 8702)]')" "[(8660, 'chocolate-doom'), (8660, 'llvmpipe-0')]"

# A part of it, with what was known before.
"$tactus" export -i "$example" -o "$scratch/part.pftrace" --from 3s --to 5s >/dev/null
errors "a part's trace has no error either" "$scratch/part.pftrace"
cpu_times --from 3s --to 5s >"$scratch/tasks"
sort "$scratch/part.pftrace.read/cpu" >"$scratch/cpu"
is "in the trace of a part each thread has the CPU time that tasks shows" "$(join "$scratch/tasks" "$scratch/cpu" | awk '$2 == $3' | wc -l)" "$(wc -l <"$scratch/tasks")"
is "nothing in a part lies before its beginning" "$(of "$scratch/part.pftrace" slices 'min(r["at"] for r in rows) >= 6149698694183')" True
"$tactus" export -i "$example" -o "$scratch/few.pftrace" --from 5s --to 7s --over 20ms --machine den >/dev/null
errors "a trace with other options has no error" "$scratch/few.pftrace"
is "--over chooses which waits say who was in the way, and --machine names the machine" \
	"$(of "$scratch/few.pftrace" slices 'min(r["dur"] for r in rows if r["track"] == "waits") > 20e6') $(of "$scratch/few.pftrace" clocks 'd["machine"]')" "True den"

# Every other kind, by hand.
python3 tests/recording.py "$scratch/all.tac" <tests/recordings/every-kind.txt
all=$scratch/all.pftrace
"$tactus" export -i "$scratch/all.tac" -o "$all" >/dev/null 2>&1
errors "a trace of every kind of event has no error" "$all"
# each FILE WHAT: lines "name :: expression over the rows :: what it is to be", all asked at once
each() {
	while IFS=$'\t' read -r name got want; do is "$name" "$got" "$want"; done < <(python3 -c '
import json, sys
rows = [json.loads(line) for line in open(sys.argv[1])]
for line in sys.stdin:
    name, expression, want = line.rstrip("\n").split(" :: ")
    print(name, eval(expression), want, sep="\t")' "$1.read/$2")
}
each "$all" slices <<'LINES'
a submit is a slice as long as the call took :: [(r["name"], r["at"], r["dur"]) for r in rows if r["track"] == "GPU submits"] :: [('i915 commands', 1000180000, 20000)]
fences that overlap are slices on two tracks of one name :: [(r["at"], r["dur"], r["args"]["seqno"]) for r in rows if r["track"].startswith("GPU drv gfx")] :: [(1000210000, 50000, 1), (1000230000, 40000, 2)]
jobs of a GPU's scheduler are slices in the queue, and on the ring as soon as the one before is done :: [(r["track"], r["at"], r["dur"], r["args"]["seqno"]) for r in rows if r["track"].startswith("ring ")] :: [('ring card0 gfx queue', 1000241000, 30000, 1), ('ring card0 gfx', 1000271000, 29000, 1), ('ring card0 gfx queue', 1000280000, 10000, 2), ('ring card0 gfx', 1000300000, 1000, 2)]
a stack is a slice as long as the thread had no CPU, with functions that were named later :: [(r["at"], r["dur"], r["args"]) for r in rows if r["track"] == "stacks"] :: [(1000212000, 90000, {'stack': 'main;wait();__schedule_[k]', 'wait_ns': 3000, 'waker': 'hog2 [300]', 'waker_stack': 'wake'})]
a copy says how many bytes went where :: [(r["name"], r["dur"], r["args"]["bytes"], r["args"]["copy"]) for r in rows if r["category"] == "copy"] :: [('cuMemcpyHtoD_v2', 7000, 65536, 'host to device')]
a launch has its kernel's name and sizes :: [(r["name"], r["args"]["grid"], r["args"]["block"]) for r in rows if r["category"] == "launch"] :: [('scale(float*, int)', '8, 1, 1', '32, 1, 1')]
calls within calls are all there :: [(r["name"]) for r in rows if r["track"] == "CUDA" and not r["instant"]] :: ['cuMemcpyHtoD_v2', 'cuLaunchKernel', 'cuCtxSynchronize']
a range that the program names is marked where it begins :: [(r["name"], r["at"], r["tid"]) for r in rows if r["category"] == "range"] :: [('epoch <2>', 1000316000, 101)]
what a kernel thread did in the driver is a slice of that thread, or where that is not known of the one that it did it for :: [(r["tid"], r["name"], r["at"], r["dur"], r["args"]) for r in rows if r["track"] == "driver work"] :: [(300, 'nv_drain [nvidia]', 1000312000, 6000, {'for': 'render x [101]', 'for_tid': 101, 'queued_ns': 1500}), (101, 'nv_tick [nvidia]', 1000317000, 2000, {'for': 'render x [101]', 'for_tid': 101, 'queued_ns': 500})]
an ioctl has its name :: [(r["name"].split()[0], r["dur"]) for r in rows if r["category"] == "ioctl"] :: [('NV_ESC', 4000)]
an input device's report and who woke for it have its name :: [(r["track"], r["name"], r["dur"], r["tid"]) for r in rows if r["category"] == "input"] :: [('input: A mouse', 'report', 0, 0), ('input', 'input: A mouse', 10000, 101)]
the display's periods, and that a picture is up :: [(r["track"], r["name"], r["tid"]) for r in rows if r["category"] == "display"] :: [('display 2', 'vblank', 0), ('frames', 'picture is up', 101)]
the scheduler's decisions :: [(r["name"]) for r in rows if r["track"] == "scheduler" and r["tid"] == 101] :: ['preempts hog [300]', 'moved to CPU 1', 'deadline miss behind hog [300]']
what acting did to others :: [(r["name"], r["args"]["cause_pid"]) for r in rows if r["track"] == "scheduler" and r["tid"] == 100] :: [('hints of the cause held back', 300)]
an Xid with its message :: [(r["name"], r["args"]["message"]) for r in rows if r["track"] == "GPU errors"] :: [('Xid 31', 'MMU fault')]
a loss is marked where it fell :: [(r["at"], r["args"]) for r in rows if r["category"] == "loss"] :: [(1000400000, {'count': 17, 'cpu': 1, 'kind': 'switch'})]
a role lasts until the next one, with its evidence :: [(r["name"], r["at"], r["dur"], r["args"]["evidence"]) for r in rows if r["track"] == "role"] :: [('render', 1000130000, 20000, 'gpu'), ('input', 1000150000, 450000, 'gpu')]
LINES
is "a wake-up has its waker, and whether it was an interrupt" "$(of "$all" wakeups '[(r["tid"], r["waker"], r["flags"]) for r in rows]')" "[(101, 100, 0), (300, 101, 8)]"
is "counters: GPU memory, frames a second" "$(of "$all" counts 'sorted({(r["track"], r["value"]) for r in rows if "run queue" not in r["track"]})')" "[('CUDA launches a second', 59), ('GPU 0 memory', 4096), ('frames a second', 118)]"
is "a program that is executed names its process, and a new name its thread" "$(of "$all" threads '[r["program"] for r in rows if r["tid"] == 300]')" "['/usr/bin/hog']"
is "a switch that was not seen is put in where the run began" "$(paste -sd' ' "$all.read/cpu")" "100 700000 101 16680000 300 100000"
is "a CPU whose events were lost says so" "$(of "$all" sizes 'd["lost"]')" 1

# Of a machine that had been suspended for 90 minutes: its clocks are apart by that, and readers go by the one that went on.
python3 tests/recording.py "$scratch/slept.tac" 2 1800000000000000000 5400000000000 <tests/recordings/every-kind.txt
"$tactus" export -i "$scratch/slept.tac" -o "$scratch/slept.pftrace" >/dev/null 2>&1
errors "a trace of a machine that had been suspended has no error" "$scratch/slept.pftrace"
is "the clocks in a trace of a machine that had been suspended are apart by that" "$(of "$scratch/slept.pftrace" clocks '(d["6"] - d["3"], d["1"])')" "(5400000000000, 1800000000000000000)"
is "all of a trace of a machine that had been suspended is as much later" "$(of "$scratch/slept.pftrace" slices 'sorted(r["at"] - 5400000000000 for r in rows) ')" "$(of "$all" slices 'sorted(r["at"] for r in rows)')"
"$tactus" cut -i "$scratch/slept.tac" -o "$scratch/slept-part.tac" --from 1ms >/dev/null 2>&1
"$tactus" export -i "$scratch/slept-part.tac" -o "$scratch/slept-part.pftrace" >/dev/null 2>&1
errors "a trace of a part has no error where the machine had been suspended" "$scratch/slept-part.pftrace"
is "a part of a recording knows that its machine had been suspended" "$(of "$scratch/slept-part.pftrace" clocks 'd["6"] - d["3"]')" 5400000000000

# Training steps, of a loop of which everything is known.
python3 tests/steps.py | python3 tests/recording.py "$scratch/steps.tac"
"$tactus" export -i "$scratch/steps.tac" -o "$scratch/steps.pftrace" >/dev/null 2>&1
errors "a trace of training steps has no error" "$scratch/steps.pftrace"
"$tactus" cuda --steps -i "$scratch/steps.tac" --json >"$scratch/steps" 2>/dev/null
is "slow steps, how long they took, and why, are those of cuda --steps" \
	"$(of "$scratch/steps.pftrace" slices '[(r["args"]["step"], r["dur"], r["args"]["cause"], r["args"]["reason"]) for r in rows if r["track"] == "steps" and r["category"] == "slow"]')" \
	"$(json '[(r["step"], r["wall_ns"], r["cause"], r["words"]) for r in rows if r["record"] == "cuda_slow_step"]' <"$scratch/steps")"
is "a trace has as many training steps as cuda --steps, and five of them are slow" \
	"$(of "$scratch/steps.pftrace" slices '(sum(r["track"] == "steps" for r in rows), sum(r["category"] == "slow" for r in rows))')" \
	"$(json '[(r["steps"], 5) for r in rows if r["record"] == "cuda_steps"][0]' <"$scratch/steps")"
is "an arrow leads from a step that waited for a CPU to the thread that had it" \
	"$(of "$scratch/steps.pftrace" slices '(lambda step: sorted({r["tid"] for r in rows if set(r["flows"]) & set(step["flows"]) and r["track"] == "in the way"}))([r for r in rows if r["args"].get("cause") == "cpu_wait"][0])')" "[30]"

# Three threads are woken on a CPU that is busy, and run one after another.
python3 tests/recording.py "$scratch/queue.tac" <<'LINES'
thread 0 7 0 pid=7 comm=hog
thread 0 1 0 pid=1 comm=one
thread 0 2 0 pid=2 comm=two
thread 0 3 0 pid=3 comm=three
sample 0 7 0 prio=121
wakeup 30000 1 0 waker_tid=7 target_cpu=0 prio=121 flags=32
wakeup 30010 2 0 waker_tid=7 target_cpu=0 prio=121 flags=32
wakeup 30020 3 0 waker_tid=7 target_cpu=0 prio=121 flags=32
switch 55000 7 0 next_tid=1 prev_state=1 prev_prio=121 next_prio=121
switch 75000 1 0 next_tid=2 prev_state=1 prev_prio=121 next_prio=121
switch 95000 2 0 next_tid=3 prev_state=1 prev_prio=121 next_prio=121
switch 115000 3 0 next_tid=0 prev_state=1 prev_prio=121
sample 135000 0 0 flags=4
LINES
"$tactus" export -i "$scratch/queue.tac" -o "$scratch/queue.pftrace" >/dev/null 2>&1
errors "a trace of a run queue has no error" "$scratch/queue.pftrace"
is "the run queue of a CPU is counted: three wait, then two, one, none" "$(of "$scratch/queue.pftrace" counts '[(r["value"], (r["at"] - 1000000000) // 1000000) for r in rows if r["track"] == "CPU 0 run queue"]')" "[(3, 30), (2, 55), (1, 75), (0, 95)]"

# Names from outside.
python3 - "$scratch/odd.tac" <<'PYTHON'
import subprocess, sys
lines = "thread 0 7 0 pid=7 comm=\u00ff\x1b[31m<b>\nsample 0 7 0\nsample 9 7 0 flags=4\n"
subprocess.run([sys.executable, "tests/recording.py", sys.argv[1]], input=lines, text=True, check=True)
PYTHON
"$tactus" export -i "$scratch/odd.tac" -o "$scratch/odd.pftrace" >/dev/null 2>&1
errors "a trace with a name that is no plain text has no error" "$scratch/odd.pftrace"
is "a name that is no plain text comes through harmless" "$(of "$scratch/odd.pftrace" threads '[r["name"] for r in rows]')" "['ÿ?[31m<b>']"

# Tables.
"$tactus" export -i "$example" -o "$scratch/all.csv" >"$scratch/out"
"$tactus" events -i "$example" --only "$(tail -n +2 "$scratch/all.csv" | awk -F, '!seen[$5]++ { printf "%s%s", comma, $5; comma = "," }')" --json >"$scratch/events"
cat >"$scratch/table.py" <<'PYTHON'
import csv, json, sys
rows = list(csv.DictReader(open(sys.argv[1], newline="")))
events = [json.loads(line) for line in open(sys.argv[2])]
differ = 0
for row, event in zip(rows, events):
    for name, value in row.items():
        want = event.get({"kind": "event", "driver_name": "driver"}.get(name, name))
        if name == "comm" or (want is None and value == ""):
            continue
        want = int(want, 16) if isinstance(want, str) and want.startswith("0x") else want
        differ += str(want) != value
print(len(rows) == len(events), differ, {len(row) for row in rows} == {len(rows[0])}, sum(row["comm"] == "chocolate-doom" for row in rows) > 1000)
PYTHON
is "a table has every event of the recording, each field as events shows it" "$(python3 "$scratch/table.py" "$scratch/all.csv" "$scratch/events")" "True 0 True True"
"$tactus" export -i "$scratch/odd.tac" -o "$scratch/odd.csv" --only thread >/dev/null 2>&1
is "--only chooses rows and columns, and a name that is no plain text is harmless" "$(paste -sd' ' "$scratch/odd.csv")" \
	'time_ns,cpu,tid,comm,kind,start_ns,pid,parent_tid 1000000000,0,7,"ÿ?[31m<b>",thread,0,7,0'
ends "--only of a trace is bad usage" 2 '--only is for a table' "$tactus" export -i "$example" -o "$scratch/x.pftrace" --only frame
ends "--only of a kind that there is not is bad usage" 2 'names no kind of event' "$tactus" export -i "$example" -o "$scratch/x.csv" --only frames
ends "record writes no table" 2 "which 'tactus export' writes" "$tactus" record -o "$scratch/x.csv"

# Wrong calls, and files of others.
ends "export without a recording is bad usage" 2 'no recording to export' "$tactus" export -o "$scratch/x.pftrace"
ends "export without a file is bad usage" 2 'no file to write' "$tactus" export -i "$example"
ends "export to a file whose name says nothing is bad usage" 2 'name a FILE.pftrace' "$tactus" export -i "$example" -o "$scratch/x"
ends "export in a format that there is not is bad usage" 2 "format 'svg' is none of perfetto" "$tactus" export -i "$example" -o "$scratch/x" --format svg
ends "another view that is to write a trace says who does" 2 "which 'tactus export' writes" "$tactus" tasks -o "$scratch/x.pftrace"
ends "export of what is not there is an error" 1 'No such file' "$tactus" export -i "$scratch/none" -o "$scratch/x.pftrace"
ends "export of a part after the end is an error" 1 'nothing lies after --from' "$tactus" export -i "$example" -o "$scratch/x.pftrace" --from 1m
is "export that failed leaves no file" "$(find "$scratch" -name 'x*')" ""
echo precious >"$scratch/precious.pftrace"
ends "export over a file of others is an error" 1 'exists and is not an earlier output' "$tactus" export -i "$example" -o "$scratch/precious.pftrace"
is "a file that export refused to overwrite is as it was" "$(cat "$scratch/precious.pftrace")" precious
holds "export --force replaces it" "$tactus" export -i "$example" -o "$scratch/precious.pftrace" --force
holds "export replaces its own" "$tactus" export -i "$example" -o "$scratch/precious.pftrace"
holds "what it wrote is the same each time" cmp "$scratch/precious.pftrace" "$trace"
mkdir "$scratch/disk"
short_of_room() { (ulimit -f 64 && exec "$tactus" export -i "$example" -o "$1"); }
ends "export that finds no room ends with an error" 1 'File too large: nothing was written' short_of_room "$scratch/disk/new.pftrace"
is "export that found no room leaves nothing" "$(ls -A "$scratch/disk")" ""
head -c 300000 "$example" >"$scratch/torn.tactus"
ends "export of a torn recording says so and writes what there is" 0 'ends in the middle of a block' "$tactus" export -i "$scratch/torn.tactus" -o "$scratch/torn.pftrace"
errors "the trace of a torn recording has no error" "$scratch/torn.pftrace"
"$tactus" cut -i "$example" -o "$scratch/empty.tactus" -c nobody >/dev/null 2>&1
holds "a recording without a thread is exported" "$tactus" export -i "$scratch/empty.tactus" -o "$scratch/empty.pftrace"
errors "the trace of a recording without a thread has no error" "$scratch/empty.pftrace"
done_testing
