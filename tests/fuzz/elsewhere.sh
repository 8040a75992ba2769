#!/bin/sh
# Fuzzes with what FUZZ_PACK= has packed, beside which it lies, on a machine that need have nothing but a shell: every target at once, for so
# many seconds. OUT gets one .tar.gz: each target's figures, what broke it, and the inputs that reach further than those it began with.
# Usage: run.sh SECONDS OUT [JOBS]   Targets whose names stand in WHOLE run for all of it, the others in turns for what places are left.
# ONLY="NAME:PROCESSES ...": these and no others.
set -u
cd "$(dirname "$0")" || exit 1
seconds=$1 out=$2 jobs=${3:-16}
export ASAN_OPTIONS=malloc_context_size=2:abort_on_error=0
loader=$(find libraries -name 'ld-linux*' | head -n 1)
results=$(mktemp -d)
one() {
	name=$1 seed=$2 for_s=$3
	mkdir -p "$results/$name-$seed"
	"$loader" --library-path libraries "./$name" -seed="$seed" -max_total_time="$for_s" -max_len=66000 -timeout=30 -rss_limit_mb=2048 \
		-print_final_stats=1 -artifact_prefix="$results/$name-$seed-" "$results/$name-$seed" "inputs/$name" >"$results/$name-$seed.log" 2>&1
	echo "$name $seed: status $?, edges $(sed -n 's/.* cov: \([0-9]*\) .*/\1/p' "$results/$name-$seed.log" | tail -n 1)" \
		"of $(sed -n 's/^INFO: Loaded .*(\([0-9]*\) inline 8-bit counters).*/\1/p' "$results/$name-$seed.log" | head -n 1)," \
		"executions $(sed -n 's/^stat::number_of_executed_units: *//p' "$results/$name-$seed.log")" >>"$results/figures"
}
# Some alone, each as so many processes from different seeds.
for wanted in ${ONLY:-}; do
	for seed in $(seq "${wanted#*:}"); do one "${wanted%:*}" "$seed" "$seconds" & done
done
others=
places=$jobs
[ -z "${ONLY:-}" ] || places=0
for name in inputs/*; do
	[ "$places" -gt 0 ] || break
	name=${name#inputs/}
	case " ${WHOLE:-} " in
	*" $name "*)
		one "$name" 1 "$seconds" &
		places=$((places - 1))
		;;
	*) others="$others $name" ;;
	esac
done
# shellcheck disable=SC2086 # names
set -- $others
turns=$((($# + places - 1) / (places ? places : 1)))
# in_turns NAME...: one after the other, in one place
in_turns() {
	for name in "$@"; do one "$name" 1 $((seconds / turns)); done
}
while [ $# -gt 0 ]; do
	first=
	for _ in $(seq $turns); do
		[ $# -eq 0 ] || { first="$first $1"; shift; }
	done
	# shellcheck disable=SC2086
	in_turns $first &
done
wait
sort -o "$results/figures" "$results/figures"
cat "$results/figures"
for log in "$results"/*.log; do tail -n 60 "$log" >"$log.tail" && mv "$log.tail" "$log"; done
# What is new and small is kept: figures and crashes come first, should there be no room for all.
find "$results" -mindepth 2 -size +16k -exec rm -f {} +
tar -C "$results" -czf "$out/fuzz.tar.gz" .
if [ "$(wc -c <"$out/fuzz.tar.gz")" -gt 15000000 ]; then
	find "$results" -mindepth 1 -maxdepth 1 -type d -exec rm -rf {} +
	tar -C "$results" -czf "$out/fuzz.tar.gz" .
fi
rm -rf "$results"
