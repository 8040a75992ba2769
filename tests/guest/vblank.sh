# shellcheck shell=bash
# Flips of a vkms display under tactus frames, by the virtual clock: sourced by tests/guest/gpu.sh.

# said WORD...: the program's number behind these words
said() { sed -n "s/^$* //p" "$scratch/out"; }
shown() { json "$1" <"$scratch/rows"; }

flips() {
	# Other sensors load long there.
	TACTUS_SKIP_HOOKS=gpu:,frame:,learned: "$tactus" frames --json -o "$scratch/recording" -- \
		build/workloads/flip "$@" >"$scratch/out" 2>"$scratch/err"
	is "frames of a program that flips by DRM ends well" $? 0
	grep '^{' "$scratch/out" >"$scratch/rows"
	sed 's/^/# measured: /' "$scratch/out"
	is "every flip is one frame of the program" "$(shown '(d["pid"], d["frames"])')" "($(said flips), $1)"
	# vkms keeps the time of its mode: 65 MHz for 1344 by 806.
	is "the target period is the display's: 16.67 ms" "$(shown 'round(d["target_ns"] / 1e6, 2)')" 16.67
	is "the periods without a picture are those that the display counts" "$(shown 'd["vblanks_missed"]')" "$(said 'flipped [0-9]* missed')"
	is "a program that was 50 ms late once has three missed periods and one late frame" "$(shown '(d["vblanks_missed"], d["dropped"], d["late"])')" "(3, 3, 1)"
	is "the recording has the same frames, missed periods and target" "$("$tactus" frames -i "$scratch/recording" --json | json '(d["frames"], d["vblanks_missed"], d["target_ns"])')" \
		"$(shown '(d["frames"], d["vblanks_missed"], d["target_ns"])')"
}

doctor_on_display() {
	TACTUS_SKIP_HOOKS=launch:,gpu:,wine:,input:,frame:,socket:,sound:,learned:,cuda:,$1 "$tactus" doctor --json |
		json '[(s["state"], s["hook"]) for s in d["sensors"] if s["name"] == "display"]'
}

is "doctor tells of the display" "$(doctor_on_display)" "[('ok', 'tracepoint/drm+kprobe')]"
is "the display sensor has the display's periods without kprobes" "$(doctor_on_display display:tracepoint/drm+kprobe)" "[('fallback', 'tracepoint/drm')]"
flips 120 60:50

# What --why says of time in the GPU's ioctls is what the submits took between the frame before and the late one.
gpu_time() {
	TACTUS_SKIP_HOOKS=frame:,learned:,launch:,wine:,socket:,sound: "$tactus" frames --why --json -o "$scratch/recording" -- \
		build/workloads/flip 60 40:50 >"$scratch/out" 2>"$scratch/err"
	is "frames --why with a GPU that is submitted to ends well" $? 0
	"$tactus" events -i "$scratch/recording" --only submit,frame --json >"$scratch/events"
	grep '"late_frame"' "$scratch/out" | json '(d["late_frame"], d["gpu_ns"])' >"$scratch/late"
	python3 - "$(said flips)" "$scratch/events" >"$scratch/took" <<'END'
import json, sys
tid, number, took_ns = int(sys.argv[1]), 0, 0
for event in map(json.loads, open(sys.argv[2])):
    if event["tid"] != tid: continue
    if event["event"] == "submit": took_ns += event["took_ns"]
    if event["event"] == "frame":
        number += 1
        print((number, took_ns))
        took_ns = 0
END
	say_measured "the late frame and its time in the GPU's ioctls, in ns: $(cat "$scratch/late")"
	is "a late frame's time in the GPU's ioctls is what its submits took" "$(grep -Fx "$(cat "$scratch/late")" "$scratch/took")" "$(cat "$scratch/late")"
	like "a late frame has time in the GPU's ioctls" "$(cat "$scratch/late")" '^\([0-9]+, [1-9][0-9]*\)$'
}
gpu_time
