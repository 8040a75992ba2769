#!/usr/bin/env bash
# tactus cuda --steps on a loop that is delayed on purpose, with a double of libcuda.so.1: each delay is named for what it was.
# not beside: tactus cuda, whose folders are counted
. tests/tap.sh

library=$PWD/build/workloads/libcuda.so.1
export TACTUS_NVIDIA_MAJORS=1,5
# loop KIND: 80 steps, every 20th of them 60 ms longer; rows go to $scratch/KIND
loop() { "$tactus" cuda --steps --json --library "$library" -- build/workloads/steps "$library" 80 20 60 "$1" 2>"$scratch/err" | grep '^{' >"$scratch/$1"; }
# delayed KIND: what is said of the steps that are so much longer, as a JSON list
delayed() { json '__import__("json").dumps([r for r in rows if r["record"] == "cuda_slow_step" and r["wall_ns"] > 55000000])' <"$scratch/$1"; }

loop none
is "steps of the loop are found by the rhythm of its launches" "$(json '[r["by"] for r in rows if r["record"] == "cuda_steps"]' <"$scratch/none")" "['launches']"
holds "most steps of the loop are found" test "$(json '[r["steps"] for r in rows if r["record"] == "cuda_steps"][0]' <"$scratch/none")" -ge 50
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
ends "steps of sampled launches are bad usage" 2 "--steps needs every launch" "$tactus" cuda --steps --sample 10 -- true
"$tactus" cuda --steps --library "$library" -- build/workloads/steps "$library" 60 20 60 data >"$scratch/text" 2>&1
like "slow steps are told in words" "$(cat "$scratch/text")" 'steps \[[0-9]+\] step [0-9]+, [0-9.]+ ms, usually [0-9.]+ ms: data, from another process: .*loader'
like "steps are told in a table" "$(cat "$scratch/text")" 'PID +COMM +STEPS'
done_testing
