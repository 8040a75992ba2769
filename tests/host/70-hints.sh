#!/usr/bin/env bash
# Hints: given to who is urgent, by roles that tactus finds itself, to nobody else, and taken back at any end.
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
		[ "$(slice_of "$1" 2>/dev/null)" -le $((base / 3)) ] 2>/dev/null && return 0
		sleep 0.05
	done
	echo "thread $1 has a slice of $(slice_of "$1"), usually $base"
	return 1
}
base=$(slice_of $$)
journal=/run/tactus/hints.journal

build/workloads/pace 0 1 900000 >/dev/null &
hog=$!
build/workloads/pace 5000 200 900000 >/dev/null &
urgent=$!
chrt -f 5 build/workloads/pace 5000 200 900000 >/dev/null &
realtime=$!
nice -n -3 build/workloads/pace 0 1 900000 >/dev/null &
chosen=$!
trap 'kill $hog $urgent $realtime $chosen 2>/dev/null; rm -rf "$scratch"' EXIT

# The process that takes hints back after a kill is killed first, so that hints are left as a crash of the machine's
# memory would leave them.
kill_both() {
	kill -KILL "$(pgrep -P $runner tactus-keeper)"
	kill -KILL $runner
	wait $runner 2>/dev/null
}
printf '[roles]\nsummoned = audio\n' >"$scratch/rules"
start_tactus() {
	rm -f "$scratch/err"
	: >"$scratch/out"
	: >"$scratch/err"
	"$tactus" run --actuator hints --compare off --config "$scratch/rules" --without "$less,learned" "$@" >"$scratch/out" 2>"$scratch/err" &
	runner=$!
	wait_for "$scratch/err" "hints to the kernel's scheduler: slices"
}
start_tactus
holds "a thread that wakes by a clock gets a short slice" until_short $urgent
say_measured "it works 200 us at a time, and has: $(attr $urgent)"
is "a thread that wakes by a clock gets the weight of nice -9" "$(attr $urgent | cut -d' ' -f2)" -9
is "a realtime thread keeps its policy" "$(attr $realtime | cut -d' ' -f1)" 1
is "a thread that its owner has given a nice value of -3 stays as it is" "$(attr $chosen)" "0 -3 $base"
# A rule knows a name: what is left is the way from the kernel to the hint.
for _ in $(seq 10); do build/workloads/summon; done | sort -n >"$scratch/summoned"
say_measured "from a name that a rule makes urgent to the hint: $(head -n 1 "$scratch/summoned") to $(tail -n 1 "$scratch/summoned") us, ten times"
is "ten threads that a rule makes urgent by their names all get hints" "$(grep -cv -- - "$scratch/summoned")" 10
holds "a hint comes at once, not with the next tenth of a second" test "$(head -n 1 "$scratch/summoned")" -lt 50000
is "a thread that spins keeps its slice and nice value" "$(attr $hog)" "0 0 $base"
# until_nice NICE: of the run itself
until_nice() {
	for _ in $(seq 600); do
		[ "$(attr "$runner" | cut -d' ' -f2)" = "$1" ] && return 0
		sleep 0.02
	done
	echo "the run has nice $(attr "$runner" | cut -d' ' -f2), not $1"
	return 1
}
holds "a run that comes to its looks in time has the weight of any thread" until_nice 0
kill -STOP $runner
sleep 0.8 # a look is due every 0.2 s
kill -CONT $runner
holds "a run that came late to a look gets a pressing nice value" until_nice -20
holds "a run that comes in time again has the weight of any thread" until_nice 0
holds "the journal has a line of a hint that was given" grep -qE "^tid $urgent .* given [0-9]+ -9 [0-9]+ end$" $journal
is "the journal is for its owner alone to read" "$(stat -c %a $journal)" 600
ends "a second run by hints ends with an error while the first is at work" 1 "another tactus gives hints" "$tactus" run --actuator hints -d 1
ends "tactus undo is refused while a run is at work, and says so" 1 "another tactus gives hints" "$tactus" undo
attr $urgent slice 3000000 >/dev/null
kill -INT $runner
wait $runner
is "a slice that another tool gave meanwhile is left alone at the end of the run" "$(slice_of $urgent)" 3000000
is "a nice value that is still as given is taken back though the slice was changed" "$(attr $urgent | cut -d' ' -f2)" 0
holds "the journal is gone after the end of the run" test ! -e $journal
attr $urgent slice 0 >/dev/null

