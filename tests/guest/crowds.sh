#!/usr/bin/env bash
# Many threads and changing rules under the scheduler, in one run of it that must last to the end: ten thousand threads, a
# fork bomb, quotas, affinities, cpusets, weights from end to end, a clock that jumps.
# Runs in the VM. Usage: crowds.sh [SECONDS-OF-STRESS]
. tests/tap.sh
. tests/guest/scheduler.sh

stress_s=${1:-10}

top=/sys/fs/cgroup
in_charge() { at "$1"; is "tactus is still in charge $1" "$(state) $(cat /sys/kernel/sched_ext/root/ops 2>/dev/null)" "enabled tactus"; }
# into GROUP COMMAND...: starts it there, in this process
into() {
	echo $BASHPID >"$top/$1/cgroup.procs"
	shift
	exec "$@"
}
echo "+cpu +cpuset +pids" >$top/cgroup.subtree_control
mkdir $top/bomb $top/quota $top/set

# How long so many threads take is the machine's matter: first by the kernel's own scheduler.
began=$SECONDS
build/workloads/crowd wake 10000 2 >/dev/null 2>&1
by_kernel_s=$((SECONDS - began + 1))

start_run
is "tactus is in charge" "$(state)" enabled

began=$SECONDS
crowd=$(timeout $((by_kernel_s * 3 + 10)) build/workloads/crowd wake 10000 2 2>&1)
is "ten thousand threads wake, a thousand at a time, twice, in at most three times what the kernel's own scheduler takes" $? 0
say_measured "$crowd; $((SECONDS - began)) s, $by_kernel_s s by the kernel's own scheduler"
like "every one of ten thousand threads is woken twice" "$crowd" '^10000 threads made .* 20000 times woken'
in_charge "after ten thousand threads"

echo 300 >$top/bomb/pids.max
(into bomb timeout 60 bash -c 'f() { f | f & }; f; sleep 60' >/dev/null 2>&1) &
bomb=$!
refused() { awk '/^max/ {print $2}' $top/bomb/pids.events; }
for ((i = 0; i < 300 && $(refused) <= 100; i++)); do sleep 0.1; done
# shellcheck disable=SC2016
beside=$(timeout 30 sh -c 'for i in 1 2 3 4 5 6 7 8 9 10; do sleep 0.05; done; echo done')
is "beside a fork bomb a program comes to its end" "$beside" "done"
holds "the fork bomb has met its limit of processes" test "$(refused)" -gt 100
say_measured "$(cat $top/bomb/pids.peak) processes at once, $(refused) forks refused"
echo 1 >$top/bomb/cgroup.kill
wait $bomb 2>/dev/null
in_charge "after a fork bomb"

echo "20000 100000" >$top/quota/cpu.max
for _ in 1 2 3; do
	(into quota build/workloads/pace 0 1 60000 >/dev/null) &
	load+=($!)
done
holds "threads with a quota run" runs_on 100 "${load[@]}"
for quota in "5000 100000" "max 100000" "20000 50000"; do
	echo "$quota" >$top/quota/cpu.max
	sleep 0.3
done
holds "threads go on when their quota changes" runs_on 100 "${load[@]}"
end_load
in_charge "after quotas"

read -r changes strayed gap_ms < <(timeout 60 build/workloads/crowd move 12 6000)
say_measured "$changes changes of affinity in 6 s over 12 threads that spin; the longest that one of them stood still: $gap_ms ms"
holds "affinities change more than a hundred times in six seconds" test "$changes" -gt 100
is "no thread runs where it may not" "$strayed" 0
holds "no thread stands still for seconds while affinities change" test "$gap_ms" -lt 4000
in_charge "after changes of affinity"

for _ in 1 2 3 4; do
	(into set build/workloads/pace 0 1 60000 >/dev/null) &
	load+=($!)
done
strayed=0
for cpus in 0 1 0-1 1 0 0-1; do
	echo $cpus >$top/set/cpuset.cpus
	holds "threads of a cpuset run when it becomes $cpus" runs_on 100 "${load[@]}"
	for hog in "${load[@]}"; do
		cpu=$(awk '{print $39}' "/proc/$hog/stat")
		[[ $cpus = 0-1 || $cpus = "$cpu" ]] || strayed=$((strayed + 1))
	done
done
is "threads of a cpuset run on its CPUs only, after each change" $strayed 0
end_load
in_charge "after changes of a cpuset"

