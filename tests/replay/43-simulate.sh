#!/usr/bin/env bash
# tactus simulate: a recording's work again and under another policy; what it refuses. No root.
. tests/tap.sh

made=$scratch/made.tactus
python3 tests/turns.py | python3 tests/recording.py "$made" 1
fails() {
	local name=$1
	shift
	"$@" >/dev/null 2>&1
	is "$name, with status 1" $? 1
}
simulate() { "$tactus" simulate -i "$made" --kernel 6.18 "$@"; }

simulate --policy eevdf --json >"$scratch/json"
say_measured "$(json '[(r["waits_octaves"], r["cpu_share"]) for r in rows if r["record"] == "fidelity"]' <"$scratch/json")"
is "eevdf simulated again gives the recording's shares of CPU time within 5 %" \
	"$(json '[r["cpu_share"] < 0.05 for r in rows if r["record"] == "fidelity"]' <"$scratch/json")" "[True]"
is "eevdf simulated again gives the recording's waits within 0.75 octaves" \
	"$(json '[r["waits_octaves"] < 0.75 for r in rows if r["record"] == "fidelity"]' <"$scratch/json")" "[True]"
is "simulated wake-ups by the clock are as many as were recorded" \
	"$(json '[190 < r["wakeups"] < 210 for r in rows if r["record"] == "simulated"]' <"$scratch/json")" "[True]"

simulate --policy tactus -o "$scratch/tactus.tactus" >"$scratch/out" 2>"$scratch/err"
like "a simulation prints compare's table against the recording" "$(cat "$scratch/out")" '^wait p99 +all threads'
like "a simulation says where it is written" "$(cat "$scratch/err")" 'what was simulated is in .*tactus\.tactus'
for view in latency tasks "frames --why" misses migrations events affinity; do
	# shellcheck disable=SC2086
	holds "'$view' reads what was simulated" "$tactus" $view -i "$scratch/tactus.tactus"
done
holds "report reads what was simulated" "$tactus" report -i "$scratch/tactus.tactus" -o "$scratch/page.html"
holds "compare reads what was simulated" "$tactus" compare "$made" "$scratch/tactus.tactus"
simulate --policy tactus -o "$scratch/again.tactus" >/dev/null 2>&1
holds "the same simulation gives the same recording, byte by byte" cmp "$scratch/tactus.tactus" "$scratch/again.tactus"
is "what was simulated is simulated again as itself" "$("$tactus" simulate -i "$scratch/tactus.tactus" --recorded tactus --policy tactus --json |
	json '[(r["waits_octaves"] < 0.25, r["cpu_share"] < 0.05) for r in rows if r["record"] == "fidelity"]')" "[(True, True)]"

# Nobody waits for 4 ms at a time under fifo, whose slices are 20.
fails "a recording that its policy does not give back is refused" "$tactus" simulate -i "$made" --recorded fifo --policy tactus -o "$scratch/no.tactus"
like "the refusal says what differs, and under what" "$("$tactus" simulate -i "$made" --recorded fifo 2>&1 >/dev/null)" \
	'nothing is predicted: [a-z A-Z]+ under fifo, simulated, differ'
is "a refused simulation leaves no file" "$(ls "$scratch/no.tactus" 2>/dev/null)" ""
fails "a recording with a filter, without the other threads, is refused" "$tactus" simulate -i examples/late-frames.tactus

printf 'node\ncache 2 threads 2\nnode\ncache 2 capacity 400\n' >"$scratch/topology"
is "a topology file makes the machine" "$(simulate --topology "$scratch/topology" --json | json '[r["cpus"] for r in rows if r["record"] == "simulated"]')" "[6]"
like "a topology file whose distance names a node that is not there is refused" "$(printf 'cache 2\ndistance 0 1 20\n' >"$scratch/wrong"; simulate --topology "$scratch/wrong" 2>&1 >/dev/null)" 'names node 1'
like "a wrong line of a topology file is named" "$(printf 'cache 2\ncaches 3\n' >"$scratch/wrong"; simulate --topology "$scratch/wrong" 2>&1 >/dev/null)" 'line 2: none of'
is "copies are added" "$(simulate --cpus 4 --copies 3 --json | json '[r["threads"] for r in rows if r["record"] == "simulated"]')" "[12]"
is "a sweep has both policies on each machine" "$(simulate --sweep 1,4 --json | json '[(r["cpus"], r["policy"]) for r in rows if r["record"] == "sweep"]')" \
	"[(1, 'eevdf'), (1, 'tactus'), (4, 'eevdf'), (4, 'tactus')]"
