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
misses dump_roles "roles are known only from events" roles -d 0.2
misses take_waits "whether acting makes threads wait longer is not seen" roles -d 0.2
misses ease "who waits longer because of the scheduler gets no relief" roles -d 0.2

# Both programs for wake-ups at once, by their common beginning: waits after wake-ups are gone, the others are not.
TACTUS_SKIP_HOOKS=sched:on_sched_wakeup,sched:on_sched_waking "$tactus" latency -d 0.5 --json -- hackbench -g 1 -l 200 \
	>"$scratch/out" 2>"$scratch/err"
is "latency ends well where no wake-up is seen" $? 0
is "every one of the three losses is said once" "$(grep -c '^tactus: sched: ' "$scratch/err")" 3

# A kernel whose BTF says something else of a variable of the kernel's, with every type's number as it is.
if build/tests/btf_spoil /sys/kernel/btf/vmlinux "$scratch/btf" __preempt_count pcpu_hot 2>"$scratch/err"; then
	unshare -m sh -c 'mount --bind "$1" /sys/kernel/btf/vmlinux && exec "$2" latency -d 0.2 --json -- hackbench -g 1 -l 200' \
		- "$scratch/btf" "$tactus" >"$scratch/out" 2>"$scratch/err"
	is "latency ends well where a variable of the kernel's is of another kind" $? 0
	is "latency says in one line what it misses then, with the reason" \
		"$(grep -cE '^tactus: sched: whether a thread or an interrupt wakes another is not known: .*incompatible types' "$scratch/err")" 1
	is "latency misses nothing else then" "$(grep -c '^tactus: sched: ' "$scratch/err")" 1
	holds "latency sees wake-ups then" test "$(wc -l <"$scratch/out")" -gt 10
else
	skip "latency does without a variable of another kind" "$(cat "$scratch/err")"
fi

rows=$(TACTUS_SKIP_HOOKS=sched:on_sched_waking "$tactus" roles -d 1 --json -n all -- build/workloads/worker 2>/dev/null | wc -l)
say_measured "$rows threads with a role where wakers are not known"
holds "roles has answers where wakers are not known" test "$rows" -gt 0

ends "the sched sensor is off without the switches, and the line says why" 1 'cannot watch the scheduler: ' \
	env TACTUS_SKIP_HOOKS=sched: "$tactus" tasks -d 0.2
TACTUS_SKIP_HOOKS=sched:on_task_rename "$tactus" cpus -d 0.2 >/dev/null 2>"$scratch/err"
is "cpus, which needs none of them, says nothing" "$? $(wc -l <"$scratch/err")" "0 0"
done_testing