# The kernel's threads of each CPU, asked for by whoever refreshes the statistics, while threads pinned there spin.
for cpu in 0 0 1 1; do hog taskset -c $cpu; done
refreshed=0
for _ in $(seq 20); do
	timeout 10 sh -c 'echo 1 >/proc/sys/vm/stat_refresh' && refreshed=$((refreshed + 1))
done
is "the kernel's threads of each CPU come to run beside pinned ones" $refreshed 20
holds "pinned threads run beside the kernel's threads of their CPU" runs_on 50 "${load[@]}"
end_load

# Weights from end to end: who has the least still gets something, and no thread waits so long that the watchdog bites.
for _ in 1 2 3; do hog taskset -c 1 nice -n -20; done
hog taskset -c 1 nice -n 19
hog taskset -c 1 chrt -i 0
hog taskset -c 1
sleep 1
for i in 0 1 2 3 4 5; do before[i]=$(ran_ms "${load[i]}"); done
sleep 15
for i in 0 1 2 3 4 5; do got[i]=$(($(ran_ms "${load[i]}") - before[i])); done
say_measured "on one CPU for 15 s: nice -20 got ${got[*]:0:3} ms, nice 19 ${got[3]}, SCHED_IDLE ${got[4]}, nice 0 ${got[5]} ms"
in_charge "after 15 s of extreme weights"
holds "a thread at nice 19 has got something done beside nice -20" test "${got[3]}" -gt 0
holds "a SCHED_IDLE thread has got something done beside nice -20" test "${got[4]}" -gt 0
holds "the heaviest threads get most of the CPU" test $((got[0] + got[1] + got[2])) -gt $(((got[3] + got[4] + got[5]) * 5))
end_load

# SCHED_IDLE gets what is left, and a little of what is not.
hog taskset -c 0
other=$hog_pid
hog taskset -c 0 chrt -i 0
idle=$hog_pid
sleep 1
idle_before=$(ran_ms $idle) other_before=$(ran_ms $other)
sleep 5
idle_got=$(($(ran_ms $idle) - idle_before)) other_got=$(($(ran_ms $other) - other_before))
say_measured "on one CPU for 5 s: SCHED_IDLE $idle_got ms, an ordinary thread $other_got ms"
holds "a SCHED_IDLE thread gets less than a tenth beside an ordinary one" test $((idle_got * 10)) -lt $other_got
holds "a SCHED_IDLE thread gets something beside an ordinary one" test $idle_got -gt 0
kill -KILL $other
idle_before=$(ran_ms $idle)
sleep 2
holds "a SCHED_IDLE thread gets the CPU when nobody else wants it" test $(($(ran_ms $idle) - idle_before)) -gt 500
end_load

# A pinned thread and threads that may run anywhere: each gets its share.
for _ in 1 2 3; do hog; done
hog taskset -c 0
sleep 1
before=() got=()
for i in 0 1 2 3; do before[i]=$(ran_ms "${load[i]}"); done
sleep 6
for i in 0 1 2 3; do got[i]=$(($(ran_ms "${load[i]}") - before[i])); done
say_measured "of two CPUs in 6 s: pinned ${got[3]} ms, free to move ${got[0]}, ${got[1]}, ${got[2]} ms"
least=$(printf '%s\n' "${got[@]}" | sort -n | head -n 1) most=$(printf '%s\n' "${got[@]}" | sort -n | tail -n 1)
holds "of a pinned thread and three free ones nobody gets less than half of what another gets" test $((least * 2)) -ge "$most"
end_load

# A day forward and back, as after a suspend or by a time server.
hog
lines=$(wc -l <"$scratch/out")
date -s "+1 day" >/dev/null
sleep 2.5
holds "after a jump of the clock by a day threads run" runs_on 50 $hog_pid
holds "status lines go on after a jump of the clock by a day" test "$(wc -l <"$scratch/out")" -gt "$lines"
date -s "-1 day" >/dev/null
holds "threads run after a jump of the clock a day back" runs_on 50 $hog_pid
end_load
in_charge "after jumps of the clock"

stressors=$(timeout $((stress_s * 3 + 200)) tests/guest/stress.sh "$stress_s" 2>&1)
is "stress-ng's stressors of the scheduler all come to their end after $stress_s s" $? 0
say_measured "$stressors"
in_charge "after stress-ng"

ended=$(grep "the scheduler ended" "$scratch/err")
is "the scheduler has not ended once in all of this" "$ended" ""
stop_run
is "the run under which all of this happened ends well" $? 0
is "the kernel logged no error, stall or warning under crowds" "$(dmesg | grep -cE 'sched_ext.*(error|stall|failed)|WARNING|BUG:|INFO: |soft lockup')" 0
done_testing