printf '[options run]\nslice-us = 2000\n' >"$scratch/run.conf"
chmod 600 "$scratch/run.conf"
is "--policy takes a configuration of 'tactus run', whose slice it is" \
	"$(simulate --policy "$scratch/run.conf" --json | json '[r for r in rows if r["record"] == "simulated"]')" \
	"$(simulate --policy tactus --slice 2ms --json | json '[r for r in rows if r["record"] == "simulated"]')"
"$tactus" tune "$made" --held "$scratch/tactus.tactus" --recorded eevdf --bound 8 --json >"$scratch/json" 2>"$scratch/err"
is "tune tries each setting on the recordings to search on, and the usual one first" \
	"$(json '([r["slice_us"] for r in rows if not r["held"]][:9], [r["slice_us"] for r in rows if r["held"]][0])' <"$scratch/json")" \
	"([5000, 500, 1000, 2000, 3000, 10000, 20000, 5000, 2000], 5000)"
is "tune tries each credit and discount alone beside the usual setting" \
	"$(json '[sorted({r[x] for r in rows if not r["held"] and r["slice_us"] == 5000 and r[y] == usual}) for x, y, usual in (("credit", "discount", 8), ("discount", "credit", 4))]' <"$scratch/json")" \
	"[[2, 4, 8, 16], [1, 2, 4, 8, 16, 32]]"
is "tune tries each bound of light threads alone beside the usual setting" \
	"$(json 'sorted({r["light_us"] for r in rows if not r["held"] and (r["slice_us"], r["credit"], r["discount"]) == (5000, 4, 8)})' <"$scratch/json")" \
	"[100, 250, 500, 1000, 2000]"
"$tactus" tune tests/recordings/wakers-eevdf.tactus >"$scratch/out" 2>&1
say_measured "$(tail -n 3 "$scratch/out" | tr '\n' ' ')"
like "tune says what chance alone does" "$(cat "$scratch/out")" '^by chance alone a setting is better or worse by [0-9.]+ octaves$'
like "tune finds nothing better, or says where what it found loses" "$(tail -n 1 "$scratch/out")" '^(no setting is better|it loses (nowhere|in .*: .* instead of))'
is "tune gives one measure of chance for a recording, of two octaves at most" \
	"$(json '[(len({r["chance_octaves"] for r in rows if r["held"] == held}), all(0 <= r["chance_octaves"] < 2 for r in rows)) for held in (True, False)]' <"$scratch/json")" "[(1, True), (1, True)]"
"$tactus" tune "$made" --recorded eevdf --write "$scratch/tuned.conf" >/dev/null 2>&1
like "tune writes a configuration of 'tactus run'" "$(cat "$scratch/tuned.conf")" '^slice-us = [0-9]+$'
like "tune writes a credit" "$(cat "$scratch/tuned.conf")" '^credit = [0-9]+$'
like "tune writes a discount" "$(cat "$scratch/tuned.conf")" '^discount = [0-9]+$'
like "tune writes the bound of light threads" "$(cat "$scratch/tuned.conf")" '^light-us = [0-9]+$'
holds "simulate --policy takes what tune wrote" simulate --policy "$scratch/tuned.conf"
holds "tactus run would take what tune wrote" "$tactus" config --config "$scratch/tuned.conf" run
fails "tune refuses a recording that its policy does not give back" "$tactus" tune "$made" --recorded fifo
is "tune takes recordings behind -i as well" "$("$tactus" tune -i "$made" --recorded eevdf)" "$("$tactus" tune "$made" --recorded eevdf)"
like "tune names a file that it can't write before it searches" "$("$tactus" tune "$made" --recorded fifo --write "$scratch/none/tuned.conf" 2>&1)" 'tuned\.conf: cannot write'
"$tactus" tune "$made" --held "$made" >/dev/null 2>&1
is "a recording that is searched on and held out is bad usage" $? 2
"$tactus" tune >/dev/null 2>&1
is "tune without a recording is bad usage" $? 2
rm -f "$scratch/judged.conf"
"$tactus" tune "$made" --held "$scratch/tactus.tactus" --recorded eevdf --bound 8 --json --write "$scratch/judged.conf" >"$scratch/json" 2>"$scratch/err"
written=$([ ! -e "$scratch/judged.conf" ] || echo written)
say_measured "held out: $(json '[r["gain_octaves"] for r in rows if r["held"]]' <"$scratch/json"); ${written:-not written}"
is "what was found is written only if it gains a tenth of an octave on what was held out, or is the usual setting" \
	"$(json '(lambda held: len(held) == 1 or held[1] > 0.1)([r["gain_octaves"] for r in rows if r["held"]])' <"$scratch/json")" "$([ "$written" ] && echo True || echo False)"
