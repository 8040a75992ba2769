#!/usr/bin/env bash
# Whoever waits longer because of tactus is found, and what made it wait is taken back; where nobody does, nothing is said. On
# one CPU by the virtual clock, by hints and under sched_ext. Runs in the VM.
. tests/tap.sh
. tests/guest/scheduler.sh

# Urgent by the user's word: it crowds out others while it is.
printf '[roles]\ncrowd = audio\n' >"$scratch/conf"
crowd=(build/workloads/crowding crowd 3 15000 100000)
bystander=(build/workloads/crowding bystander 3000)
found="bystander \[[0-9]+\]: waits longer for CPUs while tactus acts \(p99 [0-9.]+ m?s a wake-up, without [0-9.]+ m?s\)"
# run_beside SAID OPTIONS...: a run that has begun; leaves pid behind
run_beside() {
	local said=$1
	shift
	rm -f "$scratch/rec"
	: >"$scratch/err"
	"$tactus" run --json --without "${left_out%,names},learned" -o "$scratch/rec" "$@" >"$scratch/out" 2>"$scratch/err" &
	pid=$!
	wait_for "$scratch/err" "$said"
}
nice_of() { awk '{print $19}' "/proc/$1/stat"; }
# Of the last second, in the object of that name.
sums() { json "rows[-1]['effect']['$1']" <"$scratch/out"; }

run_beside "hints to the kernel's scheduler" --actuator hints --config "$scratch/conf"
"${crowd[@]}" 60 &
crowd_pid=$!
"${bystander[@]}" 60 >/dev/null &
load+=("$crowd_pid" $!)
wait_for "$scratch/err" "$found" 300
like "a run by hints says who waits longer because of it, and whose hints it takes back for that" "$(cat "$scratch/err")" \
	"$found: crowd \[$crowd_pid\], which was urgent, is left to the kernel for 60 s"
say_measured "$(grep -E "$found" "$scratch/err")"
sleep 1.2
is "a thread whose hints were taken back for that has its own nice value again" "$(nice_of $crowd_pid)" 0
end_load
stop_run
is "a run's JSON counts the process that waited longer" "$(sums worse)" 1
is "a run's JSON says what was done" "$(json "rows[-1]['effect']['last']['remedy']" <"$scratch/out")" hold_back
like "a recording has an event of who waited longer" "$("$tactus" events -i "$scratch/rec" --only effect)" "effect .*cause_pid $crowd_pid .*what 1"

run_beside "scheduling by sched_ext" --actuator scx --config "$scratch/conf"
"${crowd[@]}" 60 &
load+=($!)
"${bystander[@]}" 60 >/dev/null &
load+=($!)
wait_for "$scratch/err" "$found" 300
like "a run under sched_ext says who waits longer because of it, and that it treats that one as urgent" "$(cat "$scratch/err")" \
	"$found: it is treated as urgent for 60 s"
say_measured "$(grep -E "$found" "$scratch/err")"
is "the scheduler is in charge after it has compared" "$(state_within 30 enabled)" enabled
end_load
stop_run
is "a run under sched_ext that compared ends well" $? 0
is "the kernel's own scheduler is back in charge" "$(state_within 30 disabled)" disabled

# Threads that wake by a clock are urgent, and so light that nobody waits for them.
run_beside "hints to the kernel's scheduler" --actuator hints
build/workloads/pace 5000 200 20000 >/dev/null &
load+=($!)
hog
"${bystander[@]}" 12 >/dev/null
end_load
stop_run
say_measured "beside an urgent thread that needs little and a hog: $(sums trials) trials"
is "a run where nobody waits longer because of it says so of nobody" "$(sums worse)" 0
done_testing
