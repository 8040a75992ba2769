#!/usr/bin/env bash
# A reader of the lines who reads no more: the run goes on, gives hints and takes them back, and ends when it is told to.
# not beside: tactus run, of which one at a time is at work
. tests/tap.sh
. tests/hints.sh

less=launch,gpu,wine,input,frame,socket,sound,learned
# until_nice TID TEST VALUE: a minute at most
until_nice() {
	for _ in $(seq 1200); do
		nice=$(nice_of "$1")
		test "${nice:-0}" "$2" "$3" && return 0
		sleep 0.05
	done
	echo "thread $1 has nice $(nice_of "$1")"
	return 1
}
# run_into PIPE: a run whose stdout is a pipe that is full, and that nobody reads
run_into() {
	rm -f "$1"
	mkfifo "$1"
	exec 4<>"$1"
	python3 -c 'import os
os.set_blocking(4, False)
try:
	while True: os.write(4, b"x" * 4096)
except BlockingIOError: pass
os.set_blocking(4, True)'
	: >"$scratch/err"
	"$tactus" run --actuator hints --compare off --without $less --json >"$1" 2>"$scratch/err" 4>&- &
	runner=$!
	until_hints 300
}
# ends_soon: the run ends within five seconds
ends_soon() {
	for _ in $(seq 100); do
		[ -e "/proc/$runner" ] && [ "$(cut -d' ' -f3 "/proc/$runner/stat")" != Z ] || return 0
		sleep 0.05
	done
	return 1
}
setpriv --reuid 65534 --regid 65534 --clear-groups build/workloads/pace skip 5000 200 3600000 >/dev/null &
urgent=$!
trap 'kill -KILL $urgent $late $runner 2>/dev/null; rm -rf "$scratch"' EXIT

run_into "$scratch/full"
cost_before=$(cost $runner)
holds "a thread is raised while nobody reads the lines" until_nice $urgent -lt 0
sleep 2.5
setpriv --reuid 65534 --regid 65534 --clear-groups build/workloads/pace skip 5000 200 3600000 >/dev/null &
late=$!
holds "a thread that comes when the pipe has long been full is raised" until_nice $late -lt 0
costs_as_before "a run whose lines nobody reads" $runner "$cost_before"
kill -TERM $runner
termed=$(date +%s%N)
holds "a run ends when it is told to while nobody reads its lines" ends_soon
say_measured "it ended $((($(date +%s%N) - termed) / 1000000)) ms after SIGTERM"
holds "threads have their nice values back though nobody reads the lines" until_nice $urgent -ge 0
like "a run says how many lines were dropped" "$(cat "$scratch/err")" 'lines were dropped: nobody read them'
kill -KILL $runner 2>/dev/null
wait $runner
exec 4>&-
"$tactus" undo >/dev/null 2>&1

# The same pipe for all: what the shell has keeps waiting as it did.
mkfifo "$scratch/shared"
exec 4<>"$scratch/shared"
"$tactus" run --actuator hints --compare off --without $less -d 1 2>/dev/null >&4
is "a pipe that a run shares with others still waits for them" "$(python3 -c 'import os; print(os.get_blocking(4))')" True
exec 4>&-
lines=$("$tactus" run --actuator hints --compare off --without $less --json -d 3 2>/dev/null | json "len(rows)")
say_measured "$lines lines in 3 s came through a pipe that is read"
holds "all lines come through a pipe that is read" test "$lines" -ge 2
done_testing
