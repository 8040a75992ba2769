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
load=$PWD/build/bench/load
tactus=build/tactus
cpu=$(($(nproc) - 1))
scratch=$(mktemp -d "${TMPDIR:-/tmp}/tactus-hints.XXXXXX")
export TACTUS_DB=$scratch/procdb.bin
runner=
pids=()
stop_all() {
	[ -z "$runner" ] || kill -INT "$runner" 2>/dev/null
	[ ${#pids[@]} = 0 ] || kill "${pids[@]}" 2>/dev/null
	wait 2>/dev/null
	rm -rf "$scratch"
}
trap stop_all EXIT
trap 'exit 130' INT TERM HUP

start_hints() {
	[ "$1" = hints ] || return 0
	# The load is on one CPU; tactus runs where there is room, as everywhere.
	taskset -c "0-$cpu" "$tactus" run --actuator hints >"$scratch/out" 2>"$scratch/err" &
	runner=$!
	for _ in $(seq 300); do
		! grep -q "hints to the kernel's scheduler" "$scratch/err" || break
		sleep 0.1
	done
	sleep 1
}
end_hints() {
	[ -n "$runner" ] || return 0
	kill -INT "$runner"
	wait "$runner"
	runner=
}

# Three at a time, over and over, for so many seconds.
compile_for() {
	local end=$((SECONDS + $1)) job
	for job in 1 2 3; do
		while [ $SECONDS -lt $end ]; do
			gcc -std=gnu11 -O2 -D_GNU_SOURCE -c bench/latency/load.c -o "$scratch/$job.o"
		done &
	done
	wait
}

# one LOAD: prints the urgent one's line
one() {
	local whole=$((seconds + skip))
	case $1 in
	host-*hogs) $load hogs $((whole + 1)) 0 0 0 >"$scratch/others" & ;;
	host-*compile) compile_for $((whole + 1)) & ;;
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
			end_hints
		done
	done
done
