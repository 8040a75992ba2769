#!/usr/bin/env bash
# Threads that feed sound are known by their clock, by what they send to a sound server, and by what their process has open:
# JACK with a client, PipeWire with a client of its own and one of PulseAudio's, with realtime priorities and without.
# All of them play at once, and are watched at once in several ways.
. tools/lib.sh
with_own_shared_memory tests/host/67-sound.sh
. tests/tap.sh

python3 - "$scratch/tone.wav" <<'END'
import math, struct, sys, wave
with wave.open(sys.argv[1], "wb") as w:
    w.setnchannels(2), w.setsampwidth(2), w.setframerate(48000)
    second = b"".join(struct.pack("<hh", *[int(9000 * math.sin(i / 17))] * 2) for i in range(48000))
    w.writeframes(second * 150)
END

# comes WHAT COMMAND...: until the command succeeds, for a minute at most
comes() {
	local what=$1
	shift
	for _ in $(seq 600); do
		"$@" >/dev/null 2>&1 && return
		sleep 0.1
	done
	flunk "$what within a minute"
}
# realtime_of PID: its thread with a realtime priority
realtime_of() { ps -L -o tid=,cls= -p "$1" | awk '$2 == "FF" || $2 == "RR" { print $1 }'; }
second_of() { ps -L -o tid= -p "$1" | sed -n '2{s/ //g;p}'; }
# pid_of SESSION NAME
pid_of() { pgrep -s "$1" -x "$2" | head -n 1; }

# A server of our own, whoever else runs one.
export JACK_DEFAULT_SERVER=tactus$$ JACK_NO_AUDIO_RESERVATION=1
jackd -n "$JACK_DEFAULT_SERVER" -R -P 60 -d dummy -r 48000 -p 256 >"$scratch/jackd" 2>&1 &
jackd=$!

