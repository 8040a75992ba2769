#!/usr/bin/env bash
# One row a frame, of the example and of a recording made by hand in which every part is told once: as JSON, as CSV and as text. No root.
. tests/tap.sh

example=examples/late-frames.tactus
# The game sleeps 15 ms, works 5, presents at 20, 40, ...; from the tenth on it flips a display of 20 ms periods 8 ms before the vblank.
python3 - >"$scratch/lines" <<'END'
print("thread 0 10 0 pid=10 comm=game")
print("thread 0 11 0 pid=10 comm=a,\"helper")
print("thread 0 50 0 pid=50 comm=server")
print("served 1 0 0 pid=10 server_pid=50")
print("sample 2 10 0 prio=121")
print("sample 2 11 1 prio=121")
print("switch 3 11 1 next_tid=0 prev_state=1 prev_prio=121 next_prio=140")
for i in range(1, 31):
    t = i * 20000
    late = 30000 if i == 30 else 0
    print(f"vblank {t - 12000 + 0} 0 0 at_ns={10**9 + (t - 12000) * 1000} seq={100 + i} display=1")
    print(f"wakeup {t - 6000} 11 1 waker_tid=10 target_cpu=1 prio=121 flags=32")
    print(f"switch {t - 6000} 0 1 next_tid=11 prev_prio=140 next_prio=121")
    print(f"submit {t - 3000} 11 1 took_ns=500000 driver=1 work=1")
    print(f"switch {t - 3000} 11 1 next_tid=0 prev_state=1 prev_prio=121 next_prio=140")
    if late: print(f"switch {t} 10 0 next_tid=11 prev_prio=121 next_prio=121 flags=1")
    if late: print(f"switch {t + late} 11 0 next_tid=10 prev_prio=121 prev_state=1 next_prio=121")
    t += late
    print(f"frame {t} 10 0 number={i} interval_ns={0 if i == 1 else 20000000 + late * 1000} api=2")
    print(f"switch {t} 10 0 next_tid=0 prev_state=1 prev_prio=121 next_prio=140")
    print(f"commit {t + 1} 10 0 number={i}")
    print(f"fence {t + 1000} 11 0 took_ns=4000000 driver=i915 timeline=rcs")
    print(f"frame {t + 4001} 50 1 number={i} interval_ns=20000000 api=6")
    print(f"wakeup {t + 15000} 10 0 waker_tid=0 target_cpu=0 prio=121 flags=16")
    print(f"switch {t + 15000} 0 0 next_tid=10 prev_prio=140 next_prio=121")
END
python3 tests/recording.py "$scratch/all.tac" <"$scratch/lines"

"$tactus" frames --each --json -i "$scratch/all.tac" >"$scratch/rows" 2>"$scratch/err"
is "frames --each of a recording ends well" $? 0
game='[r for r in rows if r["record"] == "frame" and r["pid"] == 10]'
is "frames --each has one row for each frame, in order" "$(json "[r['frame'] for r in $game] == list(range(1, 31))" <"$scratch/rows")" True
is "the first frame has no interval and no part that needs one" \
	"$(json "[${game}[0][k] for k in ('interval_ns', 'cpu_ns', 'submit_ns', 'animation_error_ns', 'late_ns')]" <"$scratch/rows")" "[None, None, None, None, None]"
json "'\n'.join(k + ' ' + ' '.join(sorted(set(str(r[k]) for r in ${game}[12:29]))) for k in ${game}[0])" <"$scratch/rows" >"$scratch/values"
while read -r field value words; do
	is "row of a frame: $words" "$(sed -n "s/^$field //p" "$scratch/values")" "$value"
done <<'END'
interval_ns 20000000 the interval is that between presents
cpu_ns 8000000 the CPU time is that of both threads
submit_ns 3500000 the submit is the helper's last
gpu_ns 4000000 the GPU's time is its fence's
compositor_ns 4000000 the compositor's time is from commit to its present
phase_ns 12000000 the phase is from the last vblank
shown_ns None a frame that no display tells of is not known to be shown
animation_error_ns 0 a frame shown as it was begun has no error
dropped 0 a frame on time dropped nothing
vblanks_missed 0 a frame on time missed no vblank
late_ns 0 a frame on time is not late
END
is "the late frame has its lateness, its dropped periods and its error of animation" \
	"$(json "[${game}[29][k] for k in ('late_ns', 'dropped', 'vblanks_missed', 'animation_error_ns')]" <"$scratch/rows")" "[30000000, 2, 2, 30000000]"
is "the late frame's parts are all there was, the cause first" \
	"$(json "[(p['part'], p['part_ns'], p['other_tid']) for p in ${game}[29]['parts']]" <"$scratch/rows")" \
	"[('waited', 30000000, 11), ('slept', 15000000, 0), ('ran', 5000000, 0)]"
is "the parts of a late frame and the rest add up to its interval" \
	"$(json "sum(p['part_ns'] for p in ${game}[29]['parts']) + ${game}[29]['rest_ns'] == ${game}[29]['interval_ns']" <"$scratch/rows")" True
is "percentiles are of the frames of which a part is known" \
	"$(json "[(r['part'], r['frames'], r['p50_ns'], r['max_ns']) for r in rows if r['record'] == 'frame_part' and r['pid'] == 10 and r['part'] in ('cpu', 'shown', 'animation_error')]" <"$scratch/rows")" \
	"[('cpu', 29, 8000000, 38000000), ('shown', 0, None, None), ('animation_error', 28, 0, 30000000)]"

