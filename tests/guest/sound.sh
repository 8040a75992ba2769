#!/usr/bin/env bash
# A thread that plays into a sound card is known by it, by each hook in turn: the kernel's dummy card, which keeps time as a
# real one does. Runs in the VM. Usage: sound.sh [files]
. tests/tap.sh

python3 - "$scratch/tone.wav" <<'END'
import sys, wave
with wave.open(sys.argv[1], "wb") as w:
    w.setnchannels(2), w.setsampwidth(2), w.setframerate(48000)
    w.writeframes(bytes(48000 * 4 * 120))
END
modprobe snd-dummy 2>/dev/null
for _ in $(seq 100); do [ -e /dev/snd/pcmC0D0p ] && break; sleep 0.1; done
[ -e /dev/snd/pcmC0D0p ] || flunk "the guest has a sound card" "$(ls /dev/snd 2>&1)"

# Other sensors have tests of their own, and load for seconds in an emulated machine.
hook() { TACTUS_SKIP_HOOKS="${TACTUS_SKIP_HOOKS:-},launch:,gpu:,wine:,input:,frame:,socket:,learned:,cuda:,fence:,memory:,display:,feed:,jobs:" "$tactus" doctor --json | json "[s['hook'] for s in d['sensors'] if s['name'] == 'sound'][0]"; }
row_of() { json "([r['role'] + ' ' + r['evidence_kind'] for r in rows if r['tid'] == $1] + ['no row'])[0]" <"$scratch/rows"; }
writes_of() { json "([r['audio_writes'] for r in rows if r['tid'] == $1] + [-1])[0]" <"$scratch/rows"; }

# watch HOOK APLAY-OPTION...: one that plays, one that holds the card's controls and wakes by a clock of sound
watch() {
	local want=$1 player holder
	shift
	is "the sound sensor takes $want" "$(hook)" "$want"
	aplay -q -D hw:0,0 "$@" "$scratch/tone.wav" 2>/dev/null &
	player=$!
	build/workloads/pace 300000 100 100000 </dev/snd/controlC0 >/dev/null &
	holder=$!
	sleep 1
	timeout 100 "$tactus" roles --json -n all -d 4 --without names,launch,gpu,wine,input,frame,socket >"$scratch/rows" 2>"$scratch/err"
	is "$want: tactus roles ends well" $? 0
	say_measured "$want, aplay $*: $(json "([r['evidence'] for r in rows if r['tid'] == $player] + ['no row'])[0]" <"$scratch/rows")"
	is "$want: the thread that plays is for sound" "$(row_of $player)" "audio io"
	is "$want: a thread that holds the card's controls is not for sound" "$(writes_of $holder) $(row_of $holder)" "0 background runtime"
	[ "$want" = files ] || holds "$want: the thread that plays was seen to feed the card" test "$(writes_of $player)" -ge 8
	kill $player $holder
	wait $player $holder 2>/dev/null
}

if [ "${1:-}" != files ]; then
	watch fentry/snd_pcm_ioctl --period-size=1024 --buffer-size=4096
	watch fentry/snd_pcm_ioctl --period-size=1024 --buffer-size=4096 --mmap
	export TACTUS_SKIP_HOOKS=sound:fentry
	watch kprobe/snd_pcm_ioctl --period-size=1024 --buffer-size=4096
	export TACTUS_SKIP_HOOKS=sound:fentry/snd_pcm_ioctl,sound:kprobe
	is "the sound sensor watches servers' sockets where the card's functions can't be hooked" "$(hook)" fentry/unix_stream_sendmsg
	export TACTUS_SKIP_HOOKS=sound:fentry,sound:kprobe/snd_pcm_ioctl
	is "the sound sensor takes a tracepoint where there is no fentry" "$(hook)" tp_btf/sock_send_length
	export TACTUS_SKIP_HOOKS=sound:fentry,sound:kprobe/snd_pcm_ioctl,sound:tp_btf
	is "the sound sensor takes kprobe where there is neither fentry nor tracepoint" "$(hook)" kprobe/unix_stream_sendmsg
else
	export TACTUS_SKIP_HOOKS=sound:fentry,sound:kprobe,sound:tp_btf
	watch files --period-size=1024 --buffer-size=4096
fi
is "the kernel logged no warning under the sound sensor" "$(dmesg | grep -cE 'WARNING|BUG:')" 0
done_testing
