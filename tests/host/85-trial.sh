#!/usr/bin/env bash
# 'tactus trial' on this kernel: turns are balanced and follow from the seed, hints come and go with them and none is left, and what is wrong
# is said in one line. Answers need a machine that is not shared: they are tried by the virtual clock (tests/guest/trial.sh) and, on
# made turns, in tests/unit/trial_test.c. Here there are fewer pairs than any answer takes.
# not beside: tactus run, of which one at a time is at work
. tests/tap.sh

less=launch,gpu,wine,input,frame,socket,sound,learned
printf '[roles]\npace = audio\n' >"$scratch/rules"
"$tactus" trial --actuator hints --config "$scratch/rules" --without $less --turn 500ms --seed 3 --json -d 6 -- build/workloads/pace 5000 200 60000 >"$scratch/out" 2>"$scratch/err"
is "a trial whose time is over ends with status 0, though its command is ended" $? 0
grep '^{' "$scratch/out" >"$scratch/json"
say_measured "$(json 'rows[-1]["words"]' <"$scratch/json")"
is "a trial of six seconds says that this is too little" "$(json 'rows[-1]["verdict"]' <"$scratch/json")" too_little
holds "a trial of six seconds in turns of half a second has two pairs or more" test "$(json 'rows[-1]["pairs"]' <"$scratch/json")" -ge 2
is "a trial says by which seed the order was drawn" "$(json 'rows[-1]["seed"]' <"$scratch/json")" 3
like "a trial says the seed while it runs" "$(cat "$scratch/err")" 'the order of turns is by --seed 3'
holds "a trial gives hints in its turns" grep -qE '[1-9][0-9]* hints given, all taken back' "$scratch/err"
# A hint comes anew in each turn that acts: the thread is urgent by a rule from its start.
holds "a trial gives hints more than once, since it holds back in between" test "$(sed -nE 's/.* ([0-9]+) hints given.*/\1/p' "$scratch/err")" -ge 2
holds "a trial has the program's waits of both kinds of turns" test "$(json 'len([r for r in rows if r.get("figure") == "wait_p50" and r["of"] == "all" and r["a"] and r["b"]])' <"$scratch/json")" -eq 1
holds "a trial has the waits of other programs" test "$(json 'len([r for r in rows if r.get("of") == "others"])' <"$scratch/json")" -ge 1
build/workloads/pace 5000 200 60000 >/dev/null &
pace=$!
trap 'kill $pace 2>/dev/null; rm -rf "$scratch"' EXIT
before=$(build/workloads/attr $pace)
"$tactus" trial --actuator hints --config "$scratch/rules" --without $less --turn 500ms -d 6 --by waits -p $pace >"$scratch/out" 2>"$scratch/err"
is "a trial of a process that is there ends with status 0" $? 0
is "a process that was on trial has what it had before" "$(build/workloads/attr $pace)" "$before"
holds "a process that was on trial goes on" kill -0 $pace
like "the last line of a trial is its answer" "$(tail -n 1 "$scratch/out")" '^too little to say: [0-9]+ pairs of turns, and an answer takes 9 or more$'

library=$PWD/build/workloads/libcuda.so.1
TACTUS_NVIDIA_MAJORS=1,5 "$tactus" trial --actuator none --without all --library "$library" --turn 500ms --json -d 12 -- build/workloads/steps "$library" 1000000 1000000 1 none >"$scratch/out" 2>"$scratch/err"
grep '^{' "$scratch/out" >"$scratch/json"
say_measured "$(json '[(r["with"], r["without"]) for r in rows if r["record"] == "trial_pair"]' <"$scratch/json")"
is "a program that launches kernels is measured by them" "$(json 'rows[-1]["by"]' <"$scratch/json")" launches
# A step launches six kernels and waits a millisecond: a thousand a second at most by six, and some where a CPU is to be had.
holds "a program that launches kernels has as many a second as it launches" test \
	"$(json 'sum(0 < r[side] < 6000 for r in rows if r["record"] == "trial_pair" for side in ("with", "without"))' <"$scratch/json")" -ge 6
"$tactus" trial --actuator none --without all --by launches --turn 500ms --json -d 3 -p $pace >"$scratch/out" 2>"$scratch/err"
is "a program that launches nothing has no launches a second" "$(grep '"trial_pair"' "$scratch/out" | json '{r[side] for r in rows for side in ("with", "without")}')" "{0.0}"

: >"$scratch/err"
"$tactus" trial --actuator none --without all -d 30 -p $pace >"$scratch/out" 2>"$scratch/err" &
runner=$!
wait_for "$scratch/err" 'observing only'
kill -INT $runner
wait $runner
is "a trial that is interrupted ends with status 0" $? 0
ends "a trial of nothing is bad usage" 2 'name the program to try' "$tactus" trial
ends "a trial of a command and a process is bad usage" 2 'not both' "$tactus" trial -p 1 -- true
ends "a turn that is too short is bad usage" 2 "'10ms' is not a span from 500ms to 60s" "$tactus" trial --turn 10ms -- true
ends "a measure that there is not is bad usage" 2 "'luck' is none of frames, launches, waits, progress" "$tactus" trial --by luck -- true
ends "a trial's seed is a number" 2 "'x' is not a number" "$tactus" trial --seed x -- true
"$tactus" trial --actuator none --without all --turn 500ms -- build/workloads/pace 5000 200 1500 >"$scratch/out" 2>"$scratch/err"
is "a trial whose command ends first ends with it" "$? $(grep -c '^too little to say' "$scratch/err")" "0 1"
"$tactus" trial --actuator none --without all -- false >"$scratch/out" 2>"$scratch/err"
is "a trial of a command that fails has that command's status" $? 1
done_testing
