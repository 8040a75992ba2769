#!/usr/bin/env bash
# 'tactus stats' shows the lines of a 'tactus run' elsewhere: to several at once, to anybody, and never at the run's cost.
# not beside: tactus run, of which one at a time is at work
. tests/tap.sh

export TACTUS_FEED=$scratch/feed
without=launch,gpu,wine,input,frame,socket,sound,names
run=("$tactus" run --actuator none --without "$without")
begin_run() {
	rm -f "$scratch/err"
	"${run[@]}" --json "$@" >"$scratch/out" 2>"$scratch/err" &
	runner=$!
	wait_for "$scratch/err" "observing only"
}

chmod 711 "$scratch"
ends "nobody to listen to" 1 "no 'tactus run' is at work here" "$tactus" stats
begin_run
"$tactus" stats --json -d 3.5 >"$scratch/one" &
one=$!
setpriv --reuid=nobody --clear-groups "$tactus" stats -d 3.5 >"$scratch/two" &
two=$!
# One that calls and never reads.
python3 -c 'import socket, sys, time
s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET); s.connect(sys.argv[1]); time.sleep(60)' "$TACTUS_FEED" &
mute=$!
wait $one
is "stats ends well when its time is up" $? 0
wait $two
is "also for somebody without rights" $? 0
holds "several lines came" test "$(json 'len(rows)' <"$scratch/one")" -ge 2
is "the very lines of the run" "$(cat "$scratch/one" "$scratch/out" | json 'len(rows) - len({r["wall_ns"] for r in rows})')" \
	"$(json 'len(rows)' <"$scratch/one")"
holds "with a head" grep -q '^TIME ' "$scratch/two"
like "and as text" "$(tail -n 1 "$scratch/two")" '^[0-9:]{8}  none +[0-9]+ %'
say_measured "$(tail -n 1 "$scratch/two")"
is "waits are told by tier" "$(json 'all(set(r["wait_p99_ns"]) == {"urgent", "normal", "batch"} for r in rows)' <"$scratch/one")" True
holds "and are there" test "$(json 'sum(r["waits"]["normal"] for r in rows)' <"$scratch/out")" -gt 0

"${run[@]}" -d 1 >"$scratch/other" 2>"$scratch/other-err"
is "a second run goes on without" $? 0
like "and says so" "$(cat "$scratch/other-err")" "stats' will not see this run: .*another run serves it"
"$tactus" stats | head -n 1 >/dev/null
is "a reader that goes away is no trouble" "${PIPESTATUS[0]}" 0
"$tactus" stats >"$scratch/last" 2>"$scratch/last-err" &
last=$!
sleep 1.5
kill -KILL $runner $mute
wait $runner $mute 2>/dev/null
wait $last
is "stats ends with the run" $? 0
like "and says so" "$(cat "$scratch/last-err")" 'the run has ended'
holds "a killed run leaves its socket" test -S "$TACTUS_FEED"
begin_run -d 2
"$tactus" stats -d 1.5 --json >"$scratch/one"
is "the next run takes it over" $? 0
wait $runner
holds "and removes it at its end" test ! -e "$TACTUS_FEED"

echo precious >"$TACTUS_FEED"
"${run[@]}" -d 0.5 >/dev/null 2>"$scratch/err"
is "a file in the way: the run goes on" $? 0
like "and says so" "$(cat "$scratch/err")" 'will not see this run'
is "the file is left alone" "$(cat "$TACTUS_FEED")" precious
ends "listening to a file" 1 'no .tactus run. is at work here' "$tactus" stats
TACTUS_FEED=$scratch/$(printf 'x%.0s' {1..120})
"${run[@]}" -d 0.5 >/dev/null 2>"$scratch/err"
like "a path that is too long is told" "$(cat "$scratch/err")" 'too long for a socket'
done_testing
