#!/usr/bin/env bash
# Hints: given to who is urgent and who is batch, by roles that tactus finds itself, and taken back at any end.
# Needs custom slices (Linux 6.12 and later).
# not beside: tactus run, of which one at a time is at work
. tests/tap.sh

attr() { build/workloads/attr "$@"; }
slice_of() { attr "$1" | cut -d' ' -f3; }
# until_slice TID NS: waits until the thread has this slice, half a minute at most
until_slice() {
	for _ in $(seq 300); do
		[ "$(slice_of "$1" 2>/dev/null)" = "$2" ] && return 0
		sleep 0.1
	done
	return 1
}
# until_short TID: until its slice is a fraction of the usual one
until_short() {
	for _ in $(seq 300); do
		[ "$(slice_of "$1" 2>/dev/null || echo "$base")" -le $((base / 3)) ] && return 0
		sleep 0.1
	done
	return 1
}
# What batch threads get, by how the kernel keeps slices (core/hints.h).
long=100000000
[ "$(printf '6.17\n%s\n' "$(uname -r)" | sort -V | head -n 1)" = 6.17 ] || long=4000000
base=$(slice_of $$)
journal=/run/tactus/hints.journal

build/workloads/pace 0 1 300000 >/dev/null &
hog=$!
build/workloads/pace 5000 200 300000 >/dev/null &
urgent=$!
chrt -f 5 build/workloads/pace 5000 200 300000 >/dev/null &
realtime=$!
nice -n -3 build/workloads/pace 0 1 300000 >/dev/null &
chosen=$!
# Burns until it is told, then forks.
sh -c 'while [ ! -e "$1/fork" ]; do :; done; sleep 20 & echo $! >"$1/child"; wait' sh "$scratch" &
forker=$!
trap 'kill $forker $hog $urgent $realtime $chosen 2>/dev/null; rm -rf "$scratch"' EXIT

start_tactus() {
	"$tactus" run --actuator hints --without learned "$@" >"$scratch/out" 2>"$scratch/err" &
	runner=$!
	wait_for "$scratch/err" "hints to the kernel's scheduler: slices"
}
start_tactus
holds "a hog gets a long slice" until_slice $hog $long
holds "a thread that wakes by a clock gets a short one" until_short $urgent
say_measured "it works 200 us at a time, and has: $(attr $urgent)"
is "and the most weight there is" "$(attr $urgent | cut -d' ' -f2)" -20
is "a realtime thread stays as it is" "$(attr $realtime | cut -d' ' -f1)" 1
is "and one that its owner has put in front" "$(attr $chosen)" "0 -3 $base"
holds "the journal tells it" grep -qE "^tid $hog .* given $long 0 0 end$" $journal
is "for nobody else to read" "$(stat -c %a $journal)" 600
until_slice $forker $long
touch "$scratch/fork"
wait_for "$scratch/child" .
is "what a batch thread forks is not batch by that" "$(attr "$(cat "$scratch/child")")" "0 0 $base"
kill "$(cat "$scratch/child")"
ends "a second one must wait" 1 "another tactus gives hints" "$tactus" run --actuator hints -d 1
attr $urgent slice 3000000 >/dev/null
sleep 1.5
kill -INT $runner
wait $runner
is "at the end the hog has its slice and nice value back" "$(attr $hog)" "0 0 $base"
is "a thread that another tool changed meanwhile is left alone" "$(slice_of $urgent)" 3000000
is "but for its nice value, which was still as given" "$(attr $urgent | cut -d' ' -f2)" 0
holds "and the journal is gone" test ! -e $journal
attr $urgent slice 0 >/dev/null

start_tactus
until_slice $hog $long
kill -KILL $runner
wait $runner 2>/dev/null
is "a killed one leaves its hints" "$(slice_of $hog)" $long
like "tactus undo takes them back" "$("$tactus" undo)" 'put back$'
is "all of them" "$(attr $hog) $(attr $urgent)" "0 0 $base 0 0 $base"
is "and then has nothing to do" "$("$tactus" undo)" "nothing to undo"

start_tactus
until_slice $hog $long
kill -KILL $runner
wait $runner 2>/dev/null
printf 'tid 1 start 1 had 0 0 0 given 100000 0' >>$journal # a line that the kill cut short
start_tactus --dry-run
sleep 1.5
kill -INT $runner
wait $runner
is "a dry run changes nothing" "$(slice_of $hog)" $long
like "and says what it would do" "$(cat "$scratch/err")" '[0-9]+ hints given in thought'
"$tactus" run --actuator hints -d 0.2 >/dev/null 2>&1
is "the next start takes back what a killed one left" "$(attr $hog)" "0 0 $base"

# Programs that nothing is known of, with what is learned at hand.
"$tactus" run --actuator hints >"$scratch/out" 2>"$scratch/err" &
runner=$!
wait_for "$scratch/err" "hints to the kernel's scheduler: slices"
until_slice $hog $long
cp build/workloads/pace "$scratch/unheard-of"
mkfifo "$scratch/never"
"$scratch/unheard-of" 0 1 60000 >/dev/null &
unheard=$!
# shellcheck disable=SC2016
bash -c 'exec 3<>"$1"; while :; do read -t 0.0$((RANDOM % 60 + 10)) -u 3; done' bash "$scratch/never" &
sleeper=$!
trap 'kill $forker $hog $urgent $realtime $chosen $unheard $sleeper 2>/dev/null; rm -rf "$scratch"' EXIT
holds "a program that nothing is known of is taken for batch" until_slice $unheard $long
holds "and one that turns out otherwise gets its slice back" until_slice $sleeper "$base"
for _ in $(seq 1300); do /bin/true; done
lines=$(wc -l <$journal)
say_measured "after 1300 short programs the journal has $lines lines"
holds "threads that ended are swept out of the journal" test "$lines" -lt 1200
holds "those that live stay in it" grep -qE "^tid $hog .* given $long 0 0 end$" $journal
ends "and it is still one tactus's alone" 1 "another tactus gives hints" "$tactus" run --actuator hints -d 1
kill -KILL $runner
wait $runner 2>/dev/null
like "of which undo takes back what is to be taken back" "$("$tactus" undo)" 'put back$'
is "from each" "$(slice_of $hog) $(slice_of $unheard)" "$base $base"
ends "an actuator that is none" 2 "none of auto, scx, hints, none" "$tactus" run --actuator eevdf
done_testing
