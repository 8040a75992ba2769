#!/usr/bin/env bash
# A program that the kernel refuses costs what it is for: every view that can do without it works, and says in one line what it
# misses and why. The programs are switched off here as if refused; kernels that really refuse some are in tests/guest/kernel-faults.sh.
set -uo pipefail
. tests/tap.sh

# misses PROGRAM LOSS VIEW...: the view ends well without it and says the loss
misses() {
	local program=$1 loss=$2 status=0
	shift 2
	TACTUS_SKIP_HOOKS="sched:$program" "$tactus" "$@" >"$scratch/out" 2>"$scratch/err" || status=$?
	is "$1 ends well without $program" $status 0
	is "$1 says in one line what it misses without $program" \
		"$(grep -cE "^tactus: sched: $loss: $program: .*switched off" "$scratch/err")" 1
}

misses on_sched_wakeup_new "the first wait of a new thread is not seen" latency -d 0.2
misses on_sched_migrate_task "moves between CPUs are not seen" migrations -d 0.2
misses on_sched_process_fork "threads that begin later are not seen" events -d 0.2
misses on_task_rename "a thread that changes its name keeps the old one" tasks -d 0.2
misses on_sched_process_exec "a program that is started by another than its process's first thread is not followed" tasks -d 0.2
misses assign "what the program finds out about threads does not count for their roles" roles -d 0.2
misses dump_roles "roles are known only as far as events told them" roles -d 0.2

# Both programs for wake-ups at once, by their common beginning: waits after wake-ups are gone, the others are not.
TACTUS_SKIP_HOOKS=sched:on_sched_wakeup,sched:on_sched_waking "$tactus" latency -d 0.5 --json -- hackbench -g 1 -l 200 \
	>"$scratch/out" 2>"$scratch/err"
is "latency ends well where no wake-up is seen" $? 0
is "every one of the three losses is said once" "$(grep -c '^tactus: sched: ' "$scratch/err")" 3

rows=$(TACTUS_SKIP_HOOKS=sched:on_sched_waking "$tactus" roles -d 1 --json -n all -- build/workloads/worker 2>/dev/null | wc -l)
say_measured "$rows threads with a role where wakers are not known"
holds "roles has answers where wakers are not known" test "$rows" -gt 0

ends "the sched sensor is off without the switches, and the line says why" 1 'cannot watch the scheduler: ' \
	env TACTUS_SKIP_HOOKS=sched: "$tactus" tasks -d 0.2
TACTUS_SKIP_HOOKS=sched:on_task_rename "$tactus" cpus -d 0.2 >/dev/null 2>"$scratch/err"
is "cpus, which needs none of them, says nothing" "$? $(wc -l <"$scratch/err")" "0 0"
done_testing
