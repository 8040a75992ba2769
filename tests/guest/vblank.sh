# shellcheck shell=bash
# Flips of a vkms display under tactus frames, by the virtual clock: sourced by tests/guest/gpu.sh.

# said WORD...: the program's number behind these words
said() { sed -n "s/^$* //p" "$scratch/out"; }
shown() { json "$1" <"$scratch/rows"; }

flips() {
	# Other sensors load long there.
	TACTUS_SKIP_HOOKS=gpu:,frame:,learned: "$tactus" frames --json -o "$scratch/recording" -- \
		build/programs/flip "$@" >"$scratch/out" 2>"$scratch/err"
	is "frames of a program that flips by DRM: it ends well" $? 0
	grep '^{' "$scratch/out" >"$scratch/rows"
	sed 's/^/# measured: /' "$scratch/out"
	is "it presents, each flip once" "$(shown '(d["pid"], d["frames"])')" "($(said flips), $1)"
	# vkms keeps the time of its mode: 65 MHz for 1344 by 806.
	is "the period is the display's: 16.67 ms" "$(shown 'round(d["target_ns"] / 1e6, 2)')" 16.67
	is "the periods without a picture are those that the display counts" "$(shown 'd["vblanks_missed"]')" "$(said 'flipped [0-9]* missed')"
	is "three passed, as the program was 50 ms late once; that is one late frame" "$(shown '(d["vblanks_missed"], d["dropped"], d["late"])')" "(3, 3, 1)"
	is "from the recording too" "$("$tactus" frames -i "$scratch/recording" --json | json '(d["frames"], d["vblanks_missed"], d["target_ns"])')" \
		"$(shown '(d["frames"], d["vblanks_missed"], d["target_ns"])')"
}

doctor_on_display() {
	TACTUS_SKIP_HOOKS=launch:,gpu:,wine:,input:,frame:,socket:,sound:,learned:,cuda:,$1 "$tactus" doctor --json |
		json '[(s["state"], s["hook"]) for s in d["sensors"] if s["name"] == "display"]'
}

is "doctor tells of the display" "$(doctor_on_display)" "[('ok', 'tracepoint/drm+kprobe')]"
is "without kprobes there are its periods" "$(doctor_on_display display:tracepoint/drm+kprobe)" "[('fallback', 'tracepoint/drm')]"
flips 120 60:50
