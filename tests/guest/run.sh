#!/usr/bin/env bash
# tactus run where the kernel has sched_ext: it takes over, work gets done, and every end gives the CPUs back.
# Runs in the VM; called by tests/vm/20-run.sh.
. tests/tap.sh

. tests/guest/scheduler.sh

# With every sensor, which takes up to forty seconds to load here.
start_run() {
	"$tactus" run >"$scratch/out" 2>"$scratch/err" &
	pid=$!
	[ "$(state_within 400 enabled)" = enabled ]
}

is "the kernel's own scheduler is in charge at first" "$(state)" disabled
holds "hackbench completes under it" hackbench -g 2 -l 100

start_run
is "tactus run takes over" "$(state)" enabled
is "under its name" "$(cat /sys/kernel/sched_ext/root/ops)" tactus
like "it says so" "$(cat "$scratch/err")" 'scheduling by sched_ext'
holds "hackbench completes under tactus" hackbench -g 2 -l 100
is "and tactus is still in charge" "$(state)" enabled
is "doctor names who is in charge" "$("$tactus" doctor --json | json 'd["sched_ext"]["loaded"]')" tactus
ends "a second run that wants to schedule cannot" 1 'another sched_ext scheduler is in charge: tactus' \
	"$tactus" run --actuator scx -d 0.5
is "and leaves the first in charge" "$(state)" enabled
sleep 1.2
like "a status line a second" "$(tail -n 1 "$scratch/out")" '^[0-9:]{8}  scx .* [0-9]+$'
say_measured "$(tail -n 1 "$scratch/out")"
kill -KILL $pid
is "after SIGKILL the kernel's own is back within a second" "$(state_within 10 disabled)" disabled
wait $pid 2>/dev/null
holds "and hackbench completes again" hackbench -g 2 -l 100

start_run
kill -INT $pid
wait $pid
is "Ctrl-C ends it with status 0" $? 0
is "the kernel's own is back" "$(state)" disabled
like "it says why it ended" "$(cat "$scratch/err")" 'the scheduler ended: .*user'

start_run
echo S >/proc/sysrq-trigger
wait $pid
is "an ejected scheduler ends the run with status 1" $? 1
is "the kernel's own is back after that" "$(state)" disabled
like "and it says why" "$(cat "$scratch/err")" 'the scheduler ended: .*sysrq'

"$tactus" run --json -- sh -c 'cat /sys/kernel/sched_ext/state; hackbench -g 1 -l 50 >/dev/null; sleep 1.3; exit 5' >"$scratch/out" 2>"$scratch/err"
is "a command's exit status is passed on" $? 5
is "it ran under the scheduler" "$(head -n 1 "$scratch/out")" enabled
is "JSON status rows name the scheduler" "$(grep '^{' "$scratch/out" | json 'd["scheduler"]')" tactus
queued=$(grep '^{' "$scratch/out" | json 'sum(r["queued"] + r["at_once"] for r in rows)')
say_measured "$queued threads dispatched by tactus"
holds "and count what it dispatched" test "$queued" -gt 100
is "the kernel's own is back at the end" "$(state)" disabled

echo 0 >/sys/devices/system/cpu/cpu1/online
is "a CPU that is offline has no row" "$("$tactus" cpus -d 0.2 --json | json 'len(rows)')" 1
echo 1 >/sys/devices/system/cpu/cpu1/online
is "no error was logged by the kernel" "$(dmesg | grep -E 'sched_ext.*(error|stall)|WARNING|BUG:')" ''
done_testing
