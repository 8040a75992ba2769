#!/usr/bin/env bash
# tactus record --ring: the last seconds are kept in memory and written on a signal and on a late frame, each time to a file of its own
# that every view reads; memory is bounded, and what did not fit is said.
. tests/tap.sh

# A thread that has long been there when the ring is written.
cp "$(command -v bash)" "$scratch/ringhog"
"$scratch/ringhog" -c 'while :; do :; done' &
hog=$!
recorder=
end() {
	kill "$hog" ${recorder:+"$recorder"} 2>/dev/null
	rm -rf "$scratch"
}
trap end EXIT

# start NAME OPTIONS...: a ring in the background, until it says that it can be asked.
start() {
	local name=$1
	shift
	"$tactus" record -o "$scratch/$name" "$@" >"$scratch/$name.out" 2>"$scratch/$name.err" &
	recorder=$!
	wait_for "$scratch/$name.err" 'kill -USR1'
}
# stop NAME: by Ctrl-C; gives its status.
stop() {
	kill -INT $recorder
	wait $recorder
	local status=$?
	recorder=
	return $status
}

# On a signal, twice.
start ring --ring 2s
sleep 4
holds "nothing is written before it is asked for" test ! -e "$scratch/ring"
kill -USR1 $recorder
wait_for "$scratch/ring.out" 'ring: the last'
cp "$scratch/ring" "$scratch/ring.copy"
sleep 1
kill -USR1 $recorder
wait_for "$scratch/ring.out" 'ring\.1: the last'
stop ring
is "a ring ends well" $? 0
say_measured "$(grep -v '^$' "$scratch/ring.out" | paste -sd';')"
like "a file that is written is said in one line, with the reason" "$(cat "$scratch/ring.out")" "ring: the last [0-9.]+ s, [0-9]+ events in [0-9.]+ MB: SIGUSR1$"
like "at the end it says how many were written" "$(tail -n 1 "$scratch/ring.out")" '^2 files written; [0-9]+ events seen, at most [0-9.]+ MB kept'
holds "the first file is as it was" cmp "$scratch/ring" "$scratch/ring.copy"
is "a file of a ring is for who made it" "$(stat -c %a "$scratch/ring.1")" 600
for file in ring ring.1; do
	"$tactus" tasks -i "$scratch/$file" --json >"$scratch/json" 2>"$scratch/err"
	is "$file is whole" "$(cat "$scratch/err")" ""
	say_measured "$file: $(json 'd["window_ns"] / 1e9, len(rows)' <"$scratch/json") s and threads"
	is "$file has the last two seconds and no more" "$(json '1.2e9 < d["window_ns"] <= 2.01e9' <"$scratch/json")" True
	is "$file has a thread by name that was there before, with the time that it had" \
		"$(json '[0 < r["cpu_ns"] <= r["window_ns"] for r in rows if r["comm"] == "ringhog"]' <"$scratch/json")" "[True]"
	is "in $file no CPU has more than all of the time" "$(json 'sum(r["cpu_ns"] for r in rows) <= d["window_ns"] * '"$(nproc --all)"' * 1.001' <"$scratch/json")" True
	is "$file has no thread without a name" "$(json '[r for r in rows if not r["comm"]]' <"$scratch/json")" "[]"
	for view in latency roles events frames; do
		holds "$view reads $file" "$tactus" $view -i "$scratch/$file"
	done
done

# Over a file of somebody else's.
echo precious >"$scratch/mine"
start mine --ring 1s
kill -USR1 $recorder
wait_for "$scratch/mine.out" 'mine\.1: the last'
stop mine
is "a file that is there is left alone" "$(cat "$scratch/mine")" precious

# A full disk.
mkdir "$scratch/full"
mount -t tmpfs -o size=16k none "$scratch/full"
start full/ring --ring 5s --without all
sleep 1
kill -USR1 $recorder
wait_for "$scratch/full/ring.err" 'nothing was written'
stop full/ring
is "a ring that could not be written ends with status 1" $? 1
like "a ring that finds no room says why it was to be written" "$(cat "$scratch/full/ring.err")" 'full/ring: No space left on device: nothing was written \(SIGUSR1\)'
holds "a ring that finds no room leaves no file behind" test ! -e "$scratch/full/ring"
umount "$scratch/full"

