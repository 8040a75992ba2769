#!/usr/bin/env bash
# Hints on a kernel with custom slices (Linux 6.12 and later): given to exactly the threads that a rule makes urgent, and taken back at
# the end of the run, and with `hints.sh killed` after a SIGKILL too. Everything is counted, nothing timed: clocks say little in an
# emulated machine. Runs in a VM.
. tests/tap.sh

attr() { build/workloads/attr "$1"; }
base=$(attr $$ | cut -d' ' -f3)
cp build/workloads/pace "$scratch/pressing"
urgent=()
for _ in 1 2 3 4; do
	"$scratch/pressing" 20000 100 3000000 >/dev/null &
	urgent+=($!)
done
other=''
trap 'kill "${urgent[@]}" $other 2>/dev/null; rm -rf "$scratch"' EXIT
printf '[roles]\npressing = audio\n' >"$scratch/rules"

# Of the four: how many have a shorter slice and the weight of nice -9, and how many are as they were.
hinted() {
	local pid
	for pid in "${urgent[@]}"; do attr "$pid"; done |
		awk -v base="$base" '$1 == 0 && $2 == -9 && $3 < base { given++ } $1 == 0 && $2 == 0 && $3 == base { usual++ } END { print given + 0, usual + 0 }'
}
# until_hinted WANTED: prints how many are when they are as many, or in the end. One whose slice follows its work anew a moment later may
# be looked at in between.
until_hinted() {
	local seen
	for _ in $(seq 900); do
		seen=$(hinted)
		[ "$seen" != "$1" ] || break
		sleep 0.1
	done
	echo "$seen"
}
start_hints() {
	: >"$scratch/err"
	"$tactus" run --actuator hints --compare off --config "$scratch/rules" \
		--without launch,gpu,wine,input,frame,socket,sound,learned >"$scratch/out" 2>"$scratch/err" &
	runner=$!
	wait_for "$scratch/err" "hints to the kernel's scheduler: slices"
}

is "four threads in a guest have the kernel's usual slice and weight before a run" "$(hinted)" "0 4"
start_hints
is "four threads in a guest that a rule makes urgent all get a shorter slice and the weight of nice -9" "$(until_hinted "4 0")" "4 0"
say_measured "$(uname -r): usual slice $base ns, given: $(for pid in "${urgent[@]}"; do attr "$pid"; done | cut -d' ' -f3 | xargs)"
# One that spins, until it has run for half a second.
build/workloads/pace 0 1 3000000 >/dev/null &
other=$!
for _ in $(seq 900); do
	[ "$(cut -d' ' -f1 /proc/$other/schedstat)" -le 500000000 ] || break
	sleep 0.1
done
is "a thread in a guest that spins keeps the kernel's usual slice and weight beside them" "$(attr $other)" "0 0 $base"
kill $other
kill -INT $runner
wait $runner
is "a run by hints in a guest ends with status 0" $? 0
is "four threads in a guest have their slice and weight back after the run" "$(hinted)" "0 4"
[ "${1:-}" = killed ] || done_testing
start_hints
is "four urgent threads in a guest get hints from a second run" "$(until_hinted "4 0")" "4 0"
kill -KILL $runner
wait $runner 2>/dev/null
is "four threads in a guest have their slice and weight back after a SIGKILL" "$(until_hinted "0 4")" "0 4"
done_testing
