#!/usr/bin/env bash
# tactus cut: a smaller recording shows what the same part of the whole one shows. No root.
. tests/tap.sh

example=examples/late-frames.tactus
part=$scratch/part.tactus
# What is learned from many events, or is said since the start, differs between a part and a recording of its own.
cat >"$scratch/differ.py" <<'END'
import json, sys
LEARNED = ("run_avg_ns", "run_dev_ns", "wake_gap_ns", "usual_ns")
def rows(path):
    return sorted(json.dumps({k: v for k, v in json.loads(line).items() if k not in LEARNED}, sort_keys=True) for line in open(path))
whole, cut = rows(sys.argv[1]), rows(sys.argv[2])
print("\n".join(([] if whole else ["nothing to compare"]) + [f"missing: {r[:400]}" for r in whole if r not in cut][:3] + [f"added: {r[:400]}" for r in cut if r not in whole][:3]))
END
# same NAME VIEW OPTIONS...: of the part in the whole, and of the cut.
same() {
	local name=$1 view=$2
	shift 2
	# shellcheck disable=SC2086
	"$tactus" $view -i "$example" --json -n all "$@" >"$scratch/whole" 2>/dev/null
	# shellcheck disable=SC2086
	"$tactus" $view -i "$part" --json -n all >"$scratch/cut" 2>/dev/null
	is "$name" "$(python3 "$scratch/differ.py" "$scratch/whole" "$scratch/cut")" ""
}

"$tactus" cut -i "$example" -o "$part" --from 5s --to 7s >"$scratch/out"
like "cut says what it wrote" "$(cat "$scratch/out")" "part\.tactus: [0-9]+ events in 0\.[0-9] MB, 5\.000 s to 7\.000 s of $example"
say_measured "$(cat "$scratch/out")"
holds "two of ten seconds are less than half as large" test $((2 * $(stat -c %s "$part"))) -lt "$(stat -c %s "$example")"
is "a cut is for who made it" "$(stat -c %a "$part")" 600
for view in tasks affinity "frames --why" "latency --over 10ms" migrations inversions; do
	same "'$view' of a cut is that of the part of the whole" "$view" --from 5s --to 7s
done
is "roles of a cut are those of the part of the whole" "$("$tactus" roles -i "$part" --json | json 'sorted((r["tid"], r["role"]) for r in rows)')" \
	"$("$tactus" roles -i "$example" --from 5s --to 7s --json | json 'sorted((r["tid"], r["role"]) for r in rows)')"
for view in misses gpu input events cuda; do
	holds "$view reads a cut" "$tactus" "$view" -i "$part"
done
like "top plays a cut from its beginning" "$("$tactus" top -i "$part" --batch | grep 'tactus top' | tail -n 1)" ' 2\.0 of 2\.0 s'
is "top of a cut gives no thread more than the CPU's time" "$("$tactus" top -i "$part" --batch | grep -cE ' (1[0-9][0-9]|[2-9][0-9][0-9])\.[0-9] ')" 0
like "a name from before is known in a cut" "$("$tactus" events -i "$part" | sed -n 2,40p)" 'chocolate-doom +\[ *8660\]'

# A cut of a cut, and cuts that follow each other.
"$tactus" cut -i "$part" -o "$scratch/again.tactus" --from 1s --to 1.5s >/dev/null
part=$scratch/again.tactus
same "a cut of a cut is that part of the first recording" tasks --from 6s --to 6.5s
same "frames of a cut of a cut have their numbers" "frames --why" --from 6s --to 6.5s
cpu_of() { "$tactus" tasks -i "$1" --json | json 'sum(r["cpu_ns"] for r in rows)'; }
"$tactus" cut -i "$example" -o "$scratch/first.tactus" --to 4s >/dev/null
"$tactus" cut -i "$example" -o "$scratch/second.tactus" --from 4s >/dev/null
is "the CPU time of two cuts adds up to that of the whole" "$(($(cpu_of "$scratch/first.tactus") + $(cpu_of "$scratch/second.tactus")))" "$(cpu_of "$example")"

