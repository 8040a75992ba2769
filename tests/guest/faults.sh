#!/usr/bin/env bash
# What may happen to the scheduler, under load: its program is killed, a thread stalls, another scheduler is there already, it
# comes and goes a thousand times. Runs in the VM; called by tests/vm/22-faults.sh.
. tests/tap.sh
. tests/guest/scheduler.sh

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
is "after SIGKILL the kernel's own scheduler is back within a second" "$(state_within 10 disabled)" disabled
wait $pid 2>/dev/null
holds "every thread runs on" runs_on 50 "${hogs[@]}"
holds "new ones run too" timeout 60 hackbench -g 1 -l 20

at "killed"
build/workloads/scx_hold as stranger >"$scratch/stranger" 2>&1 &
stranger=$!
wait_for "$scratch/stranger" "in charge"
is "a stranger's scheduler is in charge" "$(cat /sys/kernel/sched_ext/root/ops)" stranger
ends "who wants sched_ext alone is told whose it is" 1 'cannot schedule by sched_ext: another sched_ext scheduler is in charge: stranger' \
	"$tactus" run --without launch,gpu,wine,input,frame,socket,sound,names --actuator scx -d 0.5
"$tactus" run --without launch,gpu,wine,input,frame,socket,sound,names -d 1.5 >"$scratch/out" 2>"$scratch/err"
is "who leaves the choice gets a run that works" $? 0
like "that says why not sched_ext" "$(cat "$scratch/err")" 'no sched_ext scheduler: another sched_ext scheduler is in charge: stranger$'
like "and what it does instead" "$(cat "$scratch/err")" "^tactus: hints to the kernel's scheduler: "
is "the stranger stays in charge" "$(state) $(cat /sys/kernel/sched_ext/root/ops)" "enabled stranger"
kill $stranger
wait $stranger
is "until he leaves" $? 0

at "another's"
cycles=$(timeout 200 build/workloads/scx_hold cycle 1000 2>&1)
is "it comes and goes a thousand times under load" $? 0
say_measured "$cycles"
is "the kernel's own is in charge after that" "$(state)" disabled
holds "every thread runs on" runs_on 50 "${hogs[@]}"
is "and the kernel had nothing to say" "$(dmesg | grep -cE 'sched_ext.*(error|stall|failed)|WARNING|BUG:|INFO: ')" 0

at "a thousand times"
# A realtime thread that never sleeps keeps one that may run on its CPU only from running: a stall, and no scheduler's to heal.
start_run
hog taskset -c 1
stalled=$hog_pid
holds "a thread of one CPU runs" runs_on 50 $stalled
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
is "and the scheduler is back" "$(state_within 50 enabled)" enabled
stop_run
is "it ends well" $? 0
is "the kernel's own is in charge after that" "$(state)" disabled
end_load
holds "the machine lives" timeout 60 hackbench -g 2 -l 20
is "nothing worse was logged" "$(dmesg | grep -cE 'WARNING|BUG:|INFO: |soft lockup')" 0
done_testing