# The same load, really recorded in a VM with Linux 7.2.12 and two CPUs: hogs, and threads that wake every 5 ms.
under_eevdf=tests/recordings/wakers-eevdf.tactus under_tactus=tests/recordings/wakers-tactus.tactus
# predicts FROM RECORDED POLICY REAL: how far the recorded policy is off again, and what is predicted
predicts() {
	"$tactus" simulate -i "$1" --recorded "$2" --policy "$3" --against "$4" --json >"$scratch/json" 2>"$scratch/err"
	say_measured "$3 from $2: again $(json '[r["waits_octaves"] for r in rows if r["record"] == "fidelity"]' <"$scratch/json"), predicted $(json '[r["waits_octaves"] for r in rows if r["record"] == "against"]' <"$scratch/json") octaves"
	is "$2 of Linux 7.2.12, recorded in a VM, is given back within 0.4 octaves and 5 % of CPU shares" \
		"$(json '[(r["waits_octaves"] < 0.4, r["cpu_share"] < 0.05) for r in rows if r["record"] == "fidelity"]' <"$scratch/json")" "[(True, True)]"
	is "$3 predicted from a recording under $2 is within an octave of the real run" \
		"$(json '[r["waits_octaves"] < 1 for r in rows if r["record"] == "against"]' <"$scratch/json")" "[True]"
}
predicts $under_eevdf eevdf tactus $under_tactus
predicts $under_tactus tactus eevdf $under_eevdf
like "--against prints the real run beside the prediction" "$("$tactus" simulate -i $under_eevdf --against $under_tactus)" 'WAITS OF +REAL +PREDICTED'
is "a recording held against itself has the CPU shares that its policy gives back" \
	"$("$tactus" simulate -i $under_eevdf --policy eevdf --against $under_eevdf --json | json '[r["cpu_share"] < 0.05 for r in rows if r["record"] == "against"]')" "[True]"
like "--against says by how much CPU shares differ" "$("$tactus" simulate -i $under_eevdf --against $under_tactus)" 'CPU shares of threads by name by [0-9.]+ %'
like "a recording under tactus that is taken for eevdf is refused, and how to say so" "$("$tactus" simulate -i $under_tactus 2>&1)" 'nothing is predicted: .*--recorded'
is "--hints is --policy hints" "$("$tactus" simulate -i $under_eevdf --hints)" "$("$tactus" simulate -i $under_eevdf --policy hints)"
head -c 90000 $under_eevdf >"$scratch/cut.tactus"
like "of a recording that ends in the middle of a block the part that is there is simulated, and that is said" "$("$tactus" simulate -i "$scratch/cut.tactus" 2>&1)" 'in the middle of a block'
# Workers that hand batches over pipes to a loop, beside hogs, recorded in a VM with Linux 7.2.12 and two CPUs: 516 of 543 wake-ups are by threads.
loop=tests/recordings/train-eevdf.tactus
for policy in fifo vtime; do
	fails "work in which threads wake each other is not predicted for $policy" "$tactus" simulate -i $loop --policy $policy
	like "a refusal for $policy says how many wake-ups are by threads, and what predicts all the same" "$("$tactus" simulate -i $loop --policy $policy 2>&1 >/dev/null)" \
		"nothing is predicted: 516 of 543 wake-ups are by threads, and under $policy.*--bound"
	holds "work in which threads wake each other is predicted for $policy by --bound" "$tactus" simulate -i $loop --policy $policy --bound 0.75
	holds "work that timers wake is predicted for $policy" "$tactus" simulate -i $under_eevdf --policy $policy
done
holds "work in which threads wake each other is predicted for tactus" "$tactus" simulate -i $loop
# expected OPTIONS...: what is expected of that prediction
expected() { "$tactus" simulate -i $loop --json "$@" | json '[(r["expected_error_octaves"], r["worst_error_octaves"], r["predictions"]) for r in rows if r["record"] == "expected_error"]'; }
say_measured "tactus from eevdf: expected, worst, predictions $(expected)"
like "a prediction states its expected error, the worst and of how many" "$(expected)" '^\[\([0-9.]+, [0-9.]+, [0-9]+\)\]$'
like "a prediction states its expected error in words, and on what that is founded" "$("$tactus" simulate -i $loop)" \
	'^expected error: waits by [0-9.]+ octaves, at worst [0-9.]+ \([0-9]+ predictions of tactus from eevdf in VMs'
