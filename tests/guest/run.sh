#!/usr/bin/env bash
# tactus run where the kernel has sched_ext: it takes over, work gets done, and every end gives the CPUs back.
# Runs in the VM. Usage: run.sh [quick]   (quick: it comes, work gets done, and it goes by SIGKILL, Ctrl-C and ejection)
. tests/tap.sh

. tests/guest/scheduler.sh

# With every sensor, which takes long to load here: once.
start_whole_run() {
	"$tactus" run --compare off >"$scratch/out" 2>"$scratch/err" &
	pid=$!
	[ "$(state_within 1200 enabled)" = enabled ]
}

is "the kernel's own scheduler is in charge at first" "$(state)" disabled
holds "hackbench completes under the kernel's own scheduler" hackbench -g 2 -l 40

start_whole_run
is "tactus run takes over" "$(state)" enabled
is "the scheduler in charge is called tactus" "$(cat /sys/kernel/sched_ext/root/ops)" tactus
like "tactus run says that it schedules by sched_ext" "$(cat "$scratch/err")" 'scheduling by sched_ext'
holds "hackbench completes under tactus" hackbench -g 2 -l 40
is "tactus is still in charge after hackbench" "$(state)" enabled
more_of_a_run() {
	# The other CPU is idle. Under the kernel's own scheduler, or where the thread is left in its place, it stands still every time.
	read -r met still < <(build/workloads/shoved 60)
	say_measured "$met times a realtime thread took the CPU of one at work; $still times that one stood still all the while"
	holds "a realtime thread takes the CPU of one at work at least 10 times" test "$met" -ge 10
	holds "a thread whose CPU a realtime thread takes goes on on an idle one" test $((still * 2)) -lt "$met"
	is "doctor names who is in charge" "$("$tactus" doctor --quick --json | json 'd["sched_ext"]["loaded"]')" tactus
	ends "a second run that wants to schedule cannot" 1 'another sched_ext scheduler is in charge: tactus' \
		"$tactus" run --actuator scx -d 0.5
	is "a second run leaves the first in charge" "$(state)" enabled
	wait_for "$scratch/out" "scx"
	like "a run prints status lines" "$(tail -n 1 "$scratch/out")" '^[0-9:]{8}  scx .* [0-9]+$'
	say_measured "$(tail -n 1 "$scratch/out")"
}
[ "${1:-}" = quick ] || more_of_a_run
kill -KILL $pid
is "the kernel's own scheduler is back after SIGKILL" "$(state_within 300 disabled)" disabled
wait $pid 2>/dev/null
holds "hackbench completes after SIGKILL" hackbench -g 2 -l 40

start_run
kill -INT $pid
wait $pid
is "Ctrl-C ends a run with status 0" $? 0
is "the kernel's own scheduler is back after Ctrl-C" "$(state)" disabled
like "a run that Ctrl-C ended says so" "$(cat "$scratch/err")" 'the scheduler ended: .*user'

run_options=(--power balanced)
start_run
run_options=()
holds "hackbench completes under tactus with balanced power" hackbench -g 1 -l 20
# From the other CPU: the kernel takes it off and puts it on again there.
hog
for nice in 1 2 3 4 5 6 7 8 9 10; do renice -n $nice -p "$hog_pid" >/dev/null; done
is "tactus stays in charge when a running thread's nice value changes from another CPU" "$(state)" enabled
end_load
echo S >/proc/sysrq-trigger
wait $pid
is "an ejected scheduler ends the run with status 1" $? 1
is "the kernel's own scheduler is back after an ejection" "$(state)" disabled
like "an ejected run says why it ended" "$(cat "$scratch/err")" 'the scheduler ended: .*sysrq'

more_runs() {
	"$tactus" run --power save --json --without "$left_out" -- sh -c 'cat /sys/kernel/sched_ext/state; hackbench -g 1 -l 50 >/dev/null; sleep 1.3; exit 5' >"$scratch/out" 2>"$scratch/err"
	is "a command's exit status is passed on" $? 5
	is "a command runs under the scheduler" "$(grep -v "^{" "$scratch/out" | head -n 1)" enabled
	is "JSON status rows name the scheduler" "$(grep '^{' "$scratch/out" | json 'd["scheduler"]')" tactus
	queued=$(grep '^{' "$scratch/out" | json 'sum(r["queued"] + r["at_once"] for r in rows)')
	say_measured "$queued threads dispatched by tactus"
	holds "JSON status rows count what was dispatched" test "$queued" -gt 100
	# There is no frequency to change in here: what is counted is that the kernel was asked.
	speeds=$(grep '^{' "$scratch/out" | json 'sum(r["speeds"] for r in rows)')
	say_measured "$speeds times a CPU was asked for another speed"
	holds "CPUs are asked for other speeds to save power" test "$speeds" -gt 0
	is "the kernel's own scheduler is back when the command has ended" "$(state)" disabled

	echo 0 >/sys/devices/system/cpu/cpu1/online
	is "a CPU that is offline has no row" "$("$tactus" cpus -d 0.2 --json | json 'len(rows)')" 1
	echo 1 >/sys/devices/system/cpu/cpu1/online
}
[ "${1:-}" = quick ] || more_runs
is "the kernel logged no error, stall or warning under runs" "$(dmesg | grep -A 12 -E 'sched_ext.*(error|stall)|WARNING|BUG:')" ''
done_testing
