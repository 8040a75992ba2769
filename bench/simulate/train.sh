#!/usr/bin/env bash
# A PyTorch training loop beside CPU hogs, recorded without tactus and with its hints, for 'tactus simulate': needs root, PyTorch and better a GPU.
# Usage: bench/simulate/train.sh OUT [PROGRAM [SECONDS]]. Leaves without.tactus and hints.tactus in OUT, prints what the loop says of itself, and
# then predicts one from the other, by the middle third of each recording.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1
out=$1 tactus=${2:-build/tactus-static} seconds=${3:-12}
hogs=$(($(nproc) * 3))
scratch=$(mktemp -d)
export TACTUS_DB=$scratch/db
mountpoint -q /sys/kernel/tracing || mount -t tracefs tracefs /sys/kernel/tracing
load=()
declare -A lasted_ms
trap 'kill "${load[@]}" 2>/dev/null; rm -rf "$scratch"' EXIT

# await FILE WORDS: until a program has said so
await() { for _ in $(seq 600); do grep -q "$2" "$1" && return; sleep 0.1; done; }

# turn NAME: the loop warms up for as long as it is not recorded
turn() {
	local runner='' recorder trainer
	load=()
	if [ "$1" = hints ]; then
		"$tactus" run --actuator hints >"$scratch/out" 2>"$scratch/err" &
		runner=$!
		await "$scratch/err" 'hints to the kernel'
	fi
	"$tactus" record -o "$out/$1.tactus" --force >"$scratch/recorded" 2>&1 &
	recorder=$!
	await "$scratch/recorded" watching
	began=${EPOCHREALTIME/./}
	python3 bench/real/train.py "$seconds" 7 >"$scratch/said" 2>"$scratch/train.err" &
	trainer=$!
	sleep 5
	for ((i = 0; i < hogs; i++)); do
		timeout 60 sh -c 'while :; do :; done' &
		load+=($!)
	done
	wait $trainer
	lasted_ms[$1]=$(((${EPOCHREALTIME/./} - began) / 1000))
	kill -INT $recorder
	wait $recorder
	kill "${load[@]}" 2>/dev/null
	[ -z "$runner" ] || { kill -INT $runner && wait $runner; }
	printf 'result %s %s\n' "$1" "$(cat "$scratch/said")"
	tail -n 1 "$scratch/recorded"
}

uname -r
nproc
printf 'result alone %s\n' "$(python3 bench/real/train.py 4 5 2>"$scratch/train.err")"
turn without
turn hints
# Which part is taken was settled before anything was looked at: neither how the loop begins nor how it ends.
for name in without hints; do
	"$tactus" cut -i "$out/$name.tactus" --from $((lasted_ms[$name] / 3))ms --to $((lasted_ms[$name] * 2 / 3))ms -o "$out/$name-cut.tactus" --force 2>&1
done
"$tactus" simulate -i "$out/without-cut.tactus" --policy hints --against "$out/hints-cut.tactus" -o "$out/predicted.tactus" --force
for name in without-cut predicted hints-cut; do
	printf 'steps in %s: %s\n' "$name" "$("$tactus" cuda -i "$out/$name.tactus" --steps 2>&1 | head -n 12)"
done
