#!/usr/bin/env bash
# 'tactus record -o x.pftrace' as it happens: the trace is sound, has the CPU time that the kernel counts, who woke whom, stacks if they are asked for, and is
# readable after a kill.
. tests/tap.sh
. tools/lib.sh

errors() {
	python3 tests/perfetto.py "$2" "$2.read" 2>&1
	is "$1" "$(cat "$2.read/errors" 2>&1)" ""
}
# It burns half a second, sleeps 20 times, and says what the kernel counts of it, of its sleeps from here on: before its first line it may have slept
# where nothing was recorded yet, and on a busy machine a sleep may be over before it begins.
cat >"$scratch/work.py" <<'PYTHON'
import os, time
def sleeps(): return int(dict(line.split(":") for line in open("/proc/self/status") if "ctxt_switches" in line)["voluntary_ctxt_switches"])
before = sleeps()
while time.thread_time_ns() < 500e6: pass
for _ in range(20): time.sleep(0.005)
print(os.getpid(), open("/proc/self/schedstat").read().split()[0], sleeps() - before, flush=True)
PYTHON
# What a hypervisor takes from a running thread is between two switches, and no CPU time of that thread.
stolen_ns() { awk -v hz="$(getconf CLK_TCK)" '/^cpu / { printf "%d\n", $9 * 1e9 / hz }' /proc/stat; }
stolen_before_ns=$(stolen_ns)
"$tactus" record --stacks -o "$scratch/live.pftrace" -- python3 "$scratch/work.py" >"$scratch/out" 2>"$scratch/err"
is "record of a trace ends with the command's status" $? 0
taken_ns=$(($(stolen_ns) - stolen_before_ns))
read -r tid ran_ns sleeps <"$scratch/out"
errors "a trace that is recorded as it happens has nothing that trace_processor counts as an error" "$scratch/live.pftrace"
say_measured "$(cat "$scratch/live.pftrace.read/sizes"), $(stat -c %s "$scratch/live.pftrace") bytes"
traced_ns=$(awk -v tid="$tid" '$1 == tid { print $2 }' "$scratch/live.pftrace.read/cpu")
say_measured "the thread ran $traced_ns ns in the trace, $ran_ns ns until it asked the kernel; the hypervisor took $taken_ns ns meanwhile; $sleeps sleeps"
holds "a thread has at least nine tenths of the CPU time in the trace that the kernel counted before its end" test "${traced_ns:-0}" -ge $((ran_ns * 9 / 10))
holds "a thread has no more CPU time in the trace than the kernel counted, what its end takes, and what the hypervisor took" \
	test "${traced_ns:-0}" -le $((ran_ns * 13 / 10 + taken_ns))
woken=$(json "sum(r['tid'] == $tid for r in rows)" <"$scratch/live.pftrace.read/wakeups")
say_measured "the thread was woken $woken times in the trace"
holds "a thread is woken in the trace as often as the kernel counted it to sleep" test "${woken:-0}" -ge "${sleeps:-20}"
is "a trace that is recorded has the clocks of one moment, and the machine's name" \
	"$(json '(d["1"] > 1.7e18, abs(d["6"] - d["3"]) < 10**18, d["machine"])' <"$scratch/live.pftrace.read/clocks")" "(True, True, '$(hostname)')"
holds "a trace that is recorded with --stacks has what the thread was in while it slept" test \
	"$(json "sum(r['track'] == 'stacks' and r['tid'] == $tid and 'schedule' in r['args']['stack'] for r in rows)" <"$scratch/live.pftrace.read/slices")" -ge 1

# Killed: what was there a second before can be read.
python3 -c 'import time
while True: time.sleep(0.002)' &
sleeper=$!
"$tactus" record -o "$scratch/killed.pftrace" -p $sleeper >/dev/null 2>"$scratch/err" &
recorder=$!
for ((i = 0; i < 600; i++)); do
	[ "$(stat -c %s "$scratch/killed.pftrace" 2>/dev/null || echo 0)" -lt 20000 ] || break
	sleep 0.1
done
kill -KILL $recorder
wait $recorder 2>/dev/null
errors "a trace whose recorder was killed can be read, without an error" "$scratch/killed.pftrace"
holds "a trace whose recorder was killed has what was written" test "$(json 'd["switches"]' <"$scratch/killed.pftrace.read/sizes")" -gt 100

# To standard output, which has nothing else then.
"$tactus" record -o - --format perfetto -d 1 -p $sleeper 2>"$scratch/err" | cat >"$scratch/piped.pftrace"
errors "a trace that goes through a pipe as it happens has no error" "$scratch/piped.pftrace"
holds "a trace that goes through a pipe has what happened" test "$(json 'd["switches"]' <"$scratch/piped.pftrace.read/sizes")" -gt 20
like "what record -o - says goes to standard error" "$(cat "$scratch/err")" '^-: [0-9]+ events in '
"$tactus" record -o - --format jsonl -d 1 -p $sleeper 2>"$scratch/err" | cat >"$scratch/lines"
holds "record -o - --format jsonl writes events to standard output, and nothing else" test "$(json 'len(rows) if all(r["record"] == "event" for r in rows) else 0' <"$scratch/lines")" -gt 20
kill $sleeper

wasm=$cache/trace_processor/trace_processor.wasm
if [ -e "$wasm" ] && command -v node >/dev/null; then
	for trace in live killed piped; do
		printf '%s\n' "open $scratch/$trace.pftrace" "select name, idx, value from stats where severity in ('error', 'data_loss') and value > 0" \
			"select sum(iif(dur < 0, trace_end() - ts, dur)) from sched join thread using (utid) where tid = $tid"
	done | node tests/traceprocessor.mjs "$wasm" >"$scratch/answers" 2>"$scratch/err"
	mapfile -t answers <"$scratch/answers"
	is "Perfetto's trace_processor counts no error and no loss in a trace that is recorded as it happens" "${answers[0]}" "[]"
	is "Perfetto's trace_processor counts no error and no loss in a trace whose recorder was killed" "${answers[2]}" "[]"
	is "Perfetto's trace_processor counts no error and no loss in a trace that went through a pipe" "${answers[4]}" "[]"
	is "a thread that is recorded as it happens has the CPU time in trace_processor that the trace has" "${answers[1]}" "[[$traced_ns]]"
else
	skip "Perfetto's trace_processor reads a trace that is recorded as it happens" "node or trace_processor is not here: 'make test' fetches them"
fi
done_testing
