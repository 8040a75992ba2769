#!/usr/bin/env bash
# A user who sends whatever he likes to a run's control socket: packets that are none, orders that are root's, games that are others',
# questions without end. He gets nothing, root is answered beside him, and the run takes no more for it.
# not beside: tactus run, of which one at a time is at work
. tests/tap.sh

chmod 711 "$scratch"
export TACTUS_FEED=$scratch/feed
"$tactus" run --actuator none --without launch,gpu,wine,input,frame,socket,sound,names,learned >"$scratch/out" 2>"$scratch/run-err" &
runner=$!
trap 'kill $runner 2>/dev/null; rm -rf "$scratch"' EXIT
wait_for "$scratch/run-err" "watching; Ctrl-C"
held() { find "/proc/$runner/fd" -mindepth 1 | wc -l; }
state() { "$tactus" status --json | json "d[\"$1\"]"; }
before=$(held)

cat >"$scratch/attack" <<'END'
import os, random, socket, struct, sys, time
path, root_pid, what = sys.argv[1], int(sys.argv[2]), sys.argv[3]
ASKS, VERSION = 0x74636171, 1
FOLLOW, STATUS, WHY, PAUSE, RESUME, RELOAD, GAME, NO_GAME, IS_GAME = range(9)
def call():
    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET); s.settimeout(20); s.connect(path); return s
def ask(verb, pid=0):
    s = call(); s.send(struct.pack("<4I", ASKS, VERSION, verb, pid)); answer = s.recv(4096); s.close()
    return struct.unpack("<4I", answer[:16])[3] if len(answer) >= 16 else None
if what == "orders":
    # Status 1: refused.
    print(*(ask(verb, root_pid) for verb in (PAUSE, RESUME, RELOAD, WHY, GAME, NO_GAME, IS_GAME)))
elif what == "rubbish":
    chance = random.Random(1)
    good = struct.pack("<4I", ASKS, VERSION, STATUS, 0)
    for i in range(60):
        try:
            s = call()
            kind = i % 6
            s.send([bytes(chance.randrange(256) for _ in range(chance.randrange(1, 4000))), good[:-1], good + b"x", b"\0" * 16,
                    struct.pack("<4I", ASKS, VERSION, 0xffffffff, 0), struct.pack("<4I", ASKS, VERSION + 1, STATUS, 0)][kind])
            s.recv(4096)
            s.close()
        except OSError:
            pass
elif what == "flood":
    until = time.time() + 6
    mine = []
    while time.time() < until:
        try:
            if len(mine) < 8: mine.append(call())
            for s in list(mine):
                s.setblocking(False)
                try: s.send(struct.pack("<4I", ASKS, VERSION, WHY, os.getpid()))
                except BlockingIOError: pass
                except OSError: s.close(); mine.remove(s)
        except OSError: pass
        time.sleep(0.001)
END
chmod 644 "$scratch/attack"
attack() { setpriv --reuid 65534 --regid 65534 --clear-groups /usr/bin/python3 "$scratch/attack" "$TACTUS_FEED" $$ "$1"; }
is "orders of a user and his questions about a process of root are all refused" "$(attack orders)" "1 1 1 1 1 1 1"
is "a run that a user wanted to pause is not paused" "$(state paused)" False
is "a run that a user wanted to reload has not reloaded" "$(state reloads)" 0
is "root's process that a user called a game is none" "$(state games_registered)" 0
refused=$(state requests_refused)
holds "what a user was refused is counted" test "$refused" -ge 7
attack rubbish
holds "packets that are no requests are counted" test "$(state requests_refused)" -ge $((refused + 50))
attack flood &
flood=$!
cpu() { awk '{ print $14 + $15 }' "/proc/$runner/stat"; }
sleep 0.5
used=$(cpu)
for i in 1 2 3; do
	holds "root is answered beside a user who asks without end, time $i" "$tactus" status
done
during=$(held)
wait $flood
say_measured "beside 6 s of questions without end: $(($(cpu) - used)) hundredths of a second of CPU time; descriptors before $before, beside it $during"
holds "a user who asks without end has eight descriptors of the run at most, and root one" test $((during - before)) -le 10
is "a run that was asked without end is the same" "$(state pid)" $runner
kill -INT $runner
wait $runner
is "a run that was asked without end ends with status 0" $? 0
done_testing
