#!/usr/bin/env bash
# Threads that submit to a GPU, by each kind of hook: exactly they are render threads, counted to the call and known at once.
# Runs in a VM. Usage: gpu.sh KERNEL-FOLDER [quick] (quick: by its best hook alone), where the double of NVIDIA's module lies on our own kernel; or gpu.sh virtio|virgl, on a VM
# with such a GPU (quick there too).
. tests/tap.sh
. tests/guest/click.sh

image=$1
# The time from the first submit to the known role, which only virtual time can tell without the host's noise.
most_ns=1000000

# Other evidence has tests of its own, and loads for seconds in an emulated machine.
others=launch,wine,input,frame,socket,sound,display

# Asked once, of this sensor alone: loading others, and starting Python, takes seconds there.
ask_doctor() {
	TACTUS_SKIP_HOOKS="$TACTUS_SKIP_HOOKS,${others//,/:,}:" "$tactus" doctor --json |
		json '"\n".join("%s %s" % f for s in d["sensors"] if s["name"] == "gpu" for f in s.items())' >"$scratch/doctor"
}
doctor() { sed -n "s/^$1 //p" "$scratch/doctor"; }

# What tactus says that it lost: a program that the kernel takes off its CPU within a hook keeps that hook from whoever calls next there.
lost_facts() { sed -nE 's/^tactus: ([0-9]+) facts were lost .*/\1/p' "$scratch/err" | awk '{ n += $1 } END { print n + 0 }'; }
# all_of NAME SEEN WANTED: seen, or told as lost, which mostly none is
all_of() {
	local lost
	lost=$(lost_facts)
	if [ "${2:-0}" -le "$3" ] && [ $((${2:-0} + lost)) -ge "$3" ]; then pass "$1"; else flunk "$1" "got '$2', want '$3'; told as lost: $lost"; fi
}

# judge NAME DRIVER WORDS: what a recording says of what drm_submit said of itself
judge() {
	local name=$1 driver=$2 words=$3 said=$scratch/said
	"$tactus" roles -i "$scratch/recording" --json -n all >"$scratch/rows"
	"$tactus" roles -i "$scratch/recording" --json --follow >"$scratch/changes"
	"$tactus" gpu -i "$scratch/recording" --json >"$scratch/gpu"
	"$tactus" events -i "$scratch/recording" --only submit --json >"$scratch/submits"
	cat >"$scratch/judge.py" <<'END'
import json, sys
said, rows, changes, gpu_rows, submits = ([json.loads(l) for l in open(f)] for f in sys.argv[1:])
said = said[0]
gpu = [r for r in rows if r["evidence_kind"] == "gpu"]
known = [r for r in changes if r["evidence_kind"] == "gpu"]
submitter = next((r for r in rows if r["tid"] == said["submitter"]), {})
print("gpu_tids", *sorted({r["tid"] for r in gpu + known}))
print("role", submitter.get("role"))
print("counts", submitter.get("gpu_submits"))
print("others", sum(r["gpu_submits"] for r in rows if r["tid"] != said["submitter"]))
print("evidence", submitter.get("evidence"))
print("after_ns", known[0]["time_ns"] - said["before_ns"] if known else None)
shown = [r for r in gpu_rows if r.get("row") == "submits"]
took = [e["took_ns"] for e in submits]
print("shown_tids", *sorted({r["tid"] for r in shown}))
print("shown", sum(r["submits"] for r in shown), "to", *sorted({r["driver"] for r in shown}), "as", *sorted({r["kind"] for r in shown}))
print("refused", sum(r["refused"] for r in shown))
print("fences", sum(r["fences"] for r in gpu_rows if r.get("row") == "fences" and r["driver"] == "vgem"))
print("in_time", bool(took) and 0 < min(took) and sum(took) <= said["spent_ns"])
print("took", sum(took), "of", said["spent_ns"])
print("submitter", said["submitter"])
print("calls", said["calls"])
print("failed", said["failed"])
if submitter.get("gpu_submits") != said["calls"]:
    print("row", submitter, *(c for c in changes if c["tid"] == said["submitter"]), sep="\nrow ")
END
	python3 "$scratch/judge.py" "$said" "$scratch/rows" "$scratch/changes" "$scratch/gpu" "$scratch/submits" >"$scratch/judged"
	sed -n 's/^row /# /p' "$scratch/judged"
	sed 's/^/# /' "$scratch/err"
	judged() { sed -n "s/^$1 //p" "$scratch/judged"; }
	is "$name: one thread, the one that submits, is a GPU's" "$(judged gpu_tids)" "$(judged submitter)"
	is "$name: the thread that submits is a render thread" "$(judged role)" render
	all_of "$name: every submit is counted or told as lost, no question is" "$(judged counts)" "$(judged calls)"
	is "$name: no other thread has a submit" "$(judged others)" 0
	is "$name: the evidence says in words what was submitted, and how often" "$(judged evidence)" "$words $(judged counts) times"
	is "$name: gpu shows that thread" "$(judged shown_tids)" "$(judged submitter)"
	is "$name: gpu shows submits with their driver and kind" "$(judged shown | cut -d ' ' -f 2-)" "to $(device_of "$driver") as $(kind_of "$driver")"
	all_of "$name: gpu shows every submit that is not told as lost" "$(judged shown | cut -d ' ' -f 1)" "$(judged calls)"
	is "$name: gpu shows the submits that the driver refused" "$(judged refused)" "$(judged failed)"
	is "$name: each submit has a time in its ioctl, in all no more than the program measured" "$(judged in_time)" True
	[ "$driver" != vgem ] || all_of "$name: each fence is seen to end or told as lost" "$(judged fences)" $((($(judged calls) + 1) / 2))
	say_measured "$name: ioctls took $(judged took) ns that the program measured around them"
	say_measured "$name: known $(judged after_ns) ns after the stamp before the first submit; $(judged calls) calls, $(judged failed) refused by the driver"
	holds "$name: the thread is not known before its first submit" test "$(judged after_ns)" -ge 0
	if [ "${TACTUS_CLOCK:-real}" = virtual ]; then
		holds "$name: the thread is known within 1 ms of its first submit" test "$(judged after_ns)" -le $most_ns
	fi
}

