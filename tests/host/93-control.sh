#!/usr/bin/env bash
# The control socket of a 'tactus run': status, why, pause, resume, reload; what it knows stays through all of them.
# not beside: tactus run, of which one at a time is at work
. tests/tap.sh
. tests/hints.sh

chmod 711 "$scratch"
export TACTUS_FEED=$scratch/feed
# until COMMAND...: within a minute it succeeds
until_holds() {
	for _ in $(seq 600); do
		! "$@" >/dev/null 2>&1 || return 0
		sleep 0.1
	done
	echo "not within a minute: $*"
	return 1
}
state() { "$tactus" status --json | json "d[\"$1\"]"; }
why() { "$tactus" why "$1" --json | json "[r[\"$2\"] for r in rows if r[\"tid\"] == $1][0]"; }
# why_is TID FIELD VALUE
why_is() { [ "$(why "$1" "$2" 2>/dev/null)" = "$3" ]; }
as_user() { setpriv --reuid 65534 --regid 65534 --clear-groups "$@"; }

ends "status without a run ends with an error" 1 "no 'tactus run' is at work here" "$tactus" status
ends "why without a PID is bad usage" 2 'which process' "$tactus" why
ends "why with a word that is no PID is bad usage" 2 "'x' is no PID" "$tactus" why x

build/workloads/pace skip 5000 200 300000 >/dev/null &
urgent=$!
setpriv --reuid 65534 --regid 65534 --clear-groups build/workloads/pace skip 5000 200 300000 >/dev/null &
users=$!
trap 'kill $urgent $users 2>/dev/null; rm -rf "$scratch"' EXIT
printf '[options run]\ncompare = off\n' >"$scratch/conf"
"$tactus" run --actuator hints --config "$scratch/conf" --without launch,gpu,wine,input,frame,socket,sound,learned >"$scratch/out" 2>"$scratch/run-err" &
runner=$!
wait_for "$scratch/run-err" "watching; Ctrl-C"

is "status tells the run's own process" "$(state pid)" $runner
is "status tells how the run acts" "$(state actuator)" hints
is "status tells the configuration that --config named" "$(state config)" "$scratch/conf"
like "status as text tells since when the run goes on" "$("$tactus" status)" "^tactus .* \[$runner\] since 20"
holds "an urgent thread has a hint" until_hint $urgent
holds "why tells that the urgent thread has a hint" until_holds why_is $urgent act hint
same_slice() { [ "$(why "$urgent" slice_ns)" = "$(slice_of "$urgent")" ]; }
holds "why tells the slice that the urgent thread has" until_holds same_slice
holds "why tells the tier of the urgent thread" until_holds why_is $urgent tier latency-critical
like "why tells in words what shows the role" "$(why $urgent evidence)" '[a-z]+ '
say_measured "$("$tactus" why $urgent | tail -n 1)"
ends "why of a process that is not there ends with an error" 1 'there is no process' "$tactus" why 4194000

like "pause says what it does" "$("$tactus" pause)" 'threads have what they had'
is "a paused run's threads have what they had" "$(attr $urgent)" "0 0 $usual_slice"
is "a paused run says so" "$(state paused)" True
holds "why in a paused run shows the urgent thread as held" until_holds why_is $urgent act held
like "a second pause says that it is paused" "$("$tactus" pause)" already
"$tactus" stats --json -d 2.5 >"$scratch/paused" 2>/dev/null
is "stats of a paused run tell that it is" "$(json 'rows[-1]["actuator"]' <"$scratch/paused")" paused
is "a paused run gives no hint" "$(attr $urgent)" "0 0 $usual_slice"
like "resume says that it goes on" "$("$tactus" resume)" resumed
holds "the urgent thread has a hint again after resume" until_hint $urgent

# What is known of threads stays: the role's age goes on, and a rule holds at once for a thread that is there.
before=$("$tactus" status --json | json 'd["began_wall_ns"]')
printf '[options run]\ncompare = off\n[roles]\npace = background\n' >"$scratch/conf"
is "reload says that it is done" "$("$tactus" reload)" reloaded
is "reload is no restart" "$(state began_wall_ns)" "$before"
is "reload is counted" "$(state reloads)" 1
holds "a rule that was added by a reload holds for a thread that is there" until_holds why_is $urgent role background
holds "a thread that a reloaded rule makes unurgent loses its hint" until_none $urgent
printf '[options run]\ncompare = off\n' >"$scratch/conf"
"$tactus" reload >/dev/null
holds "a thread whose rule is gone after a reload is urgent again" until_hint $urgent

printf '[options run]\nactuator = teapot\n' >"$scratch/conf"
ends "reload of a wrong file fails and says why" 1 "not reloaded: .*teapot" "$tactus" reload
is "a run goes on as before after a reload of a wrong file" "$(state actuator)" hints
holds "an urgent thread keeps its hint after a reload of a wrong file" has_hint $urgent
printf '[options run]\ncompare = off\nreaders = root\ndb = /nowhere/db.bin\n' >"$scratch/conf"
is "reload names what counts at the next start alone" "$("$tactus" reload)" "reloaded, but for --db: that counts at the next start"
printf '[options run]\ncompare = off\nreaders = root\ndb = /nowhere/db.bin\nmetrics = 9783\n' >"$scratch/conf"
is "reload names figures that are to be served from the next start on" "$("$tactus" reload)" "reloaded, but for --db, --metrics: these count at the next start"
is "reload changes who may look" "$(state readers)" root
ends "a user may not look where --readers says root" 1 'for root' as_user "$tactus" status
ends "a user's stats end with an error where --readers says root" 1 'for root' as_user "$tactus" stats
printf '[options run]\ncompare = off\n' >"$scratch/conf"
"$tactus" reload >/dev/null
is "a user may look where the configuration lets him" "$(as_user "$tactus" status --json | json 'd["readers"]')" all
holds "a user may ask why of his own process" as_user "$tactus" why $users --json
ends "a user may not ask why of root's process" 1 "for root, and for a user's own processes" as_user "$tactus" why $urgent
for verb in pause resume reload; do
	ends "a user may not $verb" 1 'that is for root: try sudo' as_user "$tactus" $verb
done
is "refused requests are counted" "$(($(state requests_refused) >= 5))" 1

kill -INT $runner
wait $runner
is "a run that was paused and reloaded ends with status 0" $? 0
is "the threads of a run that was paused and reloaded have what they had" "$(attr $urgent) $(attr $users)" "0 0 $usual_slice 0 0 $usual_slice"
done_testing
