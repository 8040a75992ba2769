#!/usr/bin/env bash
# What is left to a program that was taken over: few capabilities, no way to others, no exec; a command under sudo is its caller's, with his groups,
# and can't type on the terminal that it was started from.
# not beside: tactus run, of which one at a time is at work
. tests/tap.sh

chmod 711 "$scratch"
export TACTUS_FEED=$scratch/feed
field() { awk -v name="$2:" '$1 == name { print $2 }' "/proc/$1/status"; }
# Those in the table of src/base/privileges.c: what a view needs that only reads what the kernel half keeps (sys_admin where
# this machine does not give bpf and perfmon), and what finding out about other processes takes.
mine=$(awk '/^CapPrm/ { print $2 }' /proc/self/status)
few=$((1 << 38 | 1 << 39))
[ $((0x$mine >> 38 & 3)) = 3 ] || few=$((few | 1 << 21))
many=$((few | 1 << 2 | 1 << 19 | 1 << 21 | 1 << 34))
left() { # NAME PID ALLOWED
	local held=$(((0x$(field "$2" CapPrm) | 0x$(field "$2" CapEff)) & ~$3))
	is "$1 keeps no capability beyond its table" "$(printf %x $held)" 0
	is "$1 can't get privileges back" "$(field "$2" NoNewPrivs)" 1
	is "$1 has a filter of system calls" "$(field "$2" Seccomp)" 2
	say_measured "$1: capabilities $(field "$2" CapPrm) of $mine, bounding set $(field "$2" CapBnd)"
}

"$tactus" run --actuator none >"$scratch/out" 2>"$scratch/err" &
runner=$!
wait_for "$scratch/err" "watching"
left run $runner $many
"$tactus" latency >"$scratch/latency" 2>&1 &
latency=$!
wait_for "$scratch/latency" "watching"
left latency $latency $few
kill -INT $latency
wait $latency
"$tactus" stats >"$scratch/stats" 2>&1 &
stats=$!
wait_for "$scratch/stats" '^[0-9:]{8} '
is "stats keeps no capability" "$(field $stats CapPrm)" 0000000000000000
is "stats has a filter of system calls" "$(field $stats Seccomp)" 2
kill -INT $runner
wait $runner
is "a run that gave up its privileges ends with status 0" $? 0
wait $stats

# Others that watch, at once. watches NAME ALLOWED ARGUMENT...: until it has given up what it can, if it does.
declare -A watchers allowed
watches() {
	local name=$1
	allowed[$name]=$2
	shift 2
	"$tactus" "$@" >"$scratch/of-$name" 2>&1 &
	watchers[$name]=$!
}
create=$((1 << 1 | 1 << 0)) act=$((1 << 23)) signal=$((1 << 5))
watches record $many record -o "$scratch/recorded"
watches "record --ring" $((many | create)) record --ring 5s -o "$scratch/ring"
watches roles $many roles
watches cuda $many cuda
watches "top -b" $many top -b
watches serve $many serve --metrics 127.0.0.1:0
watches "report --serve" $many report --serve 127.0.0.1:0 -o "$scratch/page.html"
watches trial $((many | act | signal)) trial --actuator none -d 60 -- sleep 60
for name in "${!watchers[@]}"; do
	for ((i = 0; i < 300; i++)); do
		[ "$(field "${watchers[$name]}" Seccomp)" != 2 ] || break
		sleep 0.1
	done
	left "$name" "${watchers[$name]}" "${allowed[$name]}"
done
kill -TERM "${watchers[@]}"
wait "${watchers[@]}"

# Files and answers from elsewhere are read with next to nothing. In whose folder a database lies, its name may be changed.
python3 -c 'import struct, sys
for path, tier, count in ("good", 0, 1), ("damaged", 99, 20000):
    with open(sys.argv[1] + path, "wb") as out:
        out.write(b"PDDB" + struct.pack("<II", 1, count) + struct.pack("<16sB7xQII", b"cc1", tier, 3000000, 10, 9) * count)' "$scratch/"
mkfifo "$scratch/faults"
change=$((1 << 1 | 1 << 3))
waits() { # NAME PID: until it waits for something with its filter on
	local i
	for ((i = 0; i < 300; i++)); do
		[ "$(field "$2" Seccomp)$(field "$2" State)" != 2S ] || return 0
		sleep 0.02
	done
}
"$tactus" db check --json "$scratch/damaged" >"$scratch/faults" 2>"$scratch/err" &
checker=$!
exec 8<"$scratch/faults"
read -r line <&8
waits "db check" $checker
left "db check" $checker 0
exec 8<&-
wait $checker
for what in import merge; do
	exec 9>"$scratch/procdb.bin.lock"
	flock 9
	"$tactus" db $what "$scratch/good" >/dev/null 2>"$scratch/err" 9>&- &
	importer=$!
	waits "db $what" $importer
	left "db $what" $importer $change
	exec 9>&-
	wait $importer
	is "db $what adds to the database in its folder with what is left to it" "$? $(cat "$scratch/err")" "0 "
