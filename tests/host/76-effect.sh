#!/usr/bin/env bash
# A run that makes nobody wait longer says so of nobody, and 'run --compare' is on or off. Whom it does make wait longer is tried by
# the virtual clock in tests/guest/effect.sh.
# not beside: tactus run, of which one at a time is at work
. tests/tap.sh

without=launch,gpu,wine,input,frame,socket,sound,learned
ends "--compare takes nothing but on and off" 2 "'maybe' is none of on, off" "$tactus" run --compare maybe
ends "--power takes nothing but its three words" 2 "'fast' is none of performance, balanced, save" "$tactus" run --power fast
ends "--power with hints is bad usage" 2 "power is for sched_ext only" "$tactus" run --power save --actuator hints
printf '[roles]\npace = audio\n' >"$scratch/rules"
build/workloads/pace 5000 200 20000 >/dev/null &
urgent=$!
build/workloads/crowding bystander 500 20 >/dev/null &
bystander=$!
trap 'kill $urgent $bystander 2>/dev/null; rm -rf "$scratch"' EXIT
"$tactus" run --actuator hints --config "$scratch/rules" --without $without --json -d 8 >"$scratch/out" 2>"$scratch/err"
is "a run that compares ends well" $? 0
holds "a run beside a thread that a rule calls urgent gives it a hint" test "$(json 'max(r["hints"]["urgent"] for r in rows)' <"$scratch/out")" -ge 1
say_measured "$(json 'rows[-1]["effect"]["trials"]' <"$scratch/out") trials in 8 s"
is "a run that makes nobody wait longer says so of nobody" "$(grep -c 'waits longer for CPUs' "$scratch/err")" 0
is "the JSON of a run that makes nobody wait longer has no last one" "$(json 'rows[-1]["effect"]["last"]' <"$scratch/out")" None
"$tactus" run --actuator hints --without $without --json --compare off -d 3 >"$scratch/out" 2>"$scratch/err"
is "a run with --compare off holds no trial" "$(json 'rows[-1]["effect"]["trials"]' <"$scratch/out")" 0
done_testing
