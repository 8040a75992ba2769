#!/usr/bin/env bash
# 'tactus trial' on one CPU by the virtual clock: a program that it helps, one that it can't help, one that a rule of the configuration
# makes it harm, each with the right verdict ('verdicts'); one that presents, which is measured by its frames ('frames', or 'frames_by_hints'); and none in trials in which nothing acts ('nothing'; NULLS says how many, FIRST the
# first seed). Words choose which of them; without any it is all. Runs in the VM.
. tests/tap.sh
. tests/guest/scheduler.sh

cp build/workloads/pace "$scratch/hog"
printf '[roles]\nhog = cpu-bound\npace = audio\n' >"$scratch/helps.conf"
printf '[roles]\ncrowd = audio\nbystander = unknown\n' >"$scratch/harms.conf"
without="${left_out%,names},learned"
# try_it NAME OPTIONS... -- COMMAND: its JSON in $scratch/NAME
try_it() {
	local name=$1
	shift
	at "$name"
	"$tactus" trial --json --report "$scratch/$name" --without "$without" --seed "${seed:-7}" "$@" >/dev/null 2>"$scratch/err" ||
		flunk "a trial that ends by itself ends with status 0: $name" "$(cat "$scratch/err")"
	say_measured "$name: $(json 'rows[-1]["words"]' <"$scratch/$name")"
}
verdict() { json 'rows[-1]["verdict"]' <"$scratch/$1"; }
hogs() {
	for _ in 1 2 3; do
		taskset -c 0 "$scratch/hog" 0 1 900000 >/dev/null &
		load+=($!)
	done
}

verdicts() {
	# A rule is looked at when a thread gets its name, so the crowd begins when acting does.
	: >"$scratch/err"
	{
		wait_for "$scratch/err" "hints to the kernel's scheduler"
		exec build/workloads/crowding crowd 3 15000 100000 900
	} >/dev/null &
	load+=($!)
	try_it harms --actuator hints --config "$scratch/harms.conf" --turn 1s -d 150 -- build/workloads/crowding bystander 3000 900
	say_measured "$(grep 'hints given' "$scratch/err")"
	is "a program beside threads that a rule makes urgent is harmed" "$(verdict harms)" harms
	end_load
	for actuator in ${ACTUATORS:-hints scx}; do
		hogs
		try_it "helps-$actuator" --actuator "$actuator" --config "$scratch/helps.conf" --turn 1s -d 60 -- build/workloads/pace 5000 200 900000
		is "a thread that wakes every 5 ms beside three hogs is helped ($actuator)" "$(verdict "helps-$actuator")" helps
		is "a thread that wakes by a clock is measured by its waits ($actuator)" "$(json 'rows[-1]["by"]' <"$scratch/helps-$actuator")" waits
		end_load
		try_it "alone-$actuator" --actuator "$actuator" --turn 500ms -d 15 -- "$scratch/hog" 0 1 900000
		is "a program that computes alone can't be helped ($actuator)" "$(verdict "alone-$actuator")" no_difference
		is "a program that computes is measured by its CPU time ($actuator)" "$(json 'rows[-1]["by"]' <"$scratch/alone-$actuator")" progress
	done
}
# It works 8 ms for each frame and is to present 60 a second: beside three hogs of its CPU the kernel gives it a quarter of that CPU.
frames() {
	cat >"$scratch/frames.py" <<-'END'
		import ctypes, time
		library = ctypes.CDLL("libEGL.so.1")
		due = time.monotonic()
		while True:
		    until = time.thread_time() + 0.008
		    while time.thread_time() < until: pass
		    library.eglSwapBuffers(None, None)
		    due = max(due + 1 / 60, time.monotonic())
		    time.sleep(max(0, due - time.monotonic()))
	END
	without=learned
	for actuator in ${ACTUATORS:-hints scx}; do
		hogs
		try_it "frames-$actuator" --actuator "$actuator" --turn 500ms -d 40 -- taskset -c 0 python3 "$scratch/frames.py"
		is "a program that presents beside three hogs is helped ($actuator)" "$(verdict "frames-$actuator")" helps
		is "a program that presents is measured by its frames ($actuator)" "$(json 'rows[-1]["by"]' <"$scratch/frames-$actuator")" frames
		end_load
	done
}
frames_by_hints() { ACTUATORS=hints frames; }
nothing() {
	local false_ones=0
	for ((seed = ${FIRST:-1}; seed < ${FIRST:-1} + ${NULLS:-5}; seed++)); do
		hogs
		try_it "nothing-$seed" --actuator none --turn 500ms -d 13 -- build/workloads/pace 5000 200 900000
		[ "$(verdict "nothing-$seed")" = no_difference ] || false_ones=$((false_ones + 1))
		end_load
	done
	is "no trial of ${NULLS:-5} in which nothing acts has an answer" "$false_ones" 0
}
[ $# -gt 0 ] || set -- verdicts frames nothing
for part in "$@"; do
	$part
done
done_testing