# What plays, in a session of its own so that it can be found and ended; each as soon as the one before it can be used.
cat >"$scratch/players" <<'END'
# until_there COMMAND...
until_there() { for _ in $(seq 300); do "$@" >/dev/null 2>&1 && return; sleep 0.1; done; }
pipewire >/dev/null 2>&1 &
until_there test -S "$XDG_RUNTIME_DIR/pipewire-0"
wireplumber >/dev/null 2>&1 &
pipewire-pulse >/dev/null 2>&1 &
until_there test -S "$XDG_RUNTIME_DIR/pulse/native"
switches() { cat /proc/"$1"/task/*/status 2>/dev/null | awk '/^voluntary/ { n += $2 } END { print n + 0 }'; }
# plays COMMAND...: one that asks before there is anything to play to ends, or waits for ever: it is started again
plays() {
	local try second before
	for try in 1 2 3 4 5 6; do
		"$@" >/dev/null 2>&1 &
		for second in 1 2 3 4 5; do
			before=$(switches $!)
			sleep 1
			[ $(($(switches $!) - before)) -lt 5 ] || return 0
		done
		kill $!
	done
}
plays pw-play "$1"
plays paplay "$1"
touch "$XDG_RUNTIME_DIR/playing"
wait
END
chmod 711 "$scratch"
chmod a+r "$scratch/players" "$scratch/tone.wav"
# pipewire FOLDER COMMAND...: as whom
pipewire() {
	local at=$scratch/$1
	shift
	mkdir -p "$at/run" "$at/home/.config/pipewire/pipewire.conf.d"
	cat >"$at/home/.config/pipewire/pipewire.conf.d/null.conf" <<-'END'
		context.objects = [ { factory = adapter args = { factory.name = support.null-audio-sink node.name = null-sink
			media.class = Audio/Sink audio.position = [ FL FR ] } } ]
	END
	chmod 700 "$at/run"
	[ "$1" = env ] || chown -R nobody "$at"
	XDG_RUNTIME_DIR=$at/run HOME=$at/home setsid "$@" dbus-run-session -- bash "$scratch/players" "$scratch/tone.wav" \
		>/dev/null 2>&1 &
	session=$!
}
pipewire realtime env
realtime=$session
pipewire plain setpriv --reuid=nobody --regid=nogroup --clear-groups
plain=$session
players_end() {
	pkill -s "$realtime,$plain"
	kill "$jackd" ${client:+"$client"} 2>/dev/null
	wait
	rm -rf "$scratch"
}
trap players_end EXIT

comes "jackd makes its socket" test -S "/dev/shm/jack_${JACK_DEFAULT_SERVER}_0_0"
# It answers some time after that.
comes "jackd has a realtime thread" eval '[ -n "$(realtime_of $jackd)" ]'
begin_client() {
	kill -0 ${client:+"$client"} 2>/dev/null || { jack_simple_client >"$scratch/client" 2>&1 & client=$!; }
	[ -n "$(realtime_of "$client")" ]
}
comes "JACK's client has a realtime thread" begin_client
driver=$(realtime_of $jackd) callback=$(realtime_of "$client")
for session in realtime plain; do comes "pw-play and paplay play, $session" test -e "$scratch/$session/run/playing"; done
for session in $realtime $plain; do
	for program in pipewire pw-play; do comes "$program has two threads" eval '[ -n "$(second_of "$(pid_of $session $program)")" ]'; done
	comes "wireplumber runs" pid_of "$session" wireplumber
done

ways=()
watchers=()
# watch WAY [OPTION...]: everybody's roles, change by change
watch() {
	ways+=("$1")
	: >"$scratch/$1.err"
	timeout 100 "$tactus" roles --follow --json "${@:2}" >"$scratch/$1" 2>"$scratch/$1.err" &
	watchers+=($!)
}
watch open
watch hidden --without names,launch
TACTUS_SKIP_HOOKS=sound:fentry,sound:kprobe,sound:tp_btf watch hookless --without names,launch
watch behaviour --without launch,gpu,wine,input,frame,socket,sound,names

# Lines of: way, what it is called, tid, what is to be known of it.
expect() { printf '%s\t%s\t%s\t%s\n' "$@" >>"$scratch/expected"; }
for way in open hidden hookless behaviour; do
	by=io
	[ $way != behaviour ] || by=runtime
	expect $way "jackd's realtime thread" "$driver" "audio $by"
	expect $way "JACK's client's realtime thread" "$callback" "audio $by"
done
for way in open hidden hookless; do
	expect $way "PipeWire's data thread without realtime" "$(second_of "$(pid_of $plain pipewire)")" "audio io"
	expect $way "the data thread of PipeWire's client without realtime" "$(second_of "$(pid_of $plain pw-play)")" "audio io"
done
expect open "PipeWire's realtime data thread" "$(second_of "$(pid_of $realtime pipewire)")" "audio io"
expect open "the realtime data thread of PipeWire's client" "$(second_of "$(pid_of $realtime pw-play)")" "audio io"
expect open "what sends to PulseAudio's socket beside a realtime PipeWire" "$(pid_of $realtime paplay)" "audio io"
for way in open hidden; do
	expect $way "what sends to PulseAudio's socket" "$(pid_of $plain paplay)" "audio io"
done

# Waits until all that is expected has been said, two seconds at least and forty at most; prints what is known at the end:
# way, what it is called, what is expected, what is known of it and in which words. The last lines are how many threads of a
# process are for sound.
python3 - "$scratch" "${ways[*]}" "$jackd $client" "$(pid_of $realtime wireplumber) $(pid_of $plain wireplumber)" >"$scratch/known" <<'END'
import json, sys, time
scratch, ways, jack, managers = sys.argv[1], sys.argv[2].split(), sys.argv[3].split(), sys.argv[4].split()
expected = [line.rstrip("\n").split("\t") for line in open(scratch + "/expected")]
files = {way: open(f"{scratch}/{way}") for way in ways}
last, rest = {way: {} for way in ways}, {way: "" for way in ways}
def known(way, tid):
    row = last[way].get(tid)
    return row["role"] + " " + row["evidence_kind"] if row else "nothing"
for tick in range(400):
    for way, file in files.items():
        *lines, rest[way] = (rest[way] + file.read()).split("\n")
        for row in map(json.loads, lines): last[way][str(row["tid"])] = row
    if tick >= 20 and all(known(way, tid) == want for way, _, tid, want in expected): break
    time.sleep(0.1)
for way, what, tid, want in expected:
    print("thread", way, what, want, known(way, tid), last[way].get(tid, {}).get("evidence"), sep="\t")
def audio(way, pids): return sum(row["role"] == "audio" and str(row["pid"]) in pids for row in last[way].values())
for way in ways: print("jack", way, audio(way, jack), sep="\t")
for way in ways: print("managers", way, audio(way, managers), sep="\t")
for way in ways:
    for row in last[way].values():
        if row["role"] == "audio" and str(row["pid"]) in managers: print("manager", way, json.dumps(row), sep="\t")
END
for i in "${!ways[@]}"; do
	kill -INT "${watchers[i]}"
	wait "${watchers[i]}"
	is "${ways[i]}: tactus roles ends well" $? 0
done
while IFS=$'\t' read -r kind way what want got words; do
	case $kind in
	thread)
		is "$way: $what is known as $want" "$got" "$want"
		say_measured "$way: $what: $words"
		;;
	jack) is "$way: no thread of jackd and its client is for sound but these two" "$what" 2 ;;
	manager) say_measured "$way: a thread of WirePlumber: $what" ;;
	managers) [ "$way" = behaviour ] || is "$way: no thread of WirePlumber, which only manages, is for sound" "$what" 0 ;;
	esac
done <"$scratch/known"
done_testing
