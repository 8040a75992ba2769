#!/usr/bin/env bash
# Calls of NCCL, with a double of libnccl (tests/fakes/libnccl.c): sizes, types, communicators and time of each, errors, and the same from a recording.
# not beside: tactus cuda, whose folders are counted
. tests/tap.sh
. tests/cuda.sh

export LD_LIBRARY_PATH=$PWD/build/workloads TACTUS_NVIDIA_MAJORS=1,5
calls=(build/workloads/nccl_calls "$PWD/build/workloads/libnccl.so" 20)
rows_of "$tactus" cuda --json -- "${calls[@]}"
is "calls of NCCL are watched to their end" $? 0
nccl() { json "[$2 for r in rows if r.get('table') == 'collectives' and $1]" <"$scratch/rows"; }
is "every all-reduce is counted by type and communicator" "$(nccl 'r["function"] == "ncclAllReduce"' '(r["type"], r["communicator"], r["count"], r["bytes"])')" \
	"[('float32', '0x1000', 20, 80000), ('bfloat16', '0x1001', 20, 20000)]"
is "a reduce has its communicator, which is on the stack" "$(nccl 'r["function"] == "ncclReduce"' '(r["type"], r["communicator"], r["bytes"])')" "[('float64', '0x1001', 1600)]"
is "an all-gather has its communicator, which is the fifth argument" "$(nccl 'r["function"] == "ncclAllGather"' '(r["type"], r["communicator"], r["bytes"])')" "[('int64', '0x1000', 2400)]"
is "a send has its size, which is the second argument, and one that is refused sends nothing" "$(nccl 'r["function"] == "ncclSend"' '(r["type"], r["count"], r["failed"], r["bytes"])')" "[('int8', 2, 1, 400)]"
while read -r function type communicator bytes; do
	is "$function has its type, communicator and size" "$(nccl "r['function'] == '$function'" '(r["type"], r["communicator"], r["count"], r["bytes"])')" "[('$type', '$communicator', 1, $bytes)]"
done <<'END'
ncclBroadcast uint8 0x1000 11
ncclReduceScatter int32 0x1001 48
ncclGather uint32 0x1000 52
ncclScatter uint64 0x1001 112
ncclAlltoAll float16 0x1000 30
ncclRecv int64 0x1001 128
ncclBcast bfloat16 0x1000 34
END
holds "an all-reduce takes as long as it does, 20 of 1 ms" test "$(nccl 'r["type"] == "float32"' 'r["total_ns"] // 1000000' | tr -d '[]')" -ge 20
is "an error of NCCL has its own name" "$(of errors name function=ncclSend)" ncclInvalidArgument
is "calls of NCCL are a class of their own" "$(of calls class function=ncclAllReduce)" collective
"$tactus" cuda -o "$scratch/nccl.tac" -- "${calls[@]}" >/dev/null 2>&1
shown() { "$tactus" cuda -i "$scratch/nccl.tac" --json | json '[(r["function"], r["type"], r["count"], r["bytes"]) for r in rows if r.get("table") == "collectives"]'; }
is "calls of NCCL are the same from a recording" "$(shown)" "$(nccl True '(r["function"], r["type"], r["count"], r["bytes"])')"

echo "# two ranks, each with two communicators"
# Each rank is a process of its own: 20 and 30 rounds on its own two communicators, which both name alike, as pointers may be in two processes.
for rank in 0 1; do
	printf 'RANK=%s WORLD_SIZE=2 build/workloads/nccl_calls %q %s &\n' $rank "$PWD/build/workloads/libnccl.so" $((20 + 10 * rank))
done >"$scratch/ranks"
printf 'wait\n' >>"$scratch/ranks"
rows_of "$tactus" cuda --json -o "$scratch/ranks.tac" -- bash "$scratch/ranks"
is "two ranks are watched to their end" "$? $(grep -c '^calls' "$scratch/said")" "0 2"
is "all-reduces of two ranks are counted rank by rank, by type and communicator" \
	"$(nccl 'r["function"] == "ncclAllReduce"' '(r["type"], r["communicator"], r["count"], r["bytes"])' | python3 -c 'import ast, sys; print(*sorted(ast.literal_eval(sys.stdin.read())), sep="; ")')" \
	"('bfloat16', '0x1001', 20, 20000); ('bfloat16', '0x1001', 30, 30000); ('float32', '0x1000', 20, 80000); ('float32', '0x1000', 30, 120000)"
say_measured "two ranks: $(nccl 'r["function"] == "ncclAllReduce"' 'f"{r["type"]} on {r["communicator"]} {r["count"]} times, {r["bytes"]} bytes, {r["total_ns"] // 1000} us"')"
is "each rank's calls are those of one process" \
	"$(nccl 'r["function"] == "ncclAllReduce"' '(r["pid"], r["count"])' | python3 -c 'import ast, sys; rows = ast.literal_eval(sys.stdin.read()); print(len({p for p, n in rows}), sorted(len({n for q, n in rows if q == p}) for p, n in set(rows)))')" "2 [1, 1]"
is "the total of a rank's all-reduces is no less than they take" \
	"$(nccl 'r["type"] == "float32"' 'r["total_ns"] >= r["count"] * 1000000')" "[True, True]"
is "calls of two ranks are the same from a recording" \
	"$("$tactus" cuda -i "$scratch/ranks.tac" --json | grep '"table":"collectives"')" "$(grep '"table":"collectives"' "$scratch/rows")"
done_testing
