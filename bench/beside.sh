# What benches of an urgent thread beside others share: tactus in the background, a compile as the load, and an end that leaves
# nothing behind. Source it with NAME set, for the folder that it makes; it leaves load, tactus, scratch, runner and pids.
# shellcheck shell=bash disable=SC2034

load=$PWD/build/bench/load
tactus=build/tactus
scratch=$(mktemp -d "${TMPDIR:-/tmp}/tactus-${NAME:?}.XXXXXX")
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

# start_tactus READY COMMAND...: in the background, until it has said that it is ready
start_tactus() {
	local ready=$1
	shift
	"$@" >"$scratch/out" 2>"$scratch/err" &
	runner=$!
	for _ in $(seq 600); do
		! grep -q "$ready" "$scratch/err" || return 0
		sleep 0.1
	done
	echo "tactus: bench-$NAME: no tactus after a minute: $(cat "$scratch/err")" >&2
	exit 1
}
end_tactus() {
	[ -n "$runner" ] || return 0
	kill -INT "$runner"
	wait "$runner"
	runner=
}

# compile_for SECONDS SOURCE: three at a time, over and over
compile_for() {
	local end=$((SECONDS + $1)) job
	for job in 1 2 3; do
		while [ $SECONDS -lt $end ]; do
			gcc -std=gnu11 -O2 -D_GNU_SOURCE -c "$2" -o "$scratch/$job.o"
		done &
	done
	wait
}
