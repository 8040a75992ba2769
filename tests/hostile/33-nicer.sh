#!/usr/bin/env bash
# A thread that its owner made nicer, batch or idle, and that looks urgent: it stays what its owner made it, and so do its children.
# not beside: tactus run, of which one at a time is at work
. tests/tap.sh
. tests/hints.sh

less=launch,gpu,wine,input,frame,socket,sound,learned
policy_and_nice() { attr "$1" | cut -d' ' -f1,2; }
as_nobody() { exec setpriv --reuid 65534 --regid 65534 --clear-groups "$@"; }
pace=build/workloads/pace

(as_nobody $pace 5000 200 3600000 >/dev/null) &
plain=$!
(as_nobody nice -n 19 $pace 5000 200 3600000 >/dev/null) &
nicer=$!
(as_nobody chrt -i 0 $pace 5000 200 3600000 >/dev/null) &
idle=$!
(as_nobody chrt -b 0 $pace 5000 200 3600000 >/dev/null) &
batch=$!
# Makes its children while it looks urgent.
(as_nobody nice -n 19 build/workloads/forker 5000 200 3600000 >"$scratch/children") &
parent=$!
(as_nobody build/workloads/forker 5000 200 3600000 >"$scratch/plain-children") &
plain_parent=$!
# Made idle by its owner when it has been raised.
(as_nobody $pace 5000 200 3600000 >/dev/null) &
later=$!
# Chooses a nice value by itself that it may choose only since it was raised.
(as_nobody $pace 5000 200 3600000 >/dev/null) &
chooser=$!
trap 'kill $plain $nicer $idle $batch $parent $plain_parent $later $chooser $runner 2>/dev/null; rm -rf "$scratch"' EXIT

: >"$scratch/err"
"$tactus" run --actuator hints --compare off --without $less >/dev/null 2>"$scratch/err" &
runner=$!
until_hints 300
# until_nice TID TEST VALUE: a minute at most
until_nice() {
	local end=$((SECONDS + 60))
	while ((SECONDS < end)); do
		nice=$(attr "$1" | cut -d' ' -f2)
		test "${nice:-0}" "$2" "$3" && return 0
		sleep 0.05
	done
	echo "thread $1 has $(attr "$1")"
	return 1
}
holds "a thread that wakes by a clock is raised" until_nice $plain -lt 0
holds "a second thread that wakes by a clock is raised" until_nice $later -lt 0
holds "a thread that makes children is raised" until_nice $plain_parent -lt 0
holds "a third thread that wakes by a clock is raised" until_nice $chooser -lt 0
chrt -i -p 0 $later
(as_nobody renice -n $(($(attr $chooser | cut -d' ' -f2) + 1)) -p $chooser >"$scratch/chose" 2>&1)
is "a raised thread may choose a less pressing nice value" $? 0
sleep 2
say_measured "by the same clock: plain $(policy_and_nice $plain), nice 19: $(policy_and_nice $nicer), idle: $(policy_and_nice $idle), batch: $(policy_and_nice $batch)"
is "a thread at nice 19 that wakes by a clock stays at nice 19" "$(policy_and_nice $nicer)" "0 19"
is "a thread of the policy idle that wakes by a clock stays as it is" "$(policy_and_nice $idle)" "5 0"
is "a thread of the policy batch that wakes by a clock stays as it is" "$(policy_and_nice $batch)" "3 0"
is "a raised thread that its owner makes idle has its nice value back" "$(policy_and_nice $later)" "5 0"
is "a raised thread that chose a less pressing nice value has its owner's back" "$(attr $chooser)" "0 0 $usual_slice"
kill -USR1 $parent $plain_parent
wait_for "$scratch/children" '^child' 100
wait_for "$scratch/plain-children" '^child' 100
is "a child of a thread at nice 19 that looks urgent is at nice 19" "$(policy_and_nice "$(sed -n 's/^child //p' "$scratch/children")")" "0 19"
is "a child of a raised thread has what its parent's owner chose" "$(attr "$(sed -n 's/^child //p' "$scratch/plain-children")")" "0 0 $usual_slice"
kill -TERM $runner
wait $runner
is "the children stay at their nice values after the end of the run" \
	"$(policy_and_nice "$(sed -n 's/^child //p' "$scratch/children")") $(policy_and_nice "$(sed -n 's/^child //p' "$scratch/plain-children")")" "0 19 0 0"
is "a thread that chose a nice value while it was raised keeps nothing of it after the run" "$(policy_and_nice $chooser)" "0 0"
is "a thread that was raised has its nice value back after the run" "$(policy_and_nice $plain)" "0 0"
done_testing
