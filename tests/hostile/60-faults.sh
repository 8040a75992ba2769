#!/usr/bin/env bash
# Memory, files, reading, writing, mapping, bpf() and hints that fail at one call after another: nothing crashes, no file is left
# half-written, no thread keeps what it was given, and who ends with an error says which. The same calls each time, others for another FAULT_SEED.
# FAULTS_EVERY=1: every call in turn, which takes hours; FAULTS_EVERY=ways: one call for each way by which the program comes to one.
# not beside: tactus run, of which one at a time is at work
. tests/tap.sh

shim=$PWD/build/workloads/faults.so
if ! [ -e "$shim" ] || ! nm -D "$tactus" >/dev/null 2>&1; then
	skip "tactus bears calls that fail" "build/workloads/faults.so is not there, or tactus is static"
	done_testing
fi
tactus=$(realpath "$tactus")
export TACTUS_FEED=$scratch/feed
usual="malloc open read write mmap"
all_kinds=(malloc open read write mmap bpf share hint)
# How many places of each kind are tried: of a command that takes a second, and of one that takes a moment; so many at a time. FAULTS_ONLY:
# the commands whose names match alone; FAULTS_KINDS: these kinds of calls alone.
live_each=${FAULTS_LIVE:-1} quick_each=${FAULTS_QUICK:-8} at_a_time=${FAULTS_JOBS:-2} seed=${FAULT_SEED:-1}
say_measured "FAULT_SEED=$seed"

# numbers FILE: of 8 bytes each
numbers() { od -An -v -w8 -tu8 "$1"; }
# calls_of KIND: of an undisturbed run; every one, or the first of each way
calls_of() {
	local i count
	for i in "${!all_kinds[@]}"; do
		[ "${all_kinds[i]}" != "$1" ] || count=$(numbers "$scratch/count" | sed -n "$((i + 1))p")
	done
	if [ "${FAULTS_EVERY:-}" = 1 ] || ! [ -s "$scratch/paths.$1" ]; then
		seq $((count))
	else
		numbers "$scratch/paths.$1" | head -n $((count)) | awk '!seen[$1]++ { print NR }'
	fi
}
# chosen HOW-MANY: of the lines, one of each part of them; every one if that is asked for
chosen() {
	awk -v many="$1" -v every="${FAULTS_EVERY:-}" -v seed="$seed" '{ line[NR] = $1 } END {
		srand(seed)
		for (i = 1; i <= NR && every; i++) print line[i]
		if (many > NR) many = NR
		for (i = 0; i < many && !every; i++) print line[1 + int(NR * (i + rand()) / many)]
	}'
}
# reason_of KIND: what an error by it says. libbpf takes a question to the kernel that it had no memory for as answered with no; what fails
# for that later is what it names.
reason_of() {
	case $1 in
	malloc | mmap | bpf) echo '[Mm]emory|missing btf func_info|failed to create: Invalid argument|not pointing to valid bpf_map' ;;
	open) echo 'Too many open files' ;;
	read) echo 'Input/output error' ;;
	write) echo 'No space left on device' ;;
	hint) echo 'Operation not permitted' ;;
	esac
}
# fail_one KIND AT CHECK COMMAND...: what is wrong then, in a line, or nothing
fail_one() {
	local kind=$1 at=$2 check=$3 status=0
	shift 3
	timeout 60 env FAULT_COUNT="$here/count" FAULT_CALL="$kind" FAULT_AT="$at" LD_PRELOAD="$shim" "$@" >"$here/out" 2>"$here/err" || status=$?
	echo "$kind $((status != 0))" >>"$here/tried"
	if [ $status -ge 124 ]; then echo "$kind $at: status $status ($(tail -n 1 "$here/err"));"
	elif [ "$(numbers "$here/count" | tail -n 1)" -gt 0 ]; then echo "$kind $at: a process of it crashed;"
	# Of threads that can't be looked at it says where they are written down.
	elif [ $status != 0 ] && ! grep -qE "$(reason_of "$kind")|could not be put back: the journal keeps" "$here/err"; then echo "$kind $at: ends without the cause: $(tail -n 1 "$here/err");"; fi
	$check || echo "$kind $at: $(tail -n 1 "$here/why");"
}
# work WORKER CHECK COMMAND...: its part of the places, in a folder of its own, which is HERE in the command
work() {
	local kind at check=$2
	here=$scratch/worker$1
	made=$here/$made
	export TACTUS_DB=$here/db/procdb.bin
	shift 2
	while read -r kind at; do
		fail_one "$kind" "$at" "$check" "${@//HERE/$here}"
	done <"$here/places" >"$here/wrong"
}
# try NAME KINDS EACH JOBS CHECK COMMAND...: with each of these kinds of faults, in so many places, so many at a time; then the check must hold
try() {
	local name=$1 kinds=$2 each=$3 jobs=$4 check=$5 kind worker here=$scratch/whole made=${made:-} workers=()
	shift 5
	# shellcheck disable=SC2053 # a pattern
	[[ $name == ${FAULTS_ONLY:-*} ]] || return 0
	rm -rf "$scratch"/worker* "$here"
	mkdir -p "$here/db" "$here/rec"
	! [ -e "$scratch/full" ] || cp "$scratch/full" "$here/db/procdb.bin"
	TACTUS_DB=$here/db/procdb.bin FAULT_COUNT=$scratch/count FAULT_PATHS=$scratch/paths LD_PRELOAD=$shim "${@//HERE/$here}" >/dev/null 2>&1
	for kind in ${FAULTS_KINDS:-$kinds}; do calls_of "$kind" | chosen "$each" | sed "s/^/$kind /"; done >"$scratch/places"
	for ((worker = 0; worker < jobs; worker++)); do
		mkdir -p "$scratch/worker$worker/db" "$scratch/worker$worker/rec"
		: >"$scratch/worker$worker/tried"
		! [ -e "$scratch/full" ] || cp "$scratch/full" "$scratch/worker$worker/db/procdb.bin"
		awk -v jobs="$jobs" -v worker="$worker" 'NR % jobs == worker' "$scratch/places" >"$scratch/worker$worker/places"
		work "$worker" "$check" "$@" &
		workers+=($!)
	done
	wait "${workers[@]}"
	is "$name with calls that fail (${kinds// /, }) neither crashes nor leaves anything half done" "$(cat "$scratch"/worker*/wrong)" ""
	say_measured "$name: $(cat "$scratch"/worker*/tried | awk '{ tried[$1]++; failed += $2; all++ }
		END { printf "%d faults (", all; for (kind in tried) printf "%s%s %d", n++ ? ", " : "", kind, tried[kind]; printf "), %d of them ended it with an error", failed }')"
}

