#!/usr/bin/env bash
# Work that kernel threads do for a watched process. Terminals stand for NVIDIA's devices, whose ioctls queue work of the kernel's own, and
# the device that makes loop devices for its other ones, whose ioctls wake the kernel's thread for device nodes. Truth is what the kernel's tracing says
# of the same run: works queued, and threads woken, between the beginning and the end of an ioctl.
. tests/tap.sh

tracing=/sys/kernel/tracing
if [ ! -e $tracing/events/workqueue/workqueue_queue_work/enable ]; then
	skip "work of kernel threads for a process" "the kernel has no tracepoints of work queues"
	done_testing
	exit
fi
export TACTUS_NVIDIA_MAJORS=136,10
traced=$tracing/instances/tactus-work-$$
mkdir "$traced"
stop_tracing() {
	echo 0 >"$traced/tracing_on"
	rmdir "$traced"
}
trap 'stop_tracing 2>/dev/null; rm -rf "$scratch"' EXIT
for event in workqueue/workqueue_queue_work sched/sched_waking syscalls/sys_enter_ioctl syscalls/sys_exit_ioctl; do echo 1 >"$traced/events/$event/enable"; done
# On a busy machine all that wakes there would drive out what matters.
echo 'comm == "kdevtmpfs"' >"$traced/events/sched/sched_waking/filter"
echo 16384 >"$traced/buffer_size_kb"

build/workloads/tty_work 10 >"$scratch/other" &
"$tactus" cuda --json -o "$scratch/recording" -- build/workloads/tty_work 10 >"$scratch/all" 2>"$scratch/err"
is "cuda ends well beside work of kernel threads" $? 0
wait $!
cp "$traced/trace" "$scratch/trace"
grep '^{' "$scratch/all" >"$scratch/rows"
pid=$(sed -n 's/^pid=//p' "$scratch/all") other=$(sed -n 's/^pid=//p' "$scratch/other")
# in_ioctls PID WORDS: how often the trace says that inside an ioctl of the process
in_ioctls() {
	python3 - "$scratch/trace" "$@" <<'END'
import re, sys
inside, times = False, 0
for line in open(sys.argv[1], errors="replace"):
    if not re.match(rf"\s*\S+-{sys.argv[2]}\s+\[", line):
        continue
    inside = "sys_ioctl(" in line or (inside and "sys_ioctl ->" not in line)
    times += inside and sys.argv[3] in line
print(times)
END
}
queued_in_ioctls() { in_ioctls "$1" function=flush_to_ldisc; }
work() { json "[$1 for r in rows if r['record'] == 'cuda_driver_work' and r['function'].startswith('${3:-flush_to_ldisc}')]" <"${2:-$scratch/rows}"; }
queued=$(queued_in_ioctls "$pid")
say_measured "process $pid queued $queued works in ioctls, $(grep -c "tty_work-$pid .*flush_to_ldisc" "$scratch/trace") in all, another process $(queued_in_ioctls "$other"); tactus: $(work '(r["count"], r["total_ns"], r["max_ns"], r["queued_ns"])')"
holds "the program queues works in its ioctls" test "$queued" -ge 5
is "every work that the process queued in an ioctl is its own, whatever kernel thread did it" "$(work '(r["pid"], r["count"])')" "[($pid, $queued)]"
is "work takes time, and the longest of several not all of it" "$(work '0 < r["max_ns"] <= r["total_ns"]')" "[True]"
is "work that another process queued meanwhile is not the process's" "$(json '{r["pid"] for r in rows if r["record"] == "cuda_driver_work"}' <"$scratch/rows")" "{$pid}"
"$tactus" cuda --json -i "$scratch/recording" >"$scratch/replayed" 2>/dev/null
is "a recording has the same work of kernel threads" "$(work 'r' "$scratch/replayed")" "$(work 'r')"
"$tactus" cuda -i "$scratch/recording" >"$scratch/text" 2>/dev/null
like "the table names the function and for whom it was" "$(cat "$scratch/text")" "^ *$pid +flush_to_ldisc +$queued "
"$tactus" cuda -i "$scratch/recording" -o "$scratch/trace.jsonl" >/dev/null 2>&1
is "a trace has each work and for whom it was" \
	"$(json '(lambda w: [len(w), {r["for_pid"] for r in w}, {r["context"] for r in w}])([r for r in rows if r["name"] == "work" and r["phase"] == "E" and r["function"].startswith("flush_to_ldisc")])' <"$scratch/trace.jsonl")" \
	"[$queued, {$pid}, {'kernel thread'}]"

echo "# a kernel thread that is woken"
if [ ! -c /dev/loop-control ] || ! pgrep -x kdevtmpfs >/dev/null; then
	skip "a kernel thread that is woken in an ioctl" "no loop devices can be made here"
	done_testing
	exit
fi
echo >"$traced/trace"
build/workloads/loop_nodes 10 >"$scratch/other" &
"$tactus" cuda --json -- build/workloads/loop_nodes 10 >"$scratch/all" 2>"$scratch/err"
is "cuda ends well beside a kernel thread that is woken" $? 0
wait $!
cp "$traced/trace" "$scratch/trace"
grep '^{' "$scratch/all" >"$scratch/rows"
pid=$(sed -n 's/^pid=//p' "$scratch/all") woken=$(in_ioctls "$(sed -n 's/^pid=//p' "$scratch/all")" comm=kdevtmpfs)
of_kdevtmpfs=$(work 'r["count"]' "$scratch/rows" kdevtmpfs | tr -d '[]')
say_measured "$(sed -n 's/^done=//p' "$scratch/all") loop devices made and removed, kdevtmpfs woken $woken times for it; tactus: $(work '(r["count"], r["total_ns"], r["max_ns"], r["queued_ns"])' "$scratch/rows" kdevtmpfs)"
# Not each time: one that is at work for another process needs no waking.
holds "the process's ioctls wake the kernel's thread, most of the time" test "$woken" -gt $(($(sed -n 's/^done=//p' "$scratch/all") / 2))
# One that has not gone to sleep since another process woke it works on for that one.
holds "a kernel thread that the process woke in an ioctl works for it" test "${of_kdevtmpfs:-0}" -ge $((woken * 3 / 4))
holds "a kernel thread works for the process no more often than that one woke it" test "${of_kdevtmpfs:-0}" -le "$woken"
is "a kernel thread's CPU time for the process is told" "$(work '0 < r["total_ns"] < 10**9' "$scratch/rows" kdevtmpfs)" "[True]"
is "what a kernel thread did for another process is not the process's" "$(json '{r["pid"] for r in rows if r["record"] == "cuda_driver_work"}' <"$scratch/rows")" "{$pid}"
done_testing
