#!/usr/bin/env bash
# 'tactus compare': its figures are those of the other views, differences that are there are found with their sign, equal recordings show
# none, and whatever is wrong is said in one line. No root.
. tests/tap.sh

example=examples/late-frames.tactus
compare() { "$tactus" compare "$@" 2>"$scratch/err"; }
# figure FILE FIGURE OF NAME FIELD
figure() { json '[r["'"$5"'"] for r in rows if r["record"] == "compare" and (r["figure"], r["of"], r["name"]) == ("'"$2"'", "'"$3"'", '"$4"')][0]' <"$1"; }
verdict() { json 'rows[-1]["verdict"]' <"$1"; }

compare $example $example --json >"$scratch/same"
is "a recording beside itself shows no difference" "$(verdict "$scratch/same")" no_difference
is "a recording beside itself differs in no figure" "$(json 'set(r["difference"] for r in rows if r["record"] == "compare" and r["a"] is not None)' <"$scratch/same")" "{0.0}"
compare $example@0s..4s $example@4s.. --json >"$scratch/parts"
compare $example@0s..4s $example@4s.. --json >"$scratch/again"
holds "the same input gives the same output" cmp "$scratch/parts" "$scratch/again"
"$tactus" cut -i $example -o "$scratch/b.tactus" --from 4s >/dev/null
"$tactus" cut -i $example -o "$scratch/a.tactus" --to 4s >/dev/null
compare "$scratch/a.tactus" "$scratch/b.tactus" --json >"$scratch/cuts"
is "parts of a recording have the frames that cuts of it have" "$(figure "$scratch/parts" late_frames program '"chocolate-doom"' b)" "$(figure "$scratch/cuts" late_frames program '"chocolate-doom"' b)"

# Against the views.
"$tactus" frames -i $example --json >"$scratch/frames" 2>/dev/null
"$tactus" latency -i $example --json >"$scratch/latency" 2>/dev/null
"$tactus" tasks -i $example --json >"$scratch/tasks" 2>/dev/null
near() { python3 -c 'import sys; got, want, off = map(float, sys.argv[1:]); print("near" if abs(got - want) <= off * want else f"{got} is not {want}")' "$@"; }
for part in p50 p99; do
	is "compare's ${part} of frame times is that of 'tactus frames', within a slot" "$(near "$(figure "$scratch/same" frame_$part program '"chocolate-doom"' a)" "$(json "rows[0]['${part}_ns']" <"$scratch/frames")" 0.016)" near
	is "compare's ${part} of waits is that of 'tactus latency', within its slots" "$(near "$(figure "$scratch/same" wait_$part all None a)" "$(json "rows[0]['${part}_ns']" <"$scratch/latency")" 0.13)" near
done
is "compare's longest frame is that of 'tactus frames'" "$(figure "$scratch/same" frame_longest program '"chocolate-doom"' b)" "$(json 'float(rows[0]["max_ns"])' <"$scratch/frames")"
is "compare's longest wait is that of 'tactus latency'" "$(figure "$scratch/same" wait_longest all None b)" "$(json 'float(rows[0]["max_ns"])' <"$scratch/latency")"
is "compare's late frames are those of 'tactus frames'" "$(near "$(figure "$scratch/same" late_frames program '"chocolate-doom"' a)" "$(json 'rows[0]["late"] / (rows[0]["frames"] - 1)' <"$scratch/frames")" 0.0001)" near
is "compare's CPU time is that of 'tactus tasks'" "$(near "$(figure "$scratch/same" cpu_time all None a)" "$(json 'sum(r["cpu_ns"] for r in rows) / rows[0]["window_ns"]' <"$scratch/tasks")" 0.001)" near
is "compare's switches are those of 'tactus tasks'" "$(near "$(figure "$scratch/same" switches all None a)" "$(json 'sum(r["voluntary"] + r["involuntary"] for r in rows) / rows[0]["window_ns"] * 1e9' <"$scratch/tasks")" 0.001)" near
is "causes of late frames add up to the late frames" "$(json 'abs(sum(r["a"] for r in rows if r.get("of") == "cause") - [r["a"] for r in rows if r.get("figure") == "late_frames"][0]) < 1e-6' <"$scratch/same")" True

# Two threads that a timer wakes every 10 ms: one renders from half of the time on, which is known then and not before, and is late oftener before; of the other nothing is known.
python3 - <<'END' | python3 tests/recording.py "$scratch/timers"
lines = [(0, "thread 0 10 0 pid=10 comm=draws"), (0, "thread 0 20 1 pid=20 comm=ticks"), (0, "thread 0 30 0 pid=30 comm=hog"), (3e6, "role 3000000 10 0 role=1 confidence=90 evidence=5 tier=1 prio=121")]
for i in range(600):
    for tid, cpu, late in ((10, 0, i % 3 == 0 if i < 300 else i % 10 == 5), (20, 1, i % 4 == 0)):
        at = 1000 + 10000 * i
        ran = at + (4000 if late else 50)
        lines += [(at, f"wakeup {at} {tid} {cpu} waker_tid=0 target_cpu={cpu} prio=121 flags=16"), (ran, f"switch {ran} 30 {cpu} next_tid={tid} prev_state=0 prev_prio=121 next_prio=121 flags=1"),
                  (ran + 500, f"switch {ran + 500} {tid} {cpu} next_tid=30 prev_state=1 prev_prio=121 next_prio=121")]
