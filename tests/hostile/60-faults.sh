#!/usr/bin/env bash
# Memory, files, reading, writing and mapping that fail at one call after another: nothing crashes, and no file is left half-written.
. tests/tap.sh

shim=$PWD/build/workloads/faults.so
if ! [ -e "$shim" ] || ! nm -D "$tactus" >/dev/null 2>&1; then
	skip "tactus bears calls that fail" "build/workloads/faults.so is not there, or tactus is static"
	done_testing
fi
export TACTUS_FEED=$scratch/feed
kinds="malloc open read write mmap"
# How many places of each kind are tried: of a command that takes a second, and of one that takes a moment.
live_each=${FAULTS_LIVE:-1} quick_each=${FAULTS_QUICK:-12} seed=${FAULT_SEED:-1}

# faulty KIND AT COMMAND...: its status; above 128 it was killed by a signal
faulty() {
	local status=0
	FAULT_CALL=$1 FAULT_AT=$2 LD_PRELOAD=$shim timeout 60 "${@:3}" >"$scratch/out" 2>"$scratch/err" || status=$?
	return $status
}
# counted KIND: how many such calls the command makes when all is well
counted() { awk -v kind="$1" '$1 == kind { print $2 }' "$scratch/count"; }
# places COUNT HOW-MANY: the first, and others all over, the same for a seed
places() {
	awk -v count="$1" -v many="$2" -v seed="$seed" 'BEGIN {
		srand(seed)
		for (i = 0; i < many && count > 0; i++) print (i == 0 && many != 1 ? 1 : 1 + int(count * (i + rand()) / many))
	}' | sort -un
}
# try NAME EACH CHECK COMMAND...: with each kind of fault, in so many places; then the check must hold
try() {
	local name=$1 each=$2 check=$3 kind at status tried=0 failed=0 crashed=""
	shift 3
	FAULT_COUNT=$scratch/count LD_PRELOAD=$shim "$@" >/dev/null 2>&1
	for kind in $kinds; do
		for at in $(places "$(counted "$kind")" "$each"); do
			status=0
			faulty "$kind" "$at" "$@" || status=$?
			tried=$((tried + 1)) failed=$((failed + (status != 0)))
			[ $status -lt 124 ] || crashed="$crashed $kind $at: status $status ($(tail -n 1 "$scratch/err"));"
			$check || crashed="$crashed $kind $at: $(tail -n 1 "$scratch/why");"
		done
	done
	is "$name with calls that fail neither crashes nor leaves a file that is half-written" "$crashed" ""
	say_measured "$name: $tried faults, $failed of them ended it with an error"
}

database_is_whole() { ! [ -e "$TACTUS_DB" ] || "$tactus" db check >"$scratch/why" 2>&1; }
recording_is_whole() {
	! [ -s "$scratch/rec" ] || "$tactus" events -i "$scratch/rec" --json >/dev/null 2>"$scratch/why" || return 1
	! grep -q 'middle of a block' "$scratch/why" 2>/dev/null && rm -f "$scratch/rec"
}

python3 -c 'import struct, sys
entries = b"".join(struct.pack("<16sB7xQQQQII", b"kind%d" % i, 2, 1000000, 0, 10, 10, 9, 9) for i in range(50))
open(sys.argv[1], "wb").write(b"PDDB" + struct.pack("<II", 2, 50) + entries)' "$scratch/pddb"
"$tactus" db import "$scratch/pddb" >/dev/null
try "db import" "$quick_each" database_is_whole "$tactus" db import "$scratch/pddb"
is "a database whose import failed again and again has all its kinds" "$("$tactus" db list --json | wc -l)" 50
try "db list" "$quick_each" database_is_whole "$tactus" db list
try "frames -i" "$quick_each" true "$tactus" frames --why -i examples/late-frames.tactus
# Without probes on libraries, which take long to be taken out on a busy machine.
if [ "$(id -u)" = 0 ]; then
	try record "$live_each" recording_is_whole "$tactus" record --without frame,wine -d 0.1 -o "$scratch/rec"
	try "run --actuator none" "$live_each" database_is_whole "$tactus" run --actuator none --without frame,wine -d 0.1
fi
done_testing