# By frame, and by filter.
part=$scratch/part.tactus
"$tactus" cut -i "$example" -o "$part" --around 182 --json >"$scratch/json"
is "cut --json says what it wrote" "$(json 'd["record"], d["to_ns"] - d["from_ns"] > 200000000, d["bytes"]' <"$scratch/json")" "cut True $(stat -c %s "$part")"
same "a cut around a frame has that frame, with its cause" "frames --why" --around 182
"$tactus" cut -i "$example" -o "$part" -p 8660 >/dev/null
same "a cut by process has its threads" tasks -p 8660
same "a cut by process has its frames, with their causes" "frames --why" -p 8660
"$tactus" cut -i "$example" -o "$part" -C 0 >/dev/null
same "a cut by CPU has what ran there" tasks -C 0
"$tactus" cut -i "$example" -o "$part" >/dev/null
same "a cut of everything is the whole" tasks

# Threads that come, go and change around the beginning.
python3 tests/recording.py "$scratch/hand.tac" <<'END'
thread 0 10 0 pid=10 comm=runs
thread 0 20 0 pid=20 comm=before
thread 0 30 1 pid=30 comm=ended
thread 0 40 1 pid=41 comm=execs
sample 1 10 0 prio=121
sample 1 30 1 prio=121
rename 100 20 0 comm=waits
switch 500 30 1 next_tid=40 prev_state=128 prev_prio=121 next_prio=121
tid_change 600 41 1 old_tid=40 pid=41
wakeup 1000 20 0 waker_tid=10 target_cpu=0 prio=121
device 1500 0 0 device=3 node=7 device_kind=1 name=mouse
switch 506000 10 0 next_tid=20 prev_state=1 prev_prio=121 next_prio=121
switch 508000 20 0 next_tid=0 prev_state=1 prev_prio=121 next_prio=140
END
"$tactus" cut -i "$scratch/hand.tac" -o "$part" --from 500ms --to 507ms >/dev/null
"$tactus" tasks -i "$part" --json >"$scratch/json"
is "who ran at the beginning of a cut has its time from there on" "$(json '[r["cpu_ns"] for r in rows if r["comm"] == "runs"]' <"$scratch/json")" "[6000000]"
is "who waited at the beginning has its new name, and all of the wait" "$(json '[(r["wait_ns"], r["cpu_ns"]) for r in rows if r["comm"] == "waits"]' <"$scratch/json")" "[(505000000, 1000000)]"
is "who got another tid has that" "$(json '[(r["tid"], r["cpu_ns"]) for r in rows if r["comm"] == "execs"]' <"$scratch/json")" "[(41, 7000000)]"
is "who ended before is not in a cut" "$("$tactus" events -i "$part" --json | grep -c ended)" 0
like "a device that was there before is known in a cut" "$("$tactus" input -i "$part" 2>&1)" mouse

# Losses: those of the part, and those from before the first event of all.
printf '%s\n' 'thread 0 10 0 pid=10 comm=runs' 'sample 1 10 0 prio=121' 'lost 450000 0 0 count=3 of_kind=1' 'lost 600000 0 0 count=4 of_kind=1' \
	'switch 700000 10 0 next_tid=0 prev_state=1' >"$scratch/events"
python3 tests/recording.py "$scratch/hand.tac" <"$scratch/events"
ends "a part of a recording has the losses of that part" 0 '^tactus: 4 events were lost' "$tactus" tasks -i "$scratch/hand.tac" --from 500ms
"$tactus" cut -i "$scratch/hand.tac" -o "$part" --from 500ms >/dev/null
ends "a cut has the losses of its part" 0 '^tactus: 4 events were lost' "$tactus" tasks -i "$part"
sed -i 's/^lost 450000/lost -1000/' "$scratch/events"
python3 tests/recording.py "$scratch/hand.tac" <"$scratch/events"
ends "what was lost before the first event is missing from the recording" 0 '^tactus: 7 events were lost' "$tactus" tasks -i "$scratch/hand.tac"
"$tactus" cut -i "$scratch/hand.tac" -o "$part" >/dev/null
ends "what was lost before the first event is missing from a cut of all" 0 '^tactus: 7 events were lost' "$tactus" tasks -i "$part"