is "a prediction of a pair of policies that was never held against a real run has no expected error" "$(expected --policy hints)" "[(None, None, 0)]"
is "a prediction for another machine has no expected error" "$(expected --cpus 4)" "[(None, None, 0)]"
is "the recorded policy on the recorded machine is expected to be off as it is again" "$(expected --policy eevdf)" \
	"$("$tactus" simulate -i $loop --policy eevdf --json | json '[(r["waits_octaves"], r["waits_octaves"], 1) for r in rows if r["record"] == "fidelity"]')"
holds "expected errors are those of the tables in docs/simulate.md" tools/expected.py --check
# What was before the window is no work: a part of a recording has the CPU time of that part.
"$tactus" cut -i $under_eevdf --from 1s --to 1.9s -o "$scratch/part.tactus" >/dev/null 2>&1
is "a part of a recording, simulated again, has as much CPU time as it had" \
	"$("$tactus" simulate -i "$scratch/part.tactus" --policy eevdf --json --bound 8 | json '[r["cpu_time"] < 0.02 for r in rows if r["record"] == "fidelity"]')" "[True]"
# Signals are taken once there is a file to leave behind: then one ends it, long before this many copies are simulated.
"$tactus" simulate -i $under_eevdf --cpus 64 --copies 1000 -o "$scratch/stopped.tactus" >/dev/null 2>"$scratch/err" &
stopped=$!
for _ in $(seq 3000); do
	grep -qs 'SigBlk:.*[1-9a-f]' /proc/$stopped/status && break
	sleep 0.01
done
kill -TERM $stopped
wait $stopped
is "a simulation that is stopped ends with status 1" $? 1
like "a simulation that is stopped says so" "$(cat "$scratch/err")" 'stopped: nothing is predicted'
is "a simulation that is stopped leaves no file" "$(ls "$scratch/stopped.tactus" 2>/dev/null)" ""
# of_run OPTIONS...: what the load of that VM would be under tactus with other settings
of_run() { "$tactus" simulate -i $under_eevdf --json "$@" | json '[(r["switches"], r["moves"], r["longest_wait_ns"]) for r in rows if r["record"] == "simulated"]'; }
usual=$(of_run)
say_measured "switches, moves, longest wait: $usual; credit 16: $(of_run --credit 16); discount 1: $(of_run --discount 1)"
is "--credit 4, --discount 8 and --light-us 500 are what a simulation has by itself" "$(of_run --credit 4 --discount 8 --light-us 500)" "$usual"
# Its two urgent threads need little: what they are charged, and how early they may join, matters where there are more of them.
fails "a simulation of three times the work with --credit 16 is not the usual one" test "$(of_run --copies 2 --credit 16)" = "$(of_run --copies 2)"
fails "with --discount 1 a simulation of three times the work is not the usual one" test "$(of_run --copies 2 --discount 1)" = "$(of_run --copies 2)"
fails "a simulation with --light-us 50 is not the usual one" test "$(of_run --light-us 50)" = "$usual"
printf '[options run]\ncredit = 16\ndiscount = 1\nlight-us = 100\n' >"$scratch/run.conf"
is "--policy takes a configuration's credit, discount and bound of light threads" "$(of_run --policy "$scratch/run.conf")" "$(of_run --credit 16 --discount 1 --light-us 100)"
printf '[options run]\nraise = everybody\n' >"$scratch/run.conf"
like "a configuration with a raise that 'tactus run' would not take is refused" "$(simulate --policy "$scratch/run.conf" 2>&1)" "a raise that 'tactus run' would not take"
printf '[options run]\ncredit = 17\n' >"$scratch/run.conf"
simulate --policy "$scratch/run.conf" >/dev/null 2>&1
is "a configuration with a credit beyond what 'tactus run' takes is bad usage" $? 2
for wrong in "--credit 1" "--credit 17" "--discount 0" "--discount 33" "--light-us 49" "--light-us 2001" "--light-us 500 --actuator hints" "--discount 33 --actuator scx" "--credit 2 --actuator hints" "--discount 2 --actuator none"; do
	# shellcheck disable=SC2086
	"$tactus" run $wrong >/dev/null 2>&1
	is "'tactus run $wrong' is bad usage" $? 2
done
for wrong in "--credit 1" "--credit 17" "--discount 0" "--discount 33" "--light-us 49" "--policy eevdf --light-us 500" "--policy eevdf --credit 4" "--policy none" "--cpus 0" "--cpus 513" "--hz x" "--sweep 0" "--kernel six" "--recorded x" "--bound no" "--from 1s" "--hints --policy fifo" "--sweep 2 --against x"; do
	# shellcheck disable=SC2086
	simulate $wrong >/dev/null 2>&1
	is "'$wrong' is bad usage" $? 2
done
done_testing
