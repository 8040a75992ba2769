#!/usr/bin/env bash
# Control groups' quotas (cpu.max) under the scheduler, which has to keep them itself from Linux 6.17 on: a group gets what it may
# and no more, groups inside others too, and nobody waits for so long that the kernel takes it for forgotten.
# Runs in the VM, by the virtual clock of one CPU or with several.
. tests/tap.sh
. tests/guest/scheduler.sh

top=/sys/fs/cgroup
mountpoint -q $top || mount -t cgroup2 none $top
echo +cpu >$top/cgroup.subtree_control
# group NAME QUOTA-US PERIOD-US
group() { mkdir -p "$top/$1"; echo "$2 $3" >"$top/$1/cpu.max"; }
# hogs_in GROUP COUNT
hogs_in() {
	for _ in $(seq "$2"); do
		hog sh -c 'echo $$ >"$0/cgroup.procs"; exec "$@"' "$top/$1"
	done
}
# Leaves in now_ms what the clock says and in used_ms what each group has had so far, without starting a program: that takes
# long by the virtual clock.
look() {
	local group word value uptime
	used_ms=()
	read -r uptime _ </proc/uptime
	now_ms=$((10#${uptime/./} * 10))
	for group in "$@"; do
		while read -r word value; do
			[ "$word" != usage_usec ] || used_ms+=($((value / 1000)))
		done <"$top/$group/cpu.stat"
	done
}
# permille SECONDS GROUP...: leaves in got what each got in that time, in thousandths of one CPU
permille() {
	local seconds=$1 began_ms before
	shift
	look "$@"
	began_ms=$now_ms before=("${used_ms[@]}")
	sleep "$seconds"
	look "$@"
	got=()
	for i in "${!used_ms[@]}"; do got+=($(((used_ms[i] - before[i]) * 1000 / (now_ms - began_ms)))); done
}
# within VALUE WANTED TOLERANCE
within() { test "$1" -ge $(($2 - $3)) -a "$1" -le $(($2 + $3)); }

group early 20000 100000
hogs_in early 2
start_run
is "tactus is in charge" "$(state)" enabled
# What they ran while it came they owe.
sleep 2
permille 4 early
read -r early <<<"${got[*]}"
say_measured "two hogs in a group of 20 %, set before the scheduler came: $early permille of a CPU"
holds "a quota that was there before the scheduler is kept" within "$early" 200 20
end_load

group fifth 20000 100000
group free max 100000
hogs_in fifth 3
hogs_in free 1
sleep 1
permille 5 fifth free
read -r fifth free <<<"${got[*]}"
say_measured "three hogs in a group of 20 % beside one without a limit: $fifth and $free permille"
holds "a group with a quota gets what it may" within "$fifth" 200 20
holds "the rest is for others" test "$free" -gt 700
echo "50000 100000" >$top/fifth/cpu.max
sleep 0.5
permille 4 fifth
read -r half <<<"${got[*]}"
# Beside a hog of the same weight a group of one CPU gets half of it at most.
say_measured "with a quota of 50 %: $half permille"
holds "a quota counts as soon as it is changed" within "$half" 490 45
echo "max 100000" >$top/free/cpu.max
kill -KILL "${load[-1]}"
sleep 0.5
permille 4 fifth
read -r half <<<"${got[*]}"
say_measured "with a quota of 50 % and nobody beside: $half permille"
holds "a quota is kept on an idle machine too" within "$half" 500 25
echo "max 100000" >$top/fifth/cpu.max
sleep 0.5
permille 3 fifth
read -r all <<<"${got[*]}"
say_measured "without a quota: $all permille"
holds "threads without a quota get all there is" test "$all" -gt 900
end_load

# A group inside another: the outer quota holds for all in it, the inner one for its own.
mkdir -p $top/outer
echo +cpu >$top/outer/cgroup.subtree_control
group outer 40000 100000
group outer/tight 10000 100000
group outer/loose max 100000
hogs_in outer/tight 2
hogs_in outer/loose 2
sleep 1
permille 5 outer outer/tight outer/loose
read -r outer tight loose <<<"${got[*]}"
say_measured "in a group of 40 %, one of 10 % and one without: $outer together, $tight and $loose permille"
holds "groups inside another keep to its quota together" within "$outer" 400 30
holds "a quota inside another is kept too" within "$tight" 100 15
end_load

# Many threads, next to nothing to run: each gets a little before the watchdog looks.
group drop 1000 100000
hogs_in drop 20
# Leaves in ran_ns what each has run; one that waits for files gets less than a millisecond done at a time.
look_at_threads() {
	local one value
	ran_ns=()
	for one in "${load[@]}"; do
		read -r value _ <"/proc/$one/schedstat"
		ran_ns+=("$value")
	done
}
look_at_threads
before=("${ran_ns[@]}")
sleep 14
look_at_threads
starved=0
for i in "${!load[@]}"; do [ "${ran_ns[i]}" -gt "${before[i]}" ] || starved=$((starved + 1)); done
permille 3 drop
read -r drop <<<"${got[*]}"
say_measured "20 hogs in a group of 1 %: $drop permille, $starved of them got nothing in 14 s"
is "nobody is forgotten in a group with hardly any quota" $starved 0
holds "such a group gets little" test "$drop" -lt 60
is "tactus is still in charge after that" "$(state)" enabled
sleep 1
is "the watchdog had nothing to say" "$(grep -c 'the scheduler ended' "$scratch/err")" 0
end_load
stop_run
is "the run with quotas ends with status 0" $? 0
is "the kernel had nothing to say" "$(dmesg | grep -cE 'sched_ext.*(error|stall|failed)|WARNING|BUG:|INFO: ')" 0
done_testing
