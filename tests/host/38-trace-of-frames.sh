#!/usr/bin/env bash
# 'tactus record --cuda -o x.pftrace' as it happens: frames that are late on purpose with their reasons and arrows, waits, roles, CUDA calls in known numbers,
# and losses, in a trace that no recording went before.
# alone: it measures delays of its own making, to which other tests with realtime threads would add
. tests/tap.sh
. tools/lib.sh

export TACTUS_NVIDIA_MAJORS=1,5 DELAYS_SAID=$scratch/err
library=$PWD/build/workloads/libcuda.so.1
trace=$scratch/live.pftrace
# errors NAME FILE: reads it; what it says is in FILE.read/
errors() {
	python3 tests/perfetto.py "$2" "$2.read" 2>&1
	is "$1" "$(cat "$2.read/errors" 2>&1)" ""
}

# Each is longer than a period: late even where the pace is not sure.
cat >"$scratch/work.sh" <<END
build/workloads/delays 20 140 1 40:25:compute 60:28:mutex 80:23:hog 100:35:sleep 120:27:server &
build/workloads/cuda_calls $library copies 50 &
echo "copier \$!"
wait \$!
build/workloads/cuda_calls $library launches 1000 &
echo "launcher \$!"
wait
END
"$tactus" record -v --cuda --library "$library" -o "$trace" -- bash "$scratch/work.sh" >"$scratch/out" 2>"$scratch/err"
is "record of frames and CUDA calls as a trace ends with the command's status" $? 0
errors "a trace of frames and CUDA calls as they happen has nothing that trace_processor counts as an error" "$trace"
say_measured "$(cat "$trace.read/sizes"), $(stat -c %s "$trace") bytes"
grep -E '^[0-9]+ [0-9.]+ [a-z]+ ' "$scratch/out" >"$scratch/said"
say_measured "late by the program's own clock, in ms: $(awk '{ printf "%s%s %s %s", comma, $1, $2, $3; comma = ", " }' "$scratch/said")"
is "the program delayed five frames" "$(grep -vc machine "$scratch/said")" 5

interrupts=$("$tactus" doctor --json | json 'd["interrupts"]')
cat >"$scratch/check.py" <<'PYTHON'
import json, sys
rows = [json.loads(line) for line in open(sys.argv[1] + "/slices")]
follows = sys.argv[5] == "True"
said = {int(number): (float(ms), reason, int(tid)) for number, ms, reason, tid in (line.split() for line in open(sys.argv[2]))}
tid_of = {row["name"]: row["tid"] for row in map(json.loads, open(sys.argv[1] + "/threads"))}
copier, launcher = int(sys.argv[3]), int(sys.argv[4])
frames = [row for row in rows if row["track"] == "frames"]
late = {row["args"]["frame"]: row for row in frames if row["category"] == "late"}
of_cuda = lambda tid, **wanted: [row for row in rows if row["tid"] == tid and all(row[key] == value for key, value in wanted.items())]

def check(name, good, seen=""):
    print("ok" if good else "no", name, str(seen).replace("\n", " "), sep="\t")

def linked(row):
    return [other for other in rows if other is not row and set(other["flows"]) & set(row["flows"])]

print("# measured:", ", ".join(f"frame {n}: {r['args']['reason']}" for n, r in sorted(late.items())))
# One that the machine made late by a quarter of a period, give or take half a millisecond, may be late or not.
sure = {number for number, (ms, reason, _) in said.items() if reason != "machine" or ms > 5.5}
check("every frame of the program is in the trace", len(frames) == 140, len(frames))
check("frames that were delayed are late in the trace, and none other", sure <= set(late) <= set(said), (sorted(late), sorted(said)))
causes = {"compute": "ran", "mutex": "slept", "hog": "waited", "sleep": "slept", "server": "ran" if follows else "slept"}
for number, (ms, reason, tid) in sorted(said.items()):
    if reason == "machine" or number not in late:
        continue
    row, args = late[number], late[number]["args"]
    check(f"a frame that was delayed by {reason} is late by as much in the trace", abs(args["late_ns"] / 1e6 - ms) < 1, (args["late_ns"], ms))
    check(f"a frame that was delayed by {reason} has its cause in the trace", args["cause"] == causes[reason], args)
    guilty = args["behind_tid"] if reason == "hog" or (reason == "server" and not follows) else args["cause_tid"]
    check(f"a frame that was delayed by {reason} names the thread that did it", guilty == tid, (guilty, tid))
    if reason in ("mutex", "hog", "server"):
        check(f"an arrow leads from the frame that was delayed by {reason} to that thread", tid in {other["tid"] for other in linked(row)}, linked(row))
