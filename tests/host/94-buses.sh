#!/usr/bin/env bash
# What comes by D-Bus: games that ask GameMode, by its real client, reach a 'tactus run' through the session bus, which starts
# 'tactus gamemode'; and the profiles of a real power-profiles-daemon are heard. Both buses are of this test alone.
# not beside: tactus run, of which one at a time is at work
. tests/tap.sh

PATH=$PATH:/usr/games
for program in dbus-daemon busctl gamemoderun /usr/libexec/power-profiles-daemon /usr/lib/polkit-1/polkitd; do
	command -v $program >/dev/null && continue
	skip "D-Bus: games and power profiles" "$program is not installed here"
	done_testing
done

# Daemons of other users reach the buses.
chmod 711 "$scratch"
export TACTUS_FEED=$scratch/feed
pids=()
trap 'kill "${pids[@]}" 2>/dev/null; rm -rf "$scratch"' EXIT
mkdir "$scratch/services"
sed "s|/usr/sbin/tactus|$(realpath "$tactus")|" packaging/dbus/com.feralinteractive.GameMode.service >"$scratch/services/com.feralinteractive.GameMode.service"
# bus NAME TYPE
bus() {
	rm -f "$scratch/$1.sock"
	cat >"$scratch/$1.conf" <<-END
		<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN" "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
		<busconfig><type>$1</type><listen>unix:path=$scratch/$1.sock</listen><servicedir>$scratch/services</servicedir>
		<policy context="default"><allow user="*"/><allow own="*"/><allow send_destination="*"/><allow receive_sender="*"/><allow send_type="method_call"/></policy>
		</busconfig>
	END
	dbus-daemon --config-file="$scratch/$1.conf" --nofork >"$scratch/$1.log" 2>&1 &
	pids+=($!)
	bus=$!
	for _ in $(seq 600); do [ ! -S "$scratch/$1.sock" ] || return 0; sleep 0.1; done
}
bus session
bus system
system_bus=$bus
export DBUS_SESSION_BUS_ADDRESS=unix:path=$scratch/session.sock DBUS_SYSTEM_BUS_ADDRESS=unix:path=$scratch/system.sock
until_holds() {
	for _ in $(seq 600); do
		! "$@" >/dev/null 2>&1 || return 0
		sleep 0.1
	done
	echo "not within a minute: $*"
	return 1
}
state() { "$tactus" status --json | json "d[\"$1\"]"; }
state_is() { [ "$(state "$1")" = "$2" ]; }
gamemode() { busctl --address="$DBUS_SESSION_BUS_ADDRESS" "$@"; }
game() { gamemode call com.feralinteractive.GameMode /com/feralinteractive/GameMode com.feralinteractive.GameMode "$@"; }
profile() { busctl --address="$DBUS_SYSTEM_BUS_ADDRESS" "$1-property" net.hadess.PowerProfiles /net/hadess/PowerProfiles net.hadess.PowerProfiles ActiveProfile "${@:2}"; }

is "a game that asks without a run is answered with a failure" "$(game RegisterGame i $$)" "i -1"
"$tactus" run --dry-run --without gpu,wine,input,frame,socket,sound,learned >"$scratch/out" 2>"$scratch/run-err" &
runner=$!
pids+=("$runner")
wait_for "$scratch/run-err" "watching; Ctrl-C"
is "a run without power-profiles-daemon hears of no profile" "$(state power_profile)" None

