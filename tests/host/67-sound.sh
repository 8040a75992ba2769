#!/usr/bin/env bash
# Threads that feed sound are known by their clock, by what they send to a sound server, and by what their process has open:
# JACK with a client, PipeWire with a client of its own and one of PulseAudio's, with realtime priorities and without.
. tools/lib.sh
with_own_shared_memory tests/host/67-sound.sh
. tests/tap.sh

python3 - "$scratch/tone.wav" <<'END'
import math, struct, sys, wave
with wave.open(sys.argv[1], "wb") as w:
    w.setnchannels(2), w.setsampwidth(2), w.setframerate(48000)
    w.writeframes(b"".join(struct.pack("<hh", *[int(9000 * math.sin(i / 17))] * 2) for i in range(48000 * 90)))
END

# watch [OPTION...]: everybody's roles into $scratch/rows
watch() {
	timeout 60 "$tactus" roles --json -n all -d 4 "$@" >"$scratch/rows" 2>"$scratch/err"
	is "$what: tactus roles ends well" $? 0
}
# role_of TID: "role evidence"
role_of() { json "([r['role'] + ' ' + r['evidence_kind'] for r in rows if r['tid'] == $1] + ['no row'])[0]" <"$scratch/rows"; }
words_of() { json "([r['evidence'] for r in rows if r['tid'] == $1] + ['no row'])[0]" <"$scratch/rows"; }
# audio_of PID...: how many threads of these processes are audio
audio_of() { json "sum(r['role'] == 'audio' and r['pid'] in (${*// /,},) for r in rows)" <"$scratch/rows"; }
# realtime_of PID: its thread with a realtime priority
realtime_of() { ps -L -o tid=,cls= -p "$1" | awk '$2 == "FF" || $2 == "RR" { print $1 }'; }
second_of() { ps -L -o tid= -p "$1" | sed -n '2{s/ //g;p}'; }
# pid_of NAME: of a process started by $starter
pid_of() { pgrep -s "$session" -x "$1" | head -n 1; }
comes() { for _ in $(seq 100); do "$@" >/dev/null 2>&1 && return; sleep 0.1; done; return 1; }

expect_jack() {
	say_measured "$what: jackd: $(words_of "$driver"); client: $(words_of "$callback")"
	is "$what: jackd's realtime thread is for sound" "$(role_of "$driver")" "audio $1"
	is "$what: and its client's" "$(role_of "$callback")" "audio $1"
	is "$what: and no other of the two" "$(audio_of "$jackd,$client")" 2
}

jack() {
	# A server of our own, whoever else runs one.
	export JACK_DEFAULT_SERVER=tactus$$ JACK_NO_AUDIO_RESERVATION=1
	jackd -n "$JACK_DEFAULT_SERVER" -R -P 60 -d dummy -r 48000 -p 256 >"$scratch/jackd" 2>&1 &
	jackd=$!
	comes test -S "/dev/shm/jack_${JACK_DEFAULT_SERVER}_0_0"
	sleep 0.5
	jack_simple_client >"$scratch/client" 2>&1 &
	client=$!
	comes eval '[ -n "$(realtime_of $client)" ]'
	driver=$(realtime_of $jackd) callback=$(realtime_of $client)
	what=JACK
	watch
	expect_jack io
	what="JACK, names hidden"
	watch --without names,launch
	expect_jack io
	what="JACK, without any hook"
	TACTUS_SKIP_HOOKS=sound:fentry,sound:kprobe,sound:tp_btf watch --without names,launch
	expect_jack io
	what="JACK, by behaviour alone"
	watch --without launch,gpu,wine,input,frame,socket,sound,names
	expect_jack runtime
	kill $client
	wait $client 2>/dev/null
	kill $jackd
	wait $jackd 2>/dev/null
}

# What plays, in a session of its own so that it can be found and ended.
cat >"$scratch/players" <<'END'
pipewire >/dev/null 2>&1 &
sleep 1
wireplumber >/dev/null 2>&1 &
sleep 1
pipewire-pulse >/dev/null 2>&1 &
sleep 1
pw-play "$1" >/dev/null 2>&1 &
paplay "$1" >/dev/null 2>&1 &
wait
END

expect_pipewire() {
	local data plays pulse
	data=$(second_of "$(pid_of pipewire)") plays=$(second_of "$(pid_of pw-play)") pulse=$(pid_of paplay)
	say_measured "$what: pipewire: $(words_of "$data"); pw-play: $(words_of "$plays"); paplay: $(words_of "$pulse")"
	is "$what: PipeWire's data thread is for sound" "$(role_of "$data")" "audio io"
	is "$what: its client's data thread" "$(role_of "$plays")" "audio io"
	is "$what: what sends to PulseAudio's socket" "$(role_of "$pulse")" "audio io"
	is "$what: who only manages them is not" "$(audio_of "$(pid_of wireplumber)")" 0
}

# pipewire COMMAND...: as whom
pipewire() {
	mkdir -p "$scratch/run" "$scratch/home/.config/pipewire/pipewire.conf.d"
	cat >"$scratch/home/.config/pipewire/pipewire.conf.d/null.conf" <<-'END'
		context.objects = [ { factory = adapter args = { factory.name = support.null-audio-sink node.name = null-sink
			media.class = Audio/Sink audio.position = [ FL FR ] } } ]
	END
	chmod 711 "$scratch"
	chmod 700 "$scratch/run"
	[ "$1" = env ] || chown -R nobody "$scratch/run" "$scratch/home"
	chmod a+r "$scratch/players" "$scratch/tone.wav"
	XDG_RUNTIME_DIR=$scratch/run HOME=$scratch/home setsid "$@" dbus-run-session -- bash "$scratch/players" "$scratch/tone.wav" \
		>/dev/null 2>&1 &
	session=$!
	comes pgrep -s $session -x paplay
	comes pgrep -s $session -x pw-play
	sleep 1
}
pipewire_ends() {
	pkill -s "$session"
	wait "$session" 2>/dev/null
	rm -rf "${scratch:?}/run" "${scratch:?}/home"
}

jack
what="PipeWire, realtime"
pipewire env
watch
expect_pipewire
pipewire_ends

what="PipeWire, not realtime"
pipewire setpriv --reuid=nobody --regid=nogroup --clear-groups
watch
expect_pipewire
what="PipeWire, not realtime, names hidden"
watch --without names,launch
expect_pipewire
what="PipeWire, not realtime, without any hook"
TACTUS_SKIP_HOOKS=sound:fentry,sound:kprobe,sound:tp_btf watch --without names,launch
is "$what: PipeWire's data thread is for sound" "$(role_of "$(second_of "$(pid_of pipewire)")")" "audio io"
is "$what: its client's data thread" "$(role_of "$(second_of "$(pid_of pw-play)")")" "audio io"
pipewire_ends
done_testing
