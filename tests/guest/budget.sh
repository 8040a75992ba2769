#!/usr/bin/env bash
# What urgent threads of one user may run together under the scheduler, on one CPU by the virtual clock. Runs in the VM.
. tests/tap.sh
. tests/guest/scheduler.sh

chmod 755 "$scratch"
cp build/workloads/pace "$scratch/by-clock"
# Urgent by the user's word, whatever they do.
printf '[roles]\nby-clock = render\n' >"$scratch/conf"
"$tactus" run --compare off --without launch,gpu,wine,input,frame,socket,sound --config "$scratch/conf" >"$scratch/out" 2>"$scratch/err" &
pid=$!
is "a run with a rule of the user's takes over" "$(state_within 600 enabled)" enabled
him=(setpriv --reuid 65534 --regid 65534 --clear-groups)
by_clock 1 2 2200 "$scratch/by-clock" "${him[@]}"
read -r took hogs_got <"$scratch/got"
say_measured "two urgent ones of one user that want 2.2 of every 5 ms each got $took ms together, a hog $hogs_got ms;" \
	"$(json 'sum(r["over_budget"] for r in rows)' <"$scratch/stats") times over the budget"
like "a run counts urgent threads whose user has used up the budget" "$(cat "$scratch/stats")" '"over_budget":[1-9]'
by_clock 1 1 2200 "$scratch/by-clock" "${him[@]}"
read -r took hogs_got <"$scratch/got"
say_measured "one alone that wants 2.2 of every 5 ms got $took ms, a hog $hogs_got ms"
is "urgent threads within their user's budget are not held back" "$(json 'sum(r["over_budget"] for r in rows)' <"$scratch/stats")" 0
stop_run
done_testing
