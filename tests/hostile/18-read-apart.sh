#!/usr/bin/env bash
# Libraries are read by a process that is nobody, has no capability, two files and six system calls: seen in the act. Killed there, or
# the one that starts such processes, nothing else ends.
. tests/tap.sh

as_user=(setpriv --reuid 65534 --regid 65534 --clear-groups)
chmod 755 "$scratch"
mkdir "$scratch/his"
cp build/workloads/mapper "$scratch/"
cat >"$scratch/library.c" <<'END'
unsigned eglSwapBuffers(void *a, void *b) { return a == b; }
END
gcc -O1 -shared -fPIC "$scratch/library.c" -o "$scratch/his/libEGL.so.1"
for i in 2 3; do cp "$scratch/his/libEGL.so.1" "$scratch/his/libEGL.so.$i"; done
chown -R 65534:65534 "$scratch/his"
field() { awk -v name="$2:" '$1 == name { print $2; exit }' "$1"; }
# maps NUMBER: that library is mapped by the user for as long as the test goes on
maps() {
	"${as_user[@]}" "$scratch/mapper" hold "$scratch/his/libEGL.so.$1" <"$scratch/go" >"$scratch/held" 3>&- &
	holders+=($!)
	wait_for "$scratch/held" mapped
}
holders=()
mkfifo "$scratch/go"
chmod 666 "$scratch/go"
exec 3<>"$scratch/go"

"$tactus" roles -v --json -n all >"$scratch/roles" 2>"$scratch/err" 3<&- &
watcher=$!
trap 'kill -KILL $watcher "${holders[@]}" 2>/dev/null; rm -rf "$scratch"' EXIT
wait_for "$scratch/err" watching
forker=$(pgrep -P $watcher -x tactus-reader)
holds "the process that starts readers of libraries is there" test -e "/proc/$forker/status"
holds "a user with the number of nobody can't kill who starts readers" "${as_user[@]}" sh -c "! kill -KILL $forker 2>/dev/null"

build/workloads/seize "$forker" >"$scratch/seized" 2>&1 3<&- &
seizer=$!
wait_for "$scratch/seized" waits
maps 1
wait_for "$scratch/seized" '^killed'
wait $seizer
uid=$(field "$scratch/seized" Uid)
holds "a reader's user is none that anybody has ($uid)" test "${uid:-0}" -gt 2147483647
is "a reader's group is the same" "$(field "$scratch/seized" Gid)" "$uid"
is "a reader has no further groups" "$(awk '$1 == "Groups:" { print NF }' "$scratch/seized")" 1
for set in CapInh CapPrm CapEff CapBnd CapAmb; do
	is "a reader's capabilities $set are none" "$(field "$scratch/seized" $set)" 0000000000000000
done
is "a reader can't get privileges" "$(field "$scratch/seized" NoNewPrivs)" 1
is "a reader has a filter of system calls" "$(field "$scratch/seized" Seccomp)" 2
filters=$(field "$scratch/seized" Seccomp_filters)
# Linux 5.9 and later tell.
is "a reader has a second filter of its own" "${filters:-2}" 2
is "a reader has two files, the library and the answer" "$(awk '$1 == "files" { print $2 }' "$scratch/seized")" 2
say_measured "a reader at its first read: user $uid, $(field "$scratch/seized" VmSize) KB of addresses, $filters filters"

wait_for "$scratch/err" "libEGL.so.1: it can't be read: the process that was to read it ended without a word"
holds "a reader's death is told with the library's name" \
	grep -q "his/libEGL.so.1: it can't be read: the process that was to read it ended without a word" "$scratch/err"
maps 2
wait_for "$scratch/err" 'libEGL.so.2: probes are in place'
holds "the next library is read after a reader was killed" grep -q 'libEGL.so.2: probes are in place' "$scratch/err"

# Only root can do that.
kill -KILL "$forker"
# A request that it takes before it is dead is answered by its end, in other words.
until [[ "$(awk '$1 == "State:" { print $2 }' "/proc/$forker/status" 2>/dev/null)" == [ZX]* || ! -e /proc/$forker ]]; do sleep 0.05; done
# By another user: what the first one may cost may be used up on a busy machine.
as_user=(setpriv --reuid 65533 --regid 65533 --clear-groups)
maps 3
wait_for "$scratch/err" 'libEGL.so.3: .*the process that starts readers of libraries is gone'
holds "a library that nobody can read is told" grep -q 'libEGL.so.3: .*is gone' "$scratch/err"
holds "the rest goes on when nobody starts readers any more" kill -0 $watcher
kill -INT $watcher
wait $watcher
is "a view whose readers were killed ends with status 0" $? 0
like "files whose reading came to no end are counted" "$(cat "$scratch/err")" 'libraries: [0-9]+ times the process that was to read a file did not come to its end'

: >"$scratch/err"
"$tactus" roles -v --json -n all >"$scratch/roles" 2>"$scratch/err" 3<&- &
watcher=$!
wait_for "$scratch/err" watching
forker=$(pgrep -P $watcher -x tactus-reader)
kill -KILL $watcher
wait $watcher 2>/dev/null
for _ in $(seq 50); do
	[ -e "/proc/$forker" ] || break
	sleep 0.1
done
holds "the process that starts readers ends with who asks it" test ! -e "/proc/$forker"
done_testing
