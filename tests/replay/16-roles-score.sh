#!/usr/bin/env bash
# The score of the labelled scenes (bench/roles/score.py): what it counts, and when it says that roles are found too seldom or
# that too few threads were seen to tell. On sightings made by hand. No root.
. tests/tap.sh

cat >"$scratch/labels" <<'END'
* | game | first | render | frames | presents each frame
* | game | other =helper | render | - | draws for the one that presents
* | pad | first | input | - | reads a device
* | player | first | audio | - | feeds a card
* | server | first | network | - | serves a socket
* | shell | first | compositor | - | shows what others draw
* | sleeper | first | background | - | waits
* | burner | first | cpu-bound | - | burns
END
# sights N [ROLE FOUND WRONG]: N threads of each role, all found; of ROLE the first WRONG are taken for FOUND
sights() {
	rm -rf "$scratch/seen"
	mkdir "$scratch/seen"
	python3 - "$scratch/seen" "$@" <<'END'
import json, sys
folder, number = sys.argv[1], int(sys.argv[2])
role_wrong, found, wrong = (sys.argv[3], sys.argv[4], int(sys.argv[5])) if len(sys.argv) > 3 else ("", "", 0)
keys = {"game": "render", "pad": "input", "player": "audio", "server": "network", "shell": "compositor", "sleeper": "background", "burner": "cpu-bound"}
rows, census, tid = [], [], 100
for key, role in keys.items():
    for i in range(number):
        tid += 1
        got = found if role == role_wrong and i < wrong else role
        census.append(dict(tid=tid, pid=tid, key=key, child=False, born=10.0, seen=20.0, comm=key, command=key, policy=0, switches=500, ticks=9, name=""))
        if got != "none":
            rows.append(dict(tid=tid, pid=tid, role=got, confidence=80, evidence="of a test", time_ns=20 * 10**9, age_ns=10 * 10**9))
for way in "open", "hidden", "bare":
    for name, lines in ("rows", rows), ("census", census):
        with open(f"{folder}/scene.{way}.{name}.json", "w", encoding="utf-8") as file:
            file.writelines(json.dumps(line) + "\n" for line in lines)
END
}
score() { python3 bench/roles/score.py "$scratch/labels" "$scratch/seen" "$@" >"$scratch/out" 2>"$scratch/err"; }
missed() { sed -n 's/^tactus: bench-roles: //p' "$scratch/err" | paste -sd';'; }

sights 20
score -w
is "twenty threads of each role that are all found meet every target" "$? $(missed)" "0 "
like "the score has every thread" "$(cat "$scratch/out")" 'open: 140 of 140 threads right \(100.0 %\)'
sights 19
score -w
is "nineteen threads of a role are too few where all scenes were played" $? 1
is "the score names each role with too few threads, in each way that has targets" "$(missed | tr ';' '\n' | grep -c ': 19 threads, not 20$')" 14
score
is "nineteen threads of a role are no fault where some scenes were played" "$? $(missed)" "0 "
sights 40 input unknown 4
score -w
is "a role that is found in 90 of 100 threads meets its target" "$? $(missed)" "0 "
sights 40 input unknown 5
score -w
is "a role that is found in fewer than 90 of 100 threads fails" "$? $(missed)" "1 open: input: 87.5 % (35 of 40), not 90 %;hidden: input: 87.5 % (35 of 40), not 90 %"
like "the score lists each thread that is taken for another role" "$(grep -c 'wrong: scene: pad first .*: unknown 80 (of a test), known as input' "$scratch/out")" '^15$'
sights 40 render unknown 1
score
is "a single thread that presents and is not found fails" "$? $(missed)" "1 open: frames: 97.5 %, not 100 %;hidden: frames: 97.5 %, not 100 %"
like "the score names lines of the labels that no thread fits" "$(cat "$scratch/out")" 'no thread fits: line 2: scene: game other =helper'
sights 40 audio none 40
score
like "a role of which nothing is said at all is not found" "$(missed)" 'open: in all: .*open: audio: 0\.0 % \(0 of 40\), not 90 %'
done_testing
