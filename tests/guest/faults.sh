#!/usr/bin/env bash
# What may happen to the scheduler, under load: its program is killed, a thread stalls, another scheduler is there already, it
# comes and goes time and again. Runs in the VM. Usage: faults.sh [CYCLES]
. tests/tap.sh
. tests/guest/scheduler.sh

cycles=${1:-50}

# It takes what others leave, so that programs start as quickly as without.
start_load() {
	for _ in 1 2 3; do hog nice -n 19; done
	hogs=("${load[@]}")
	timeout 900 nice -n 19 sh -c 'while hackbench -g 1 -l 20 >/dev/null; do :; done' &
	load+=($!)
}

start_load
start_run
is "tactus is in charge under load" "$(state)" enabled
kill -KILL $pid
is "the kernel's own scheduler is back after SIGKILL under load" "$(state_within 300 disabled)" disabled
wait $pid 2>/dev/null
holds "every thread runs on after SIGKILL" runs_on 50 "${hogs[@]}"
holds "new threads run after SIGKILL" timeout 60 hackbench -g 1 -l 20

at "killed"
build/workloads/scx_hold as stranger >"$scratch/stranger" 2>&1 &
stranger=$!
wait_for "$scratch/stranger" "in charge"
is "a stranger's scheduler is in charge" "$(cat /sys/kernel/sched_ext/root/ops)" stranger
ends "a run with --actuator scx is told who is in charge" 1 'cannot schedule by sched_ext: another sched_ext scheduler is in charge: stranger' \
	"$tactus" run --without launch,gpu,wine,input,frame,socket,sound,names --actuator scx -d 0.5
"$tactus" run --without launch,gpu,wine,input,frame,socket,sound,names -d 1.5 >"$scratch/out" 2>"$scratch/err"
is "a run without --actuator works beside a stranger's scheduler" $? 0
like "a run beside a stranger's scheduler says why it has no sched_ext" "$(cat "$scratch/err")" 'no sched_ext scheduler: another sched_ext scheduler is in charge: stranger$'
like "a run beside a stranger's scheduler says that it only observes" "$(cat "$scratch/err")" '^tactus: another sched_ext scheduler is in charge: stranger: observing only$'
is "the stranger stays in charge" "$(state) $(cat /sys/kernel/sched_ext/root/ops)" "enabled stranger"
kill $stranger
wait $stranger
is "the stranger's scheduler leaves with status 0" $? 0

at "another's"
told=$(timeout $((cycles + 300)) build/workloads/scx_hold cycle "$cycles" 2>&1)
is "the scheduler comes and goes $cycles times under load" $? 0
say_measured "$told"
is "the kernel's own scheduler is in charge after $cycles cycles" "$(state)" disabled
holds "every thread runs on after $cycles cycles" runs_on 50 "${hogs[@]}"
is "the kernel logged no error, stall or warning in $cycles cycles" "$(dmesg | grep -cE 'sched_ext.*(error|stall|failed)|WARNING|BUG:|INFO: ')" 0

at "cycles"
# A realtime thread that never sleeps keeps one that may run on its CPU only from running: a stall, and no scheduler's to heal.
start_run
hog taskset -c 1
stalled=$hog_pid
holds "a thread of one CPU runs" runs_on 50 $stalled
# From Linux 7.0 on the kernel keeps a share for sched_ext's threads beside realtime ones, and nothing stalls.
beside_realtime() {
	hog taskset -c 1 chrt -f 10
	holds "a thread beside a realtime spinner gets the share that the kernel keeps for sched_ext" runs_on 300 $stalled
	is "the scheduler stays in charge beside a realtime spinner" "$(state)" enabled
	kill -KILL "$hog_pid"
}
stall() {
	local before
	hog taskset -c 1 chrt -f 10
	before=$(ran_ms $stalled)
	wait_for "$scratch/err" "the scheduler ended"
	like "a stalled thread gets the scheduler ejected, and it says who stalled and for how long" "$(cat "$scratch/err")" \
		'the scheduler ended: runnable task stall: .*\[[0-9]+\] failed to run for [0-9.]+s; '
	say_measured "$(grep 'the scheduler ended' "$scratch/err")"
	kill -KILL $hog_pid
	holds "the stalled thread runs again" runs_on 100 $stalled
	say_measured "the stalled thread ran $before ms before, $(ran_ms $stalled) ms now"
	wait_for "$scratch/err" "scheduling by sched_ext again"
	is "the scheduler is back after the stall" "$(state_within 600 enabled)" enabled
}
if [ -e /sys/kernel/debug/sched/ext_server ]; then beside_realtime; else stall; fi
stop_run
is "a run beside a realtime spinner ends well" $? 0
is "the kernel's own scheduler is in charge after a run beside a realtime spinner" "$(state)" disabled
end_load
holds "hackbench completes after all faults" timeout 60 hackbench -g 2 -l 20
is "the kernel logged no warning in all faults" "$(dmesg | grep -cE 'WARNING|BUG:|INFO: |soft lockup')" 0
done_testing