# Its own program, which knows nothing of tactus: the preloaded library registers the process and takes it back at its end.
gamemoderun sleep 30 >"$scratch/game" 2>&1 &
player=$!
pids+=("$player")
holds "a program that gamemoderun starts is registered" until_holds state_is games_registered 1
is "GameMode's interface tells that the program is registered" "$(game QueryStatus i $player)" "i 2"
is "GameMode's interface tells that others are registered" "$(game QueryStatus i $$)" "i 1"
like "GameMode's interface lists the program" "$(game ListGames)" "^a\(io\) 1 $player \"/com/feralinteractive/GameMode/Games/$player\""
like "GameMode's interface counts the program" "$(gamemode get-property com.feralinteractive.GameMode /com/feralinteractive/GameMode com.feralinteractive.GameMode ClientCount)" '^i 1'
like "GameMode's interface describes itself" "$(gamemode introspect com.feralinteractive.GameMode /com/feralinteractive/GameMode)" 'RegisterGameByPIDFd'
like "why tells that the program asked GameMode" "$("$tactus" why $player)" 'a game: it asked GameMode'
wait_for "$scratch/run-err" 'game: .*asked GameMode'
like "the run tells of the game" "$(grep 'game: ' "$scratch/run-err")" 'it asked GameMode'
is "a program that is registered can't be a second time" "$(game RegisterGame i $player)" "i -1"
kill $player
wait $player 2>/dev/null
holds "a program that ended is registered no longer" until_holds state_is games_registered 0
is "a process that is not there can't be registered" "$(game RegisterGame i 4194000)" "i -1"
sleep 60 &
second=$!
pids+=("$second")
is "a game is registered by its number" "$(game RegisterGame i $second)" "i 0"
like "a registered game's threads are taken for a game's" "$("$tactus" why $second)" 'a game: it asked GameMode'
is "a game is taken back" "$(game UnregisterGame i $second)" "i 0"
is "a game that was taken back is none any more" "$(game QueryStatus i $second)" "i 0"
is "a game that was taken back can't be taken back again" "$(game UnregisterGame i $second)" "i -1"
is "a method that is not there is an error" "$(game Teapot 2>&1 | grep -c 'no such method')" 1
# By the numbers of who asks and the game's, and by descriptors of the two, as launchers in containers do. What goes over the bus is listened to.
dbus-monitor --address "$DBUS_SESSION_BUS_ADDRESS" "interface='com.feralinteractive.GameMode'" >"$scratch/heard" 2>&1 &
pids+=($!)
wait_for "$scratch/heard" 'NameAcquired|NameLost'
# heard WHAT: lines of one call or signal, its arguments behind it
heard() { awk '/^(method|signal)/ { if (line) print line; line = $0; next } /^ / { line = line " " $NF } END { if (line) print line }' "$scratch/heard" | grep -c -- "$1"; }
hears() { [ "$(heard "$1")" -ge 1 ]; }
is "a game is registered by its number by another process" "$(game RegisterGameByPID ii $$ $second)" "i 0"
holds "registering a game is a signal with its number and object" until_holds hears "member=GameRegistered $second \"/com/feralinteractive/GameMode/Games/$second\""
is "a game that another process registered is one" "$(game QueryStatusByPID ii $$ $second)" "i 2"
is "who registered a game is none by it" "$(game QueryStatusByPID ii $second $$)" "i 1"
is "a game is taken back by its number by another process" "$(game UnregisterGameByPID ii $$ $second)" "i 0"
holds "taking a game back is a signal with its number and object" until_holds hears "member=GameUnregistered $second \"/com/feralinteractive/GameMode/Games/$second\""
# by_descriptor METHOD GAME CALLER: in that order, other than by numbers
cat >"$scratch/by_descriptor.py" <<'PYTHON'
import os, sys
sys.path.insert(0, "tests")
from dbus_raw import Bus
name = "com.feralinteractive.GameMode"
descriptors = [os.pidfd_open(int(what)) if what.isdigit() else os.open(what, os.O_RDONLY) for what in sys.argv[3:]]
print(Bus(sys.argv[1], passes_descriptors=True).pass_descriptors(name, "/com/feralinteractive/GameMode", sys.argv[2], descriptors))
PYTHON
by_descriptor() { python3 "$scratch/by_descriptor.py" "$scratch/session.sock" "$@"; }
is "a game is registered by a descriptor of it" "$(by_descriptor RegisterGameByPIDFd $second $$)" 0
like "a game that a descriptor registered is taken for one" "$("$tactus" why $second)" 'a game: it asked GameMode'
is "who asked by descriptors is no game by it" "$(by_descriptor QueryStatusByPIDFd $$ $second)" 1
is "a game that a descriptor registered is one" "$(by_descriptor QueryStatusByPIDFd $second $$)" 2
is "a game is taken back by a descriptor of it" "$(by_descriptor UnregisterGameByPIDFd $second $$)" 0
is "a game that a descriptor took back is none any more" "$(game QueryStatus i $second)" "i 0"
is "a descriptor that is no process's registers nothing" "$(by_descriptor RegisterGameByPIDFd /dev/null $$)" -1
# GameMode's own library, asked for another process.
of_library() { python3 -IS -c 'import ctypes, sys; print(getattr(ctypes.CDLL("libgamemode.so.0"), "real_gamemode_" + sys.argv[1])(int(sys.argv[2])))' "$@"; }
is "GameMode's library registers a game for a launcher" "$(of_library request_start_for $second)" 0
is "GameMode's library tells that the launcher's game is registered" "$(of_library query_status_for $second)" 2
is "GameMode's library takes the launcher's game back" "$(of_library request_end_for $second)" 0
is "three registrations and three ends were signals, and no more" "$(heard "member=GameRegistered $second") $(heard "member=GameUnregistered $second")" "3 3"
say_measured "GameMode's library called: $(grep -o 'member=[A-Za-z]*ByPID[A-Za-z]*' "$scratch/heard" | tail -n 3 | tr '\n' ' ')"
sleep 60 &
brief=$!
game RegisterGame i $brief >/dev/null
kill $brief
wait $brief 2>/dev/null
holds "a game that ends by itself is a signal too" until_holds hears "member=GameUnregistered $brief "
for _ in $(seq 10); do
	sleep 60 &
	pids+=($!)
	game RegisterGame i $! >>"$scratch/many"
