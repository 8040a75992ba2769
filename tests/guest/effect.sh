#!/usr/bin/env bash
# Whoever waits longer because of tactus is found, and what made it wait is taken back; where nobody does, nothing is said. On
# one CPU by the virtual clock, by hints and under sched_ext; and beside a game in front, under sched_ext. Runs in the VM.
# Usage: effect.sh [game] (game: the last alone).
. tests/tap.sh
. tests/guest/scheduler.sh

# A game in front keeps what it has; who waits too long meanwhile, whoever takes its CPU, is treated as urgent.
beside_game() {
	local bystander game drawer taker
	cp build/workloads/present "$scratch/puzzle"
	mkfifo "$scratch/go"
	: >"$scratch/err"
	"$tactus" run --json --without learned,feed,gpu,wine,input,socket,sound --actuator scx --game puzzle >"$scratch/out" 2>"$scratch/err" &
	pid=$!
	wait_for "$scratch/err" "scheduling by sched_ext"
	build/workloads/crowding bystander 3000 120 >/dev/null &
	bystander=$!
	"$scratch/puzzle" call libEGL.so.1 eglSwapBuffers 1 wait <"$scratch/go" >"$scratch/presented" 2>&1 &
	game=$!
	load+=("$bystander" "$game")
	exec 3>"$scratch/go"
	wait_for "$scratch/presented" mapped
	# What it waits before the game shows itself, some windows of it.
	sleep 6
	is "under sched_ext no game is in front before its first frame" "$(json 'rows[-1]["game_pid"]' <"$scratch/out")" None
	(while sleep 0.1; do echo; done >&3) &
	drawer=$!
	chrt -f 1 build/workloads/pace 500000 400000 90000 >/dev/null &
	taker=$!
	load+=("$drawer" "$taker")
	wait_for "$scratch/err" 'waits too long for CPUs' 400
	say_measured "$(grep 'waits too long' "$scratch/err")"
	like "under sched_ext a process that waits too long beside a game in front is told with the game, and treated as urgent" "$(grep 'waits too long' "$scratch/err")" \
		"bystander \[$bystander\]: waits too long for CPUs while the game puzzle \[$game\] is in front \(p99 [0-9.]+ m?s a wake-up, before [0-9.]+ [mu]?s\): it is treated as urgent for 60 s"
	sleep 1.5
	is "under sched_ext the JSON has the game in front" "$(json 'rows[-1]["game_pid"]' <"$scratch/out")" "$game"
	is "under sched_ext the JSON has what was done for whom beside which game" \
		"$(json '[rows[-1]["effect"]["last"][k] for k in ("pid", "cause_pid", "remedy")]' <"$scratch/out")" "[$bystander, $game, 'ease']"
	is "the scheduler is in charge beside a game in front" "$(state_within 30 enabled)" enabled
	exec 3>&-
	end_load
	stop_run
	is "a run under sched_ext beside a game ends well" "$?" 0
}
if [ "${1:-}" = game ]; then
	beside_game
	done_testing
	exit
fi

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
beside_game
done_testing
