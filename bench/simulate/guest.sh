#!/usr/bin/env bash
# Records the same loads under one scheduler after another, in one boot of a VM; called by bench/simulate/run.sh.
# Usage: bench/simulate/guest.sh 'SCHEDULER...' LOAD...   Prints lines "recording SCHEDULER LOAD BASE64", gzipped, and what loads say.
#   SCHEDULER: eevdf tactus tuned hints vtime fifo   (tuned: tactus with the configuration TUNED; the last two are scx_simple without and with -f)
set -uo pipefail
schedulers=$1
shift
loads=("$@")
load=${LOAD:-build/bench/load}
tactus=${TACTUS:-build/tactus}
train=${TRAIN:-}
simple=${SCX_SIMPLE:-}
seconds=${SECONDS_EACH:-4}
warm=2 # roles are found out by then
scratch=$(mktemp -d)
export TACTUS_DB=$scratch/procdb.bin
cpus=$(nproc)
runner=''
trap '[ -z "$runner" ] || kill "$runner"' EXIT

state() { if [ -e /sys/kernel/sched_ext/state ]; then cat /sys/kernel/sched_ext/state; else echo disabled; fi; }
until_state() {
	for _ in $(seq 900); do
		[ "$(state)" != "$1" ] || return 0
		sleep 0.1
	done
	echo "bench-simulate: no $1 after 90 s: $(cat "$scratch/err")" >&2
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
	# Each tactus learns from nothing; a recording under another scheduler knows what the one before it learned.
	[[ ! $1 =~ ^(tactus|tuned|hints)$ ]] || rm -f "$TACTUS_DB"
	case $1 in
	tactus) $tactus run --actuator scx >"$scratch/out" 2>"$scratch/err" & ;;
	tuned) $tactus run --actuator scx --config "$TUNED" >"$scratch/out" 2>"$scratch/err" & ;;
	hints) $tactus run --actuator hints >"$scratch/out" 2>"$scratch/err" & ;;
	vtime) "$simple" >"$scratch/out" 2>"$scratch/err" & ;;
	fifo) "$simple" -f >"$scratch/out" 2>"$scratch/err" & ;;
	*) return 0 ;;
	esac
	runner=$!
	if [ "$1" = hints ]; then until_hints; else until_state enabled; fi
}
hand_back() {
	[ -n "$runner" ] || return 0
	kill -INT "$runner"
	wait "$runner"
	runner=''
	until_state disabled
}

hogs=()
mapfile -t hogs < <(yes 0 | head -n $((2 * cpus)))
# A load goes on until the recording is over: how one ends is no part of it.
lasts=$((seconds + 1))
all=$((lasts + warm))

# A guest's files come from its host, and a compiler that waits for them waits as long as that one is busy: sources are in memory, and
# compilers and headers have been read once, before anything is recorded.
tree=$scratch/tree
warm_files() {
	local file
	mkdir "$tree" && cp -r src core "$tree/" || return
	mapfile -t sources < <(cd "$tree" && find src/base src/model -name '*.c' -size -16k | LC_ALL=C sort | head -n 40)
	for file in "${sources[@]}"; do
		(cd "$tree" && gcc -std=gnu11 -O2 -D_GNU_SOURCE -fsyntax-only "$file") || echo "bench-simulate: $file does not compile" >&2
	done
	(cd "$tree" && gcc -std=gnu11 -O2 -D_GNU_SOURCE -c "${sources[0]}" -o "$scratch/warm.o")
	printf 'all: %s\n%%.o:\n\tgcc -std=gnu11 -O2 -D_GNU_SOURCE -c $(word $*,$(FILES)) -o %s/$@\n' "$(seq -s ' ' -f '%g.o' ${#sources[@]})" "$scratch" >"$scratch/makefile"
}

# compiles JOBS: the real compiler on real files, by make, as long as the load lasts.
compiles() {
	# What is not done by then is not wanted.
	(cd "$tree" && TMPDIR=$scratch timeout "$all" make -k -s -f "$scratch/makefile" -j "$1" FILES="${sources[*]}" >/dev/null 2>&1)
}

# Each load is started in the background, in a process group of its own, and ends by itself.
start_load() {
	case $1 in
	wakers)
		$load hogs $all "${hogs[@]}" &
		$load wakers "$cpus" 5000 300 $lasts $warm &
		;;
	game)
		compiles $((2 * cpus)) &
		$load presents 16667 $lasts $warm &
		;;
	build)
		compiles $((3 * cpus)) &
		$load periodic 20000 2000 $lasts $warm &
		;;
	train)
		$load hogs $all "${hogs[@]}" &
		rm -f "$scratch/stamps"
		STAMPS_INTO=$scratch/stamps timeout $all "$train" 4 200 1000 &
		;;
	*) echo "bench-simulate: no load $1" >&2; exit 2 ;;
	esac >>"$scratch/said"
}

# Into a full machine a recorder takes long to come: it is there before the load.
record_load() {
	local recorder
	: >"$scratch/said"
	$tactus record -o "$scratch/rec" --force >"$scratch/recorded" 2>&1 &
	recorder=$!
	for _ in $(seq 900); do
		! grep -q '^tactus: watching' "$scratch/recorded" || break
		sleep 0.1
	done
	start_load "$1"
	sleep $((seconds + warm))
	kill -INT $recorder
	wait $recorder
	# The scheduler itself is one of the jobs.
	for job in $(jobs -p); do [ "$job" = "$runner" ] || wait "$job"; done
}

[[ ! " ${loads[*]} " =~ " "(game|build)" " ]] || warm_files || exit 1
for scheduler in $schedulers; do
	take_over "$scheduler" || exit 1
	for name in "${loads[@]}"; do
		record_load "$name"
		printf '# %s %s: %s\n' "$scheduler" "$name" "$(grep -v watching "$scratch/recorded" | tail -n 1)"
		[ "$name" != train ] || printf 'steps=%s in %s s' $(($(stat -c %s "$scratch/stamps") / 16)) $all >>"$scratch/said"
		printf 'said %s %s %s\n' "$scheduler" "$name" "$(tr '\n' ' ' <"$scratch/said")"
		printf 'recording %s %s %s\n' "$scheduler" "$name" "$(gzip -9c "$scratch/rec" | base64 -w 0)"
	done
	hand_back || exit 1
done
