#!/usr/bin/env bash
# A clock of 1970, one that leaps years ahead, and one that is put right again: the database keeps what it learned and ages by days of use.
. tests/tap.sh

if ! nm -D "$tactus" >/dev/null 2>&1 || ! [ -e build/workloads/clock.so ]; then
	skip "a wrong clock does not wipe the database" "build/workloads/clock.so is not there, or tactus is static"
	done_testing
fi
today=$(date +%s)
day=86400
# at SECONDS COMMAND...: by a clock that says so
at() { FAKE_CLOCK_S=$1 LD_PRELOAD=$PWD/build/workloads/clock.so "${@:2}"; }
# A PDDB 2 with one confident kind of this name.
pddb() {
	python3 -c 'import struct, sys
entry = struct.pack("<16sB7xQQQQII", sys.argv[1].encode(), 2, 1000000, 0, 10, 10, 9, 9)
open(sys.argv[2], "wb").write(b"PDDB" + struct.pack("<II", 2, 1) + entry)' "$1" "$scratch/$1"
}
known() { "$tactus" db list --json | json '" ".join(sorted(r["comm"] for r in rows))'; }
seen() { "$tactus" db list --json | json "[r['last_seen_s'] for r in rows if r['comm'] == '$1'][0]"; }

for kind in old other daily; do pddb $kind; done
at "$today" "$tactus" db import "$scratch/old" >/dev/null
is "the faked clock is the one that counts" "$(seen old)" "$today"
at 4000 "$tactus" db import "$scratch/other" >/dev/null
is "a clock of 1970 takes no kind out" "$(known)" "old other"
is "a clock of 1970 makes no kind older" "$(seen old)" "$today"
at "$today" "$tactus" db import "$scratch/other" >/dev/null
is "the right clock after one of 1970 takes no kind out" "$(known)" "old other"
at $((today + 3000 * day)) "$tactus" db import "$scratch/other" >/dev/null
is "a leap of 3000 days takes no kind out" "$(known)" "old other"
at $((today + day)) "$tactus" db import "$scratch/other" >/dev/null
is "the right clock after a leap takes no kind out" "$(known)" "old other"
is "the right clock after a leap lowers no time" "$(seen other)" $((today + 3000 * day))

gone=never
for ((i = 2; i < 110; i++)); do
	at $((today + i * day)) "$tactus" db import "$scratch/daily" >/dev/null
	if [ $gone = never ] && ! "$tactus" db list --json | grep -q '"old"'; then gone=$i; fi
done
say_measured "a kind seen on one day only went on day $gone of use, after two days that a wrong clock counted"
is_between "a kind that is not seen for 90 days of use goes then" 85 "$gone" 95
is "a kind that is seen daily stays" "$(known)" daily
done_testing
