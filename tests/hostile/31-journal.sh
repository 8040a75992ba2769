#!/usr/bin/env bash
# The journal under a user who makes it grow, where taking back is refused, and where no descriptor is left: nothing is forgotten.
# not beside: tactus run, of which one at a time is at work
. tests/tap.sh
. tests/hints.sh

less=launch,gpu,wine,input,frame,socket,sound,learned
journal=/run/tactus/hints.journal
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
start_tactus() {
	: >"$scratch/err"
	"$tactus" run --actuator hints --compare off --without $less >/dev/null 2>"$scratch/err" &
	runner=$!
	until_hints 300
}
kill_both() {
	local keeper
	keeper=$(pgrep -P $runner tactus-keeper)
	[ -z "$keeper" ] || kill -KILL "$keeper"
	kill -KILL $runner
	wait $runner 2>/dev/null
}

setpriv --reuid 65534 --regid 65534 --clear-groups build/workloads/pace skip 5000 200 3600000 >/dev/null &
urgent=$!
trap 'kill -KILL $urgent $runner 2>/dev/null; rm -rf "$scratch"' EXIT

start_tactus
holds "a user's thread that wakes by a clock gets a pressing nice value" until_nice $urgent -lt 0
kill_both
# Root without the privilege may not change another user's threads.
setpriv --bounding-set -sys_nice "$tactus" undo >"$scratch/out" 2>"$scratch/undo-err"
is "tactus undo fails where taking back is refused" $? 1
like "tactus undo says how many threads could not be put back" "$(cat "$scratch/undo-err")" '^tactus: undo: [0-9]+ threads? could not be put back: the journal keeps'
holds "a thread whose hint could not be taken back is still in the journal" grep -qs "^tid $urgent " $journal
like "tactus undo puts it back when it may" "$("$tactus" undo 2>&1)" '^[0-9]+ threads? w[a-z]* put back$'
is "the thread has its nice value back" "$(nice_of $urgent)" 0
holds "the journal is gone when nothing is left in it" test ! -e $journal

start_tactus
holds "the thread is raised again" until_nice $urgent -lt 0
prlimit --pid $runner --nofile=3:3
kill -TERM $runner
wait $runner
holds "threads are put back at the end of a run without a descriptor left" until_nice $urgent -ge 0
"$tactus" undo >/dev/null 2>&1

less=launch,gpu,wine,input,frame,socket,sound
start_tactus
cp build/workloads/flicker "$scratch/flicker"
chmod 755 "$scratch" "$scratch/flicker"
cost_before=$(cost $runner)
end=$(($("$scratch/flicker") + 6000000000))
for _ in $(seq 24); do
	setpriv --reuid 65534 --regid 65534 --clear-groups "$scratch/flicker" $end &
done
most=0
while [ "$("$scratch/flicker")" -lt $end ]; do
	lines=$(wc -l <$journal)
	most=$((lines > most ? lines : most))
	sleep 0.1
done
costs_as_before "a run beside programs that change for ever" $runner "$cost_before"
changes=$(timeout 5 "$tactus" stats --json 2>/dev/null | head -n 1 | json "d['hints']['given'] + d['hints']['taken_back']")
say_measured "a user made tactus change hints $changes times; the journal had at most $most lines"
holds "a user whose programs change for ever does not make the journal grow beyond its bound" test "$most" -le 400
# A journal that many changes of few threads have made long is read by the next start, and made short.
kill_both
start=$(cut -d' ' -f22 /proc/$urgent/stat)
given=${slices:+100000}
given=${given:-0}
for i in $(seq 5000); do echo "tid $urgent start $start had 0 0 0 given $((given + i % 2 * given)) -9 0 end"; done >>$journal
build/workloads/attr $urgent nice -9 >/dev/null
like "a journal of 5000 lines of one thread puts back that one" "$("$tactus" undo)" 'put back$'
is "the thread of 5000 lines has its nice value back" "$(nice_of $urgent)" 0
done_testing