database_is_whole() {
	! [ -e "$TACTUS_DB" ] || "$tactus" db check >"$here/why" 2>&1 || return 1
	only db procdb.bin procdb.bin.lock
}
# only FOLDER NAME...: no other file is there
only() {
	local folder=$here/$1 name
	shift
	for name in "$folder"/* "$folder"/.[!.]*; do
		[[ " ${*/#/$folder/} " == *" $name "* ]] || ! [ -e "$name" ] || { echo "$name is left behind" >"$here/why"; return 1; }
	done
}
# The database holds what it held before, but for what is being changed.
kinds_are_there() {
	database_is_whole || return 1
	echo "the database has not its $known kinds" >"$here/why"
	[ "$("$tactus" db list --json | wc -l)" = "$known" ]
}
kinds_are_there_or_gone() { kinds_are_there || [ "$("$tactus" db list --json | wc -l)" = 0 ] && cp "$scratch/full" "$TACTUS_DB"; }
recording_is_whole() {
	local status=0
	if [ -s "$here/rec/1" ]; then
		"$tactus" events -i "$here/rec/1" --json >/dev/null 2>"$here/why" || status=1
		! grep -q 'middle of a block' "$here/why" || status=1
	fi
	rm -f "$here/rec/1"
	[ "$status" = 0 ] && only rec
}
rows_are_whole() {
	echo "$here/csv ends within a row" >"$here/why"
	! [ -s "$here/csv" ] || [ -z "$(tail -c 1 "$here/csv")" ]
}
attrs() { for tid in "${load[@]}"; do build/workloads/attr "$tid"; done; }
# What could not be put back at once is by a process that waits for the run's end.
nothing_is_given() {
	for _ in $(seq 40); do
		[ "$(attrs)" != "$before" ] || break
		sleep 0.05
	done
	{ echo "policy, nice and slice of the load:"; attrs; } | tr '\n' ' ' >"$here/why"
	[ "$(attrs)" = "$before" ] || return 1
	"$tactus" undo >"$here/why" 2>&1 && grep -q 'nothing to undo' "$here/why"
}
all_is_well() { database_is_whole && nothing_is_given; }

