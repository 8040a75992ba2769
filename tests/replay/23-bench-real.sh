#!/usr/bin/env bash
# What bench/real makes of a program's times: made-up times of known length in, the table and the budgets' verdict out; and what
# its script says to options that it can't take.
. tests/tap.sh

# 1,000 frames of 10 ms a span, in the one with tactus one of 70 ms among them, and the load does half as much there.
python3 - "$scratch" <<'END'
import struct, sys
folder, ms = sys.argv[1], 10**6
marks = open(f"{folder}/marks", "w")
for load, spans in (("none", ["without"]), ("hogs", ["without", "with", "with", "without"])):
    at, frames = 5 * 10**9, open(f"{folder}/stamps-game-{load}", "wb")
    for number, way in enumerate(spans):
        begin = at
        for frame in range(1000):
            took = 70 * ms if way == "with" and frame == 500 else 10 * ms
            at += took
            frames.write(struct.pack("qq", at, took))
        work = {"without": 2000, "with": 1000}[way] * (load != "none")
        print("game", load, way, number // 2 + 1, begin, 0, 1000, 500, at, work, 2000, 1500, file=marks)
        # Between two spans nothing counts.
        at += 1000 * ms
        frames.write(struct.pack("qq", at, 1000 * ms))
END
python3 bench/real/report.py --json "$scratch" "a version" >"$scratch/json"
is "a load that gets half of its work done beside tactus makes the exit status 1" $? 1
row() { json "[r['$3'] for r in rows if r['load'] == '$1' and r['tactus'] is $2][0]" <"$scratch/json"; }
is "p50 is that of the frames" "$(row hogs False p50_ms)" 10.0
is "every frame of both spans without tactus counts, and none between them" "$(row hogs False samples)" 2000
is "the longest frame of the spans with tactus is found" "$(row hogs True longest_ms)" 70.0
is "p99 of a thousand frames leaves one long frame out" "$(row hogs True p99_ms)" 10.0
is "p99.9 of two thousand frames with two long ones is a long one" "$(row hogs True p99_9_ms)" 70.0
is "a frame of seven times the median alone is late" "$(row hogs True late)" 2
is "no frame of the median's length is late" "$(row hogs False late)" 0
is "the load's ratio is by the second, not by the span" "$(row hogs True load_ratio)" 0.497
is "alone there is no load and no ratio of it" "$(row none False load_ratio)" None
python3 bench/real/report.py "$scratch" "a version" >"$scratch/table"
like "the table names what was missed" "$(cat "$scratch/table")" '^MISSED game beside hogs: longest 70.0 ms, without tactus 10.0 ms$'

like "--help names the programs" "$(bench/real/run.sh --help)" 'train supertux'
ends "a program that is not known is refused with those that are" 2 'not one of train' bench/real/run.sh --programs chess
ends "no rounds are refused" 2 'not a number' bench/real/run.sh --rounds 0
ends "an option without its word is refused" 2 'a word is missing' bench/real/run.sh --rounds
done_testing
