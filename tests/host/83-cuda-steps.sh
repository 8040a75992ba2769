#!/usr/bin/env bash
# tactus cuda --steps on a loop that is delayed on purpose, with a double of libcuda.so.1: each delay is named for what it was.
# not beside: tactus cuda, whose folders are counted
. tests/tap.sh

library=$PWD/build/workloads/libcuda.so.1
export TACTUS_NVIDIA_MAJORS=1,5
# loop KIND: 160 steps, every 20th of them 60 ms longer; rows go to $scratch/KIND, what the program says to $scratch/KIND.said
loop() { "$tactus" cuda --steps --json --library "$library" -- build/workloads/steps "$library" 160 20 60 "$1" 2>"$scratch/err" >"$scratch/all" && take "$1"; }
take() { grep '^{' "$scratch/all" >"$scratch/$1"; grep ^delayed "$scratch/err" >"$scratch/$1.said"; }
# delayed KIND: what is said of the steps that were delayed, as a JSON list. A step begins elsewhere than where the program says: half of
# the delay is in it at least. One that something else on this machine kept for as long is another matter.
cat >"$scratch/delayed.py" <<'PY'
import json, sys
spans = [tuple(map(int, line.split()[1:])) for line in open(sys.argv[1] + ".said")]
rows = [r for r in map(json.loads, open(sys.argv[1])) if r["record"] == "cuda_slow_step" and r["wall_ns"] > 55000000]
inside = lambda r: max(min(to, r["time_ns"]) - max(since, r["time_ns"] - r["wall_ns"]) for since, to in spans)
print(json.dumps([r for r in rows if inside(r) > 30000000 and r["wall_ns"] < 110000000]))
PY
delayed() { python3 "$scratch/delayed.py" "$scratch/$1"; }

loop none
is "steps of the loop are found by the rhythm of its launches" "$(json '[r["by"] for r in rows if r["record"] == "cuda_steps"]' <"$scratch/none")" "['launches']"
holds "most steps of the loop are found" test "$(json '[r["steps"] for r in rows if r["record"] == "cuda_steps"][0]' <"$scratch/none")" -ge 110
is "a step has its six launches" "$(json '[r["launches"] for r in rows if r["record"] == "cuda_steps"]' <"$scratch/none")" "[6.0]"
while read -r kind cause who; do
	loop "$kind"
	found=$(delayed "$kind" | json '[(r["cause"], r["words"]) for r in d]')
	is "steps that are delayed by $kind are named so" "$(delayed "$kind" | json '{r["cause"] for r in d}')" "{'$cause'}"
	holds "more than one step that is delayed by $kind is found slow" test "$(delayed "$kind" | json 'len(d)')" -ge 2
	like "steps that are delayed by $kind name what it was" "$found" "$who"
	say_measured "$kind: $found"
done <<'END'
data data data,.from.another.process:.*loader
lock lock a.lock.or.a.queue:.*holder
hog cpu_wait steps.waited.[0-9.]+.ms.on.CPU.[0-9]+.behind.hog
copy copy it.copied.for.*cuMemcpyDtoH_v2,.[0-9.]+.MB.device.to.host
sync sync it.waited.[0-9.]+.ms.for.the.GPU.*cuStreamSynchronize
END

echo "# steps that the program itself names, by NVTX"
ranges=(build/workloads/steps "$library" 160 20 60 data ranges)
"$tactus" cuda --steps --json --library "$library" -o "$scratch/ranges.tac" -- "${ranges[@]}" 2>"$scratch/err" >"$scratch/all" && take ranges
of_ranges() { json "[$1 for r in rows if r['record'] == 'cuda_steps']" <"${2:-$scratch/ranges}"; }
is "steps that a program names by NVTX are found by its ranges" "$(of_ranges 'r["by"]')" "['range']"
holds "most steps that a program names by NVTX are found" test "$(of_ranges 'r["steps"]' | tr -d '[]')" -ge 110
is "a step that is named by NVTX has its six launches" "$(of_ranges 'r["launches"]')" "[6.0]"
is "a slow step that is named by NVTX has its cause" "$(delayed ranges | json '{r["cause"] for r in d}')" "{'data'}"
"$tactus" cuda --steps -i "$scratch/ranges.tac" --json >"$scratch/replayed" 2>/dev/null
is "a recording has the same steps by NVTX" "$(of_ranges '(r["by"], r["steps"])' "$scratch/replayed")" "$(of_ranges '(r["by"], r["steps"])')"
"$tactus" cuda --step-at 'step' -i "$scratch/ranges.tac" --json >"$scratch/replayed" 2>/dev/null
is "steps can begin with a range of a name" "$(of_ranges '(r["by"], r["steps"])' "$scratch/replayed")" "[('--step-at', 159)]"
# Sixty launches a step: at the first looks for a rhythm few steps are in sight.
while read -r way launches; do
	"$tactus" cuda --steps --json --library "$library" -- build/workloads/steps "$library" 120 20 60 data "$way" "$launches" 2>"$scratch/err" >"$scratch/all" && take "$way"
	is "steps of $launches launches that a program names by NVTX ($way) are found by its ranges" "$(of_ranges '(r["by"], r["ranges"], r["launches"])' "$scratch/$way")" "[('range', 120, $launches.0)]"
	is "a slow step of $launches launches that is named by NVTX ($way) has its cause" "$(delayed "$way" | json '{r["cause"] for r in d}')" "{'data'}"
done <<'END'
ranges 60
domain 7
END
NVTX_INJECTION64_PATH=/nowhere "$tactus" cuda --steps --json --library "$library" -- "${ranges[@]}" >/dev/null 2>"$scratch/err"
like "a tool of NVIDIA's that takes the ranges keeps them" "$(cat "$scratch/err")" 'steps: NVTX_INJECTION64_PATH failed'
is "a program's environment has no library for ranges without --steps" \
	"$("$tactus" cuda --library "$library" -- sh -c 'echo "ranges ${NVTX_INJECTION64_PATH:-none}"' 2>/dev/null | grep ^ranges)" "ranges none"

ends "steps of sampled launches are bad usage" 2 "--steps needs every launch" "$tactus" cuda --steps --sample 10 -- true
"$tactus" cuda --steps --library "$library" -- build/workloads/steps "$library" 60 20 60 data >"$scratch/text" 2>&1
like "slow steps are told in words" "$(cat "$scratch/text")" 'steps \[[0-9]+\] step [0-9]+, [0-9.]+ ms, usually [0-9.]+ ms: data, from another process: .*loader'
like "steps are told in a table" "$(cat "$scratch/text")" 'PID +COMM +STEPS'
done_testing
