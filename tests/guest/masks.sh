#!/usr/bin/env bash
# Threads that may run on some CPUs alone, under the scheduler: no CPU stands still beside one that may run there.
# Runs in a VM with four CPUs.
. tests/tap.sh
. tests/guest/scheduler.sh

# idle_and_all: what the four CPUs were idle, and all of their time, in hundredths of a second
idle_and_all() { awk '/^cpu[0-3] / { idle += $5 + $6; for (i = 2; i <= 9; i++) all += $i } END { print idle, all }' /proc/stat; }

start_run
is "tactus takes over four CPUs" "$(state)" enabled
# Nobody waits that may run on the first two but who runs there; those that wait, in the same queue, may run on the others alone.
for _ in 1 2; do hog taskset -c 0,1; done
for _ in 1 2 3 4 5; do hog taskset -c 2,3; done
runs_on 100 "${load[@]}"
read -r idle_before all_before < <(idle_and_all)
sleep 3
read -r idle all < <(idle_and_all)
end_load
idle=$((idle - idle_before)) all=$((all - all_before))
say_measured "beside seven hogs four CPUs were idle for ${idle}0 ms of ${all}0"
holds "CPUs whose hogs have them for themselves, beside hogs that wait and may not run there, are idle for less than a twentieth of the time" \
	test $((idle * 20)) -lt "$all"
is "tactus is in charge after hogs with different affinities" "$(state)" enabled
stop_run
is "the kernel logged no error, stall or warning under hogs with different affinities" "$(dmesg | grep -A 12 -E 'sched_ext.*(error|stall)|WARNING|BUG:')" ''
done_testing