kind_of() { case $1 in vkms | virtio_gpu) echo flip ;; vgem) echo fence ;; virgl) echo commands ;; *) echo channel ;; esac; }
device_of() { if [ "$1" = virgl ]; then echo virtio_gpu; else echo "$1"; fi; }

# A gap is told, and a recording tells the same as the run did. Of the numbers alone: lines of a run come as it goes on.
gap_and_replay() {
	"$tactus" gpu --json -o "$scratch/recording" -- build/workloads/drm_submit vgem 80 "" 800 >"$scratch/out" 2>"$scratch/err"
	is "gpu with a recording ends well" $? 0
	grep '^{"record"' "$scratch/out" >"$scratch/live"
	"$tactus" gpu -i "$scratch/recording" --json >"$scratch/replayed" 2>&1
	is "a recording of a gap says what the live run said" "$(cat "$scratch/replayed")" "$(cat "$scratch/live")"
	is "a pause in the stream of submits is a gap that stands out" "$(grep -cE '"stall":"gap".*"span_ns":([89][0-9]{8}|1[0-9]{9}),' "$scratch/live")" 1
	like "a gap is counted with its thread" "$(grep '"row":"submits"' "$scratch/live")" '"gap_stalls":[1-9]'
	like "a gap is told in words" "$("$tactus" gpu -i "$scratch/recording")" 'gpu-submits \[[0-9]+\], fence of vgem: none for [0-9.]+ m?s, usually [0-9.]+ [mu]?s at most'
}

# A run counts what the hook saw of all.
run_counts() {
	: >"$scratch/err"
	TACTUS_FEED=$scratch/feed "$tactus" run --actuator none --json --without $others,learned,names,feed,wine >"$scratch/run" 2>"$scratch/err" &
	local pid=$!
	wait_for "$scratch/err" 'observing only'
	build/workloads/drm_submit vgem 25 >"$scratch/said"
	wait_for "$scratch/run" "\"gpu_submits\":$(json 'd["calls"]' <"$scratch/said")\b"
	kill -INT $pid
	wait $pid
	is "a run counts each submit to a GPU's driver" "$(tail -n 1 "$scratch/run" | json 'd["hits"]["gpu_submits"]')" "$(json 'd["calls"]' <"$scratch/said")"
	like "a run says in words at its end how many submits it saw" "$(cat "$scratch/err")" "hits of hooks: .*gpu_submits $(json 'd["calls"]' <"$scratch/said")"
}

# says_unreported NAME SKIPPED DRIVER [NODE]: where neither fences nor jobs tell what becomes of the work, that is said at the end, by the driver's name
says_unreported() {
	TACTUS_SKIP_HOOKS=$2 "$tactus" gpu --json -- build/workloads/drm_submit "$3" 25 ${4:+"$4"} >"$scratch/out" 2>"$scratch/err"
	like "$1: that nothing reports what became of the work is said by the driver's name" "$(cat "$scratch/err")" "$3: nothing reports what became of the work"
}

# watch NAME DRIVER [NODE]: a run of drm_submit under tactus
watch() {
	local words
	words="submitted to $(device_of "$2")"
	[ "$2" != nvidia ] || words="opened a channel of nvidia"
	"$tactus" roles --without $others -o "$scratch/recording" --json -- build/workloads/drm_submit "$2" 25 ${3:+"$3"} >"$scratch/out" 2>"$scratch/err"
	grep '"submitter"' "$scratch/out" >"$scratch/said"
	judge "$1" "$2" "$words"
}

