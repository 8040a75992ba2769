#!/usr/bin/env bash
# What may not change anything changes nothing, and what can't be done is said: a dry run, undo without root, options that a recording
# has no use for.
# not beside: tactus run, of which one at a time is at work
. tests/tap.sh

export TACTUS_FEED=$scratch/feed
TACTUS_DB=$scratch/no/such/procdb.bin "$tactus" run --dry-run --without launch,gpu,wine,input,frame,socket,sound -d 0.3 >"$scratch/out" 2>"$scratch/err"
is "a dry run ends with status 0" $? 0
holds "a dry run makes no folder for the database" test ! -e "$scratch/no"
TACTUS_DB=$scratch/yes/such/procdb.bin "$tactus" roles --learn --without launch,gpu,wine,input,frame,socket,sound -d 0.1 >"$scratch/out" 2>"$scratch/err"
holds "who learns makes the folder for the database" test -d "$scratch/yes/such"

"$tactus" run --actuator none --without all -- sh -c 'echo mine; sleep 1.5' >"$scratch/out" 2>"$scratch/err"
is "run beside a command leaves standard output to the command" "$(cat "$scratch/out")" mine
like "run beside a command puts its status lines on standard error" "$(cat "$scratch/err")" '^TIME +BY +BUSY'
chmod 755 "$scratch"
cp "$tactus" examples/late-frames.tactus "$scratch/"
ends "undo without root says that only root can take back what root's runs left" 1 'try .sudo tactus undo' \
	setpriv --reuid 65534 --regid 65534 --clear-groups "$scratch/tactus" undo

ends "roles -i --without is bad usage" 2 'without is for what is watched now' "$tactus" roles -i examples/late-frames.tactus --without names
ends "roles -i --game is bad usage" 2 'game is for what is watched now' "$tactus" roles -i examples/late-frames.tactus --game doom
ends "roles -i --learn is bad usage" 2 'nothing is learned from a recording' "$tactus" roles -i examples/late-frames.tactus --learn
ends "misses -i --after-wakeups is bad usage" 2 'after-wakeups is for what is watched now' "$tactus" misses -i examples/late-frames.tactus --after-wakeups 50
ends "tasks -i --ring-kb is bad usage" 2 'leave --ring-kb out' "$tactus" tasks -i examples/late-frames.tactus --ring-kb 64
done_testing
