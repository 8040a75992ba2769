#!/usr/bin/env bash
# The trace of 'tactus cuda -o': every type of event, from a recording made by hand, since no machine here has the driver.
. tests/tap.sh

python3 tests/recording.py "$scratch/cuda.tac" <<'END'
thread 0 100 0 pid=100 comm=python3
thread 0 200 1 pid=200 comm=nv_queue
cuda_name 1 0 0 handle=1 what=1 name=cuMemAlloc_v2
cuda_name 1 0 0 handle=2 what=1 name=nvidia:nvidia_unlocked_ioctl
cuda_name 1 0 0 handle=3 what=1 name=nvidia:nv_gpu_scheduler_schedule
cuda_name 1 0 0 handle=4 what=1 name=nvidia:os_alloc_mem
cuda_name 1 0 0 handle=5 what=1 name=nvidia:nvidia_isr
cuda_call 110 100 0 function=4 duration_ns=5000 address=0x1000 stream=0x40 bytes=3 pid=100 flags=64
cuda_call 120 100 0 function=2 duration_ns=40000 address=0x10 stream=0x20 bytes=0x30 pid=100 flags=64
cuda_call 123 100 0 function=5 duration_ns=1000 pid=100 copy=2 flags=64
cuda_ioctl 125 100 0 duration_ns=50000 cmd=0xc030462b device=1
cuda_call 130 100 0 function=1 duration_ns=100000 bytes=4096 address=0x7f00 pid=100
cuda_call 140 200 1 function=3 duration_ns=1000 pid=200 copy=1 flags=64
fence 160 100 0 took_ns=30000 context=7 seqno=9 driver=nvidia-drm timeline=gfx
gpu_memory 170 100 0 bytes=1048576 gpu=0 pid=100
cuda_xid 180 0 0 code=31 message=MMU~fault
END
"$tactus" cuda -i "$scratch/cuda.tac" -o "$scratch/trace.jsonl" >"$scratch/out" 2>"$scratch/err"
is "a trace of every type is written" $? 0
of() { json "[($2) for r in rows if $1]" <"$scratch/trace.jsonl"; }
is "a trace has each type of event that there is" "$(json 'sorted({r["type"] for r in rows})' <"$scratch/trace.jsonl")" \
	"['gpu_complete', 'gpu_error', 'gpu_mem', 'kernel', 'kernel_mem', 'scheduler', 'syscall', 'userspace']"
is "only calls into libcuda have a result of libcuda's" "$(json '{r["type"] for r in rows if "result_name" in r}' <"$scratch/trace.jsonl")" "{'userspace'}"
is "a driver's function has its first arguments, where it begins and where it ends" \
	"$(of 'r["name"] == "nvidia:nvidia_unlocked_ioctl"' 'r["phase"] + " " + " ".join(r["arguments"])')" "['B 0x10 0x20 0x30', 'E 0x10 0x20 0x30']"
is "a driver's function in a kernel thread is told apart" "$(of 'r["type"] == "scheduler"' 'r["context"]')" "['kernel thread', 'kernel thread']"
is "a driver's function in an interrupt is told apart" "$(of 'r["name"] == "nvidia:nvidia_isr"' 'r["context"]')" "['interrupt', 'interrupt']"
is "a driver's function that allocates is of the kernel's memory" "$(of 'r["type"] == "kernel_mem"' 'r["name"]')" "['nvidia:os_alloc_mem', 'nvidia:os_alloc_mem']"
is "a fence has its driver, number and time" "$(of 'r["type"] == "gpu_complete"' 'r["fence"], r["seqno"], r["took_us"]')" "[('nvidia-drm', 9, 30.0)]"
is "a GPU's memory has its bytes" "$(of 'r["type"] == "gpu_mem"' 'r["bytes"]')" "[1048576]"
is "an Xid has its number and message" "$(of 'r["type"] == "gpu_error"' 'r["xid"], r["message"]')" "[(31, 'MMU fault')]"
is "a line has its moment by the clock that it names" "$(json '{(r["clock"], r["time_ns"] - round(r["ts"] * 1e6)) for r in rows}' <"$scratch/trace.jsonl")" \
	"$(json '{("monotonic", rows[0]["time_ns"] - round(rows[0]["ts"] * 1e6))}' <"$scratch/trace.jsonl")"
is "a line has the moment of its event" "$(of 'r["type"] == "gpu_complete"' 'r["time_ns"]')" "[1000160000]"
is "lines are in the order of time" "$(json '[r["ts"] for r in rows] == sorted(r["ts"] for r in rows)' <"$scratch/trace.jsonl")" True
"$tactus" cuda -i "$scratch/cuda.tac" --json >"$scratch/rows" 2>/dev/null
is "an interrupt's time is not the thread's: no ioctl has it" "$(json '[r["spans"] for r in rows if r.get("table") == "layers" and "functions in ioctls" in r["layer"]]' <"$scratch/rows")" "[1]"
"$tactus" cuda -i "$scratch/cuda.tac" -o "$scratch/trace.json" >/dev/null 2>&1
is "a trace for chrome://tracing has fences and Xids as moments" \
	"$(json 'sorted(e["cat"] for e in d["traceEvents"] if e["ph"] == "i")' <<<"$(tr -d '\n' <"$scratch/trace.json")")" "['gpu_complete', 'gpu_error', 'gpu_mem']"
done_testing
