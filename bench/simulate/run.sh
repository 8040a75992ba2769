#!/usr/bin/env bash
# How far 'tactus simulate' can be believed, and how fast it is.
# Usage: [KERNEL=NAME] bench/simulate/run.sh [-c CPUS] [-s SECONDS] [-k FOLDER] [validate|speed...]
#   validate  records loads in a VM by the virtual clock, each under the kernel's own scheduler, tactus's, and scx_simple in its two ways
#             (vtime, fifo); predicts each from each, and prints how far that is from what was really recorded
#   speed     a minute of a busy machine with 16 CPUs: CPU time, events a second, memory
#   KERNEL    one with sched_ext of which the source is known (debian-7.2)   -c CPUs (2)   -s seconds of each recording (4)
#   SCHEDULERS, LOADS  which are recorded and predicted; of the schedulers "tuned" is tactus's with the configuration TUNED
#   -k        keep recordings in this folder; those that are there already are not made again
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1
. tools/lib.sh

cpus=2 seconds=4 keep=''
while getopts c:s:k: option; do
	case $option in
	c) cpus=$OPTARG ;;
	s) seconds=$OPTARG ;;
	k) keep=$OPTARG ;;
	*) exit 2 ;;
	esac
done
shift $((OPTIND - 1))
[ $# -gt 0 ] || set -- speed validate
kernel=${KERNEL:-debian-7.2}
schedulers=${SCHEDULERS:-eevdf tactus vtime fifo}
loads=${LOADS:-wakers game train build}
folder=${keep:-$(mktemp -d)}
mkdir -p "$folder"
[ -n "$keep" ] || trap 'rm -rf "$folder"' EXIT

record() {
	local simple='' missing='' status=0
	for scheduler in $schedulers; do
		for load in $loads; do [ -s "$folder/$load-$scheduler.tactus" ] || { missing+=" $scheduler" && break; }; done
	done
	[ -n "$missing" ] || return 0
	if [[ $missing =~ vtime|fifo ]] && ! simple=$(bench/latency/simple.sh "$kernel"); then
		say "scx_simple does not build here and is left out: nothing stands in for it"
		schedulers="eevdf tactus"
		missing=" eevdf tactus"
	fi
	gcc -std=gnu11 -Wall -Wextra -Werror -O2 -D_GNU_SOURCE bench/real/train.c -o "$folder/train" || die "bench-simulate: train.c does not compile"
	CMD="TACTUS=${TACTUS:-build/tactus} LOAD=${LOAD:-build/bench/load} TRAIN=$(realpath "$folder")/train SCX_SIMPLE=$simple SECONDS_EACH=$seconds TUNED=${TUNED:-} bench/simulate/guest.sh '${missing# }' $loads" \
		KERNEL=$kernel CLOCK=virtual CPUS=$cpus LIMIT=7200 vm/run.sh >"$folder/log" || status=1
	# What there is when a guest ends early is good.
	while read -r scheduler load data; do
		base64 -d <<<"$data" | gzip -d >"$folder/part" && mv "$folder/part" "$folder/$load-$scheduler.tactus"
	done < <(sed -n 's/^recording //p' "$folder/log")
	sed -i '/^recording /d' "$folder/log"
	[ $status = 0 ] || cut -c 1-300 "$folder/log" | tail -n 5 >&2
	grep -E '^(#|said)' "$folder/log" >&2
	return $status
}

status=0
for what in "$@"; do
	case $what in
	validate)
		record || exit 1
		# shellcheck disable=SC2086
		python3 bench/simulate/table.py "$folder" "$schedulers" $loads || status=1 ;;
	speed) python3 bench/simulate/speed.py "$folder" || status=1 ;;
	*) die "bench-simulate: no $what" ;;
	esac
done
exit $status
