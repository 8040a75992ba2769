#!/usr/bin/env bash
# tactus frames: frames counted, late ones found with their amounts and causes, none other; live, recorded, as CSV.
# alone: it measures delays of its own making, to which other tests with realtime threads would add
. tests/tap.sh

delays=(build/workloads/delays 20 140 1 40:15:compute 60:18:mutex 80:13:hog 100:35:sleep 120:27:server)
# Whether wakers of other processes can be followed.
interrupts=$("$tactus" doctor --json | json 'd["interrupts"]')
# check WHAT FILE: the late frames in it are those five, as long and for the reasons that the program says
check() {
	python3 - "$1" "$2" "$scratch/said" "$interrupts" <<'END'
import json, sys
what, late, said = sys.argv[1], {}, {}
for line in open(sys.argv[2]):
    row = json.loads(line)
    if "late_frame" in row: late[row["late_frame"]] = row
for line in open(sys.argv[3]):
    number, ms, reason, tid = line.split()
    said[int(number)] = (float(ms), reason, int(tid))
follows = sys.argv[4] == "True"
wanted = {"compute": "ran", "mutex": "slept", "hog": "waited", "sleep": "slept", "server": "ran" if follows else "slept"}
print("# measured:", what + ":", ", ".join(f"{n}: {r['late_ns'] / 1e6:.1f} ms, {r.get('cause')} {r.get('cause_ns', 0) / 1e6:.1f} ms"
                                          for n, r in sorted(late.items())))
trouble = []
# One that the machine made late by a quarter of a period, give or take half a millisecond, may be late or not.
sure = {n for n, (ms, reason, _) in said.items() if reason != "machine" or ms > 5.5}
if not sure <= set(late) <= set(said): trouble.append(f"late are {sorted(late)}, delayed were {sorted(said)}")
for number, (ms, reason, tid) in said.items():
    row = late.get(number)
    if not row: continue
    if abs(row["late_ns"] / 1e6 - ms) > 1: trouble.append(f"{number} is late by {row['late_ns']}, by the program's own clock {ms} ms")
    if reason == "machine": continue
    if row.get("cause") != wanted[reason]: trouble.append(f"{number} was delayed by {reason}, said is {row.get('cause')}")
    other = reason == "hog" or (reason == "server" and not follows)
    who = row.get("other_tid") if other else row.get("cause_tid")
    if who != tid: trouble.append(f"{number} was delayed by {tid}, said is {who}")
print("\n".join("# " + t for t in trouble))
sys.exit(bool(trouble))
END
}

# Where tactus says, by -v, that the probes are in place: the program waits for that.
export DELAYS_SAID=$scratch/err
"$tactus" frames -v --why --json -o "$scratch/file" -- "${delays[@]}" >"$scratch/out" 2>"$scratch/err"
is "tactus frames ends well" $? 0
grep -E '^[0-9]+ [0-9.]+ [a-z]+ ' "$scratch/out" >"$scratch/said"
grep '^{' "$scratch/out" >"$scratch/rows"
is "the program delayed five frames" "$(grep -vc machine "$scratch/said")" 5
check live "$scratch/rows"
is "every delayed frame is found, and none other, with its amount and its cause" $? 0
is "every frame of a program with delays is counted" "$(tail -n 1 "$scratch/rows" | json 'd["frames"]')" 140
is "a program that presents every 20 ms keeps a display's pace" "$(tail -n 1 "$scratch/rows" | json 'd["target_ns"]')" 20000000
is "a program that nobody serves has no compositor's time" "$(tail -n 1 "$scratch/rows" | json '(d["compositor_p50_ns"], d["compositor_p99_ns"], d["composited"])')" "(None, None, 0)"
is "the summary counts the late frames" "$(tail -n 1 "$scratch/rows" | json 'd["late"]')" "$(grep -c '"late_frame"' "$scratch/rows")"
rate=$(tail -n 1 "$scratch/rows" | json 'd["fps"]')
own=$(awk '$1 == "presented" { print ($2 - 1) * 1e9 / $3 }' "$scratch/out")
holds "the rate is that of the program's own clock ($rate, $own)" awk -v rate="$rate" -v own="$own" 'BEGIN { exit !(rate > own * 0.99 && rate < own * 1.01) }'

"$tactus" frames -i "$scratch/file" --why --json >"$scratch/rows"
check replay "$scratch/rows"
is "every delayed frame is found in the recording" $? 0
"$tactus" frames -i "$scratch/file" --why --csv "$scratch/csv" >"$scratch/text" 2>&1
is "frames of a recording are shown as text" $? 0
for words in 'delays ran [12][0-9.]* ms itself, usually [0-9.]* [mu]s' 'it waited for holder \[[0-9]*\], which slept [12][0-9.]* ms' \
	'delays waited [12][0-9.]* ms on CPU 1 behind delays \[' 'longest frames:' 'frames by how long they took'; do
	like "frames of a recording are told in words: $words" "$(cat "$scratch/text")" "$words"
