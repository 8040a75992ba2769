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
# Leaves pid behind. Sensors that have no say here are left out: loading them takes long in emulation.
start_run() {
	"$tactus" run --without launch,gpu,wine,input,frame,socket,sound,names >"$scratch/out" 2>"$scratch/err" &
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
