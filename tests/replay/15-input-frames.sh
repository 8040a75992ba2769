#!/usr/bin/env bash
# 'tactus input --to-frame' over recordings made by hand: from a click to the frame and the vblank, by each way. No root.
. tests/tap.sh

# What each line is: tests/clicks.py.
python3 tests/clicks.py >"$scratch/lines"
python3 tests/recording.py "$scratch/clicks.tac" <"$scratch/lines"
"$tactus" input --to-frame --json -i "$scratch/clicks.tac" >"$scratch/rows" 2>"$scratch/err"
is "input --to-frame of a recording ends well" $? 0
is "a frame that answers a click has its time until it was read, presented and shown" \
	"$(json '[[r[k] for k in ("run_ns", "present_ns", "shown_ns", "reports")] for r in rows if r["record"] == "input_frame"][0]' <"$scratch/rows")" "[1000000, 4000000, 8000000, 1]"
is "input --to-frame has one number for each click, and that of the seventh is 20 ms longer" \
	"$(json '[r["shown_ns"] // 1000000 for r in rows if r["record"] == "input_frame" and r["pid"] == 10]' <"$scratch/rows")" "[8, 8, 8, 8, 8, 8, 28, 8, 8, 8]"
is "of two reports before a frame the oldest counts, and both are counted" \
	"$(json '[(r["present_ns"], r["reports"]) for r in rows if r["record"] == "input_frame" and r["pid"] == 10][-1]' <"$scratch/rows")" "(4500000, 2)"
is "a compositor's client has its own present, and is shown by the compositor's flip" \
	"$(json '[(r["comm"], r["present_ns"], r["shown_ns"]) for r in rows if r["record"] == "input_frame" and r["pid"] == 60]' <"$scratch/rows")" "[('client', 3000000, 16000000)]"
is "the table has the frames, the reports and the longest of each process" \
	"$(json '[(r["comm"], r["frames"], r["reports"], r["shown"], r["shown_max_ns"]) for r in rows if r["record"] == "input_to_frame"]' <"$scratch/rows")" \
	"[('game', 10, 11, 10, 28000000), ('compositor', 1, 1, 1, 16000000), ('client', 1, 1, 1, 16000000)]"
# Of the ten clicks of the game: their p50 and p99 by nearest rank, to the eighth to which a histogram tells them.
is "p50 and p99 from a click until it was read, presented and shown are those of the clicks" \
	"$(json '(lambda table, clicks: [(part, name) for part in ("run", "present", "shown") for name, rank in (("p50", 5), ("p99", 10))
		if not sorted(c[part + "_ns"] for c in clicks)[rank - 1] <= table[part + "_" + name + "_ns"] <= sorted(c[part + "_ns"] for c in clicks)[rank - 1] * 1.125])(
			next(r for r in rows if r["record"] == "input_to_frame" and r["pid"] == 10), [r for r in rows if r["record"] == "input_frame" and r["pid"] == 10])' <"$scratch/rows")" "[]"
is "p99 from a click to the vblank is that of the click that was 20 ms late, p50 is not" \
	"$(json '[(r["shown_p99_ns"], r["shown_p50_ns"] < 9000000) for r in rows if r["record"] == "input_to_frame" and r["pid"] == 10]' <"$scratch/rows")" "[(28000000, True)]"
"$tactus" input --to-frame -i "$scratch/clicks.tac" >"$scratch/text" 2>"$scratch/err"
like "a click is told in words" "$(cat "$scratch/text")" '0\.[0-9]+ s  input5, 1 report: read after 1\.00 ms, game \[10\] presents after 4\.00 ms, shown after 8\.00 ms'
"$tactus" input --to-frame -i examples/late-frames.tactus >"$scratch/text" 2>"$scratch/err"
is "input --to-frame of a recording without input ends well" $? 0
grep -v vblank "$scratch/lines" | python3 tests/recording.py "$scratch/dark.tac"
"$tactus" input --to-frame --json -i "$scratch/dark.tac" >"$scratch/rows" 2>/dev/null
is "a recording without vblanks says nothing of when a frame was shown" \
	"$(json 'set(r[k] for r in rows if r["record"] in ("input_frame", "input_to_frame") for k in r if k in ("shown_ns", "shown_p50_ns", "shown_p99_ns"))' <"$scratch/rows")" "{None}"
"$tactus" input --to-frame --json -i "$scratch/clicks.tac" --from 0.35s --to 0.65s >"$scratch/rows" 2>/dev/null
is "a part of a recording has the frames of its clicks alone" "$(json 'sum(r["record"] == "input_frame" for r in rows)' <"$scratch/rows")" 3
done_testing
