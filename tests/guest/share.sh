#!/usr/bin/env bash
# Who gets how much of one CPU under tactus, and how soon: by the virtual clock, so that the host's load has no say.
# Runs in the VM. Usage: share.sh [late]   (by that word only how soon)
. tests/tap.sh
. tests/guest/scheduler.sh

run="$tactus run --compare off --without $left_out"

# take SECONDS NICE...: what threads that spin get of the CPU in that time, in ms, once they all run
take() {
	local seconds=$1 nice i before=() got=()
	shift
	for nice in "$@"; do hog nice -n "$nice"; done
	runs_on 100 "${load[@]}"
	for i in "${!load[@]}"; do before[i]=$(ran_ms "${load[i]}"); done
	sleep "$seconds"
	for i in "${!load[@]}"; do got[i]=$(($(ran_ms "${load[i]}") - before[i])); done
	end_load
	echo "${got[*]}" >"$scratch/got"
}

shares() {
	start_run
	take 5 -5 5
	read -r heavy light <"$scratch/got"
	say_measured "nice -5 got $heavy ms, nice 5 got $light ms of one CPU"
	is_between "a thread at nice -5 gets nine times what one at nice 5 gets, within a fifth" \
		$((light * 72)) $((heavy * 10)) $((light * 108))
	take 3 0 0 0
	read -r least middle most < <(tr ' ' '\n' <"$scratch/got" | sort -n | tr '\n' ' ')
	say_measured "three equal ones got $least, $middle and $most ms"
	holds "three equal threads get the same within 5 %" test $((most * 95)) -le $((least * 100))
	by_clock 1 1 2000 build/workloads/pace nice -n 19
	read -r took hogs_got <"$scratch/got"
	say_measured "one at nice 19 that wants 2 of every 5 ms, by a clock, got $took ms, a hog at nice 0 $hogs_got ms"
	holds "a thread at nice 19 that works by a clock gets no more than a twentieth of what a hog at nice 0 gets" \
		test $((took * 20)) -le "$hogs_got"
	kill -KILL "$pid"
	wait "$pid" 2>/dev/null
	is "the kernel's own scheduler is back within a second of SIGKILL" "$(state_within 10 disabled)" disabled
}
[ "${1:-}" = late ] || shares

# percentile FILE: p99 of cyclictest's histogram, in us
percentile() { awk '/^[0-9]/ {n += $2; c[$1] = $2} END {for (i = 0; i < 50000; i++) {s += c[sprintf("%06d", i)]; if (s >= n * .99) {print i; exit}}}' "$1"; }
timed() { cyclictest -t1 -i 5000 -l 400 --policy=other -q -h 40000 >"$1"; }
timed "$scratch/idle"
hogs=()
for _ in 1 2 3; do
	build/workloads/pace 0 1 100000 >/dev/null &
	hogs+=($!)
done
sleep 1
timed "$scratch/eevdf"
rm -f "$scratch/err"
$run >"$scratch/out" 2>"$scratch/err" &
runner=$!
wait_for "$scratch/err" "scheduling by sched_ext"
timed "$scratch/first"
timed "$scratch/tactus"
kill -INT $runner
wait $runner
idle=$(percentile "$scratch/idle") tactus_p99=$(percentile "$scratch/tactus")
say_measured "p99 lateness of a thread that wakes every 5 ms: $idle us idle; beside three hogs $(percentile "$scratch/eevdf") us by EEVDF, \
$(percentile "$scratch/first") us in the first two seconds of tactus, $tactus_p99 us after that"
holds "beside three hogs a thread that works by a clock is at most twice as late as on an idle machine" \
	test "$tactus_p99" -le $((idle * 2))
kill "${hogs[@]}"
[ "${1:-}" != late ] || done_testing

modprobe -a evdev uinput 2>/dev/null
# A click is handed on by who reads the mouse, to a program that is nothing special, beside three hogs.
# of_clicks: the median time in us from a click until that program has done its 2 ms of work
of_clicks() {
	build/bench/load hogs 4 0 0 0 >/dev/null &
	local burden=$!
	build/bench/load clicks 3 0.5 | sed -n 's/.* done_p50_us=\([0-9]*\).*/\1/p'
	wait $burden
}
by_kernel=$(of_clicks)
: >"$scratch/out"
: >"$scratch/err"
$tactus run --compare off --without launch,gpu,wine,frame,socket,sound,names >"$scratch/out" 2>"$scratch/err" &
runner=$!
wait_for "$scratch/err" "scheduling by sched_ext"
by_tactus=$(of_clicks)
kill -INT $runner
wait $runner
say_measured "from a click to who has handled it, which is 2,000 us of work, beside three hogs: $by_tactus us, $by_kernel us by the kernel's own scheduler"
holds "a click beside three hogs is handled in at most half the time that the kernel's own scheduler takes" \
	test "$((by_tactus * 2))" -lt "$by_kernel"
holds "a click beside three hogs is handled within a quarter more than its work" test "$by_tactus" -le 2500
done_testing
