#!/usr/bin/env bash
# stress-ng's stressors that load the scheduler, all at once for SECONDS: stress.sh SECONDS. Prints what each got done and
# fails if one did not come to its end. Runs in the VM.
set -u

seconds=${1:?}
# Each with two workers: forks and clones, context switches, futexes, semaphores, signals, timers, affinities, priorities,
# pipes, yields, message queues, threads, zombies, sleepers, spinners. Not mutex and schedpolicy: their realtime threads
# hardly sleep, and Linux 6.12 keeps a share of the CPUs from those for its own scheduler's threads alone.
stressors="affinity clone context cpu daemon fork futex mq msg nanosleep pipe poll pthread resched
sem sem-sysv sigq sigsuspend sleep switch timer timerfd vfork wait yield zombie"
words=()
for name in $stressors; do words+=("--$name" 2); done
out=$(stress-ng --timeout "$seconds" --metrics-brief --oom-avoid "${words[@]}" 2>&1)
status=$?
echo "$out" | awk '$1 == "stress-ng:" && $4 ~ /^[a-z-]+$/ && $5 ~ /^[0-9]+$/ {printf "%s %s, ", $4, $5}'
# The children of one resched worker count in one place without a lock: that its count is off says nothing of the scheduler.
known='resched instance [0-9]+ (corrupted bogo-ops counter|hash error in bogo-ops)|metrics-check: stressor metrics corrupted'
if [ $status = 2 ] && ! echo "$out" | grep ' fail: ' | grep -qvE "$known"; then
	echo "resched's workers have miscounted; "
	status=0
fi
echo "status $status"
[ $status = 0 ] || echo "$out" | grep -vE 'metrc' | tail -n 20
exit $status
