#!/usr/bin/env bash
# JSON is an interface: what every view prints, against docs/json.md. Views read recordings made by hand where the machine has no such
# event; the rest is live.
. tests/tap.sh

export TACTUS_FEED=$scratch/feed
example=examples/late-frames.tactus
library=build/workloads/libcuda.so.1
mkdir "$scratch/json"
# print NAME VIEW OPTION...: into a file of that name
print() {
	local name=$1 view=$2
	shift 2
	"$tactus" "$view" --json --report "$scratch/json/$name" "$@" >/dev/null 2>"$scratch/err" </dev/null || flunk "$view $* prints JSON" "$(cat "$scratch/err")"
}
# One of each kind of event, all zero but for what is not allowed to be.
python3 - <<'END' >"$scratch/kinds"
import re
for number, name in enumerate(re.findall(r"^\s*EVENT\(\w+, (\w+),", open("core/event.h").read(), re.M), 1):
    print(name, number, 1, 0)
END
python3 tests/recording.py "$scratch/kinds.tac" <"$scratch/kinds"
python3 tests/recording.py "$scratch/devices.tac" <<'END'
thread 0 100 0 pid=100 comm=game
device 1 0 0 device=5 node=3 device_kind=1 name=mouse
input 1000 0 0 device=5 events=2 interval_ns=1000000
input_wake 1100 100 0 device=5 delay_ns=100000 device_kind=1
submit 2000 100 0 took_ns=1000 driver=1 work=1
submit 5000 100 0 took_ns=1000 interval_ns=3000000 driver=1 work=1
fence 6000 100 0 took_ns=500000 driver=i915 timeline=rcs
fence 6200 100 0 took_ns=300000 driver=pci timeline=gfx flags=1
fence 6300 100 0 took_ns=100000 driver=pci timeline=gfx flags=2
gpu_memory 7000 100 0 bytes=4096 gpu=0 pid=100
END
python3 tests/recording.py "$scratch/clicks.tac" <<'END'
thread 0 100 0 pid=100 comm=game
device 1 0 0 device=5 node=3 device_kind=1 name=mouse
input 1000 0 0 device=5 events=2
input_wake 1100 100 0 device=5 delay_ns=100000 device_kind=1
frame 4000 100 0 number=1 api=6
vblank 9000 100 0 at_ns=1009000000 seq=7 display=1
END
# A stall is longer than the fourth longest of those before it.
{
	echo 'thread 0 100 0 pid=100 comm=game'
	for ((i = 1; i <= 300; i++)); do
		echo "submit $((i * 1000)) 100 0 took_ns=1000 interval_ns=$((i > 1 ? 1000000 : 0)) driver=1 work=1"
	done
	echo 'submit 400000 100 0 took_ns=50000000 interval_ns=100000000 driver=1 work=1'
} | python3 tests/recording.py "$scratch/stalls.tac"
python3 tests/recording.py "$scratch/cuda.tac" <<'END'
thread 0 100 0 pid=100 comm=python3
cuda_name 1 0 0 handle=1 what=1 name=cuMemAlloc_v2
cuda_name 1 0 0 handle=2 what=1 name=cuMemcpyHtoD_v2
cuda_name 1 0 0 handle=3 what=1 name=cuLaunchKernel
cuda_name 1 0 0 handle=4 what=1 name=nvidia:os_alloc_mem
cuda_name 1 0 0 handle=0x77 what=2 pid=100 name=_Z3addPf
cuda_ioctl 125 100 0 duration_ns=50000 cmd=0xc030462b device=1 status=5
cuda_call 130 100 0 function=1 duration_ns=100000 bytes=4096 address=0x7f00 stream=1 pid=100
cuda_call 140 100 0 function=4 duration_ns=1000 pid=100 flags=64
cuda_launch 150 100 0 function=3 kernel=0x77 grid_x=1 grid_y=1 grid_z=1 block_x=1 block_y=1 block_z=1 flags=128
cuda_call 200 100 0 function=2 duration_ns=1000 bytes=4096 copy=1 pid=100
cuda_call 300 100 0 function=2 duration_ns=1000 result=1 copy=1 pid=100
fence 310 100 0 took_ns=30000 driver=nvidia-drm timeline=gfx
gpu_memory 320 100 0 bytes=1048576 gpu=0 pid=100
cuda_xid 400 0 0 code=31 message=MMU~fault
thread 401 7 0 pid=7 comm=kworker/0:1
cuda_work 410 7 0 duration_ns=5000 queued_ns=100 pid=100 for_tid=100 function=flush_to_ldisc
END
python3 tests/recording.py "$scratch/inversion.tac" <<'END'
thread 0 10 0 pid=10 comm=low
thread 0 20 0 pid=20 comm=urgent
sample 1 10 0 prio=121
wakeup 1000 20 0 waker_tid=10 target_cpu=0 prio=51
switch 300000 10 0 next_tid=20 prev_prio=121 next_prio=51 flags=1
switch 400000 20 0 next_tid=0 prev_state=1 prev_prio=51 next_prio=140
END
print kinds events -i "$scratch/kinds.tac"
"$tactus" events --only help --json >"$scratch/json/kinds-list"
print events events -i "$example"
for view in tasks affinity migrations roles; do
	print $view $view -i "$example"
