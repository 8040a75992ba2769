#!/usr/bin/env bash
# Recordings when things go wrong: full rings, a full disk, SIGKILL, foreign and damaged files; and exact counts of losses.
# Runs on any kernel with BTF: the host's and each VM's, there without what files alone decide.
. tests/tap.sh

loops=${TACTUS_VM:+80}
loops=${loops:-400}
# In an emulated machine loading every sensor takes long, and other tests there do.
sensors=()
[ -z "${TACTUS_VM:-}" ] || sensors=(--without all)
# Rings that have room for all of it, however late the reader comes beside other work.
"$tactus" record "${sensors[@]}" -o "$scratch/good.rec" --ring-kb 32768 --json -- hackbench -g 2 -l "$loops" | grep '^{' >"$scratch/out"
is "record loses nothing where the rings have room for every event" "$(json 'd["lost"]' <"$scratch/out")" 0
is "every ring of record has produced what was read and lost" \
	"$(json 'all(r["produced"] == r["read"] + r["lost"] for r in d["rings"])' <"$scratch/out")" True
is "every event that record read is in its file" "$(json 'd["events"] == d["read"]' <"$scratch/out")" True
events=$(json 'd["events"]' <"$scratch/out")
say_measured "$events events, $(json 'round(d["bytes"] / d["events"], 1)' <"$scratch/out") bytes an event"
is "every recorded event comes out of the file again" "$("$tactus" events -i "$scratch/good.rec" --json | wc -l)" "$events"
is "recorded events come out in the order of time" "$("$tactus" events -i "$scratch/good.rec" --json |
	json 'all(a["time_ns"] <= b["time_ns"] for a, b in zip(rows, rows[1:]))')" True

"$tactus" record "${sensors[@]}" -o "$scratch/lossy.rec" --ring-kb 4 --json -- hackbench -g 2 -l "$loops" 2>"$scratch/err" | grep '^{' >"$scratch/out"
lost=$(json 'd["lost"]' <"$scratch/out")
say_measured "rings of 4 KB lose $lost of $(json 'd["lost"] + d["read"]' <"$scratch/out") events"
holds "record with rings of 4 KB loses events" test "$lost" -gt 0
is "every ring of 4 KB has produced what was read and lost" \
	"$(json 'all(r["produced"] == r["read"] + r["lost"] for r in d["rings"])' <"$scratch/out")" True
is "lost events are marked in the recording, each of them" \
	"$("$tactus" events -i "$scratch/lossy.rec" --json 2>/dev/null | json 'sum(r["count"] for r in rows if r["event"] == "lost")')" "$lost"
like "tasks of a recording with losses says how many there are" "$("$tactus" tasks -i "$scratch/lossy.rec" 2>&1 >/dev/null)" "tactus: $lost events were lost"

# Short-lived threads at a high rate.
threads=5000 rate=10000
[ -z "${TACTUS_VM:-}" ] || threads=1000 rate=500
"$tactus" tasks --json -n all -- build/workloads/threads $threads $rate >"$scratch/out" 2>"$scratch/err"
is "tasks of $threads short-lived threads has a row for each and their process" "$(json 'len(rows)' <"$scratch/out")" $((threads + 1))
[ -z "${TACTUS_VM:-}" ] || done_testing

rm -f "$scratch/err"
"$tactus" record -o "$scratch/killed.rec" >/dev/null 2>"$scratch/err" &
recorder=$!
wait_for "$scratch/err" watching
hackbench -g 1 -l "$loops" >/dev/null
# It writes a block once a second at the latest.
for _ in $(seq 600); do [ "$(stat -c %s "$scratch/killed.rec")" -lt 16384 ] || break; sleep 0.05; done
kill -KILL $recorder
wait $recorder 2>/dev/null
"$tactus" events -i "$scratch/killed.rec" --json >"$scratch/out" 2>"$scratch/err"
is "events of a killed recorder's file ends with status 0" $? 0
holds "events of a killed recorder's file has what was written" test "$(wc -l <"$scratch/out")" -gt 100

