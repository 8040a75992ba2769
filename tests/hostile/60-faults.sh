#!/usr/bin/env bash
# Memory, files, reading, writing, mapping, bpf() and hints that fail at one call after another: nothing crashes, no file is left
# half-written, and no thread keeps what it was given. FAULTS_EVERY=1 fails every bpf() and every hint in turn, and every call of quick commands,
# which takes a quarter of an hour.
# not beside: tactus run, of which one at a time is at work
. tests/tap.sh

shim=$PWD/build/workloads/faults.so
if ! [ -e "$shim" ] || ! nm -D "$tactus" >/dev/null 2>&1; then
	skip "tactus bears calls that fail" "build/workloads/faults.so is not there, or tactus is static"
	done_testing
fi
export TACTUS_FEED=$scratch/feed
usual="malloc open read write mmap"
# How many places of each kind are tried: of a command that takes a second, and of one that takes a moment.
live_each=${FAULTS_LIVE:-1} quick_each=${FAULTS_QUICK:-${FAULTS_EVERY:+every}} seed=${FAULT_SEED:-1}
quick_each=${quick_each:-8}

# faulty KIND AT COMMAND...: its status; above 128 it was killed by a signal
faulty() {
	local status=0
	timeout 60 env FAULT_CALL="$1" FAULT_AT="$2" LD_PRELOAD="$shim" "${@:3}" >"$scratch/out" 2>"$scratch/err" || status=$?
	return $status
}
# counted KIND: how many such calls the command makes when all is well
counted() { awk -v kind="$1" '$1 == kind { print $2 }' "$scratch/count"; }
# places COUNT HOW-MANY: the first, and others all over, the same for a seed; or every one
places() {
	if [ "$2" = every ]; then
		seq "$1"
		return
	fi
	awk -v count="$1" -v many="$2" -v seed="$seed" 'BEGIN {
		srand(seed)
		for (i = 0; i < many && count > 0; i++) print (i == 0 && many != 1 ? 1 : 1 + int(count * (i + rand()) / many))
	}' | sort -un
}
# try NAME KINDS EACH CHECK COMMAND...: with each of these kinds of faults, in so many places; then the check must hold
try() {
	local name=$1 kinds=$2 check=$4 kind each at status tried=0 failed=0 crashed=""
	local each_usual=$3
	shift 4
	FAULT_COUNT=$scratch/count LD_PRELOAD=$shim "$@" >/dev/null 2>&1
	for kind in $kinds; do
		each=$each_usual
		[[ -z ${FAULTS_EVERY:-} || $kind != @(bpf|hint) ]] || each=every
		for at in $(places "$(counted "$kind")" "$each"); do
			status=0
			faulty "$kind" "$at" "$@" || status=$?
			tried=$((tried + 1)) failed=$((failed + (status != 0)))
			[ $status -lt 124 ] || crashed="$crashed $kind $at: status $status ($(tail -n 1 "$scratch/err"));"
			$check || crashed="$crashed $kind $at: $(tail -n 1 "$scratch/why");"
		done
	done
	is "$name with calls that fail (${kinds// /, }) neither crashes nor leaves anything half done" "$crashed" ""
	say_measured "$name: $tried faults ($kinds), $failed of them ended it with an error"
}

database_is_whole() { ! [ -e "$TACTUS_DB" ] || "$tactus" db check >"$scratch/why" 2>&1; }
recording_is_whole() {
	! [ -s "$scratch/rec" ] || "$tactus" events -i "$scratch/rec" --json >/dev/null 2>"$scratch/why" || return 1
	! grep -q 'middle of a block' "$scratch/why" 2>/dev/null && rm -f "$scratch/rec"
}
rows_are_whole() {
	echo "$scratch/csv ends within a row" >"$scratch/why"
	! [ -s "$scratch/csv" ] || [ -z "$(tail -c 1 "$scratch/csv")" ]
}
attrs() { for tid in "${load[@]}"; do build/workloads/attr "$tid"; done; }
# What could not be put back at once is by a process that waits for the run's end.
nothing_is_given() {
	for _ in $(seq 40); do
		[ "$(attrs)" != "$before" ] || break
		sleep 0.05
	done
	{ echo "policy, nice and slice of the load:"; attrs; } | tr '\n' ' ' >"$scratch/why"
	[ "$(attrs)" = "$before" ] || return 1
	"$tactus" undo >"$scratch/why" 2>&1 && grep -q 'nothing to undo' "$scratch/why"
}
all_is_well() { database_is_whole && nothing_is_given; }

