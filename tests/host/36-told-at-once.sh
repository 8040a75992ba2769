#!/usr/bin/env bash
# Frames, late frames, misses and stalls are told while the program that had them goes on, not at its end: each line is there as
# that program still runs, or waits and does nothing that would bring the line out. How soon is held against
# how late a program that sleeps is woken in the same seconds; on a quiet machine: bench/event-to-line.py.
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

# how_soon RECORD FIELD COMMAND...: "LINES P50 LONGEST" in ms from what a row tells to the row, and how late a program that sleeps
# 20 ms at a time was woken meanwhile, at the median and the worst
how_soon() {
	python3 - "$@" <<'END'
import importlib.util, os, signal, sys, time
spec = importlib.util.spec_from_file_location("event_to_line", "bench/event-to-line.py")
bench = importlib.util.module_from_spec(spec)
spec.loader.exec_module(bench)
record, field, *command = sys.argv[1:]
ends, told = os.pipe()
sleeper = os.fork()
if sleeper == 0:
    late, go_on = [], [True]
    signal.signal(signal.SIGTERM, lambda *_: go_on.clear())
    while go_on:
        began = time.monotonic_ns()
        time.sleep(0.02)
        late.append(time.monotonic_ns() - began - 20_000_000)
    late.sort()
    # At the median of the time, not of the wake-ups: a line is as likely to meet a late one as that is long.
    passed, half = 0, sum(20_000_000 + l for l in late) / 2
    for middle in late:
        passed += 20_000_000 + middle
        if passed >= half: break
    os.write(told, f"{middle / 1e6:.2f} {late[-1] / 1e6:.2f}".encode())
    os._exit(0)
found = sorted(bench.delays_of(command, record, field))
os.kill(sleeper, signal.SIGTERM)
os.wait()
print(len(found), *([f"{found[len(found) // 2] / 1e6:.2f}", f"{found[-1] / 1e6:.2f}"] if found else ["none", "none"]), os.read(ends, 100).decode())
END
}
# soon WHAT LINES USUAL-MS RECORD FIELD COMMAND...: at the median, four wake-ups as late as the sleeper's at its median come on top; at the longest, of its worst
soon() {
	local what=$1 least=$2 usual=$3 lines p50 longest late_p50 late_worst
	shift 3
	read -r lines p50 longest late_p50 late_worst <<<"$(how_soon "$@")"
	say_measured "from $what to its line: $lines lines, p50 $p50 ms, longest $longest ms; a program that sleeps was woken $late_p50 ms late, at worst $late_worst ms"
	holds "lines of $what come while its program goes on, most of them" test "$lines" -ge "$least"
	holds "half of the lines of $what come within $usual ms and four late wake-ups" awk "BEGIN { exit !($p50 <= $usual + 4 * $late_p50) }"
	holds "the last line of $what comes within $usual ms and eight of the latest wake-ups" awk "BEGIN { exit !($longest <= $usual + 8 * $late_worst) }"
}
read -ra delayed <<<"build/workloads/delays 20 160 1 $(for ((n = 20; n < 160; n += 8)); do printf '%d:%d:sleep ' $n $((15 + n % 9)); done)"
read -ra missing <<<"build/workloads/clocked 5000 200 400 1 $(for ((n = 100; n < 380; n += 20)); do printf '%d:1000:4000 ' $n; done)"
# Both wait a tenth of a second for what CPUs have to tell that is older, and look every 20 ms.
soon "a late frame" 10 130 late_frame time_ns "$tactus" frames --why --json -- "${delayed[@]}"
soon "a miss" 8 130 miss actual_ns "$tactus" misses --json -- "${missing[@]}"

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