done
python3 -c 'import socket, sys
server = socket.create_server(("127.0.0.1", 0))
print(server.getsockname()[1], flush=True)
kept = server.accept()
sys.stdin.read()' >"$scratch/port" < <(sleep 30) &
server=$!
wait_for "$scratch/port" '^[0-9]'
"$tactus" fleet --prometheus "http://127.0.0.1:$(cat "$scratch/port")" --job 1 >/dev/null 2>&1 &
asker=$!
waits fleet $asker
left fleet $asker 0
kill $asker $server
wait $asker $server 2>/dev/null

mkfifo "$scratch/pipe"
"$tactus" events -i examples/late-frames.tactus >"$scratch/pipe" 2>/dev/null &
reader=$!
exec 8<"$scratch/pipe"
read -r line <&8
is "a view of a recording keeps no capability" "$(field $reader CapPrm)" 0000000000000000
is "a view of a recording has a filter of system calls" "$(field $reader Seccomp)" 2
exec 8<&-
wait $reader

# The command: whose it is, and that nothing of the above is left in it.
name=$(awk -F: '$3 == 65534 { print $1 }' /etc/passwd)
as_sudo() { SUDO_UID=65534 SUDO_GID=65534 SUDO_USER=$name "$@"; }
tell='id -u; id -G; sed -n "s/^\(CapPrm\|NoNewPrivs\|Seccomp\):\t/\1 /p" /proc/self/status; echo "$USER"'
as_sudo "$tactus" tasks --json -- sh -c "$tell" 2>/dev/null | grep -v '^{' >"$scratch/tell"
say_measured "a command under sudo: $(tr '\n' ' ' <"$scratch/tell")"
is "a command under sudo runs as its caller" "$(sed -n 1p "$scratch/tell")" 65534
is "a command under sudo has its caller's groups only" "$(sed -n 2p "$scratch/tell")" 65534
is "a command under sudo has no capability, the filter of its terminal, and no limit that breaks games" \
	"$(sed -n 3,5p "$scratch/tell" | tr '\n' ' ')" "CapPrm 0000000000000000 NoNewPrivs 0 Seccomp 2 "
is "a command under sudo is told whose it is" "$(sed -n 6p "$scratch/tell")" "$name"
is "a command under sudo with --user root runs as root" "$(as_sudo "$tactus" tasks --json --user root -- id -u 2>/dev/null | grep -v '^{')" 0
is "a command with --user runs as that user" "$("$tactus" record --without frame,wine -o "$scratch/r" --user "$name" -- id -u 2>/dev/null | head -n 1)" 65534
is "a command without sudo runs as who calls" "$("$tactus" tasks --json -- id -u 2>/dev/null | grep -v '^{')" 0
ends "a command for a user that is not there is refused" 1 "no user 'nobody-here'" "$tactus" tasks --user nobody-here -- true
ends "--user without a command is bad usage" 2 "for a command" "$tactus" tasks --user "$name" -d 1
as_sudo "$tactus" run --actuator none -- sh -c 'exec sleep 30' >/dev/null 2>"$scratch/err" &
runner=$!
for ((i = 0; i < 100; i++)); do
	! pgrep -P $runner -x sleep >/dev/null || break
	sleep 0.1
done
kill -TERM $runner
wait $runner
is "a signal reaches a command that runs as another user" $? 143