# In a folder of the user who called sudo: it is his, long after tactus gave up what it does not need.
mkdir "$scratch/home"
chown nobody "$scratch/home"
chmod 755 "$scratch" "$scratch/home"
SUDO_UID=$(id -u nobody) SUDO_GID=$(id -g nobody) SUDO_USER=nobody start home/ring --ring 1s --without all
sleep 1
kill -USR1 $recorder
wait_for "$scratch/home/ring.out" 'ring: the last'
stop home/ring
is "a file in the caller's folder is the caller's" "$(stat -c %U "$scratch/home/ring")" nobody

# Bounded: a storm of switches in a megabyte.
start small --ring 60s --memory 1 --json -- bash -c 'coproc cat; for ((i = 0; i < 30000; i++)); do echo x >&"${COPROC[1]}"; read -r line <&"${COPROC[0]}"; done'
wait $recorder
recorder=
say_measured "$(tail -n 1 "$scratch/small.out")"
is "a full ring lets the oldest go, and counts them" "$(tail -n 1 "$scratch/small.out" | json 'd["record"], d["pressed_out"] > 0, d["dumps"]')" "ring True 0"
is "a full ring takes what it was given, and what is known of threads" "$(tail -n 1 "$scratch/small.out" | json 'd["bytes_most"] < 4000000')" True

# On a late frame.
"$tactus" record --ring 5s --on late-frame -o "$scratch/late" -- build/workloads/delays 20 140 1 100:65:sleep >"$scratch/late.out" 2>&1
is "a ring around a command ends as it does" $? 0
cause=$(sed -nE 's/.*late: the last .*: frame ([0-9]+) of delays \[[0-9]+\] was .* late.*/\1/p' "$scratch/late.out" | head -n 1)
say_measured "$(grep 'the last' "$scratch/late.out")"
holds "on a late frame the ring is written, and says which" test -n "$cause"
"$tactus" frames --why -i "$scratch/late" >"$scratch/out" 2>&1
like "the file has that late frame, by its number" "$(cat "$scratch/out")" "^delays \[[0-9]+\] frame ${cause:-none}, .* late: "

# What is refused.
ends "--on without --ring is bad usage" 2 'are for --ring SPAN' "$tactus" record -o "$scratch/x" --on late-frame
ends "--ring without a unit is bad usage" 2 "'30' has no unit" "$tactus" record -o "$scratch/x" --ring 30
ends "--ring of years is bad usage" 2 'from 100ms to 1h' "$tactus" record -o "$scratch/x" --ring 999h
ends "an unknown cause is bad usage" 2 'neither late-frame nor xid' "$tactus" record -o "$scratch/x" --ring 1s --on noise
ends "--ring to JSON is bad usage" 2 '--ring writes recordings' "$tactus" record -o "$scratch/x.jsonl" --ring 1s
ends "--ring to a folder that is not there is an error" 1 '/nonexistent' "$tactus" record -o /nonexistent/x --ring 1s
mkdir "$scratch/folder" "$scratch/readonly"
mount -t tmpfs -o ro none "$scratch/readonly"
ring=("$tactus" record --ring 1s -d 1)
ends "--ring to a folder is an error" 1 'folder: is a folder' "${ring[@]}" -o "$scratch/folder"
ends "--ring to a device is an error" 1 '/dev/null: not a regular file' "${ring[@]}" -o /dev/null
holds "--ring to a device makes no file beside it" test ! -e /dev/null.1
ends "--ring to where no files can be made is an error" 1 '/proc/r: no file can be made in its folder' "${ring[@]}" -o /proc/r
ends "--ring to a file system that is only read is an error" 1 'x: Read-only file system' "${ring[@]}" -o "$scratch/readonly/x"
ends "--ring to standard output is an error" 2 'cannot go to standard output' "${ring[@]}" -o -
umount "$scratch/readonly"
is "--ring that was refused leaves nothing" "$(ls -A "$scratch/folder")" ""
done_testing
