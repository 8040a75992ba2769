#!/usr/bin/env bash
# Frames, late frames, misses and stalls are told while the program that had them goes on, not at its end: each line is there as
# that program still runs, or waits and does nothing that would bring the line out. How soon: bench/event-to-line.py.
. tests/tap.sh
. tests/posed.sh

running=()
trap 'kill "${running[@]}" 2>/dev/null; rm -rf "$scratch"' EXIT

# told NAME REGEX PID: that line comes, and the program is there
told() {
	wait_for "$scratch/out" "$2" 300 || return
	holds "$1" kill -0 "$3"
}

# watching COMMAND...: in the background, its rows go to $scratch/out
watching() {
	: >"$scratch/out"
	: >"$scratch/err"
	"$@" >"$scratch/out" 2>"$scratch/err" &
	watcher=$!
	running+=("$watcher")
	wait_for "$scratch/err" watching
}

mkfifo "$scratch/go"
if build/workloads/present call libEGL.so.1 eglSwapBuffers 1 0 >/dev/null 2>&1; then
	watching "$tactus" frames -v --each --why --json
	build/workloads/present call libEGL.so.1 eglSwapBuffers 1 wait <"$scratch/go" >"$scratch/presented" 2>&1 &
	program=$!
	running+=("$program")
	exec 3>"$scratch/go"
	wait_for "$scratch/presented" mapped
	wait_for "$scratch/err" 'libEGL.*: probes are in place'
	for _ in $(seq 5); do echo >&3; sleep 0.03; done
	told "the last frame has its row while its program waits" "\"frame\":5,\"pid\":$program," "$program"
	for _ in $(seq 40); do echo >&3; sleep 0.03; done
	sleep 1
	echo >&3
	told "a late frame is told with its cause while its program waits" "\"late_frame\":46,\"pid\":$program,.*\"cause\":\"slept\"" "$program"
	exec 3>&-
	wait "$program"
	kill -INT "$watcher"
	wait "$watcher"
	is "frames ends well after a program that waited" $? 0
else
	skip "frames told at once" "there is no libEGL.so.1 to present by"
fi

# A clock's thread beside one that takes its CPU three times, and then for a minute and a half no more.
watching "$tactus" misses --json
build/workloads/clocked 5000 200 18000 1 200:1000:4000 300:1000:4000 400:1000:4000 >"$scratch/clocked" &
program=$!
running+=("$program")
told "a miss is told while its thread goes on" "\"record\":\"miss\".*\"comm\":\"clocked\"" "$program"
kill "$program"
wait "$program"
kill -INT "$watcher"
wait "$watcher"
is "misses ends well after a thread that went on" $? 0

if can_pose kcmp set_mempolicy_home_node; then
	for pair in queue:kcmp run:get_mempolicy; do
		{ field name '__data_loc char[]' 32 4; field dev '__data_loc char[]' 36 4; field fence_context u64 16 8; field fence_seqno u64 24 8; } |
			poses gpu_scheduler "drm_sched_job_${pair%:*}" "${pair#*:}"
	done
	{ field fence_context u64 16 8; field fence_seqno u64 24 8; } | poses gpu_scheduler drm_sched_job_done set_mempolicy_home_node
	watching posed gpu_scheduler "$tactus" gpu --json
	(build/workloads/gpu_jobs 60 40 >"$scratch/said"; exec sleep 100) &
	program=$!
	running+=("$program")
	told "a stall of a GPU is told while nothing more is submitted" '"stall":"run".*"span_ns":[1-9][0-9]{8,},' "$program"
	kill "$program"
	wait "$program"
	end_posed "$watcher"
	is "gpu ends well after a stall" $? 0
else
	skip "a stall of a GPU told at once" "the kernel has no tracepoints for these system calls"
fi
done_testing
