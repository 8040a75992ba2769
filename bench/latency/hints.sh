#!/usr/bin/env bash
# Hints against plain EEVDF on this machine, in turns: one CPU, a thread that wakes by a clock or a frame loop, beside three hogs or
# a real compile. tactus watches before the load begins and is told nothing; what counts begins three seconds after the load.
# Usage: bench/latency/hints.sh [ROUNDS [SECONDS [LOAD...]]]   Prints lines "result plain|hints LOAD name=value...".
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1
rounds=${1:-3} seconds=${2:-5}
loads=${*:3}
loads=${loads:-host-periodic-idle host-frames-idle host-periodic-hogs host-frames-hogs host-periodic-compile host-frames-compile}
skip=3
cpu=$(($(nproc) - 1))
NAME=hints
. bench/beside.sh

start_hints() {
	[ "$1" = hints ] || return 0
	# The load is on one CPU; tactus runs where there is room, as everywhere.
	start_tactus "hints to the kernel's scheduler" taskset -c "0-$cpu" "$tactus" run --actuator hints
	sleep 1
}

# one LOAD: prints the urgent one's line
one() {
	local whole=$((seconds + skip))
	case $1 in
	host-*hogs) $load hogs $((whole + 1)) 0 0 0 >"$scratch/others" & ;;
	host-*compile) compile_for $((whole + 1)) bench/latency/load.c & ;;
	*) sleep 0.1 & ;;
	esac
	pids=($!)
	case $1 in
	host-periodic*) $load periodic 5000 1000 "$seconds" $skip ;;
	host-frames*) $load frames 16667 "$seconds" $skip ;;
	esac
	wait "${pids[0]}"
	pids=()
}

taskset -pc "$cpu" $$ >/dev/null
for round in $(seq "$rounds"); do
	for name in $loads; do
		for way in plain hints; do
			case $name-$way in *-idle-hints) continue ;; esac
			start_hints $way
			printf 'result %s %s round=%s %s\n' "$way" "$name" "$round" "$(one "$name")"
			end_tactus
		done
	done
done