# percentiles FILE: each part of each process, and how many of its percentiles are not those of the rows by nearest rank
percentiles() {
	python3 - "$1" <<'END'
import json, sys
rows = [json.loads(line) for line in open(sys.argv[1]) if line.startswith("{")]
parts, wrong, told = 0, [], 0
for part in (r for r in rows if r["record"] == "frame_part"):
    values = sorted(abs(r[part["part"] + "_ns"]) for r in rows
                    if r["record"] == "frame" and r["pid"] == part["pid"] and r[part["part"] + "_ns"] is not None)
    parts += 1
    told += bool(values)
    for name, per_mille in ("p50_ns", 500), ("p95_ns", 950), ("p99_ns", 990), ("p999_ns", 999), ("max_ns", 1000):
        rank = -(-len(values) * per_mille // 1000)
        wanted = values[rank - 1] if values else None
        if part[name] != wanted:
            wrong.append((part["pid"], part["part"], name, part[name], wanted))
print(told > 0, wrong[:3])
END
}
is "p50, p95, p99, p99.9 and the most of every part are those of the rows" "$(percentiles "$scratch/rows")" "True []"
"$tactus" frames --each --json -i "$example" >"$scratch/of-example"
is "p50, p95, p99, p99.9 and the most of every part of the example are those of its rows" "$(percentiles "$scratch/of-example")" "True []"
say_measured "the example: $(json '{r["part"]: (r["p50_ns"], r["p99_ns"]) for r in rows if r["record"] == "frame_part" and r["frames"]}' <"$scratch/of-example")"

"$tactus" frames --each --csv "$scratch/csv" -i "$scratch/all.tac" >"$scratch/text" 2>"$scratch/err"
is "the CSV has as many fields in each row as in its heads, also of a thread with a comma and a quote in its name" "$(python3 -c '
import csv, sys
rows = list(csv.reader(open(sys.argv[1])))[2:]
print(sorted({len(row) for row in rows}) == [len(rows[0])], rows[-2][rows[0].index("shown_ns")] == "", rows[-2][rows[0].index("cpu_load")] == "",
      [r[rows[0].index("why")] for r in rows if r[rows[0].index("frame")] == "30" and r[rows[0].index("pid")] == "10"][0])' "$scratch/csv")" \
	'True True True game waited 30.0 ms on CPU 0 behind a,"helper [11], slept 15.0 ms, ran 5.00 ms'
like "the late frame's row as text ends with its parts" "$(cat "$scratch/text")" '30\.0 ms  game waited 30\.0 ms on CPU 0 behind a,"helper \[11\], slept 15\.0 ms, ran 5\.00 ms$'
like "what is not known is a dash in a row as text" "$(grep -m 1 ' game  *20 ' "$scratch/text")" ' 20\.0 ms  8\.00 ms  3\.50 ms  4\.00 ms  4\.00 ms        -  12\.0 ms        0       0       0        0$'
"$tactus" frames --each --json --from 0.3s --to 0.41s -i "$scratch/all.tac" >"$scratch/part"
is "rows of a part of the recording are those of its frames, with their numbers" \
	"$(json "[r['frame'] for r in $game]" <"$scratch/part")" "$(json "[r['frame'] for r in $game if 300e6 <= r['time_ns'] - 1e9 < 410e6]" <"$scratch/rows")"

"$tactus" frames --csv "$scratch/plain.csv" -i "$example" >/dev/null 2>"$scratch/err"
"$tactus" frames --each --csv - -i "$example" >"$scratch/alone.csv" 2>"$scratch/err"
"$tactus" frames --each --csv "$scratch/file.csv" -i "$example" >/dev/null 2>&1
is "a CSV on standard output is alone there, and what the file has" "$(cksum <"$scratch/alone.csv")" "$(cksum <"$scratch/file.csv")"
like "what is shown beside a CSV on standard output goes to standard error" "$(cat "$scratch/err")" 'FRAME INTERVAL'
ends "a CSV and JSON on standard output are bad usage" 2 'the JSON goes to standard output: name a file for the CSV' "$tactus" frames --each --json --csv - -i "$example"
ends "a CSV on standard output beside a command is bad usage" 2 'the command writes to standard output too: name a file for the CSV' "$tactus" frames --csv - -- true
is "the CSV without --each has a row for each interval of the example" "$(sed 1,3d "$scratch/plain.csv" | wc -l)" 231

# The CPU time of the frames is what 'tasks' has for the process in that time.
"$tactus" frames --each --json -i "$example" >"$scratch/rows"
is "nothing is said of a GPU, a compositor or a display of which the example has no event" \
	"$(json 'set(r[k] for r in rows if r["record"] == "frame" for k in ("submit_ns", "gpu_ns", "compositor_ns", "shown_ns", "phase_ns", "vblanks_missed"))' <"$scratch/rows")" "{None}"
read -r from to sum < <(json '" ".join(str(n) for n in (lambda f: (f[20]["time_ns"], f[220]["time_ns"], sum(r["cpu_ns"] for r in f[21:221])))([r for r in rows if r["record"] == "frame"]))' <"$scratch/rows")
begins=$("$tactus" events -i "$example" --json | head -n 1 | json 'd["time_ns"]')
seconds() { printf '%d.%09ds' $(($1 / 1000000000)) $(($1 % 1000000000)); }
tasks=$("$tactus" tasks --by process -n all --json -i "$example" --from "$(seconds $((from - begins)))" --to "$(seconds $((to - begins)))" | json '[r["cpu_ns"] for r in rows if r["comm"] == "chocolate-doom"][0]')
say_measured "CPU time of 200 frames: $sum ns by frames, $tasks ns by tasks"
holds "the CPU time of 200 frames of the example is what tasks has for the process" test $((sum > tasks ? sum - tasks : tasks - sum)) -lt $((tasks / 500))
done_testing