# The command's parent is the recorder.
"$tactus" record --without all -o "$scratch/usr1.rec" -- sh -c 'kill -USR1 $PPID; sleep 1.5' >"$scratch/out" 2>"$scratch/err"
is "record without --ring goes on after SIGUSR1" $? 0
like "record without --ring says that SIGUSR1 changes nothing" "$(cat "$scratch/err")" 'SIGUSR1 is for --ring: it changes nothing here'
like "record without --ring has its summary after SIGUSR1" "$(cat "$scratch/out" "$scratch/err")" 'usr1.rec: [0-9]+ events in'

mkdir "$scratch/gone"
"$tactus" record --without all -o "$scratch/gone/x.rec" -- rm -r "$scratch/gone" >"$scratch/out" 2>"$scratch/err"
is "record to a file that is removed meanwhile ends with status 1" $? 1
like "record to a file that is removed meanwhile says so" "$(cat "$scratch/err")" 'gone/x.rec: was removed meanwhile: nothing is left of it'

mkdir "$scratch/small"
mount -t tmpfs -o size=128k none "$scratch/small"
"$tactus" record -o "$scratch/small/full.rec" -- sh -c "hackbench -g 4 -l $loops >/dev/null 2>&1; true" >/dev/null 2>"$scratch/err"
is "record onto a disk that fills ends with a failure" $(($? != 0)) 1
like "record onto a disk that fills says so in one line" "$(grep -c . "$scratch/err") $(cat "$scratch/err")" 'tactus: .*full.rec: No space left on device'
"$tactus" tasks -i "$scratch/small/full.rec" --json >"$scratch/out" 2>"$scratch/err"
is "tasks of a recording whose disk was full ends with status 0" $? 0
holds "tasks of a recording whose disk was full has threads" test "$(wc -l <"$scratch/out")" -gt 5
umount "$scratch/small"

size=$(stat -c %s "$scratch/good.rec")
head -c $((size - 7)) "$scratch/good.rec" >"$scratch/cut.rec"
"$tactus" tasks -i "$scratch/cut.rec" >"$scratch/out" 2>"$scratch/err"
is "tasks of a cut recording ends with status 0" $? 0
like "tasks of a cut recording says that it ends in the middle of a block" "$(cat "$scratch/err")" 'cut.rec: ends in the middle of a block'
cp "$scratch/good.rec" "$scratch/flipped.rec"
printf '\377\377' | dd of="$scratch/flipped.rec" bs=1 seek=$((size / 2)) conv=notrunc 2>/dev/null
"$tactus" tasks -i "$scratch/flipped.rec" >"$scratch/out" 2>"$scratch/err"
is "tasks of a damaged recording ends with status 1" $? 1
like "tasks of a damaged recording says where it is damaged" "$(cat "$scratch/err")" 'tactus: .*flipped.rec: .*(byte|offset).*what came before is shown'
ends "tasks of a file that is no recording ends with an error" 1 'tactus: /etc/passwd: not a tactus recording' "$tactus" tasks -i /etc/passwd
ends "latency of a file that is not there ends with an error" 1 'tactus: /nonexistent: No such file' "$tactus" latency -i /nonexistent
ends "tasks of a folder ends with an error" 1 'tactus: /tmp: ' "$tactus" tasks -i /tmp
echo precious >"$scratch/precious"
ends "record over a file that is no recording ends with an error" 1 'exists and is not a recording' "$tactus" record -o "$scratch/precious" -d 0.1
is "a file that record refused to overwrite is as it was" "$(cat "$scratch/precious")" precious
ends "record into a folder that is not there ends with an error" 1 'tactus: /nonexistent/file: ' "$tactus" record -o /nonexistent/file -d 0.1
ends "record without a file to write is bad usage" 2 'tactus: record: no file to write' "$tactus" record -d 1
ends "tasks that reads and writes a recording at once is bad usage" 2 'is read or written, not both' "$tactus" tasks -i a -o b
ends "a cgroup on a recording is bad usage" 2 'a recording does not say which cgroup' "$tactus" tasks -i a --cgroup /x
done_testing