# From here on it is about what is put back when: the thread is urgent by a rule, since on a busy machine its clock may not be
# heard at every moment.
printf '[roles]\nsummoned = audio\npace = audio\n' >"$scratch/rules"
start_tactus
holds "an urgent thread gets a short slice from a second run" until_short $urgent
kill -INT $runner
wait $runner
is "a thread has its slice and nice value back after the end of the run" "$(attr $urgent)" "0 0 $base"

start_tactus
holds "an urgent thread gets a short slice from a run that is to be killed" until_short $urgent
kill -KILL $runner
wait $runner 2>/dev/null
holds "hints of a killed run are taken back by its keeper" until_slice $urgent "$base"
is "a killed run's keeper leaves nothing to undo" "$("$tactus" undo)" "nothing to undo"
start_tactus
holds "a thread that wakes by a clock gets a short slice from a run after a kill" until_short $urgent
kill_both
holds "a run that is killed with its keeper leaves its hints" test "$(slice_of $urgent)" -le $((base / 3))
like "tactus undo says that it has put hints back" "$("$tactus" undo)" 'put back$'
is "threads have their slices and nice values back after tactus undo" "$(attr $hog) $(attr $urgent)" "0 0 $base 0 0 $base"
is "a second tactus undo has nothing to do" "$("$tactus" undo)" "nothing to undo"

start_tactus
holds "a thread that wakes by a clock gets a short slice from a run after tactus undo" until_short $urgent
kill_both
printf 'tid 1 start 1 had 0 0 0 given 100000 0' >>$journal # a line that the kill cut short
start_tactus --dry-run --json
build/workloads/summon >/dev/null & # urgent by a rule, so at once
summoned=$!
wait_for "$scratch/out" '"given":[1-9]'
kill $summoned
kill -INT $runner
wait $runner
holds "a dry run changes no slice that a killed run left" test "$(slice_of $urgent)" -le $((base / 3))
like "a dry run says how many hints it would have given" "$(cat "$scratch/err")" '[0-9]+ hints would have been given \(dry run\)'
"$tactus" run --actuator hints --compare off --without "$less" -d 0.2 >/dev/null 2>&1
is "the next start takes back what a killed run left" "$(attr $urgent)" "0 0 $base"

# Programs that nothing is known of, with what is learned at hand.
rm -f "$scratch/err"
"$tactus" run --actuator hints --config "$scratch/rules" --compare off --without "$less" >"$scratch/out" 2>"$scratch/err" &
runner=$!
wait_for "$scratch/err" "hints to the kernel's scheduler: slices"
holds "an urgent thread gets a short slice from a run that learns" until_short $urgent
cp build/workloads/pace "$scratch/unheard-of"
"$scratch/unheard-of" 0 1 60000 >/dev/null &
unheard=$!
trap 'kill $hog $urgent $realtime $chosen $unheard 2>/dev/null; rm -rf "$scratch"' EXIT
for _ in $(seq 300); do /bin/true; done
is "a program that nothing is known of keeps its slice and nice value" "$(attr $unheard)" "0 0 $base"
lines=$(wc -l <$journal)
say_measured "after 300 short programs the journal has $lines lines"
holds "short programs leave next to no lines in the journal" test "$lines" -lt 100
holds "an urgent thread that lives stays in the journal" grep -qE "^tid $urgent .* given [0-9]+ -9 [0-9]+ end$" $journal
ends "a second run by hints ends with an error beside a run that learns" 1 "another tactus gives hints" "$tactus" run --actuator hints -d 1
until_short $urgent
kill_both
like "tactus undo puts back what a run that learns had given" "$("$tactus" undo)" 'put back$'
is "an urgent thread has its slice back after tactus undo" "$(slice_of $urgent)" "$base"
ends "run with an actuator that is none is bad usage" 2 "none of auto, scx, hints, none" "$tactus" run --actuator eevdf
done_testing
