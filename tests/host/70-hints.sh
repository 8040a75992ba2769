#!/usr/bin/env bash
# Hints: given to who is urgent, by roles that tactus finds itself, to nobody else, and taken back at any end.
# not beside: tactus run, of which one at a time is at work
. tests/tap.sh
. tests/hints.sh

# What tells of hints is left; the other sensors' programs take time to load.
less=launch,gpu,wine,input,frame,socket,sound
journal=/run/tactus/hints.journal

build/workloads/pace 0 1 900000 >/dev/null &
hog=$!
# One that made up for what a busy machine kept it from would work for longer at a time, and have a longer slice.
build/workloads/pace skip 5000 200 900000 >/dev/null &
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
	until_hints 1200
}
start_tactus
holds "a thread that wakes by a clock gets a hint, the weight of nice -9 and where the kernel has slices a short one" until_hint $urgent
say_measured "a thread that works 200 us at a time had: $(cat "$scratch/had")"
is "a realtime thread keeps its policy" "$(attr $realtime | cut -d' ' -f1)" 1
is "a thread that its owner has given a nice value of -3 stays as it is" "$(attr $chosen)" "0 -3 $usual_slice"
# A rule knows a name: what is left is the way from the kernel to the hint.
for _ in $(seq 10); do build/workloads/summon; done | sort -n >"$scratch/summoned"
say_measured "from a name that a rule makes urgent to the hint: $(cut -d' ' -f1 "$scratch/summoned" | xargs) us"
is "ten threads that a rule makes urgent by their names all get hints" "$(grep -cv -- - "$scratch/summoned")" 10
# Were they looked for every tenth of a second, the fifth of ten would have it after 45 ms.
read -r fifth_us _ < <(sed -n 5p "$scratch/summoned")
late_us=$(cut -d' ' -f2 "$scratch/summoned" | sort -n | sed -n 5p)
say_measured "the fifth of ten threads has its hint after $fifth_us us; at the median a thread slept $late_us us longer than it asked for, at the worst"
holds "a hint comes at once, not with the next tenth of a second" test "$fifth_us" -lt $((15000 + 2 * late_us))
is "a thread that spins keeps its slice and nice value" "$(attr $hog)" "0 0 $usual_slice"
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
[ -z "$slices" ] || attr $urgent slice 3000000 >/dev/null
kill -INT $runner
wait $runner
name="a slice that another tool gave meanwhile is left alone at the end of the run"
! since_linux 6.12 "a custom slice" "$name" || is "$name" "$(slice_of $urgent)" 3000000
is "a nice value that is still as given is taken back though the slice may have been changed" "$(nice_of $urgent)" 0
holds "the journal is gone after the end of the run" test ! -e $journal
[ -z "$slices" ] || attr $urgent slice 0 >/dev/null

# From here on it is about what is put back when: the thread is urgent by a rule, since on a busy machine its clock may not be
# heard at every moment.
printf '[roles]\nsummoned = audio\npace = audio\n' >"$scratch/rules"
start_tactus
holds "an urgent thread gets a hint from a second run" until_hint $urgent
kill -INT $runner
wait $runner
is "a thread has its slice and nice value back after the end of the run" "$(attr $urgent)" "0 0 $usual_slice"

start_tactus
holds "an urgent thread gets a hint from a run that is to be killed" until_hint $urgent
kill -KILL $runner
wait $runner 2>/dev/null
holds "hints of a killed run are taken back by its keeper" until_none $urgent
is "a killed run's keeper leaves nothing to undo" "$("$tactus" undo)" "nothing to undo"
start_tactus
holds "a thread that wakes by a clock gets a hint from a run after a kill" until_hint $urgent
kill_both
holds "a run that is killed with its keeper leaves its hints" has_hint $urgent
like "tactus undo says that it has put hints back" "$("$tactus" undo)" 'put back$'
is "threads have their slices and nice values back after tactus undo" "$(attr $hog) $(attr $urgent)" "0 0 $usual_slice 0 0 $usual_slice"
is "a second tactus undo has nothing to do" "$("$tactus" undo)" "nothing to undo"

start_tactus
holds "a thread that wakes by a clock gets a hint from a run after tactus undo" until_hint $urgent
kill_both
printf 'tid 1 start 1 had 0 0 0 given 100000 0' >>$journal # a line that the kill cut short
start_tactus --dry-run --json
build/workloads/summon >/dev/null & # urgent by a rule, so at once
summoned=$!
wait_for "$scratch/out" '"given":[1-9]'
kill $summoned
kill -INT $runner
wait $runner
holds "a dry run changes no hint that a killed run left" has_hint $urgent
like "a dry run says how many hints it would have given" "$(cat "$scratch/err")" '[0-9]+ hints would have been given \(dry run\)'
"$tactus" run --actuator hints --compare off --without "$less" -d 0.2 >/dev/null 2>&1
is "the next start takes back what a killed run left" "$(attr $urgent)" "0 0 $usual_slice"

# Programs that nothing is known of, with what is learned at hand.
rm -f "$scratch/err"
"$tactus" run --actuator hints --config "$scratch/rules" --compare off --without "$less" >"$scratch/out" 2>"$scratch/err" &
runner=$!
until_hints 1200
holds "an urgent thread gets a hint from a run that learns" until_hint $urgent
cp build/workloads/pace "$scratch/unheard-of"
"$scratch/unheard-of" 0 1 60000 >/dev/null &
unheard=$!
trap 'kill $hog $urgent $realtime $chosen $unheard 2>/dev/null; rm -rf "$scratch"' EXIT
for _ in $(seq 300); do /bin/true; done
is "a program that nothing is known of keeps its slice and nice value" "$(attr $unheard)" "0 0 $usual_slice"
lines=$(wc -l <$journal)
say_measured "after 300 short programs the journal has $lines lines"
holds "short programs leave next to no lines in the journal" test "$lines" -lt 100
holds "an urgent thread that lives stays in the journal" grep -qE "^tid $urgent .* given [0-9]+ -9 [0-9]+ end$" $journal
ends "a second run by hints ends with an error beside a run that learns" 1 "another tactus gives hints" "$tactus" run --actuator hints -d 1
holds "an urgent thread has a hint when the run that learns is to be killed" until_hint $urgent
kill_both
like "tactus undo puts back what a run that learns had given" "$("$tactus" undo)" 'put back$'
is "an urgent thread has its slice and nice value back after tactus undo" "$(attr $urgent)" "0 0 $usual_slice"
ends "run with an actuator that is none is bad usage" 2 "none of auto, scx, hints, none" "$tactus" run --actuator eevdf
done_testing
