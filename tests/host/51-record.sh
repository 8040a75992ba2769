#!/usr/bin/env bash
# Recordings when things go wrong: full rings, a full disk, SIGKILL, foreign and damaged files; and exact counts of losses.
# Runs on any kernel with BTF: the host's and each VM's, there without what files alone decide.
. tests/tap.sh

loops=${TACTUS_VM:+80}
loops=${loops:-400}
"$tactus" record -o "$scratch/good.rec" --json -- hackbench -g 2 -l "$loops" | grep '^{' >"$scratch/out"
is "nothing is lost with the rings as they are" "$(json 'd["lost"]' <"$scratch/out")" 0
is "every ring: produced is read plus lost" \
	"$(json 'all(r["produced"] == r["read"] + r["lost"] for r in d["rings"])' <"$scratch/out")" True
is "every event that was read is in the file" "$(json 'd["events"] == d["read"]' <"$scratch/out")" True
events=$(json 'd["events"]' <"$scratch/out")
say_measured "$events events, $(json 'round(d["bytes"] / d["events"], 1)' <"$scratch/out") bytes an event"
is "and comes out again" "$("$tactus" events -i "$scratch/good.rec" --json | wc -l)" "$events"
is "in the order of time" "$("$tactus" events -i "$scratch/good.rec" --json |
	json 'all(a["time_ns"] <= b["time_ns"] for a, b in zip(rows, rows[1:]))')" True

"$tactus" record -o "$scratch/lossy.rec" --ring-kb 4 --json -- hackbench -g 2 -l "$loops" 2>"$scratch/err" | grep '^{' >"$scratch/out"
lost=$(json 'd["lost"]' <"$scratch/out")
say_measured "rings of 4 KB lose $lost of $(json 'd["lost"] + d["read"]' <"$scratch/out") events"
holds "tiny rings lose events" test "$lost" -gt 0
is "which are counted: produced is read plus lost" \
	"$(json 'all(r["produced"] == r["read"] + r["lost"] for r in d["rings"])' <"$scratch/out")" True
is "marked in the recording where they fell" \
	"$("$tactus" events -i "$scratch/lossy.rec" --json 2>/dev/null | json 'sum(r["count"] for r in rows if r["event"] == "lost")')" "$lost"
like "and said by a view" "$("$tactus" tasks -i "$scratch/lossy.rec" 2>&1 >/dev/null)" "tactus: $lost events were lost"

# Short-lived threads at a high rate.
threads=5000 rate=10000
[ -z "${TACTUS_VM:-}" ] || threads=1000 rate=500
"$tactus" tasks --json -n all -- build/workloads/threads $threads $rate >"$scratch/out" 2>"$scratch/err"
is "$threads short-lived threads are all there" "$(json 'len(rows)' <"$scratch/out")" $((threads + 1))
[ -z "${TACTUS_VM:-}" ] || done_testing

"$tactus" record -o "$scratch/killed.rec" >/dev/null 2>"$scratch/err" &
wait_for "$scratch/err" watching
hackbench -g 1 -l "$loops" >/dev/null
sleep 1.5
kill -KILL $!
wait $! 2>/dev/null
"$tactus" events -i "$scratch/killed.rec" --json >"$scratch/out" 2>"$scratch/err"
is "a recorder that was killed leaves a file that reads" $? 0
holds "with what it had written" test "$(wc -l <"$scratch/out")" -gt 100

mkdir "$scratch/small"
mount -t tmpfs -o size=128k none "$scratch/small"
"$tactus" record -o "$scratch/small/full.rec" -- sh -c "hackbench -g 4 -l $loops >/dev/null 2>&1; true" >/dev/null 2>"$scratch/err"
is "a disk that fills is a failure" $(($? != 0)) 1
like "with one line that says so" "$(grep -c . "$scratch/err") $(cat "$scratch/err")" 'tactus: .*full.rec: No space left on device'
"$tactus" tasks -i "$scratch/small/full.rec" --json >"$scratch/out" 2>"$scratch/err"
is "leaves a file that reads" $? 0
holds "and has threads in it" test "$(wc -l <"$scratch/out")" -gt 5
umount "$scratch/small"

size=$(stat -c %s "$scratch/good.rec")
head -c $((size - 7)) "$scratch/good.rec" >"$scratch/cut.rec"
"$tactus" tasks -i "$scratch/cut.rec" >"$scratch/out" 2>"$scratch/err"
is "a cut file reads up to its last whole block" $? 0
like "and says so" "$(cat "$scratch/err")" 'cut.rec: ends in the middle of a block'
cp "$scratch/good.rec" "$scratch/flipped.rec"
printf '\377\377' | dd of="$scratch/flipped.rec" bs=1 seek=$((size / 2)) conv=notrunc 2>/dev/null
"$tactus" tasks -i "$scratch/flipped.rec" >"$scratch/out" 2>"$scratch/err"
is "a damaged file fails" $? 1
like "with where it is damaged" "$(cat "$scratch/err")" 'tactus: .*flipped.rec: .*(byte|offset).*what came before is shown'
ends "a foreign file" 1 'tactus: /etc/passwd: not a tactus recording' "$tactus" tasks -i /etc/passwd
ends "a file that is not there" 1 'tactus: /nonexistent: No such file' "$tactus" latency -i /nonexistent
ends "a folder" 1 'tactus: /tmp: ' "$tactus" tasks -i /tmp
echo precious >"$scratch/precious"
ends "a foreign file is not overwritten" 1 'exists and is not a recording' "$tactus" record -o "$scratch/precious" -d 0.1
is "and is as it was" "$(cat "$scratch/precious")" precious
ends "a folder that is not there" 1 'tactus: /nonexistent/file: ' "$tactus" record -o /nonexistent/file -d 0.1
ends "no file to write" 2 'tactus: record: no file to write' "$tactus" record -d 1
ends "reading and writing at once" 2 'is read or written, not both' "$tactus" tasks -i a -o b
ends "a filter on a recording" 2 'filters act in the kernel' "$tactus" tasks -i a -p 1
done_testing
