#!/usr/bin/env bash
# A user who sends whatever he likes to a run's control socket: packets that are none, orders that are root's, games that are others',
# questions without end. He gets nothing, root is answered beside him, and the run takes no more for it.
. tests/tap.sh

chmod 711 "$scratch"
export TACTUS_FEED=$scratch/feed
"$tactus" run --actuator none --without launch,gpu,wine,input,frame,socket,sound,names,learned >"$scratch/out" 2>"$scratch/run-err" &
runner=$!
trap 'kill $runner 2>/dev/null; rm -rf "$scratch"' EXIT
wait_for "$scratch/run-err" "watching; Ctrl-C"
held() { find "/proc/$runner/fd" -mindepth 1 | wc -l; }
state() { "$tactus" status --json | json "d[\"$1\"]"; }
before=$(held) cost_before=$(cost $runner)

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
    until = time.time() + 120 # it is ended before
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
cat >"$scratch/namespace" <<'END'
# As root, who lends a user a range of users, as newuidmap does: they all call, each eight times, and stay until there is the second file.
import ctypes, os, socket, struct, sys, time
path, over = sys.argv[1:]
ready, go = os.pipe(), os.pipe()
child = os.fork()
if child == 0:
    os.setgroups([]); os.setresgid(65534, 65534, 65534); os.setresuid(65534, 65534, 65534)
    if ctypes.CDLL(None, use_errno=True).unshare(0x10000000):
        os.write(ready[1], b"n"); os._exit(1)
    os.write(ready[1], b"y"); os.read(go[0], 1)
    for user in range(1, 13):
        if os.fork() == 0:
            os.setresuid(user, user, user)
            mine, until = [], time.time() + 120
            while time.time() < until and not os.path.exists(over):
                while len(mine) < 8:
                    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
                    try: s.connect(path); s.send(struct.pack("<4I", 0x74636171, 1, 0, 0))
                    except OSError: break
                    mine.append(s)
                for s in list(mine):
                    try:
                        if s.recv(4096, socket.MSG_DONTWAIT) == b"": s.close(); mine.remove(s)
                    except BlockingIOError: pass
                    except OSError: s.close(); mine.remove(s)
                time.sleep(0.05)
            os._exit(0)
    for _ in range(12): os.wait()
    os._exit(0)
if os.read(ready[0], 1) != b"y":
    print("no user namespaces here"); sys.exit(3)
open(f"/proc/{child}/uid_map", "w").write("0 300000 100")
os.write(go[1], b"x")
print("calling", flush=True)
os.waitpid(child, 0)
END
chmod 644 "$scratch/attack"
attack() { "${attacker[@]}" "$1"; }
attacker=(setpriv --reuid 65534 --regid 65534 --clear-groups /usr/bin/python3 "$scratch/attack" "$TACTUS_FEED" $$)
is "orders of a user and his questions about a process of root are all refused" "$(attack orders)" "1 1 1 1 1 1 1"
is "a run that a user wanted to pause is not paused" "$(state paused)" False
is "a run that a user wanted to reload has not reloaded" "$(state reloads)" 0
is "root's process that a user called a game is none" "$(state games_registered)" 0
refused=$(state requests_refused)
holds "what a user was refused is counted" test "$refused" -ge 7
attack rubbish
holds "packets that are no requests are counted" test "$(state requests_refused)" -ge $((refused + 50))
"${attacker[@]}" flood &
flood=$!
cpu() { awk '{ print $14 + $15 }' "/proc/$runner/stat"; }
sleep 0.5
used=$(cpu) since=$SECONDS
for i in 1 2 3; do
	holds "root is answered beside a user who asks without end, time $i" "$tactus" status
done
during=$(held)
say_measured "beside $((SECONDS - since)) s of questions without end: $(($(cpu) - used)) hundredths of a second of CPU time; descriptors before $before, beside it $during"
kill $flood
wait $flood
holds "a user who asks without end has eight descriptors of the run at most, and root one" test $((during - before)) -le 10
is "a run that was asked without end is the same" "$(state pid)" $runner
# Another user beside him.
install -m 755 "$tactus" "$scratch/tactus"
another=(setpriv --reuid 65533 --regid 65533 --clear-groups)
"${another[@]}" sleep 100 &
sleeper=$!
"${attacker[@]}" flood &
flood=$!
sleep 0.5
answered=0
for i in 1 2 3 4 5; do
	! "${another[@]}" "$scratch/tactus" why $sleeper >"$scratch/why" 2>&1 || answered=$((answered + 1))
	sleep 0.4
done
is "a user who asks why is answered each time beside another who asks without end" "$answered $(grep -c 'just asked' "$scratch/why")" "5 0"
kill $flood $sleeper
wait $flood
python3 "$scratch/namespace" "$TACTUS_FEED" "$scratch/over" >"$scratch/calling" 2>&1 &
caller=$!
wait_for "$scratch/calling" 'calling|no user namespaces'
if grep -q 'no user' "$scratch/calling"; then
	skip "users of a namespace are its maker's" "user namespaces can't be made here"
else
	sleep 2
	during=$(held)
	for i in 1 2 3; do
		holds "a user is answered beside another who calls as twelve users of a namespace of his, time $i" "${another[@]}" "$scratch/tactus" status
	done
	holds "twelve users of a namespace have eight descriptors of the run together" test $((during - before)) -le 10
fi
touch "$scratch/over"
wait $caller
costs_as_before "a run that was asked without end" $runner "$cost_before" 4096 16
kill -INT $runner
wait $runner
is "a run that was asked without end ends with status 0" $? 0

# A socket in a folder of another user, who puts a link in its place as soon as it is there: done here in between, where no chance is needed.
mkdir "$scratch/his"
chown 65534:65534 "$scratch/his"
: >"$scratch/secret"
chmod 600 "$scratch/secret"
cat >"$scratch/swap.c" <<'END'
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
int bind(int fd, const struct sockaddr *address, socklen_t len)
{
	int (*real)(int, const struct sockaddr *, socklen_t) = dlsym(RTLD_NEXT, "bind");
	const char *path = ((const struct sockaddr_un *)address)->sun_path;
	struct stat made;
	int result = real(fd, address, len);

	if (result || address->sa_family != AF_UNIX || strcmp(path, getenv("TACTUS_FEED")) != 0 || stat(path, &made))
		return result;
	dprintf(2, "mode %o\n", (unsigned)made.st_mode & 07777);
	return unlink(path) || symlink(getenv("SECRET"), path) ? -1 : 0;
}
END
gcc -shared -fPIC -D_GNU_SOURCE "$scratch/swap.c" -o "$scratch/swap.so" -ldl
(umask 077; SECRET=$scratch/secret TACTUS_FEED=$scratch/his/feed LD_PRELOAD=$scratch/swap.so "$tactus" run --actuator none --without launch,gpu,wine,input,frame,socket,sound,names,learned -d 0.1 >/dev/null 2>"$scratch/err")
is "a run's socket is for all from the moment that it is there, whatever the umask" "$(grep -c '^mode 666$' "$scratch/err")" 1
is "a link that takes the place of a run's socket has nobody's file opened to all" "$(stat -c %a "$scratch/secret")" 600
done_testing
