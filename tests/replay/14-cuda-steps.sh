#!/usr/bin/env bash
# tactus cuda --steps over a recording of a loop of which everything is known (tests/steps.py): steps, what they went into, and why five were slow.
. tests/tap.sh

python3 tests/steps.py | python3 tests/recording.py "$scratch/steps.tac"
"$tactus" cuda --steps -i "$scratch/steps.tac" --json >"$scratch/rows" 2>"$scratch/err"
is "steps of a recording are shown with status 0" $? 0
row() { json "[$1 for r in rows if r['record'] == 'cuda_steps']" <"$scratch/rows"; }
is "a recording's steps are those of the process that launches" "$(row '(r["comm"], r["by"])')" "[('python3', 'launches')]"
holds "steps are found soon" test "$(row 'r["steps"]' | tr -d '[]')" -ge 37
is "every slow step of a recording is told, with its cause" "$(json '[r["cause"] for r in rows if r["record"] == "cuda_slow_step"]' <"$scratch/rows")" \
	"['data', 'lock', 'cpu_wait', 'sync', 'copy']"
is "a step that is not slow takes as long as it was made" "$(row 'r["p50_ns"]')" "[4900000]"
is "a step has its launches" "$(row 'r["launches"]')" "[6.0]"
is "a slow step has the time of its cause" "$(json '[r["parts_ns"][r["cause"]] // 1000 for r in rows if r["record"] == "cuda_slow_step"]' <"$scratch/rows")" \
	"[20100, 20100, 20000, 20000, 20000]"
"$tactus" cuda --steps -i "$scratch/steps.tac" >"$scratch/text" 2>"$scratch/err"
words() { like "a step that $1 is told in words" "$(grep '^python3 \[10\] step' "$scratch/text")" "$2"; }
words "waits for the DataLoader" 'data, from another process: it waited for pt_data_worker \[20\], which slept 20.0 ms'
words "waits for a lock" 'a lock or a queue: it waited for holder \[11\], which slept 20.0 ms'
words "waits for a CPU" 'python3 waited 20.0 ms on CPU 0 behind hog \[30\]'
words "waits for the GPU" 'it waited 20.0 ms for the GPU, usually 2.00 ms: the longest in cuStreamSynchronize'
words "copies" 'it copied for 20.0 ms, usually 0: the longest in cuMemcpyDtoH_v2, 64.0 MB device to host'
is "a step is told without parts that it does not have" "$(grep -c 'smaller parts' "$scratch/text")" 0
like "slow steps are counted by cause" "$(cat "$scratch/text")" '5 of [0-9]+ steps were slow: cpu_wait 1, data 1, lock 1, sync 1, copy 1'
is "steps can begin with a call of a name" "$("$tactus" cuda --step-at StreamSync -i "$scratch/steps.tac" --json | json '[r["steps"] for r in rows if r["record"] == "cuda_steps"]')" "[59]"
"$tactus" cuda --step-at nothing -i "$scratch/steps.tac" >"$scratch/text" 2>"$scratch/err"
like "a name that nothing has is told" "$(cat "$scratch/err")" 'no step was found: nothing of that name came twice'
"$tactus" cuda --steps -i examples/late-frames.tactus >"$scratch/text" 2>"$scratch/err"
is "a recording without CUDA ends with status 0" $? 0
like "a recording without CUDA is said to be one" "$(cat "$scratch/err")" 'no step was found: nothing was launched'
"$tactus" cuda --steps -i "$scratch/steps.tac" | head -n 1 >/dev/null
is "steps end with status 0 when their reader goes away" "${PIPESTATUS[0]}" 0
is "columns of steps can be chosen" "$("$tactus" cuda --steps -i "$scratch/steps.tac" --columns comm,launches | grep -A1 ^COMM | tail -n 1 | tr -s ' ')" "python3 6.00"
done_testing
