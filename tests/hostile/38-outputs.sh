#!/usr/bin/env bash
# A pipe, a link or a device in the place of a file that is to be written, for every option that names one: nothing hangs, nothing is
# replaced or written through a link, and text goes to whoever reads the pipe. Links on the way there are followed only if they are one's own.
# not beside: tactus run, of which one at a time is at work
. tests/tap.sh

export TACTUS_FEED=$scratch/feed
less=launch,gpu,wine,input,frame,socket,sound,learned
mkfifo "$scratch/pipe" "$scratch/pipe.jsonl" "$scratch/pipe.json"
# Each writes to the file that follows.
record=("$tactus" record --without "$less" -d 0.1 -o)
run=("$tactus" run --actuator none --without "$less" -d 0.1 -o)
cuda=("$tactus" cuda -d 0.1 -o)
csv=("$tactus" frames -i examples/late-frames.tactus --csv)
trace=("$tactus" cuda -i tests/recordings/h200-startup.tac -o)
db=("$tactus" db export)
json=("$tactus" db export --format json)
recordings="record run cuda"
texts="csv trace json"
python3 -c 'import struct, sys
entries = b"".join(struct.pack("<16sB7xQQQQII", b"kind%d" % i, 2, 1000000, 0, 10, 10, 9, 9) for i in range(50))
open(sys.argv[1], "wb").write(b"PDDB" + struct.pack("<II", 2, 50) + entries)' "$scratch/pddb"
"$tactus" db import "$scratch/pddb" >/dev/null

# into NAME PATH: its status, with what it says in $scratch/err; 124: it hung
into() {
	local -n command=$1
	timeout 30 "${command[@]}" "$2" >"$scratch/out" 2>"$scratch/err" </dev/null
}
# suffix NAME: by which the file's form is chosen
suffix() { [ "$1" != trace ] || echo .jsonl; }
# is_refused NAME PATH WORDS WHAT: status 1, and one line that says why
is_refused() {
	local status=0
	into "$1" "$2" || status=$?
	is "$1 into $4 ends with status 1" $status 1
	like "$1 into $4 says why" "$(tail -n 1 "$scratch/err")" "$3"
}
for name in $recordings $texts db; do
	end=$(suffix "$name")
	words='pipe that nobody reads'
	[[ " $recordings db " != *" $name "* ]] || words='not a regular file'
	is_refused "$name" "$scratch/pipe$end" "$words" "a pipe that nobody reads"
	holds "$name leaves the pipe where it is" test -p "$scratch/pipe$end"

	echo precious >"$scratch/precious"
	ln -sf "$scratch/precious" "$scratch/link$end"
	is_refused "$name" "$scratch/link$end" 'link: name the file itself' "a link to a file"
	is "$name leaves what a link leads to as it is" "$(cat "$scratch/precious")" precious
	holds "$name leaves the link where it is" test -L "$scratch/link$end"
	# These two take what they write to as record does, and a second to start.
	[[ $name != @(run|cuda) ]] || continue
	ln -sf "$scratch/absent" "$scratch/dangling$end"
	is_refused "$name" "$scratch/dangling$end" 'link: name the file itself' "a link that leads nowhere"
	holds "$name makes no file behind a link" test ! -e "$scratch/absent"

	mkdir -p "$scratch/folder$end"
	is_refused "$name" "$scratch/folder$end" 'is a folder|not a regular file' "a folder"
	# A database is written elsewhere and put in the file's place.
	[ "$name" != db ] || continue
	: >"$scratch/his$end"
	chown 65534 "$scratch/his$end"
	is_refused "$name" "$scratch/his$end" 'belongs to another user' "another user's file"
	is "$name writes nothing into another user's file" "$(cat "$scratch/his$end")" ""
	rm -f "$scratch/his$end"
done

# Another user's pipe under the name that is given, in a folder where everybody may make files: he would read along.
mkdir -m 1777 "$scratch/common"
for name in $texts; do
	his=$scratch/common/$name$(suffix "$name")
	mkfifo -m 666 "$his"
	chown 65534:65534 "$his"
	timeout 30 cat "$his" >"$scratch/read" &
	reader=$!
	sleep 0.2
	is_refused "$name" "$his" 'belongs to another user' "another user's pipe"
	sleep 0.2
	kill $reader
	wait $reader
	is "$name gives another user's pipe nothing to read" "$(cat "$scratch/read")" ""
done
mkfifo "$scratch/common/callers"
chown 65534:65534 "$scratch/common/callers"
timeout 30 cat "$scratch/common/callers" >"$scratch/read" &
reader=$!
sleep 0.2
holds "csv into a pipe of sudo's caller ends with status 0" env SUDO_UID=65534 SUDO_GID=65534 "${csv[@]}" "$scratch/common/callers"
wait $reader
holds "csv into a pipe of sudo's caller writes something" test -s "$scratch/read"
mknod "$scratch/common/device" c 1 3
chown 65534:65534 "$scratch/common/device"
is_refused csv "$scratch/common/device" 'belongs to another user' "another user's device outside of /dev"