print("\n".join(line for _, line in sorted(lines, key=lambda pair: pair[0])))
END
for recording in "$example" "$scratch/timers"; do
	compare "$recording" "$recording" --json >"$scratch/json"
	for all in "" --all; do
		of=(tier '"latency-critical"') whose="urgent threads"
		[ -z "$all" ] || { of=(all None) whose="all threads"; }
		# shellcheck disable=SC2086
		"$tactus" misses -i "$recording" $all --json 2>/dev/null >"$scratch/misses"
		share=$(json 'sum(r["misses"] for r in rows if r["record"] == "miss_thread") / sum(r["periods"] for r in rows if r["record"] == "miss_thread")' <"$scratch/misses")
		what="compare's deadline misses of $whose are those of 'tactus misses${all:+ $all}' (${recording##*/})"
		say_measured "$what: $share of $(json 'sum(r["periods"] for r in rows if r["record"] == "miss_thread")' <"$scratch/misses") periods"
		is "$what" "$(near "$(figure "$scratch/json" misses "${of[@]}" a)" "$share" 0.0001)" near
	done
done
is "what a thread missed before its role was known, and its periods until then, are not of urgent threads" "$(json '[(r["misses"], 298 <= r["periods"] <= 302) for r in rows if r["record"] == "miss_thread"]' \
	< <("$tactus" misses -i "$scratch/timers" --json 2>/dev/null))" "[(30, True)]"

# made FILE SEED LATE WAIT_US LAUNCHES: 12 s of a game whose frames are late now and then, of a thread that waits so long, and of launches
made() {
	python3 - "$2" "$3" "$4" "$5" <<'END' | python3 tests/recording.py "$1"
import random, sys
seed, late, wait_us, launches = int(sys.argv[1]), float(sys.argv[2]), float(sys.argv[3]), int(sys.argv[4])
random.seed(seed)
lines = [(0, "thread 0 100 0 pid=100 comm=game"), (0, "thread 0 200 0 pid=200 comm=waiter"), (0, "thread 0 300 0 pid=300 comm=hog")]
at, number, drift = 1000, 0, 0
while late >= 0 and at < 12e6:
    number += 1
    drift = 0.9 * drift + random.gauss(0, 100)
    at += 16700 + drift + (40000 if random.random() < late else 0)
    lines.append((at, f"frame {at:.3f} 100 0 number={number} interval_ns=16700000 api=1"))
for at in range(2000, 12000000, 10000) if wait_us else ():
    waits = wait_us * random.uniform(0.5, 1.5)
    lines += [(at, f"wakeup {at} 200 1 waker_tid=0 target_cpu=1 prio=121 flags=16"), (at + waits, f"switch {at + waits:.3f} 300 1 next_tid=200 prev_state=0 prev_prio=121 next_prio=121 flags=1"),
              (at + waits + 500, f"switch {at + waits + 500:.3f} 200 1 next_tid=300 prev_state=1 prev_prio=121 next_prio=121")]
for i in range(launches):
    at = (i + 0.5) * 12e6 / launches
    lines.append((at, f"cuda_launch {at:.3f} 100 0 kernel=1 function=1"))
print("\n".join(line for _, line in sorted(lines, key=lambda pair: pair[0])))
END
}
made "$scratch/smooth" 1 0.002 0 0
made "$scratch/smooth2" 2 0.002 0 0
made "$scratch/stutters" 3 0.08 0 0
made "$scratch/short" 4 -1 200 0
made "$scratch/long" 5 -1 4000 0
made "$scratch/few" 6 0 0 1000
made "$scratch/many" 7 0 0 3000
# compared NAME A B VERDICT FIGURE OF NAME CHANGE
compared() {
	compare "$scratch/$2" "$scratch/$3" --json >"$scratch/json"
	is "$1: the verdict" "$(verdict "$scratch/json")" "$4"
	is "$1: the figure that shows it" "$(figure "$scratch/json" "$5" "$6" "$7" change)" "$8"
	say_measured "$(json 'rows[-1]["words"]' <"$scratch/json")"
}
compared "a game that stutters beside one that does not" smooth stutters worse late_frames program '"game"' more
compared "a game that does not stutter beside one that does" stutters smooth better late_frames program '"game"' less
compared "two games that are alike" smooth smooth2 no_difference frame_p50 program '"game"' none
compared "a thread that waits 4 ms beside one that waits 0.2" short long worse wait_p99 role '"unknown"' more
compared "a program with three times as many launches" few many better launches all None more
compare "$scratch/smooth" "$scratch/smooth2" "$scratch/smooth" --with "$scratch/stutters" "$scratch/stutters" --with "$scratch/stutters" --json >"$scratch/json"
is "two sets of three have three runs each" "$(json '[(r["side"], r["runs"]) for r in rows if r["record"] == "compare_side"]' <"$scratch/json")" "[('a', 3), ('b', 3)]"
is "of two sets the one that stutters is worse" "$(verdict "$scratch/json")" worse
compare "$scratch/smooth" "$scratch/stutters" -c nobody --json >"$scratch/json"
is "two recordings with a filter that nobody matches are too little to compare" "$(verdict "$scratch/json")" too_little
python3 tests/recording.py "$scratch/empty" <<<'thread 0 1 0 pid=1 comm=nobody'
compare "$scratch/empty" "$scratch/smooth" >"$scratch/out"
is "an empty recording is too little, and no error" "$? $(tail -n 1 "$scratch/out" | cut -c1-34)" "0 this data is too little to compare"
like "the last line of the text is the verdict" "$(compare "$scratch/smooth" "$scratch/stutters" | tail -n 1)" '^B is worse: [a-z0-9 ]+ of game: .* instead of .*\(.* to .*\)$'
cp "$scratch/smooth" "$scratch/odd@1s..2s"
is "a file whose name looks like a part is that file" "$(compare "$scratch/odd@1s..2s" "$scratch/smooth" --json | json 'rows[0]["span_ns"] == rows[1]["span_ns"]')" True
is "a part is as long as it says" "$(compare "$scratch/smooth@2s..5s" "$scratch/smooth@9s.." --json | json '[round(r["span_ns"] / 1e9) for r in rows[:2]]')" "[3, 3]"
compare "$scratch/smooth" "$scratch/stutters" >"$scratch/out"
like "compare says the kernel and CPUs of each side" "$(sed -n 2p "$scratch/out")" '^B: .* blocks; Linux made by hand, 2 CPUs$'
is "two recordings of one kernel and as many CPUs are not said to differ in that" "$(grep -c 'Kernels or CPUs differ' "$scratch/out")" 0
is "two recordings of several machines are said to differ in that" "$(compare $example "$scratch/smooth" | grep -c 'Kernels or CPUs differ')" 1
is "a side of several machines has no kernel in compare's JSON" "$(compare $example "$scratch/smooth" --with "$scratch/smooth" --json | json '[(r["kernel"], r["cpus"]) for r in rows if r["record"] == "compare_side"]')" "[(None, None), ('made by hand', 2)]"
is "a reader that goes away ends it" "$(compare "$scratch/smooth" "$scratch/stutters" | head -n 1 | wc -l)" 1

