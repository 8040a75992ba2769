#!/usr/bin/env bash
# Twenty trials in which nothing acts, on this machine as it is, beside three hogs: none has an answer. Load that comes and goes is what such a trial has to
# withstand, so that it needs no quiet machine.
# not beside: tactus run, of which one at a time is at work
. tests/tap.sh

less=launch,gpu,wine,input,frame,socket,sound,learned,names
cp build/workloads/pace "$scratch/hog"
hogs=()
for _ in 1 2 3; do
	"$scratch/hog" 0 1 400000 >/dev/null &
	hogs+=($!)
done
trap 'kill "${hogs[@]}" 2>/dev/null; rm -rf "$scratch"' EXIT
answers=0 judged=0
for ((seed = 1; seed <= 20; seed++)); do
	"$tactus" trial --actuator none --without $less --turn 500ms --seed $seed --json -d 20 -- build/workloads/pace 5000 200 900000 >"$scratch/out" 2>"$scratch/err" ||
		flunk "a trial in which nothing acts ends with status 0 (seed $seed)" "$(cat "$scratch/err")"
	grep '^{' "$scratch/out" >"$scratch/json"
	say_measured "$seed: $(json 'rows[-1]["words"]' <"$scratch/json")"
	case $(json 'rows[-1]["verdict"]' <"$scratch/json") in
	no_difference) judged=$((judged + 1)) ;;
	helps | harms) answers=$((answers + 1)) ;;
	esac
done
is "no trial of twenty in which nothing acts has an answer" $answers 0
holds "most of twenty trials in which nothing acts have pairs enough to be judged" test $judged -ge 15
done_testing