python3 -c 'import struct, sys
entries = b"".join(struct.pack("<16sB7xQQQQII", b"kind%d" % i, 2, 1000000, 0, 10, 10, 9, 9) for i in range(50))
open(sys.argv[1], "wb").write(b"PDDB" + struct.pack("<II", 2, 50) + entries)' "$scratch/pddb"
"$tactus" db import "$scratch/pddb" >/dev/null
mv "$TACTUS_DB" "$scratch/full"
known=50
try "db import" "$usual" "$quick_each" "$at_a_time" kinds_are_there "$tactus" db import "$scratch/pddb"
try "db list" "$usual" "$quick_each" "$at_a_time" kinds_are_there "$tactus" db list
try "db forget" "$usual" "$quick_each" "$at_a_time" kinds_are_there_or_gone "$tactus" db forget --all
try "db merge" "$usual" "$quick_each" "$at_a_time" kinds_are_there "$tactus" db merge "$scratch/full"
try "frames -i" "$usual" "$quick_each" "$at_a_time" true "$tactus" frames --why -i "$PWD/examples/late-frames.tactus"
# What was to be made is there whole, or not at all, or empty where even its folder could not be opened. Memory that is missing may leave something
# out of a report, which is said.
made_is_whole() {
	local is_good=0
	echo "$made is neither whole nor away" >"$here/why"
	! [ -s "$made" ] || cmp -s "$made" "$scratch/whole.${made##*.}" || grep -q 'missing\|no memory for' "$here/err" || is_good=1
	rm -f "$made"
	return "$is_good"
}
part=(--from 1s --to 1.1s)
# Not reading: of a recording that can't be read to its end a whole file of what was read is made, with status 1.
commands=("export faulty.pftrace" "export faulty.csv" "export faulty.parquet" "cut faulty.tactus" "report faulty.html")
for command in "${commands[@]}"; do
	made=${command#* }
	"$tactus" "${command% *}" -i examples/late-frames.tactus "${part[@]}" -o "$scratch/whole.${made##*.}" >/dev/null 2>&1
	try "${command% *} to .${made##*.}" "malloc open write mmap" "$live_each" "$at_a_time" made_is_whole \
		"$tactus" "${command% *}" -i "$PWD/examples/late-frames.tactus" "${part[@]}" -o "HERE/$made"
done
made=''
[ "$(id -u)" = 0 ] || done_testing

# Without probes on libraries, which take long to be taken out on a busy machine; few sensors.
few=launch,gpu,wine,input,frame,socket,sound,learned
try record "$usual bpf" "$live_each" "$at_a_time" recording_is_whole "$tactus" record --without "$few" -d 0.1 -o HERE/rec/1
[ -z "${FAULTS_EVERY:-}" ] || try "record with most sensors" bpf "$live_each" "$at_a_time" recording_is_whole "$tactus" record --without frame,wine -d 0.1 -o HERE/rec/1
# The first is libbpf's question whether there is such memory; where there is none it goes on without.
env FAULT_CALL=share FAULT_AT=1 LD_PRELOAD="$shim" timeout 60 "$tactus" record --without "$few" -d 0.1 -o "$scratch/rec" >/dev/null 2>&1
is "record where the kernel shares no memory of maps ends with an error" $? 1
try frames "$usual bpf" "$live_each" "$at_a_time" rows_are_whole "$tactus" frames -d 0.1 --csv HERE/csv
# What fails of the others in a moment's test, fails below, where hints are given.
kinds="write bpf"
[ -z "${FAULTS_EVERY:-}" ] || kinds="$usual bpf"
try "run --actuator none" "$kinds" "$live_each" 1 database_is_whole "$tactus" run --actuator none --without "$few" -d 0.1

# Two threads that work by a clock are urgent a fifth of a second after the start. Who was made nicer is not raised.
renice -n 0 -p $$ >/dev/null
build/workloads/pace 1000 100 36000000 >/dev/null &
load=($!)
build/workloads/pace 2000 100 36000000 >/dev/null &
load+=($!)
trap 'kill "${load[@]}" 2>/dev/null; rm -rf "$scratch"' EXIT
# A killed run's journal: whatever fails while it is undone, no thread of it is forgotten.
leave_journal() {
	local tid
	[ -d /run/tactus ] || mkdir -m 700 /run/tactus
	for tid in "${load[@]}"; do
		build/workloads/attr "$tid" nice -9 >/dev/null
		echo "tid $tid start $(cut -d' ' -f22 "/proc/$tid/stat") had 0 0 0 given 0 -9 0 end"
	done >/run/tactus/hints.journal
}
nothing_is_forgotten() {
	local status=0
	"$tactus" undo >"$here/why" 2>&1
	echo "the load after another 'tactus undo': $(attrs | tr '\n' ' ')" >>"$here/why"
	[ "$(attrs)" = "$before" ] || status=1
	leave_journal
	return "$status"
}
before=$(attrs)
leave_journal
try undo "malloc open read write" "${FAULTS_UNDO:-12}" 1 nothing_is_forgotten "$tactus" undo
"$tactus" undo >/dev/null
hints=("$tactus" run --actuator hints --compare off --without "$few" -d 0.5)
try "run --actuator hints" "$usual bpf hint" "$live_each" 1 all_is_well "${hints[@]}"
# On a busy machine the two may not get to be urgent in so short a run.
for seconds in 0.5 1 2 4; do
	"${hints[@]}" -d $seconds >/dev/null 2>"$scratch/err"
	! grep -qE '[1-9][0-9]* hints given' "$scratch/err" || break
done
like "a run gives hints to the load beside which calls failed" "$(cat "$scratch/err")" '[1-9][0-9]* hints given, all taken back'
done_testing