# with_hooks SKIPPED HOOK STATE DRIVER...: every driver by one kind of hook
with_hooks() {
	local skipped=$1 hook=$2 state=$3 driver
	shift 3
	export TACTUS_SKIP_HOOKS=$skipped
	ask_doctor
	is "doctor names the gpu sensor's hook: $hook" "$(doctor hook)" "$hook"
	is "doctor tells the state of $hook: $state" "$(doctor state)" "$state"
	for driver in "$@"; do
		if [ "$driver" = nvidia ]; then
			watch "$driver by $hook" nvidia /dev/nvidia0
		else
			watch "$driver by $hook" "$driver"
		fi
	done
	unset TACTUS_SKIP_HOOKS
}

tracepoint=tracepoint/syscalls/sys_enter_ioctl

# A driver that comes while tactus already watches. late NAME DRIVER NODE COMMAND...: the command brings it
late() {
	local name=$1 driver=$2 node=$3 words="submitted to $2" pid
	shift 3
	[ "$driver" != nvidia ] || words="opened a channel of nvidia"
	: >"$scratch/out"
	"$tactus" roles --without $others -o "$scratch/recording" --follow --json >"$scratch/out" 2>"$scratch/err" &
	pid=$!
	# It says what it sees: once it does, it watches.
	wait_for "$scratch/out" tid
	"$@"
	# Its hook is in place when the program that asks it shows up, at the latest after some seconds of loading.
	for _ in $(seq 100); do
		build/workloads/drm_submit "$driver" 25 ${node:+"$node"} >"$scratch/said"
		sleep 0.5
		grep -q '"evidence_kind":"gpu"' "$scratch/out" && break
	done
	build/workloads/drm_submit "$driver" 25 ${node:+"$node"} >"$scratch/said"
	sleep 0.5
	kill -INT $pid
	wait $pid
	"$tactus" roles -i "$scratch/recording" --json -n all >"$scratch/rows"
	json "next(([r['gpu_submits'], r['evidence']] for r in rows if r['tid'] == $(json 'd["submitter"]' <"$scratch/said")), [0, ''])" <"$scratch/rows" >"$scratch/found"
	read -r found evidence < <(sed "s/[][,']//g" "$scratch/found")
	all_of "$name: threads of a driver that came later are found, their calls counted or told as lost" "$found" 25
	is "$name: the evidence of a driver that came later says how often" "$evidence" "$words $found times"
}

# The display sensor notices DRM itself, when it comes as a module. What it then hooks, the kernel's list of kprobes has.
flips_hooked() { grep -c 'drm_mode_page_flip_ioctl\|drm_mode_atomic_ioctl' /sys/kernel/debug/kprobes/list; }
display_waits() {
	mountpoint -q /sys/kernel/debug || mount -t debugfs none /sys/kernel/debug
	is "the display sensor waits for DRM where there is none" \
		"$(TACTUS_SKIP_HOOKS=launch:,gpu:,wine:,input:,frame:,socket:,sound:,learned:,cuda:,fence:,memory: "$tactus" doctor --json |
			json '[(s["state"], s["hook"]) for s in d["sensors"] if s["name"] == "display"]')" "[('ok', 'none yet')]"
	: >"$scratch/frames"
	: >"$scratch/err"
	TACTUS_SKIP_HOOKS=launch:,gpu:,wine:,input:,frame:,socket:,sound:,learned: "$tactus" frames --json >"$scratch/frames" 2>"$scratch/frames-err" &
	display_pid=$!
	wait_for "$scratch/frames-err" watching
	is "nothing of DRM is hooked while it is not there" "$(flips_hooked)" 0
}
display_came() {
	for _ in $(seq 100); do
		[ "$(flips_hooked)" = 2 ] && break
		sleep 0.2
	done
	is "flips are hooked when DRM has come" "$(flips_hooked)" 2
	kill -INT "$display_pid"
	wait "$display_pid"
	is "frames ends well without a complaint after DRM came late" "$? $(grep -c 'be watched' "$scratch/frames-err")" "0 0"
	is "nothing of DRM stays hooked after frames has ended" "$(flips_hooked)" 0
}