# Root's shell has a terminal, and so has the command: what it typed there, root's shell would run. terminal COMMAND...: runs it so, presses
# Ctrl-C once it waits, and prints what it printed, its status, and what has been typed since.
terminal() {
	timeout 60 python3 -c 'import fcntl, os, pty, signal, struct, subprocess, sys, termios
pid, master = pty.fork()
if pid == 0:
	settings = termios.tcgetattr(0)
	settings[3] &= ~(termios.ICANON | termios.ECHO)
	termios.tcsetattr(0, termios.TCSANOW, settings)
	signal.signal(signal.SIGINT, lambda *_: None)
	status = subprocess.run(sys.argv[1:]).returncode
	waiting = struct.unpack("i", fcntl.ioctl(0, termios.FIONREAD, b"0000"))[0]
	print("status", status)
	print("typed", os.read(0, waiting).decode() if waiting else "nothing", flush=True)
	os._exit(0)
seen, pressed = b"", False
while True:
	try: got = os.read(master, 4096)
	except OSError: break
	seen += got
	if b"waits" in seen and not pressed: pressed = os.write(master, b"\x03")
os.waitpid(pid, 0)
sys.stdout.write(seen.decode().replace("\r", ""))' "$@" | grep -v '^{'
}
said() { awk -v name="$1" '$1 == name { print $2 }' "$scratch/terminal"; }
install -m 755 build/workloads/types "$scratch/types"
install -m 4755 build/workloads/types "$scratch/setuid"
terminal "$scratch/types" >"$scratch/terminal"
say_measured "who types without tactus: $(tr '\n' ' ' <"$scratch/terminal")"
like "a terminal is typed on by who may" "$(said typed)" '^x'
quiet=("$tactus" tasks --json)
# types_nothing NAME COMMAND...: for one that ran the workload
types_nothing() {
	local name=$1 way
	shift
	terminal "$@" >"$scratch/terminal" 2>&1
	say_measured "$name: $(tr '\n' ' ' <"$scratch/terminal")"
	for way in plain high console; do
		is "$name can't type on its terminal ($way)" "$(said $way)" EPERM
	done
	for way in small x32; do
		like "$name can't type on its terminal ($way)" "$(said $way)" '^(EPERM|ENOSYS)$'
	done
	is "$name has typed nothing" "$(said typed)" nothing
	is "$name can ask for its terminal's settings" "$(said settings)" OK
	is "$name can ask who is in its terminal's foreground" "$(said group)" OK
}
types_nothing "a command with --user" "${quiet[@]}" --user "$name" -- "$scratch/types"
SUDO_UID=65534 SUDO_GID=65534 types_nothing "a command under sudo" "${quiet[@]}" -- "$scratch/types"
types_nothing "what a command with --user starts by setuid" "${quiet[@]}" --user "$name" -- sh -c "$scratch/setuid; exit 0"
is "a setuid program in a command with --user has its owner's rights" \
	"$("${quiet[@]}" --user "$name" -- sh -c "$scratch/setuid uid; exit 0" 2>/dev/null | grep -v '^{')" "uid 0"
for as in root "$name"; do
	terminal "${quiet[@]}" --user "$as" -- "$scratch/types" wait >"$scratch/terminal" 2>&1
	is "Ctrl-C ends a command of $as" "$(said status)" 130
done
# Keys of root's session, as logins, encrypted folders and Kerberos keep them.
if [ "$(uname -m)" != x86_64 ] || ! python3 -c 'import ctypes, sys; sys.exit(ctypes.CDLL(None).syscall(250, 1, None) < 0)'; then
	skip "a command with --user has none of root's keys" "this kernel or container has no keys"
else
	cat >"$scratch/keys.py" <<'END'
import ctypes, os, sys
libc, room = ctypes.CDLL(None), ctypes.create_string_buffer(64)
if sys.argv[1:]:
    libc.syscall(250, 1, None)
    libc.syscall(248, b"user", b"tactus-test", b"secret", 6, ctypes.c_long(-3))
    os.execv(sys.argv[1], sys.argv[1:])
key = libc.syscall(249, b"user", b"tactus-test", None, 0)
print("key", room.raw[:n].decode() if key > 0 and (n := libc.syscall(250, 11, key, room, 64)) > 0 else "none")
own = libc.syscall(248, b"user", b"tactus-own", b"own", 3, ctypes.c_long(-3))
print("own", "kept" if own > 0 and libc.syscall(249, b"user", b"tactus-own", None, 0) == own else "none")
END
	chmod 644 "$scratch/keys.py"
	keys_of() { python3 "$scratch/keys.py" "$(realpath "$tactus")" tasks --json "$@" -- /usr/bin/python3 "$scratch/keys.py" 2>/dev/null | grep -v '^{' | tr '\n' ' '; }
	is "a command of who calls has the keys of his session" "$(keys_of)" "key secret own kept "
	is "a command with --user has none of the keys of root's session, and may have its own" "$(keys_of --user "$name")" "key none own kept "
	is "a command under sudo has none of the keys of root's session" "$(as_sudo keys_of)" "key none own kept "
fi
is "a command with --user has the standard streams only" \
	"$("${quiet[@]}" --user "$name" -- "$scratch/types" files 7<SECURITY.md 2>/dev/null | grep -v '^{')" "no more files"
like "a command of who calls keeps the files that he gave it" "$("${quiet[@]}" -- "$scratch/types" files 7<SECURITY.md 2>/dev/null)" '^file 7$'
done_testing
