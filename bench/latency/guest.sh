#!/usr/bin/env bash
# The loads under one scheduler after another, in one boot of a VM; called by bench/latency/run.sh.
# Usage: bench/latency/guest.sh ROUNDS 'SCHEDULER...' LOAD...   Prints lines "result SCHEDULER LOAD name=value...".
set -uo pipefail
rounds=$1 schedulers=$2
shift 2
loads=("$@")
load=build/bench/load
tactus=build/tactus
simple=${SCX_SIMPLE:-}
seconds=${SECONDS_EACH:-4}
warm=2 # before anything counts: roles are found out by then
scratch=$(mktemp -d)
export TACTUS_DB=$scratch/procdb.bin
runner=
trap '[ -z "$runner" ] || kill "$runner"' EXIT

state() { cat /sys/kernel/sched_ext/state; }
until_state() {
	for _ in $(seq 900); do
		[ "$(state)" != "$1" ] || return 0
		sleep 0.1
	done
	echo "tactus: no scheduler after 90 s: $(cat "$scratch/err")" >&2
	return 1
}

until_hints() {
	for _ in $(seq 900); do
		! grep -q "hints to the kernel's scheduler" "$scratch/err" || return 0
		sleep 0.1
	done
	return 1
}

take_over() {
	case $1 in
	tactus) $tactus run --actuator scx >"$scratch/out" 2>"$scratch/err" & ;;
	tactus-*) $tactus run --actuator scx --raise "${1#tactus-}" >"$scratch/out" 2>"$scratch/err" & ;;
	hints) $tactus run --actuator hints >"$scratch/out" 2>"$scratch/err" & ;;
	simple) "$simple" >"$scratch/out" 2>"$scratch/err" & ;;
	*) return 0 ;;
	esac
	runner=$!
	[ "$1" != hints ] || { until_hints && return; }
	until_state enabled
}
hand_back() {
	[ -n "$runner" ] || return 0
	[ "$(state)" = enabled ] || [ "$1" = hints ] || echo "tactus: $1 was taken out: $(cat "$scratch/err")" >&2
	kill -INT "$runner"
	wait "$runner"
	runner=
	[ -z "${SHOW_STATUS:-}" ] || sed 's/^/status /' "$scratch/out"
	until_state disabled
}

# beside COMMAND... -- COMMAND...: the first runs as long as the second, whose line is printed
beside() {
	local others=()
	while [ "$1" != -- ]; do others+=("$1"); shift; done
	shift
	"${others[@]}" >"$scratch/others" &
	local pid=$!
	"$@"
	wait "$pid"
}
burden_s=$((seconds + warm))

run_load() {
	case $1 in
	periodic) beside $load hogs $burden_s 0 0 0 -- $load periodic 5000 300 "$seconds" $warm ;;
	frames60) beside $load storm $burden_s 3 -- $load frames 16667 "$seconds" $warm ;;
	frames144) beside $load storm $burden_s 3 -- $load frames 6944 "$seconds" $warm ;;
	input) beside $load hogs $burden_s 0 0 0 -- $load input 1000 "$seconds" $warm ;;
	presents60) beside $load storm $burden_s 3 -- $load presents 16667 "$seconds" $warm ;;
	presents144) beside $load storm $burden_s 3 -- $load presents 6944 "$seconds" $warm ;;
	clicks) beside $load hogs $burden_s 0 0 0 -- $load clicks "$seconds" $warm ;;
	clicks-storm) beside $load storm $burden_s 3 -- $load clicks "$seconds" $warm ;;
	idle-periodic) $load periodic 5000 300 "$seconds" 1 ;;
	idle-frames60) $load frames 16667 "$seconds" 1 ;;
	idle-frames144) $load frames 6944 "$seconds" 1 ;;
	idle-input) $load input 1000 "$seconds" 1 ;;
	equal) $load hogs 6 0 0 0 0 ;;
	nice) $load hogs 8 -5 0 5 ;;
	liars) $load liars 12 2 2 ;;
	hackbench | virtual-hackbench)
		before=$(switches)
		hackbench -g "${GROUPS_OF:-2}" -l "${LOOPS:-200}" | awk '/^Time/ {printf "seconds=%s ", $2}'
		echo "switches=$(($(switches) - before))" ;;
	messaging) perf bench -f simple sched messaging -g "${GROUPS_OF:-2}" -l "${LOOPS:-200}" | awk '{print "seconds=" $1}' ;;
	cost) program_cost ;;
	*) echo "tactus: bench-latency: no load $1" >&2; exit 2 ;;
	esac
}

switches() { awk '/^ctxt/ {print $2}' /proc/stat; }

# What all BPF programs took in a hackbench, by the kernel's own count, for each switch that it made.
program_cost() {
	local before after
	before=$(switches)
	echo 1 >/proc/sys/kernel/bpf_stats_enabled
	hackbench -g 2 -l 100 >/dev/null
	echo 0 >/proc/sys/kernel/bpf_stats_enabled
	after=$(switches)
	build/bench/programs $((after - before))
}

for round in $(seq "$rounds"); do
	for scheduler in $schedulers; do
		take_over "$scheduler" || exit 1
		for name in "${loads[@]}"; do
			case $name-$scheduler in
			idle-*-eevdf) ;;
			idle-* | cost-eevdf) continue ;;
			esac
			printf 'result %s %s round=%s %s\n' "$scheduler" "$name" "$round" "$(run_load "$name")"
		done
		hand_back "$scheduler" || exit 1
	done
done