hog = next((number for number, (_, reason, _) in said.items() if reason == "hog"), None)
waits = [row for row in rows if row["track"] == "waits" and row["args"]["behind_tid"] == said[hog][2]]
check("the wait behind the hog is a slice as long as it was in the way", any(abs(row["dur"] - 23e6) < 1e6 for row in waits), waits)
ways = [row["dur"] for row in rows if row["track"] == "in the way" and row["tid"] == said[hog][2]]
check("in the hog's row is a slice where it was in the way", any(abs(dur - 23e6) < 1e6 for dur in ways), ways)
presenter = said[40][2]
roles = [(row["name"], row["args"]["evidence"]) for row in rows if row["track"] == "role" and row["tid"] == presenter]
check("the thread that presents has its role, with the evidence", roles[-1:] == [("render", "gpu")], roles)
tiers = [row["name"] for row in rows if row["track"] == "tier" and row["tid"] == presenter]
check("the thread that presents has its tier", tiers[-1:] == ["latency-critical"], tiers)
launches = of_cuda(launcher, category="launch")
check("every launch is in the trace with its kernel's name", [row["name"] for row in launches] == ["saxpy"] * 1000, len(launches))
check("every launch has the sizes of its grid and block", {(row["args"]["grid"], row["args"]["block"]) for row in launches} == {("7, 2, 1", "128, 2, 1")}, launches[:1])
copies = sorted(((row["name"], row["args"]["copy"], row["args"]["bytes"]) for row in of_cuda(copier, category="copy")))
check("every copy is in the trace with its direction and its bytes",
      copies == [("cuMemcpyDtoH_v2", "device to host", 1 << 20)] * 50 + [("cuMemcpyHtoD_v2", "host to device", 1 << 20)] * 50, (len(copies), copies[:1]))
inits = of_cuda(launcher, name="cuInit")
check("other calls into libcuda are slices", len(inits) == 1 and inits[0]["dur"] > 0, inits)
ioctls = [row["name"] for row in of_cuda(launcher, track="ioctls") if inits and inits[0]["at"] <= row["at"] <= inits[0]["at"] + inits[0]["dur"]]
check("the ioctls within a call have their names", sorted(ioctls) == ["RM_ALLOC NV01_ROOT_CLIENT", "RM_CONTROL GPU_GET_NAME_STRING", "RM_CONTROL GR_GET_INFO", "UVM_INITIALIZE"], ioctls)
PYTHON
python3 "$scratch/check.py" "$trace.read" "$scratch/said" "$(awk '$1 == "copier" { print $2 }' "$scratch/out")" "$(awk '$1 == "launcher" { print $2 }' "$scratch/out")" \
	"$interrupts" >"$scratch/browser" 2>"$scratch/err"
browser_results $? "what reads the trace"

# Losses on purpose: the recorder stands still while its rings fill.
cat >"$scratch/flood.py" <<'PYTHON'
import os, signal
os.sched_setaffinity(0, {0})
there, back = os.pipe(), os.pipe()
recorder = os.getppid()
if os.fork() == 0:
    os.close(there[1])
    while os.read(there[0], 1): os.write(back[1], b"x")
    os._exit(0)
os.close(there[0])
def rounds(times):
    for _ in range(times):
        os.write(there[1], b"x")
        os.read(back[0], 1)
rounds(100)
os.kill(recorder, signal.SIGSTOP)
rounds(5000)
os.kill(recorder, signal.SIGCONT)
PYTHON
lossy=$scratch/lossy.pftrace
"$tactus" record --ring-kb 64 --json -o "$lossy" -- python3 "$scratch/flood.py" >"$scratch/out" 2>"$scratch/err"
errors "a trace with losses has nothing that trace_processor counts as an error of writing" "$lossy"
lost=$(grep '^{' "$scratch/out" | json '[r["lost"] for r in rows if r["record"] == "recording"][0]')
say_measured "$lost events were lost, $(json 'd["switches"]' <"$lossy.read/sizes") switches are in the trace"
holds "a recorder that stands still loses events" test "${lost:-0}" -gt 1000
is "every event that was lost is counted in the trace where it fell" "$(json 'sum(r["args"]["count"] for r in rows if r["category"] == "loss")' <"$lossy.read/slices")" "$lost"
is "the marks of losses name the CPU" "$(json 'max((r["args"]["count"], r["args"]["cpu"]) for r in rows if r["category"] == "loss")[1]' <"$lossy.read/slices")" 0
holds "readers of scheduling are told that events of the CPU were lost" test "$(json 'd["lost"]' <"$lossy.read/sizes")" -ge 1

wasm=$cache/trace_processor/trace_processor.wasm
if [ -e "$wasm" ] && command -v node >/dev/null; then
	printf '%s\n' "open $trace" "select name, idx, value from stats where severity in ('error', 'data_loss') and value > 0" \
		"select count(*) from slice where name like 'late frame%' and category = 'late' and dur > 0" "open $lossy" \
		"select name, idx, value from stats where severity = 'error' and value > 0" "select sum(value) > 0 from stats where name = 'ftrace_cpu_has_data_loss'" |
		node tests/traceprocessor.mjs "$wasm" >"$scratch/answers" 2>"$scratch/err"
	mapfile -t answers <"$scratch/answers"
	is "trace_processor counts no error and no loss in a trace of frames and CUDA calls as they happen" "${answers[0]}" "[]"
	is "trace_processor has the late frames of a trace that is recorded as it happens" "${answers[1]}" "[[$(json 'sum(r["category"] == "late" and r["track"] == "frames" for r in rows)' <"$trace.read/slices")]]"
	is "trace_processor counts no error in a trace with losses" "${answers[2]}" "[]"
	is "trace_processor knows that events of a CPU were lost" "${answers[3]}" "[[1]]"
else
	skip "trace_processor reads a trace of frames and CUDA calls as they happen" "node or trace_processor is not here: 'make test' fetches them"
fi
done_testing