done
grep ' late: ' "$scratch/text" | head -n 4 | sed 's/^/# measured: /'
is "the CSV has MangoHud's columns first" "$(sed -n 3p "$scratch/csv" | cut -d , -f 1-15)" \
	"fps,frametime,cpu_load,cpu_power,gpu_load,cpu_temp,gpu_temp,gpu_core_clock,gpu_mem_clock,gpu_vram_used,gpu_power,ram_used,swap_used,process_rss,elapsed"
is "the CSV has a row for each interval" "$(sed 1,3d "$scratch/csv" | wc -l)" 139
is "the intervals of the CSV add up to its elapsed time" "$(sed 1,3d "$scratch/csv" | awk -F, '{ sum += $2 * 1e6; last = $15 } END { print (sum / last > 0.999 && sum / last < 1.001) }')" 1

# How threads run is followed only for the reasons: at each switch and wake-up a program costs more than the frame does.
# shellcheck disable=SC2016 # The shell's parent, which is tactus.
hooks() { "$tactus" frames "$@" -- sh -c 'cat /proc/$PPID/fdinfo/*' 2>/dev/null | sed -n 's/^tp_name:.\(sched_switch\|sched_wak[a-z]*\)$/\1/p' | sort | xargs; }
is "tactus frames --why has hooks at switches and wake-ups" "$(hooks --why)" "sched_switch sched_wakeup sched_waking"
is "tactus frames without --why has no hooks at switches and wake-ups" "$(hooks)" ""

# Others: a library known by then, two threads at once, a stop, nothing at all, a full disk, a kill.
"$tactus" frames -v --json -- sh -c 'build/workloads/delays 20 5 1 >/dev/null; exec build/workloads/present egl 2 300' >"$scratch/rows" 2>"$scratch/err"
[ -s "$scratch/rows" ] || say_measured "nothing of two threads; what was said: $(tail -n 8 "$scratch/err" | tr '\n' ';')"
is "frames of two threads are one process's" "$(json '[r["frames"] for r in rows if r["comm"] == "present"]' <"$scratch/rows")" "[600]"
"$tactus" frames -v --json -- build/workloads/delays 20 70 1 40:2500:sleep >"$scratch/out" 2>"$scratch/err"
is "a stop of two and a half seconds is a pause and no late frame" \
	"$(grep '^{' "$scratch/out" | tail -n 1 | json '(d["pauses"], d["late"], d["frames"])')" \
	"(1, $(grep -c machine "$scratch/out"), 70)"
"$tactus" frames -d 0.3 --json -- sleep 5 >"$scratch/out" 2>"$scratch/err"
like "frames says that nobody presents" "$(cat "$scratch/err")" 'no frame was presented'
ends "a full disk is told" 1 'cannot write' "$tactus" frames -i "$scratch/file" --csv /dev/full
ends "a CSV that cannot be made is told" 1 'cannot write' "$tactus" frames -i "$scratch/file" --csv "$scratch/no/such"
"$tactus" frames -v --json -- sh -c 'build/workloads/delays 20 1000 1 20:5:compute >"$0" & until grep -q compute "$0"; do sleep 0.1; done; kill -KILL $!' \
	"$scratch/killed" >"$scratch/out" 2>"$scratch/err"
holds "the frames of a program that was killed are counted" test "$(grep '^{' "$scratch/out" | tail -n 1 | json 'd["frames"]')" -ge 20
# The library is replaced under a running game, as an upgrade does; the next game has the new one.
mkdir "$scratch/lib"
library=$(readlink -f "$(ldconfig -p | sed -n 's/.*libEGL\.so\.1 .*x86-64.*=> //p' | head -n 1)")
cp "$library" "$scratch/lib/libEGL.so.1"
LD_LIBRARY_PATH=$scratch/lib "$tactus" frames -v --json -- bash -c "build/workloads/delays 20 80 1 10:1:compute >'$scratch/began' &
	until grep -q compute '$scratch/began'; do sleep 0.1; done
	cp '$library' '$scratch/lib/new'; mv '$scratch/lib/new' '$scratch/lib/libEGL.so.1'
	DELAYS_SAID_TIMES=2 build/workloads/delays 20 30 1; wait" >"$scratch/out" 2>"$scratch/err"
say_measured "what was said of two libraries: $(tail -n 8 "$scratch/err" | tr '\n' ';')"
is "a library replaced under a running game: its frames and the next game's are counted" \
	"$(grep '^{' "$scratch/out" | json 'sorted(r["frames"] for r in rows)')" "[30, 80]"
done_testing