# Another user's link on the way, to a folder of root's: as its last part, further up, and by what a link of root's leads through.
# In a folder of his own, where the kernel's protection of links does not hold.
mkdir -p "$scratch/roots/deep" "$scratch/theirs"
ln -s "$scratch/roots" "$scratch/theirs/d"
chown -h 65534:65534 "$scratch/theirs" "$scratch/theirs/d"
ln -s theirs/d/deep "$scratch/own-through-his"
for name in $recordings $texts db; do
	file=out$(suffix "$name")
	for way in theirs/d theirs/d/deep own-through-his; do
		# These two take what they write to as record does, and a second to start.
		[[ $name != @(run|cuda) || $way = theirs/d ]] || continue
		rm -f "$scratch/roots/$file" "$scratch/roots/deep/$file"
		words="link of another user, $scratch/theirs/d: name the folder"
		# A database takes no link at all for its folder.
		[ "$name/$way" = db/theirs/d/deep ] || [ "$name" != db ] || words='a link, or no folder: refused'
		is_refused "$name" "$scratch/$way/$file" "$words" "another user's link on the way ($way)"
		holds "$name makes no file behind another user's link on the way ($way)" test ! -e "$scratch/$way/$file"
		echo precious | tee "$scratch/roots/$file" >"$scratch/roots/deep/$file"
		into "$name" "$scratch/$way/$file"
		is "$name leaves a file behind another user's link as it is ($way)" "$(cat "$scratch/$way/$file")" precious
	done
done
# Links of those who are trusted are followed, as everywhere.
ln -s roots "$scratch/own"
ln -s "$scratch/own/../own/deep/" "$scratch/own-deep"
rm -f "$scratch"/roots/out* "$scratch"/roots/deep/out*
into csv "$scratch/own-deep//./out"
is "csv through root's own links ends with status 0" $? 0
holds "csv through root's own links is where they lead" test -s "$scratch/roots/deep/out"
into record "$scratch/own/deep/out.tactus"
is "record through root's own links ends with status 0" $? 0
holds "csv through a link of sudo's caller ends with status 0" env SUDO_UID=65534 SUDO_GID=65534 "${csv[@]}" "$scratch/theirs/d/out.csv"
holds "csv through a link of sudo's caller is where it leads" test -s "$scratch/roots/out.csv"
ln -s round-2 "$scratch/round-1"
ln -s round-1 "$scratch/round-2"
is_refused csv "$scratch/round-1/out" 'Too many levels' "a folder behind links that lead in a circle"
is_refused csv "$scratch/precious/out" 'Not a directory' "a file as if it were a folder"
is_refused csv "$scratch/absent/out" 'its folder does not exist' "a folder that is not there"
is_refused csv "$scratch/own/" 'is a folder' "a folder behind a link and a slash"

for name in record db; do
	is_refused "$name" /dev/null 'not a regular file' "a device"
done
holds "a device is still one" test -c /dev/null

for name in $texts; do
	end=$(suffix "$name")
	into "$name" "$scratch/$name$end"
	is "$name into a file ends with status 0" $? 0
	holds "$name into a file writes something" test -s "$scratch/$name$end"
	cat "$scratch/pipe$end" >"$scratch/read" &
	reader=$!
	sleep 0.2
	into "$name" "$scratch/pipe$end"
	is "$name into a pipe that is read ends with status 0" $? 0
	wait $reader
	holds "$name into a pipe is what it is in a file" cmp "$scratch/read" "$scratch/$name$end"
	# Longer before than after.
	cp "$scratch/$name$end" "$scratch/again$end"
	head -c 100000 /dev/zero >>"$scratch/again$end"
	into "$name" "$scratch/again$end"
	holds "$name replaces what was in a file" cmp "$scratch/again$end" "$scratch/$name$end"
done
is "csv into /dev/stdout goes to whoever reads it" "$("${csv[@]}" /dev/stdout 2>/dev/null | grep -cxFf "$scratch/csv")" "$(wc -l <"$scratch/csv")"
for stream in /dev/fd/7 /proc/self/fd/7; do
	is "csv into $stream goes to whoever reads it" "$("${csv[@]}" $stream 7>&1 >/dev/null 2>&1 | grep -cxFf "$scratch/csv")" "$(wc -l <"$scratch/csv")"
done
exec 7<"$scratch/roots"
into csv /proc/self/fd/7/by-descriptor
is "csv into a folder that is open ends with status 0" $? 0
holds "csv into a folder that is open is in that folder" test -s "$scratch/roots/by-descriptor"
exec 7<&-
into csv /dev/null
into csv /dev/null
is "csv into /dev/null ends with status 0" $? 0
is_refused csv /dev/full 'cannot write: No space left' "a full device"

# Open for reading, full, and never read.
exec 4<>"$scratch/pipe"
python3 -c 'import os
os.set_blocking(4, False)
try:
	while True: os.write(4, b"x" * 4096)
except BlockingIOError: pass'
began=$(date +%s%N)
is_refused csv "$scratch/pipe" 'its reader reads nothing' "a pipe whose reader never reads"
say_measured "it gave up after $((($(date +%s%N) - began) / 1000000)) ms"
exec 4<&-
done_testing
