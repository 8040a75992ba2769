#!/usr/bin/env bash
# How long 'tactus run' takes until it acts, and how much CPU time of its own: bench/start.sh [STARTS [OPTION...]]. Needs root.
# What its line says is counted: "hints to the kernel's scheduler" or "scheduling by sched_ext". With `--without all` it is the sched sensor
# alone, which is always loaded first: so much, at the most, passes until the first switch is seen.
# CPU time depends on who shares the machine, so a loop of fixed length is timed too: the ratio to that is what compares.
set -euo pipefail
cd "$(dirname "$0")/.."
. tools/lib.sh

starts=${1:-5}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export TACTUS_DB=$scratch/db TACTUS_FEED=$scratch/feed
mkfifo "$scratch/said"

now_us() { printf '%s\n' "${EPOCHREALTIME/./}"; }
# Of it and of the children that it waited for, in hundredths of a second.
spent() { awk '{ sub(/.*\) /, ""); print $12 + $13 + $14 + $15 }' "/proc/$1/stat"; }

# In hundredths of a second of CPU time; in a shell of its own.
loop_took() {
	local own=$BASHPID before
	before=$(spent "$own")
	for ((i = 0; i < 200000; i++)); do :; done
	echo $(($(spent "$own") - before))
}

for _ in $(seq "$starts"); do
	begun=$(now_us) acts=""
	build/tactus run "${@:2}" >/dev/null 2>"$scratch/said" &
	runner=$!
	exec 3<"$scratch/said"
	while IFS= read -r line <&3; do
		case $line in *"hints to the kernel's scheduler"* | *"scheduling by sched_ext"*)
			acts=$(($(now_us) - begun))
			break
			;;
		esac
	done
	[ -n "$acts" ] || die "bench: 'tactus run' ended before it acted: ${line:-it said nothing}"
	echo "$acts $(spent $runner)" >>"$scratch/starts"
	kill -INT $runner
	cat <&3 >/dev/null
	wait $runner || true
	exec 3<&-
done
sort -n "$scratch/starts" | awk -v load="$(cut -d' ' -f1 /proc/loadavg)" -v cpus="$(nproc)" -v loop="$(loop_took)" '
	{ us[NR] = $1; spent[NR] = $2; if ($2 < least || NR == 1) least = $2; if ($2 > most) most = $2 }
	END { printf "%d starts, %d CPUs, load %s: acts after %.2f to %.2f s (median %.2f), of which %.2f to %.2f s are its CPU time; the fixed loop takes %.2f s\n",
		NR, cpus, load, us[1] / 1e6, us[NR] / 1e6, us[int((NR + 1) / 2)] / 1e6, least / 100, most / 100, loop / 100 }'