done
print intervals tasks -i "$example" --interval 2
print processes tasks -i "$example" --by process
print latency latency -i "$example" --over 1ms
print latency-processes latency -i "$example" --by process
python3 tests/recording.py "$scratch/stacks.tac" <<'END'
thread 0 10 0 pid=10 comm=waiter
thread 0 20 0 pid=20 comm=waker
stack 1000 10 0 off_ns=900000 wait_ns=500000 kernel=1 user=2 waker_tid=20 waker_pid=20 waker_kernel=3 waker_user=4
stack_frame 1100 0 0 pid=10 stack=2 frame=0 name=work
END
print stacks latency -i "$scratch/stacks.tac" --stacks
print inversions inversions -i "$scratch/inversion.tac"
print report report -i "$example"
print report-kinds report -i "$scratch/kinds.tac"
print misses misses --all -i "$example"
print frames frames --why -i "$example"
print frames-each frames --each -i "$example"
print gpu gpu -i "$scratch/devices.tac"
print stalls gpu -i "$scratch/stalls.tac"
print input input -i "$scratch/devices.tac"
print to-frame input --to-frame -i "$scratch/clicks.tac"
print cuda cuda -i "$scratch/cuda.tac"
python3 tests/steps.py | python3 tests/recording.py "$scratch/steps.tac"
CUDA_DOUBLE_MEMORY=1 TACTUS_NVIDIA_MAJORS=1,5 print driver-memory cuda --library $library -- build/workloads/cuda_calls $library leak
LD_LIBRARY_PATH=$PWD/build/workloads print nccl cuda -- build/workloads/nccl_calls "$PWD/build/workloads/libnccl.so" 2
print steps cuda --steps -i "$scratch/steps.tac"
print h200 cuda -i tests/recordings/h200-startup.tac
"$tactus" cuda -i "$scratch/cuda.tac" -o "$scratch/json/trace.jsonl" >/dev/null 2>&1
"$tactus" cuda -i tests/recordings/h200-startup.tac -o "$scratch/json/trace2.jsonl" >/dev/null 2>&1
# Those that print no report of what they watch, or have to watch.
print cpus cpus -d 0.1
print seconds cuda --live --library $library -- build/workloads/cuda_calls $library waits 80
LD_LIBRARY_PATH=$PWD/build/workloads "$tactus" cuda --list 'cu*' --json >"$scratch/json/list" 2>/dev/null
print record record --without all -o "$scratch/rec" -- true
"$tactus" record --without all --ring 1s --on late-frame -o "$scratch/ring" --json -- sh -c 'sleep 1; kill -USR1 $PPID; sleep 1' >"$scratch/json/ring" 2>/dev/null
"$tactus" cut -i "$example" -o "$scratch/part" --around 182 --json >"$scratch/json/cut"
"$tactus" compare "$example" "$example" --json >"$scratch/json/compare"
"$tactus" trial --actuator none --without all --turn 500ms --by waits -d 5 --json -- build/workloads/pace 5000 200 60000 2>/dev/null | grep '^{' >"$scratch/json/trial"
python3 tests/turns.py | python3 tests/recording.py "$scratch/turns.tac" 1
"$tactus" simulate -i "$scratch/turns.tac" --json >"$scratch/json/simulate" 2>/dev/null
"$tactus" simulate -i "$scratch/turns.tac" --sweep 2,4 --json >"$scratch/json/sweep" 2>/dev/null
cp "$scratch/turns.tac" "$scratch/held.tac"
"$tactus" tune "$scratch/turns.tac" --held "$scratch/held.tac" --json >"$scratch/json/tune" 2>/dev/null
"$tactus" tasks -i "$example" -i "$scratch/part" --json >"$scratch/json/several"
"$tactus" export --json -i "$example" -o "$scratch/example.pftrace" >"$scratch/json/export" 2>/dev/null
# A game that shows no frames is told after ten seconds.
"$tactus" run --actuator none --without gpu,feed,wine,input,frame,socket,sound,learned,display,names,runtime --game $$ -d 12 --json \
	>"$scratch/json/run" 2>/dev/null
python3 -c 'import struct, sys
entry = struct.pack("<16sB7xQQQQII", b"kind", 2, 1000000, 0, 10, 10, 9, 9)
open(sys.argv[1], "wb").write(b"PDDB" + struct.pack("<II", 2, 1) + entry)
open(sys.argv[2], "wb").write(b"PDDB" + struct.pack("<II", 2, 2) + entry)' "$scratch/pddb" "$scratch/cut"
"$tactus" db import "$scratch/pddb" >/dev/null
"$tactus" db list --json >"$scratch/json/db-list"
"$tactus" db show kind --json >"$scratch/json/db-show"
"$tactus" db merge --json "$scratch/pddb" >"$scratch/json/db-merge"
"$tactus" run --actuator none --without all -d 5 >/dev/null 2>"$scratch/run-err" &
runner=$!
wait_for "$scratch/run-err" "observing only"
"$tactus" db summary --json >"$scratch/json/db-summary"
kill -INT $runner
wait $runner
"$tactus" db check "$scratch/cut" --json >"$scratch/json/db-check" 2>/dev/null
"$tactus" config --all --json >"$scratch/json/config"
"$tactus" doctor --json >"$scratch/json/doctor" 2>/dev/null
say_measured "$(cat "$scratch"/json/* | wc -l) objects of $(cat "$scratch"/json/* | grep -oE '^\{"record":"[a-z_0-9]+"' | sort -u | wc -l) kinds of records"
is "docs/json.md and what the program prints have the same records and fields" "$(python3 tests/json_check.py --elsewhere fleet_rank "$scratch"/json/* 2>&1)" ""
done_testing
