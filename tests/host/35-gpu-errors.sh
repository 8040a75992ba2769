#!/usr/bin/env bash
# Errors that NVIDIA's driver reports of its GPUs, without the driver: another tracepoint, whose arguments a program chooses, lies where
# tactus looks for the driver's, with a format of the test's. Where the fields lie is read from that, live, also of a driver that comes later.
. tests/tap.sh
. tests/posed.sh

if ! can_pose kcmp; then
	skip "errors of a GPU by the tracepoint of another" "the kernel has no tracepoint for this system call"
	done_testing
	exit
fi
# Of the jobs of tests/workloads/gpu_jobs.c: the second argument is a number from 1 on, the fourth a text that the third tells of.
pose() { { field dev '__data_loc char[]' 32 4; field error_code u32 24 4; field msg '__data_loc char[]' 32 4; } | poses nvidia nvidia_dev_xid kcmp; }
others() { { field dev '__data_loc char[]' 32 4; field code u32 24 4; } | poses nvidia nvidia_dev_xid kcmp; }
# errors FILE: of a trace
errors() { json '[(r["xid"], r["message"]) for r in rows if r["type"] == "gpu_error"]' <"$1"; }

pose
posed nvidia "$tactus" cuda -o "$scratch/trace.jsonl" -- build/workloads/gpu_jobs 3 0 >"$scratch/out" 2>"$scratch/err"
is "cuda ends well as a GPU reports errors" $? 0
is "a trace that is taken live has each error that the GPU reports, with its message" "$(errors "$scratch/trace.jsonl")" "[(1, 'gfx'), (2, 'gfx'), (3, 'gfx')]"
is "cuda says each error at once, in words" "$(sed -n 's/.*the GPU reports an error: //p' "$scratch/err" | paste -sd,)" "Xid 1: gfx,Xid 2: gfx,Xid 3: gfx"
posed nvidia "$tactus" cuda --json -o "$scratch/recording" -- build/workloads/gpu_jobs 2 0 >"$scratch/rows" 2>"$scratch/err"
is "rows have the errors of the GPU, the last first" "$(grep '"record":"cuda_xid"' "$scratch/rows" | json '[(r["xid"], r["message"]) for r in rows]')" "[(2, 'gfx'), (1, 'gfx')]"
"$tactus" cuda -i "$scratch/recording" -o "$scratch/replayed.jsonl" >/dev/null 2>&1
is "a recording has the same errors of the GPU" "$(errors "$scratch/replayed.jsonl")" "[(1, 'gfx'), (2, 'gfx')]"

echo "# a driver that is loaded while tactus watches"
mv "$scratch/events/nvidia" "$scratch/events/later"
: >"$scratch/err"
posed nvidia "$tactus" cuda >"$scratch/out" 2>"$scratch/err" &
watcher=$!
wait_for "$scratch/err" watching
mv "$scratch/events/later" "$scratch/events/nvidia"
for _ in $(seq 200); do
	build/workloads/gpu_jobs 2 0 >"$scratch/said"
	! grep -q 'reports an error: Xid 2' "$scratch/err" || break
done
end_posed $watcher
is "cuda ends well after a driver came" $? 0
like "errors of a driver that came while tactus watched are said" "$(cat "$scratch/err")" 'the GPU reports an error: Xid 2: gfx'

others
posed nvidia "$tactus" cuda -- build/workloads/gpu_jobs 2 0 >"$scratch/out" 2>"$scratch/err"
is "cuda says once that errors are not seen where the driver's tracepoint has other fields" "$(grep -c 'errors of the GPU are not seen: nvidia:nvidia_dev_xid has other fields' "$scratch/err")" 1
done_testing
