#!/usr/bin/env bash
# A user who sends whatever the bus lets him to who hears power profiles for a run: signals too long, of the other byte order, with
# fields that nobody knows, without end; and who says that he is power-profiles-daemon. Profiles are heard as before.
# not beside: tactus run, of which one at a time is at work
. tests/tap.sh

if ! command -v dbus-daemon >/dev/null; then
	skip "D-Bus: a hostile user" "dbus-daemon is not installed here"
	done_testing
fi
chmod 755 "$scratch"
export TACTUS_FEED=$scratch/feed DBUS_SYSTEM_BUS_ADDRESS=unix:path=$scratch/system.sock
pids=()
trap 'kill "${pids[@]}" 2>/dev/null; rm -rf "$scratch"' EXIT
# What Debian's system.conf lets users do.
cat >"$scratch/system.conf" <<END
<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN" "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig><type>system</type><listen>unix:path=$scratch/system.sock</listen>
<policy context="default"><allow user="*"/><deny own="*"/><deny send_type="method_call"/><allow send_type="signal"/>
<allow send_requested_reply="true" send_type="method_return"/><allow send_requested_reply="true" send_type="error"/>
<allow receive_type="method_call"/><allow receive_type="method_return"/><allow receive_type="error"/><allow receive_type="signal"/>
<allow send_destination="org.freedesktop.DBus" send_interface="org.freedesktop.DBus"/>
<allow send_destination="net.hadess.PowerProfiles"/></policy>
<policy user="root"><allow own="net.hadess.PowerProfiles"/></policy>
</busconfig>
END
dbus-daemon --config-file="$scratch/system.conf" --nofork >"$scratch/bus.log" 2>&1 &
pids+=($!)
for _ in $(seq 600); do [ ! -S "$scratch/system.sock" ] || break; sleep 0.1; done

# Says a profile for each line that it reads.
cp tests/dbus_raw.py "$scratch/"
chmod 644 "$scratch/dbus_raw.py"
cat >"$scratch/daemon.py" <<'END'
import os, select, sys
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from dbus_raw import Bus
NAME, PATH = "net.hadess.PowerProfiles", "/net/hadess/PowerProfiles"
bus = Bus(sys.argv[1])
profile = "balanced"
print("name", bus.call("RequestName", NAME, number=4), flush=True)
while True:
    ready, _, _ = select.select([bus.s, 0], [], [])
    if 0 in ready:
        line = os.read(0, 100).decode().strip()
        if not line: break
        profile = line.split("\n")[-1]
        bus.message(4, [(1, "o", PATH), (2, "s", "org.freedesktop.DBus.Properties"), (3, "s", "PropertiesChanged")])
    if bus.s in ready:
        bus.buffer += bus.s.recv(65536)
        while len(bus.buffer) >= 16:
            kind, fields, body = bus.next()
            if kind == 1 and fields.get(3) == "Get":
                bus.message(2, [(5, "u", fields[0]), (6, "s", fields[7]), (8, "g", "v")], b"\1s\0\0" + bus.string(profile))
END
cat >"$scratch/attack.py" <<'END'
import os, struct, sys, time
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from dbus_raw import Bus
path, what = sys.argv[1:]
bus = Bus(path)
# But for who says profiles here, whose own reader is made of nothing.
others = (bus.name, bus.call("GetNameOwner", "net.hadess.PowerProfiles")[1])
targets = [n for n in bus.call("ListNames")[1] if n.startswith(":") and n not in others]
SIGNAL = lambda to, order="<": [(1, "o", "/x"), (2, "s", "a.b"), (3, "s", "c"), (6, "s", to)]
if what == "name":
    print(bus.call("RequestName", "net.hadess.PowerProfiles", number=2))
for to in targets:
    if what == "long":
        bus.message(4, SIGNAL(to) + [(8, "g", "s")], bus.string("x" * 200000))
    elif what == "big":
        bus.message(4, SIGNAL(to) + [(8, "g", "s")], bus.string("x", ">"), order=">")
    elif what == "fields":
        bus.message(4, [(1, "o", "/x"), (2, "s", "a.b"), (3, "s", "c"), (200, "s", "y"), (6, "s", to)])
        bus.message(4, [(1, "o", "/" + "x" * 20000), (2, "s", "a.b"), (3, "s", "c"), (6, "s", to)])
    elif what == "reply":
        for serial in range(1, 400):
            bus.message(2, [(5, "u", serial), (6, "s", to), (8, "g", "v")], b"\1s\0\0" + bus.string("performance"))
if what == "flood":
    until = time.time() + float(8)
    bus.s.settimeout(1)
    while time.time() < until:
        try:
            for to in targets: bus.message(4, SIGNAL(to))
        except OSError: pass
print("done")
END
chmod 644 "$scratch"/*.py
mkfifo "$scratch/profiles"
python3 "$scratch/daemon.py" "$scratch/system.sock" <"$scratch/profiles" >"$scratch/daemon.log" 2>&1 &
pids+=($!)
exec 7>"$scratch/profiles"
wait_for "$scratch/daemon.log" 'name'
"$tactus" run --dry-run --without launch,gpu,wine,input,frame,socket,sound,learned >"$scratch/out" 2>"$scratch/run-err" &
runner=$!
pids+=("$runner")
wait_for "$scratch/run-err" "watching; Ctrl-C"
state_is() { [ "$("$tactus" status --json | json "d[\"$1\"]")" = "$2" ]; }
until_holds() {
	for _ in $(seq 100); do
		! "$@" >/dev/null 2>&1 || return 0
		sleep 0.1
	done
	echo "not within a hundred looks: $*; $(tail -n 3 "$scratch/run-err")"
	return 1
}
attack() { setpriv --reuid 65534 --regid 65534 --clear-groups timeout 60 /usr/bin/python3 "$scratch/attack.py" "$scratch/system.sock" "$1" >"$scratch/attack-$1" 2>&1; }
holds "a profile is heard before anybody attacks" until_holds state_is power_profile balanced
listener=$(pgrep -P $runner tactus-power)
cost_before=$(cost $runner) listener_before=$(cost "$listener")
turn=0
for what in long big fields reply; do
	attack $what
	profile=$([ $((turn++ % 2)) = 0 ] && echo power-saver || echo balanced)
	echo "$profile" >&7
	case $what in
	long) about="signals of 200 KB" ;;
	big) about="signals of the other byte order" ;;
	fields) about="signals with long and unknown fields" ;;
	reply) about="answers that nobody asked for" ;;
	esac
	holds "a profile is heard after a user sent $about" until_holds state_is power_profile "$profile"
done
attack flood &
pids+=($!)
sleep 1
echo power-saver >&7
holds "a profile is heard while a user sends signals without end" until_holds state_is power_profile power-saver
wait $!
attack name
like "a user can't have the name of power-profiles-daemon" "$(cat "$scratch/attack-name")" 'AccessDenied|None'
is "who hears the bus is the same process as before" "$(pgrep -P $runner tactus-power)" "$listener"
say_measured "memory of who hears the bus: $(awk '/^VmRSS/ { print $2 }' "/proc/$listener/status") KB; its descriptors: $(find "/proc/$listener/fd" -mindepth 1 | wc -l)"
costs_as_before "a run whose bus was attacked" $runner "$cost_before"
costs_as_before "who hears a bus that was attacked" "$listener" "$listener_before" 1024 2
kill -INT $runner
wait $runner
is "a run whose bus was attacked ends with status 0" $? 0
exec 7>&-
done_testing
