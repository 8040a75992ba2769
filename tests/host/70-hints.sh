#!/usr/bin/env bash
# Hints: given to who is urgent and who is batch, by roles that tactus finds itself, and taken back at any end.
# Needs custom slices (Linux 6.12 and later).
# not beside: tactus run, of which one at a time is at work
. tests/tap.sh

# Who was made nicer is not raised: so a test that was started with nice is.
renice -n 0 -p $$ >/dev/null

attr() { build/workloads/attr "$@"; }
slice_of() { attr "$1" | cut -d' ' -f3; }
# What tells of hints is left; the other sensors' programs take time to load.
less=launch,gpu,wine,input,frame,socket,sound
# until_slice TID NS: waits until the thread has this slice, a minute at most
until_slice() {
	for _ in $(seq 1200); do
		[ "$(slice_of "$1" 2>/dev/null)" = "$2" ] && return 0
		sleep 0.05
	done
	echo "thread $1 has a slice of $(slice_of "$1"), not of $2"
	return 1
}
# until_short TID: until its slice is a fraction of the usual one
until_short() {
	for _ in $(seq 1200); do
		[ "$(slice_of "$1" 2>/dev/null || echo "$base")" -le $((base / 3)) ] && return 0
		sleep 0.05
	done
	echo "thread $1 has a slice of $(slice_of "$1"), usually $base"
	return 1
}
# until_not_slice TID NS: until it has another one
until_not_slice() {
	for _ in $(seq 1200); do
		[ "$(slice_of "$1" 2>/dev/null || echo "$2")" != "$2" ] && return 0
		sleep 0.05
	done
	echo "thread $1 still has a slice of $2"
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
sh -c 'while [ ! -e "$1/fork" ]; do :; done; "$2" 100000 0 120000 >/dev/null & echo $! >"$1/child"; wait' sh "$scratch" build/workloads/pace &
forker=$!
trap 'kill $forker $hog $urgent $realtime $chosen 2>/dev/null; rm -rf "$scratch"' EXIT

# The process that takes hints back after a kill is killed first, so that hints are left as a crash of the machine's
# memory would leave them.
kill_both() {
	kill -KILL "$(pgrep -P $runner tactus-keeper)"
	kill -KILL $runner
	wait $runner 2>/dev/null
}
start_tactus() {
	rm -f "$scratch/err"
	: >"$scratch/out"
	: >"$scratch/err"
	"$tactus" run --actuator hints --without "$less,learned" "$@" >"$scratch/out" 2>"$scratch/err" &
	runner=$!
	wait_for "$scratch/err" "hints to the kernel's scheduler: slices"
}
start_tactus
holds "a thread that spins gets a long slice" until_slice $hog $long
holds "a thread that wakes by a clock gets a short slice" until_short $urgent
say_measured "it works 200 us at a time, and has: $(attr $urgent)"
is "a thread that wakes by a clock gets the weight of nice -9" "$(attr $urgent | cut -d' ' -f2)" -9
is "a realtime thread keeps its policy" "$(attr $realtime | cut -d' ' -f1)" 1
is "a thread that its owner has given a nice value of -3 stays as it is" "$(attr $chosen)" "0 -3 $base"
holds "the journal has a line of a hint that was given" grep -qE "^tid $hog .* given $long 0 0 end$" $journal
is "the journal is for its owner alone to read" "$(stat -c %a $journal)" 600
holds "a shell that spins gets a long slice" until_slice $forker $long
touch "$scratch/fork"
wait_for "$scratch/child" .
# A slice that it had from its parent would be taken for its owner's choice and stay. Beside much other work it may be
# batch for a while by itself: it waits for a CPU all the time until it gets to sleep.
holds "a child of a batch thread that sleeps does not keep a long slice" until_not_slice "$(cat "$scratch/child")" $long
kill "$(cat "$scratch/child")"
ends "a second run by hints ends with an error while the first is at work" 1 "another tactus gives hints" "$tactus" run --actuator hints -d 1
ends "tactus undo is refused while a run is at work, and says so" 1 "another tactus gives hints" "$tactus" undo
attr $urgent slice 3000000 >/dev/null
kill -INT $runner
wait $runner
is "a thread has its slice and nice value back after the end of the run" "$(attr $hog)" "0 0 $base"
is "a slice that another tool gave meanwhile is left alone at the end of the run" "$(slice_of $urgent)" 3000000
is "a nice value that is still as given is taken back though the slice was changed" "$(attr $urgent | cut -d' ' -f2)" 0
holds "the journal is gone after the end of the run" test ! -e $journal
attr $urgent slice 0 >/dev/null

start_tactus
holds "a thread that spins gets a long slice from a second run" until_slice $hog $long
kill -KILL $runner
wait $runner 2>/dev/null
holds "hints of a killed run are taken back by its keeper" until_slice $hog "$base"
is "a killed run's keeper leaves nothing to undo" "$("$tactus" undo)" "nothing to undo"
start_tactus
holds "a thread that spins gets a long slice from a run after a kill" until_slice $hog $long
kill_both
is "a run that is killed with its keeper leaves its hints" "$(slice_of $hog)" $long
like "tactus undo says that it has put hints back" "$("$tactus" undo)" 'put back$'
is "threads have their slices and nice values back after tactus undo" "$(attr $hog) $(attr $urgent)" "0 0 $base 0 0 $base"
is "a second tactus undo has nothing to do" "$("$tactus" undo)" "nothing to undo"

start_tactus
holds "a thread that spins gets a long slice from a third run" until_slice $hog $long
kill_both
printf 'tid 1 start 1 had 0 0 0 given 100000 0' >>$journal # a line that the kill cut short
start_tactus --dry-run --json
wait_for "$scratch/out" '"given":[1-9]'
kill -INT $runner
wait $runner
is "a dry run changes no slice that a killed run left" "$(slice_of $hog)" $long
like "a dry run says how many hints it would have given" "$(cat "$scratch/err")" '[0-9]+ hints given in thought'
"$tactus" run --actuator hints --without "$less" -d 0.2 >/dev/null 2>&1
is "the next start takes back what a killed run left" "$(attr $hog)" "0 0 $base"

# Programs that nothing is known of, with what is learned at hand.
rm -f "$scratch/err"
"$tactus" run --actuator hints --without "$less" >"$scratch/out" 2>"$scratch/err" &
runner=$!
wait_for "$scratch/err" "hints to the kernel's scheduler: slices"
holds "a thread that spins gets a long slice from a run that learns" until_slice $hog $long
cp build/workloads/pace "$scratch/unheard-of"
mkfifo "$scratch/never"
"$scratch/unheard-of" 0 1 60000 >/dev/null &
unheard=$!
# shellcheck disable=SC2016
bash -c 'exec 3<>"$1"; while :; do read -t 0.0$((RANDOM % 60 + 10)) -u 3; done' bash "$scratch/never" &
sleeper=$!
trap 'kill $forker $hog $urgent $realtime $chosen $unheard $sleeper 2>/dev/null; rm -rf "$scratch"' EXIT
holds "a program that nothing is known of is taken for batch" until_slice $unheard $long
holds "a program that was taken for batch and sleeps gets its slice back" until_slice $sleeper "$base"
for _ in $(seq 1300); do /bin/true; done
lines=$(wc -l <$journal)
say_measured "after 1300 short programs the journal has $lines lines"
holds "threads that ended are swept out of the journal" test "$lines" -lt 1200
holds "a thread that lives stays in the journal after the sweep" grep -qE "^tid $hog .* given $long 0 0 end$" $journal
ends "a second run by hints ends with an error after the journal was replaced" 1 "another tactus gives hints" "$tactus" run --actuator hints -d 1
kill_both
like "tactus undo puts back what a swept journal tells" "$("$tactus" undo)" 'put back$'
is "threads have their slices back by a swept journal" "$(slice_of $hog) $(slice_of $unheard)" "$base $base"
ends "run with an actuator that is none is bad usage" 2 "none of auto, scx, hints, none" "$tactus" run --actuator eevdf
done_testing