# Two real ones: the same threads on the same machine, by the kernel's scheduler and by tactus.
under_eevdf=tests/recordings/wakers-eevdf.tactus under_tactus=tests/recordings/wakers-tactus.tactus
compare $under_eevdf $under_tactus --json >"$scratch/json"
say_measured "$(json 'rows[-1]["words"]' <"$scratch/json")"
is "of two real recordings the one under tactus is better" "$(verdict "$scratch/json")" better
like "of two real recordings the verdict names the deadlines of the threads that tactus treats as urgent" "$(json 'rows[-1]["words"]' <"$scratch/json")" \
	'^B is better: deadline misses of latency-critical threads: .* instead of .*\(a difference of -.* to -'
is "of two real recordings urgent threads miss fewer deadlines for sure, and that is a headline" \
	"$(json '[(r["change"], r["is_headline"], r["b"] < r["a"], r["low"] <= r["difference"] <= r["high"] < 0) for r in rows if r.get("figure") == "misses" and r["of"] == "tier"]' <"$scratch/json")" "[('less', True, True, True)]"
is "the price is in the table: threads that only compute wait longer" "$(json '[r["b"] > r["a"] for r in rows if r.get("figure") == "wait_p50" and r["name"] == "batch"]' <"$scratch/json")" "[True]"
is "the other way round the one under the kernel's scheduler is worse" "$(compare $under_tactus $under_eevdf --json | json 'rows[-1]["verdict"]')" worse
is "the two real recordings say that they are of one kernel and as many CPUs" "$(json 'len({(r["kernel"], r["cpus"]) for r in rows if r["record"] == "compare_side"})' <"$scratch/json")" 1

ends "compare of one recording is bad usage" 2 'name two recordings' "$tactus" compare $example
ends "compare of no recording is bad usage" 2 'name two recordings' "$tactus" compare
ends "three recordings without --with are bad usage" 2 'say with --with where side B begins' "$tactus" compare $example $example $example
ends "--with before all recordings is bad usage" 2 "name the recordings of side A before --with" "$tactus" compare --with $example $example
ends "a recording that is not there is an error" 1 '/nonexistent: No such file' "$tactus" compare $example /nonexistent
ends "a part of a recording that is not there is an error of that recording" 1 '/nonexistent: No such file' "$tactus" compare $example /nonexistent@1s..2s
ends "a part past the end is an error that says how long the recording is" 1 'late-frames.tactus: is 10.* s long' "$tactus" compare $example $example@1h..
ends "what is no recording is an error" 1 'README.md: ' "$tactus" compare $example README.md
many=()
for ((i = 0; i < 65; i++)); do many+=("$example"); done
ends "more than 64 recordings are bad usage" 2 'more recordings than 64' "$tactus" compare "${many[@]}"
done_testing
