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
done_testing
