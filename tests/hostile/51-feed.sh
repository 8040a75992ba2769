#!/usr/bin/env bash
# A user who takes every connection of a run's socket, and calls again and again: root's 'tactus stats' and other users' are served all the same.
# not beside: tactus run, of which one at a time is at work
. tests/tap.sh

chmod 711 "$scratch"
export TACTUS_FEED=$scratch/feed
"$tactus" run --actuator none --without launch,gpu,wine,input,frame,socket,sound,names >"$scratch/out" 2>"$scratch/err" &
runner=$!
wait_for "$scratch/err" "observing only"
usage() { awk '{ print $14 + $15 }' "/proc/$runner/stat"; }
held() { find "/proc/$runner/fd" -mindepth 1 | wc -l; }
before=$(held) cost_before=$(cost $runner)

# Holds as many as it gets and takes a new one for each that it loses; a second one calls and hangs up for ever.
cat >"$scratch/hog" <<'END'
import select, socket, sys, time
until = time.time() + float(sys.argv[2])
def call():
    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    s.setblocking(False)
    try: s.connect(sys.argv[1])
    except OSError: s.close(); return None
    return s
mine = []
while time.time() < until:
    if sys.argv[3] == "flood":
        s = call()
        if s: s.close()
        continue
    while len(mine) < 200:
        s = call()
        if not s: break
        mine.append(s)
    ready, _, _ = select.select(mine, [], [], 0.05)
    for s in ready:
        try: data = s.recv(65536)
        except OSError: data = b""
        if not data: s.close(); mine.remove(s)
END
chmod 644 "$scratch/hog"
setpriv --reuid 65534 --regid 65534 --clear-groups /usr/bin/python3 "$scratch/hog" "$TACTUS_FEED" 9 hold &
hog=$!
sleep 1.5
"$tactus" stats --json -d 2.5 >"$scratch/root" 2>"$scratch/root-err"
is "root's stats beside a user with 200 connections ends with status 0" $? 0
holds "root's stats beside a user with 200 connections shows a line" test "$(wc -l <"$scratch/root")" -ge 1
setpriv --reuid 65533 --regid 65533 --clear-groups "$tactus" stats --json -d 2.5 >"$scratch/other" 2>"$scratch/other-err"
holds "another user's stats beside a user with 200 connections shows a line" test "$(wc -l <"$scratch/other")" -ge 1
during=$(held)
holds "a run holds few descriptors for one user" test $((during - before)) -le 20
setpriv --reuid 65534 --regid 65534 --clear-groups nice /usr/bin/python3 "$scratch/hog" "$TACTUS_FEED" 4 flood &
flood=$!
sleep 0.3
"$tactus" stats --json -d 3 >"$scratch/root2" 2>"$scratch/root2-err"
holds "root's stats beside a user who calls for ever shows a line" test "$(wc -l <"$scratch/root2")" -ge 1
say_measured "lines: root $(wc -l <"$scratch/root"), another user $(wc -l <"$scratch/other"), root beside a flood of calls" \
	"$(wc -l <"$scratch/root2"); descriptors before $before, beside it $during; CPU of the run $(usage) hundredths of a second"
wait $hog $flood
costs_as_before "a run that was called for ever" $runner "$cost_before" 4096 16
kill -INT $runner
wait $runner
is "a run that was called for ever ends with status 0" $? 0
done_testing