# A virtual machine's own GPU: its flips are frames too; its commands, where the host renders them, end with fences.
# with_virtio [quick]: by its best hook alone
with_virtio() {
	modprobe virtio-gpu
	for _ in $(seq 50); do
		[ ! -e /dev/dri/card0 ] || break
		sleep 0.1
	done
	with_hooks "" fentry/drm_ioctl ok virtio_gpu virgl
	if [ "$image" = virgl ]; then
		is "a host that renders takes the commands of virtio_gpu" "$(judged failed)" 0
		"$tactus" gpu --json -- build/workloads/drm_submit virgl 25 2>"$scratch/err" | grep '^{"record"' >"$scratch/gpu"
		is "every command buffer of virtio_gpu has a fence that is seen to end" \
			"$(json 'sum(r["fences"] for r in rows if r.get("row") == "fences" and r["driver"] == "virtio_gpu")' <"$scratch/gpu")" 25
		say_measured "fences of virtio_gpu: $(json '[(r["timeline"], r["fences"], r["p50_ns"], r["max_ns"]) for r in rows if r.get("row") == "fences"]' <"$scratch/gpu")"
	else
		is "a host that renders nothing refuses the commands of virtio_gpu" "$(judged failed)" "$(judged calls)"
	fi
	if [ "${1:-}" != quick ]; then
		with_hooks gpu:fentry kprobe/drm_ioctl fallback virtio_gpu
		with_hooks gpu:fentry,gpu:kprobe $tracepoint fallback virtio_gpu virgl
	fi
	"$tactus" frames --json -- build/workloads/drm_submit virtio_gpu 25 2>"$scratch/err" | grep '^{"record"' >"$scratch/frames"
	is "flips of virtio_gpu that are not refused are frames of the thread that flips" \
		"$(json '[(r["comm"], r["frames"]) for r in rows if r["record"] == "frames" and r["frames"]]' <"$scratch/frames")" "[('gpu-submits', 25)]"
	[ "${1:-}" != quick ] || return 0
	modprobe -a evdev uinput
	for _ in $(seq 100); do [ ! -e /dev/uinput ] || break; sleep 0.1; done
	answers virtio_gpu
}

if [ "$image" = virtio ] || [ "$image" = virgl ]; then
	with_virtio "${2:-}"
elif [ "${TACTUS_CLOCK:-real}" = virtual ]; then
	insmod "$image/nvidia.ko" && mknod /dev/nvidia0 c 195 0
	with_hooks gpu:fentry/nvidia "fentry/drm_ioctl, kprobe/nvidia_unlocked_ioctl" fallback vkms nvidia
	with_hooks gpu:fentry "kprobe/drm_ioctl, kprobe/nvidia_unlocked_ioctl" fallback vkms
	with_hooks gpu:fentry,gpu:kprobe $tracepoint fallback vkms nvidia
	. tests/guest/vblank.sh
elif [ -e "$image/nvidia.ko" ]; then
	with_hooks "" fentry/drm_ioctl ok vkms vgem
	with_hooks gpu:fentry kprobe/drm_ioctl fallback vkms vgem
	with_hooks gpu:fentry,gpu:kprobe $tracepoint fallback vkms vgem
	with_hooks gpu:driver_name fentry/drm_ioctl ok vgem
	gap_and_replay
	bring() { insmod "$image/nvidia.ko" && mknod /dev/nvidia0 c 195 0; }
	late "NVIDIA's driver, as a double" nvidia /dev/nvidia0 bring
	# fentry takes a module that was built with BTF.
	if [ -e /sys/kernel/btf/nvidia ]; then
		with_hooks "" "fentry/drm_ioctl, fentry/nvidia_unlocked_ioctl" ok nvidia
	else
		with_hooks "" "fentry/drm_ioctl, kprobe/nvidia_unlocked_ioctl" fallback nvidia
		like "doctor says why fentry is not to be had on the double" "$(doctor reason)" 'nvidia_unlocked_ioctl: the kernel has no BTF for it'
	fi
	with_hooks gpu:fentry/nvidia "fentry/drm_ioctl, kprobe/nvidia_unlocked_ioctl" fallback nvidia
	with_hooks gpu:fentry/nvidia,gpu:kprobe "fentry/drm_ioctl, $tracepoint" fallback nvidia vgem
	says_unreported "NVIDIA's driver, as a double" "" nvidia /dev/nvidia0
else
	display_waits
	ask_doctor
	is "the gpu sensor has nothing to hook without a GPU, and that is no fault" "$(doctor state), $(doctor hook)" "ok, none yet"
	bring() { modprobe vgem; }
	late "DRM" vgem "" bring
	display_came
	with_hooks "" fentry/drm_ioctl ok vgem
	if [ "${2:-}" != quick ]; then
		with_hooks gpu:fentry kprobe/drm_ioctl fallback vgem
		with_hooks gpu:fentry,gpu:kprobe $tracepoint fallback vgem
	fi
	gap_and_replay
	is "a driver whose fences are seen is not said to report nothing" "$(grep -c 'nothing reports' "$scratch/err")" 0
	says_unreported "vgem without the sensor of fences" fence: vgem
	run_counts
fi
done_testing
