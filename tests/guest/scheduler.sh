# For tests of the scheduler in a guest: source it after tests/tap.sh.
# Who is in charge, tactus run in the background, load, and what a thread got of the CPU.

state() { cat /sys/kernel/sched_ext/state; }
# state_within TENTHS WANTED: waits so long for a state and prints what it then is
state_within() {
	local tenths=$1 want=$2
	for ((; tenths > 0; tenths--)); do
		[ "$(state)" != "$want" ] || break
		sleep 0.1
	done
	state
}
# Sensors that have no say here: loading them takes long in emulation.
left_out=launch,gpu,wine,input,frame,socket,sound,names
# With run_options; leaves pid behind.
run_options=()
start_run() {
	"$tactus" run --compare off --without $left_out "${run_options[@]}" >"$scratch/out" 2>"$scratch/err" &
	pid=$!
	[ "$(state_within 600 enabled)" = enabled ]
}
stop_run() {
	kill -INT "$pid"
	wait "$pid"
}

# at WORDS: where a long test has got to
at() { echo "# $SECONDS s: $1"; }

load=()
# hog [COMMAND-PREFIX...]: a thread that spins for a quarter of an hour at most; leaves hog_pid behind
hog() {
	"$@" build/workloads/pace 0 1 900000 >/dev/null &
	hog_pid=$!
	load+=("$hog_pid")
}
end_load() {
	[ ${#load[@]} = 0 ] || kill -KILL "${load[@]}" 2>/dev/null
	wait "${load[@]}" 2>/dev/null
	load=()
}
# What a process's first thread has run so far, in ms.
ran_ms() { awk '{printf "%d", $1 / 1e6}' "/proc/$1/schedstat"; }
# runs_on WITHIN-TENTHS PID...: each of them gets something done in that time
runs_on() {
	local tenths=$1 pid before
	shift
	for pid in "$@"; do
		before=$(ran_ms "$pid")
		for ((i = 0; i < tenths; i++)); do
			[ "$(ran_ms "$pid")" = "$before" ] || continue 2
			sleep 0.1
		done
		echo "$(cat "/proc/$pid/comm") $pid has got no further than $before ms"
		return 1
	done
}
# by_clock HOGS COUNT WORK_US PROGRAM PREFIX...: what so many threads get that want so much of every 5 ms, together, and what the hogs
# beside them, in ms of 5 s; in $scratch/got. PROGRAM: build/workloads/pace by any name
by_clock() {
	local hogs=$1 count=$2 work_us=$3 program=$4 i before=() after=()
	shift 4
	for ((i = 0; i < hogs; i++)); do hog nice -n 0; done
	for ((i = 0; i < count; i++)); do
		"$@" "$program" 5000 "$work_us" 900000 >/dev/null &
		load+=($!)
	done
	runs_on 100 "${load[@]}"
	sleep 3
	for i in "${!load[@]}"; do before[i]=$(ran_ms "${load[i]}"); done
	sleep 5
	for i in "${!load[@]}"; do after[i]=$(ran_ms "${load[i]}"); done
	for i in "${!load[@]}"; do echo $((i >= hogs)) $((after[i] - before[i])); done |
		awk '{ got[$1] += $2 } END { print got[1], got[0] }' >"$scratch/got"
	"$tactus" stats -d 1.5 --json >"$scratch/stats"
	end_load
}
