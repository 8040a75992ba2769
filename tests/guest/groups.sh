#!/usr/bin/env bash
# Control groups' weights under the scheduler, by the virtual clock: who gets how much of one CPU.
# Runs in the VM.
. tests/tap.sh

run="$tactus run --compare off --without launch,gpu,wine,input,frame,socket,sound,names"
top=/sys/fs/cgroup
mountpoint -q $top || mount -t cgroup2 none $top
echo +cpu >"$top/cgroup.subtree_control"
# group NAME WEIGHT
group() { mkdir -p "$top/$1"; echo "$2" >"$top/$1/cpu.weight"; }
# hog_in GROUP: one that burns there
hog_in() {
	timeout 60 sh -c 'echo $$ >"$1/cgroup.procs"; while :; do :; done' - "$top/$1" &
	hogs+=($!)
}
usage_ms() { awk '$1 == "usage_usec" { print int($2 / 1000) }' "$top/$1/cpu.stat"; }
# share SECONDS GROUP OTHER: what each got in that time, in ms
share() {
	local first second
	first=$(usage_ms "$2") second=$(usage_ms "$3")
	sleep "$1"
	echo $(($(usage_ms "$2") - first)) $(($(usage_ms "$3") - second))
}
end_hogs() {
	kill "${hogs[@]}"
	wait "${hogs[@]}" 2>/dev/null
	hogs=()
}

group heavy 300
group light 100
$run >"$scratch/out" 2>"$scratch/err" &
runner=$!
wait_for "$scratch/err" "scheduling by sched_ext"
hogs=()
hog_in heavy
for _ in 1 2 3; do hog_in light; done
sleep 2
read -r heavy light < <(share 4 heavy light)
say_measured "one thread in a group of 300 got $heavy ms, three in one of 100 got $light ms together"
is_between "a group of 300 gets three times what one of 100 gets, however many threads are in that, within a tenth" \
	$((light * 27)) $((heavy * 10)) $((light * 33))
echo 600 >"$top/light/cpu.weight"
read -r heavy light < <(share 4 heavy light)
say_measured "after the second group's weight became 600: $heavy ms and $light ms"
is_between "a weight counts as soon as it is changed" $((heavy * 18)) $((light * 10)) $((heavy * 22))
end_hogs

# A group inside another, and a thread that moves from one to the other.
mkdir -p "$top/nest"
echo +cpu >"$top/nest/cgroup.subtree_control"
group nest 100
group nest/inner 1000
echo 100 >"$top/light/cpu.weight"
hog_in nest/inner
hog_in light
sleep 1
read -r inner light < <(share 3 nest/inner light)
say_measured "inside a group of 100, with a weight of 1000 there: $inner ms; beside it in one of 100: $light ms"
is_between "a weight inside a group counts in there only" $((light * 92)) $((inner * 100)) $((light * 10000 / 92))
hog_in nest/inner
sleep 0.5
while read -r pid; do echo "$pid" >"$top/heavy/cgroup.procs"; done <"$top/nest/inner/cgroup.procs"
read -r heavy light < <(share 4 heavy light)
say_measured "both moved to a group of 300: $heavy ms; $light ms"
is_between "threads that move bring their load with them" $((light * 27)) $((heavy * 10)) $((light * 33))
end_hogs
kill -INT $runner
wait $runner
is "a run with control groups ends well" $? 0
done_testing
