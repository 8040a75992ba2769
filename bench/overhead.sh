#!/usr/bin/env bash
# What watching costs: a benchmark that does nothing but switch, alone and beside each tracer, round by round.
# Everything is a ratio to the same benchmark without a tracer in the same run. Usage: bench/overhead.sh [ROUNDS]
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
. tools/lib.sh

rounds=${1:-5}
loops=150000
tactus=build/tactus
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

install_packages libbpf-tools bpftrace linux-perf rt-tests util-linux python3

# The program of bpftrace's own runqlat.bt, without the kernel header that it asks for.
runqlat_script='tracepoint:sched:sched_wakeup, tracepoint:sched:sched_wakeup_new { @queued[args->pid] = nsecs; }
	tracepoint:sched:sched_switch {
		if (args->prev_state == 0) { @queued[args->prev_pid] = nsecs; }
		$since = @queued[args->next_pid];
		if ($since) { @usecs = hist((nsecs - $since) / 1000); }
		delete(@queued[args->next_pid]);
	}'

# Two processes on CPU 0 wake each other through pipes; the tracer's own work may go on on the other CPUs.
pipe_us() { taskset -c 0 perf bench sched pipe -l $loops 2>/dev/null | awk '/usecs\/op/ {print $1}'; }
hackbench_s() { hackbench -g 4 -l 1000 2>/dev/null | awk '/^Time/ {print $2}'; }

start_tracer() {
	case $1 in
	none) sleep 1000 & ;;
	tactus-accounting) $tactus tasks >"$work/out" 2>&1 & ;;
	tactus-record) $tactus record -o "$work/tactus.rec" --json >"$work/record.json" 2>"$work/err" & ;;
	cpudist) cpudist >/dev/null 2>&1 & ;;
	runqlat) runqlat >/dev/null 2>&1 & ;;
	runqslower) runqslower 10000 >/dev/null 2>&1 & ;;
	bpftrace-runqlat) bpftrace -e "$runqlat_script" >/dev/null 2>&1 & ;;
	perf-sched-record) perf sched record -q -o "$work/perf.data" -- sleep 1000 >/dev/null 2>&1 & ;;
	esac
	tracer=$!
	sleep 2
	kill -0 $tracer 2>/dev/null || return 1
}

stop_tracer() {
	kill -INT $tracer 2>/dev/null
	for _ in $(seq 50); do
		kill -0 $tracer 2>/dev/null || break
		sleep 0.1
	done
	kill -TERM $tracer 2>/dev/null
	wait $tracer 2>/dev/null
}

# Bytes and events of the recorders, from their last round.
note_size() {
	case $1 in
	tactus-record)
		python3 - "$work/record.json" >>"$work/sizes" <<-'END'
			import json, sys
			d = json.load(open(sys.argv[1]))
			print("tactus-record", d["bytes"], d["events"], d["lost"])
		END
		;;
	perf-sched-record)
		local events lost
		events=$(perf script -i "$work/perf.data" -F event 2>/dev/null | grep -c sched:)
		lost=$(perf report -i "$work/perf.data" --stats 2>/dev/null | awk '/LOST(_SAMPLES)? events/ {n += $NF} END {print n + 0}')
		echo "perf-sched-record $(stat -c %s "$work/perf.data") $events $lost" >>"$work/sizes"
		;;
	esac
}

tracers="none tactus-accounting tactus-record cpudist runqlat runqslower bpftrace-runqlat perf-sched-record"
for ((round = 1; round <= rounds; round++)); do
	say "round $round of $rounds"
	for name in $tracers; do
		if ! start_tracer "$name"; then
			echo "$name does not run here" >>"$work/absent"
			continue
		fi
		echo "$name pipe $(pipe_us)" >>"$work/results"
		echo "$name hackbench $(hackbench_s)" >>"$work/results"
		stop_tracer
		[ "$round" != "$rounds" ] || note_size "$name"
		rm -f "$work/tactus.rec" "$work/perf.data"*
	done
done

python3 - "$work" "$tracers" <<'END'
import collections, os, statistics, sys
work, order = sys.argv[1], sys.argv[2].split()
values = collections.defaultdict(list)
for line in open(f"{work}/results"):
    parts = line.split()
    if len(parts) == 3:
        values[parts[0], parts[1]].append(float(parts[2]))
sizes = {}
if os.path.exists(f"{work}/sizes"):
    for line in open(f"{work}/sizes"):
        name, size, events, lost = line.split()
        sizes[name] = (int(size) / max(int(events), 1), int(events), int(lost))
base = {what: statistics.median(values["none", what]) for what in ("pipe", "hackbench")}
print(f"{'TRACER':20} {'PIPE us/op':>10} {'SLOWER':>8} {'HACKBENCH s':>11} {'SLOWER':>8} {'BYTES/EVENT':>11} {'EVENTS':>9} {'LOST':>6}")
for name in order:
    if not values[name, "pipe"]:
        print(f"{name:20} does not run here")
        continue
    row = f"{name:20}"
    for what, width in (("pipe", 10), ("hackbench", 11)):
        median = statistics.median(values[name, what]) if values[name, what] else float("nan")
        row += f" {median:{width}.3f} {100 * (median / base[what] - 1):+7.1f}%"
    if name in sizes:
        row += f" {sizes[name][0]:11.1f} {sizes[name][1]:9d} {sizes[name][2]:6d}"
    print(row)
END
