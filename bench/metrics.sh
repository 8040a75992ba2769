#!/usr/bin/env bash
# What figures for Prometheus cost a switch: a benchmark that does nothing but switch, alone, beside 'tactus run', beside the same with --metrics, and
# beside 'tactus serve', round by round. CPU time of the benchmark is what is compared, so that others on the machine have little say; everything is a ratio in
# one run. The run decides and changes nothing (--dry-run). Usage: bench/metrics.sh [ROUNDS]
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
. tools/lib.sh

rounds=${1:-7}
loops=60000
tactus=build/tactus
work=$(mktemp -d)
export TACTUS_FEED=$work/feed
trap 'rm -rf "$work"' EXIT
install_packages linux-perf util-linux python3

# CPU time of the benchmark in microseconds an operation, of two switches
cpu_us() {
	local TIMEFORMAT='%U %S'
	{ time taskset -c 0 perf bench sched pipe -l $loops >/dev/null 2>&1; } 2>&1 | awk -v n=$loops '{ print ($1 + $2) * 1000000 / n }'
}
start_tracer() {
	: >"$work/err"
	case $1 in
	none) sleep 1000 & echo 'watching; Ctrl-C' >"$work/err" ;;
	run) $tactus run --dry-run >/dev/null 2>"$work/err" & ;;
	run-metrics) $tactus run --dry-run --metrics 127.0.0.1:0 >/dev/null 2>"$work/err" & ;;
	serve) $tactus serve --metrics 127.0.0.1:0 >/dev/null 2>"$work/err" & ;;
	esac
	tracer=$!
	for _ in $(seq 600); do
		grep -qE 'watching; Ctrl-C|figures are at' "$work/err" && break
		sleep 0.1
	done
	sleep 1
	kill -0 $tracer 2>/dev/null
}
for ((round = 1; round <= rounds; round++)); do
	say "round $round of $rounds"
	for name in none run run-metrics serve; do
		start_tracer $name || { cat "$work/err" >&2; die "$name does not run here"; }
		echo "$name $(cpu_us)" >>"$work/times"
		kill -TERM $tracer
		wait $tracer 2>/dev/null
	done
done
python3 - "$work/times" <<'END'
import sys
rows = {}
for line in open(sys.argv[1]):
    name, value = line.split()
    rows.setdefault(name, []).append(float(value))
base = rows["none"]
middle = lambda values: sorted(values)[len(values) // 2]
print(f"{len(base)} rounds; CPU time an operation, and its ratio to the same benchmark alone in the same round")
for name, values in rows.items():
    ratios = [v / b for v, b in zip(values, base)]
    print(f"{name:12} {middle(values):6.2f} us   median {middle(ratios):.3f}, {min(ratios):.3f} to {max(ratios):.3f}")
END