# What is refused, and what is left alone.
ends "cut without -i is bad usage" 2 'no recording to cut: name one with -i' "$tactus" cut -o "$part"
like "cut whose filter matches nothing says which" "$("$tactus" cut -i "$example" -o "$part" -p 99999 2>&1 >/dev/null)" 'no thread in the recording matched -p 99999'
is "cut does not offer --cgroup, which no recording has" "$("$tactus" cut --help | grep -c cgroup)" 0
ends "cut --cgroup is bad usage" 2 "there is no option '--cgroup'" "$tactus" cut -i "$example" -o "$part" --cgroup /x
like "tasks offers --cgroup" "$("$tactus" tasks --help)" '--cgroup'
ends "cut without -o is bad usage" 2 'no file to write' "$tactus" cut -i "$example"
ends "cut onto its input is bad usage" 2 'are one file' "$tactus" cut -i "$part" -o "$part"
ends "cut to JSON is bad usage" 2 'what is cut is a recording' "$tactus" cut -i "$example" -o "$scratch/x.jsonl"
ends "cut from past the end is an error" 1 'is 10\.209 s long' "$tactus" cut -i "$example" -o "$scratch/new.tactus" --from 11s
holds "cut from past the end writes no file" test ! -e "$scratch/new.tactus"
ends "cut of a CPU that the machine did not have is an error" 1 'there is no CPU 7' "$tactus" cut -i "$example" -o "$scratch/new.tactus" -C 7
ends "cut of what is no recording is an error" 1 'not a tactus recording' "$tactus" cut -i /etc/passwd -o "$scratch/new.tactus"
echo precious >"$scratch/precious"
ends "cut over a file that is no recording is an error" 1 'exists and is not a recording' "$tactus" cut -i "$example" -o "$scratch/precious"
is "a file that cut refused to overwrite is as it was" "$(cat "$scratch/precious")" precious
holds "cut --force replaces it" "$tactus" cut -i "$example" -o "$scratch/precious" --force
holds "what it wrote there is a recording" "$tactus" tasks -i "$scratch/precious"

# A disk that is full, as a limit on the length of files makes one: what was there stays, and nothing else is left.
mkdir "$scratch/disk"
"$tactus" cut -i "$example" -o "$scratch/disk/old.tactus" --to 1s >/dev/null
chmod 640 "$scratch/disk/old.tactus"
cp "$scratch/disk/old.tactus" "$scratch/old.copy"
short_of_room() { (ulimit -f 64 && exec "$tactus" cut -i "$example" -o "$1"); }
ends "cut that finds no room for what replaces a recording ends with an error" 1 'old.tactus: File too large: nothing was written' short_of_room "$scratch/disk/old.tactus"
holds "a recording that could not be replaced is as it was" cmp "$scratch/disk/old.tactus" "$scratch/old.copy"
ends "cut that finds no room for a new file ends with an error" 1 'new.tactus: File too large: nothing was written' short_of_room "$scratch/disk/new.tactus"
is "cut that found no room leaves no file behind" "$(ls -A "$scratch/disk")" old.tactus
holds "cut replaces a recording" "$tactus" cut -i "$example" -o "$scratch/disk/old.tactus" --to 2s
is "cut that replaces a recording leaves nothing beside it, and who may read it" "$(ls -A "$scratch/disk") $(stat -c %a "$scratch/disk/old.tactus")" "old.tactus 640"
holds "the recording that was replaced is the new one" test "$(stat -c %s "$scratch/disk/old.tactus")" -gt "$(stat -c %s "$scratch/old.copy")"

head -c 300000 "$example" >"$scratch/torn.tactus"
ends "cut of a torn recording says so and writes what there is" 0 'ends in the middle of a block' "$tactus" cut -i "$scratch/torn.tactus" -o "$part"
python3 - "$example" "$scratch/damaged.tactus" <<'END'
import sys
data = bytearray(open(sys.argv[1], "rb").read())
data[400000] ^= 0xff
open(sys.argv[2], "wb").write(data)
END
ends "cut of a damaged recording ends with an error" 1 'damaged block .*; what came before is written' "$tactus" cut -i "$scratch/damaged.tactus" -o "$part"
holds "what came before the damage can be read" "$tactus" tasks -i "$part"
done_testing