done
is "a user who registers ten games gets eight of them" "$(sort "$scratch/many" | uniq -c | tr -s ' \n' ' ')" " 2 i -1 8 i 0 "

/usr/lib/polkit-1/polkitd --no-debug >"$scratch/polkit" 2>&1 &
pids+=($!)
# It asks that one once, at its start, whether there is one to ask.
has_polkit() { busctl --address="$DBUS_SYSTEM_BUS_ADDRESS" call org.freedesktop.DBus / org.freedesktop.DBus NameHasOwner s org.freedesktop.PolicyKit1 | grep -q true; }
holds "polkit is on the bus of the test" until_holds has_polkit
/usr/libexec/power-profiles-daemon >"$scratch/profiles" 2>&1 &
pids+=($!)
profiles=$!
holds "power-profiles-daemon that comes later is heard" until_holds state_is power_profile balanced
is "the profile balanced, which nobody chose, changes nothing" "$(state power)" performance
holds "the profile can be changed" until_holds profile set s power-saver
holds "a profile that is changed is heard" until_holds state_is power_profile power-saver
is "the profile power-saver saves power" "$(state power)" save
holds "the profile can be changed back" until_holds profile set s balanced
holds "a profile that is changed back is heard" until_holds state_is power_profile balanced
is "the profile balanced saves no more power" "$(state power)" performance
say_measured "$(grep -c power-profiles-daemon "$scratch/run-err") changes were heard: $(grep power-profiles-daemon "$scratch/run-err" | tr '\n' ';')"
listener=$(pgrep -P $runner tactus-power)
holds "who hears the bus is another user than root" test "$(stat -c %u "/proc/$listener")" != 0
is "who hears the bus has no capability" "$(awk '/^Cap(Prm|Eff|Bnd)/ { print $2 }' "/proc/$listener/status" | sort -u)" 0000000000000000
# As an upgrade of the bus does. Daemons on it end with it.
kill "$system_bus" "$profiles"
wait_for "$scratch/run-err" 'the system bus has gone, and is looked for again'
bus system
/usr/lib/polkit-1/polkitd --no-debug >"$scratch/polkit" 2>&1 &
pids+=($!)
holds "polkit is on the bus that was started again" until_holds has_polkit
/usr/libexec/power-profiles-daemon >"$scratch/profiles" 2>&1 &
pids+=($!)
holds "the profile can be changed on the bus that was started again" until_holds profile set s power-saver
holds "a profile is heard on a bus that was started again" until_holds state_is power_profile power-saver
listener=$(pgrep -P $runner tactus-power)
is "who hears the bus that was started again has no capability" "$(awk '/^Cap(Prm|Eff)/ { print $2 }' "/proc/$listener/status" | sort -u)" 0000000000000000

# Games that asked before are games of the next run too.
wait_for "$scratch/many" 'i -1'
is "eight games are registered before a run ends" "$(state games_registered)" 8
kill -INT $runner
wait $runner
: >"$scratch/run-err"
"$tactus" run --dry-run --without gpu,wine,input,frame,socket,sound,learned >"$scratch/out" 2>"$scratch/run-err" &
runner=$!
pids+=("$runner")
wait_for "$scratch/run-err" "watching; Ctrl-C"
holds "games that asked GameMode are registered with the next run too" until_holds state_is games_registered 8
listener=$(pgrep -P $runner tactus-power)
kill -INT $runner
wait $runner
is "a run that heard of games and profiles ends with status 0" $? 0
holds "who hears the bus ends with the run" until_holds test ! -e "/proc/$listener"
done_testing
