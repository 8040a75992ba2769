#!/usr/bin/env bash
# A thread that plays into a sound card is known by it, by each hook in turn: the kernel's dummy card, which keeps time as a
# real one does. Runs in the VM; called by tests/vm/64-sound.sh.
. tests/tap.sh

python3 - "$scratch/tone.wav" <<'END'
import sys, wave
with wave.open(sys.argv[1], "wb") as w:
    w.setnchannels(2), w.setsampwidth(2), w.setframerate(48000)
    w.writeframes(bytes(48000 * 4 * 120))
END
[ -e /dev/snd/pcmC0D0p ] || flunk "there is a sound card" "$(ls /dev/snd 2>&1)"

hook() { "$tactus" doctor --json | json "[s['hook'] for s in d['sensors'] if s['name'] == 'sound'][0]"; }
row_of() { json "([r['role'] + ' ' + r['evidence_kind'] for r in rows if r['tid'] == $1] + ['no row'])[0]" <"$scratch/rows"; }
writes_of() { json "([r['audio_writes'] for r in rows if r['tid'] == $1] + [-1])[0]" <"$scratch/rows"; }

# watch HOOK APLAY-OPTION...: one that plays, one that holds the card's controls and wakes by a clock of sound
watch() {
	local want=$1 player holder
	shift
	is "the hook is $want" "$(hook)" "$want"
	aplay -q -D hw:0,0 "$@" "$scratch/tone.wav" 2>/dev/null &
	player=$!
	build/workloads/pace 300000 100 100000 </dev/snd/controlC0 >/dev/null &
	holder=$!
	sleep 1
	timeout 100 "$tactus" roles --json -n all -d 4 --without names,launch >"$scratch/rows" 2>"$scratch/err"
	is "$want: tactus roles ends well" $? 0
	say_measured "$want, aplay $*: $(json "([r['evidence'] for r in rows if r['tid'] == $player] + ['no row'])[0]" <"$scratch/rows")"
	is "$want: who plays is for sound" "$(row_of $player)" "audio io"
	is "$want: who holds the card's controls is not" "$(writes_of $holder) $(row_of $holder)" "0 background runtime"
	[ "$want" = files ] || holds "$want: and was seen to feed it" test "$(writes_of $player)" -ge 8
	kill $player $holder
	wait $player $holder 2>/dev/null
}

if [ "${1:-}" != files ]; then
	watch fentry/snd_pcm_ioctl --period-size=1024 --buffer-size=4096
	watch fentry/snd_pcm_ioctl --period-size=1024 --buffer-size=4096 --mmap
	export TACTUS_SKIP_HOOKS=sound:fentry
	watch kprobe/snd_pcm_ioctl --period-size=1024 --buffer-size=4096
	export TACTUS_SKIP_HOOKS=sound:fentry/snd_pcm_ioctl,sound:kprobe
	is "without the card's functions: servers' sockets" "$(hook)" fentry/unix_stream_sendmsg
	export TACTUS_SKIP_HOOKS=sound:fentry,sound:kprobe/snd_pcm_ioctl
	is "by a tracepoint where there is no fentry" "$(hook)" tp_btf/sock_send_length
	export TACTUS_SKIP_HOOKS=sound:fentry,sound:kprobe/snd_pcm_ioctl,sound:tp_btf
	is "by kprobe where there is neither" "$(hook)" kprobe/unix_stream_sendmsg
else
	export TACTUS_SKIP_HOOKS=sound:fentry,sound:kprobe,sound:tp_btf
	watch files --period-size=1024 --buffer-size=4096
fi
is "the kernel complains of nothing" "$(dmesg | grep -cE 'WARNING|BUG:')" 0
done_testing