python3 -c 'import struct, sys
entries = b"".join(struct.pack("<16sB7xQQQQII", b"kind%d" % i, 2, 1000000, 0, 10, 10, 9, 9) for i in range(50))
open(sys.argv[1], "wb").write(b"PDDB" + struct.pack("<II", 2, 50) + entries)' "$scratch/pddb"
"$tactus" db import "$scratch/pddb" >/dev/null
try "db import" "$usual" "$quick_each" database_is_whole "$tactus" db import "$scratch/pddb"
is "a database whose import failed again and again has all its kinds" "$("$tactus" db list --json | wc -l)" 50
try "db list" "$usual" "$quick_each" database_is_whole "$tactus" db list
try "frames -i" "$usual" "$quick_each" true "$tactus" frames --why -i examples/late-frames.tactus
# What was to be made is there whole, or not at all, or empty where even its folder could not be opened. Memory that is missing may leave something
# out of a report, which is said.
made_is_whole() {
	local is_good=0
	echo "$made is neither whole nor away" >"$scratch/why"
	! [ -s "$made" ] || cmp -s "$made" "$scratch/whole.${made##*.}" || grep -q 'missing\|no memory for' "$scratch/err" || is_good=1
	rm -f "$made"
	return "$is_good"
}
part=(--from 1s --to 1.1s)
# Not reading: of a recording that can't be read to its end a whole file of what was read is made, with status 1.
for command in "export faulty.pftrace" "export faulty.csv" "export faulty.parquet" "cut faulty.tactus" "report faulty.html"; do
	made=$scratch/${command#* }
	"$tactus" "${command% *}" -i examples/late-frames.tactus "${part[@]}" -o "$scratch/whole.${made##*.}" >/dev/null 2>&1
	try "${command% *} to .${made##*.}" "malloc open write mmap" "$live_each" made_is_whole "$tactus" "${command% *}" -i examples/late-frames.tactus "${part[@]}" -o "$made"
done
[ "$(id -u)" = 0 ] || done_testing

# Without probes on libraries, which take long to be taken out on a busy machine; few sensors, unless every bpf() is the matter.
few=launch,gpu,wine,input,frame,socket,sound,learned
most=${FAULTS_EVERY:+frame,wine}
try record "$usual bpf" "$live_each" recording_is_whole "$tactus" record --without "${most:-$few}" -d 0.1 -o "$scratch/rec"
# The first is libbpf's question whether there is such memory; where there is none it goes on without.
faulty share 1 "$tactus" record --without "$few" -d 0.1 -o "$scratch/rec"
is "record where the kernel shares no memory of maps ends with an error" $? 1
try frames "$usual bpf" "$live_each" rows_are_whole "$tactus" frames -d 0.1 --csv "$scratch/csv"
# What fails of the others in a moment's test, fails below, where hints are given.
kinds="write bpf"
[ -z "${FAULTS_EVERY:-}" ] || kinds="$usual bpf"
try "run --actuator none" "$kinds" "$live_each" database_is_whole "$tactus" run --actuator none --without "${most:-$few}" -d 0.1

# Two threads that work by a clock are urgent a fifth of a second after the start. Who was made nicer is not raised.
renice -n 0 -p $$ >/dev/null
build/workloads/pace 1000 100 3600000 >/dev/null &
load=($!)
build/workloads/pace 2000 100 3600000 >/dev/null &
load+=($!)
trap 'kill "${load[@]}" 2>/dev/null; rm -rf "$scratch"' EXIT
hints=("$tactus" run --actuator hints --compare off --without "$few" -d 0.5)
before=$(attrs)
try "run --actuator hints" "$usual bpf hint" "$live_each" all_is_well "${hints[@]}"
# On a busy machine the two may not get to be urgent in so short a run.
for seconds in 0.5 1 2 4; do
	"${hints[@]}" -d $seconds >/dev/null 2>"$scratch/err"
	! grep -qE '[1-9][0-9]* hints given' "$scratch/err" || break
done
like "a run gives hints to the load beside which calls failed" "$(cat "$scratch/err")" '[1-9][0-9]* hints given, all taken back'
done_testing
