#!/usr/bin/env bash
# Work that kernel threads do for a watched process: terminals stand for NVIDIA's devices, whose ioctls queue work of the kernel's own. Truth is
# what the kernel's tracing says of the same run: works queued between the beginning and the end of an ioctl.
. tests/tap.sh

tracing=/sys/kernel/tracing
if [ ! -e $tracing/events/workqueue/workqueue_queue_work/enable ]; then
	skip "work of kernel threads for a process" "the kernel has no tracepoints of work queues"
	done_testing
	exit
fi
export TACTUS_NVIDIA_MAJORS=136,4095
traced=$tracing/instances/tactus-work-$$
mkdir "$traced"
stop_tracing() {
	echo 0 >"$traced/tracing_on"
	rmdir "$traced"
}
trap 'stop_tracing 2>/dev/null; rm -rf "$scratch"' EXIT
for event in workqueue/workqueue_queue_work syscalls/sys_enter_ioctl syscalls/sys_exit_ioctl; do echo 1 >"$traced/events/$event/enable"; done

build/workloads/tty_work 10 >"$scratch/other" &
"$tactus" cuda --json -o "$scratch/recording" -- build/workloads/tty_work 10 >"$scratch/all" 2>"$scratch/err"
is "cuda ends well beside work of kernel threads" $? 0
wait $!
cp "$traced/trace" "$scratch/trace"
grep '^{' "$scratch/all" >"$scratch/rows"
pid=$(sed -n 's/^pid=//p' "$scratch/all") other=$(sed -n 's/^pid=//p' "$scratch/other")
queued_in_ioctls() {
	python3 - "$scratch/trace" "$1" <<'END'
import re, sys
inside, queued = False, 0
for line in open(sys.argv[1]):
    if not re.match(rf"\s*tty_work-{sys.argv[2]}\s", line):
        continue
    inside = "sys_ioctl(" in line or (inside and "sys_ioctl ->" not in line)
    queued += inside and "function=flush_to_ldisc" in line
print(queued)
END
}
work() { json "[$1 for r in rows if r['record'] == 'cuda_driver_work' and r['function'].startswith('flush_to_ldisc')]" <"${2:-$scratch/rows}"; }
queued=$(queued_in_ioctls "$pid")
say_measured "process $pid queued $queued works in ioctls, $(grep -c "tty_work-$pid .*flush_to_ldisc" "$scratch/trace") in all, another process $(queued_in_ioctls "$other"); tactus: $(work '(r["count"], r["total_ns"], r["max_ns"], r["queued_ns"])')"
holds "the program queues works in its ioctls" test "$queued" -ge 5
is "each work that the process queued in an ioctl is its own, whatever kernel thread did it" "$(work '(r["pid"], r["count"])')" "[($pid, $queued)]"
is "work takes time, and the longest of several not all of it" "$(work '0 < r["max_ns"] <= r["total_ns"]')" "[True]"
is "work that another process queued meanwhile is not the process's" "$(json '{r["pid"] for r in rows if r["record"] == "cuda_driver_work"}' <"$scratch/rows")" "{$pid}"
"$tactus" cuda --json -i "$scratch/recording" >"$scratch/replayed" 2>/dev/null
is "a recording has the same work of kernel threads" "$(work 'r' "$scratch/replayed")" "$(work 'r')"
"$tactus" cuda -i "$scratch/recording" >"$scratch/text" 2>/dev/null
like "the table names the function and for whom it was" "$(cat "$scratch/text")" "^ *$pid +flush_to_ldisc +$queued "
"$tactus" cuda -i "$scratch/recording" -o "$scratch/trace.jsonl" >/dev/null 2>&1
is "a trace has each work and for whom it was" \
	"$(json '(lambda w: [len(w), {r["for_pid"] for r in w}, {r["context"] for r in w}])([r for r in rows if r["name"] == "work" and r["phase"] == "E"])' <"$scratch/trace.jsonl")" \
	"[$queued, {$pid}, {'kernel thread'}]"
done_testing
