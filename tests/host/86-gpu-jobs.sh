#!/usr/bin/env bash
# Jobs in the queues of the kernel's scheduler for GPUs, without a GPU: in a mount namespace of its own the test puts other tracepoints, whose
# arguments a program chooses, where tactus looks for those of gpu_scheduler, with the formats of Linux 6.17 and of those before.
. tests/tap.sh

. tests/posed.sh

if ! can_pose kcmp set_mempolicy_home_node; then
	skip "jobs of a GPU by the tracepoints of others" "the kernel has no tracepoints for these system calls"
	done_testing
	exit
fi

pose_new() {
	for pair in queue:kcmp run:get_mempolicy; do
		{ field name '__data_loc char[]' 32 4; field dev '__data_loc char[]' 36 4; field fence_context u64 16 8; field fence_seqno u64 24 8; } |
			poses gpu_scheduler "drm_sched_job_${pair%:*}" "${pair#*:}"
	done
	{ field fence_context u64 16 8; field fence_seqno u64 24 8; } | poses gpu_scheduler drm_sched_job_done set_mempolicy_home_node
}
# There the fence's address is all that names a job: the program's second argument is as good.
pose_old() {
	for pair in drm_sched_job:kcmp drm_run_job:get_mempolicy; do
		{ field entity 'struct drm_sched_entity *' 8 8; field fence 'struct dma_fence *' 24 8; field name '__data_loc char[]' 32 4; } | poses gpu_scheduler "${pair%:*}" "${pair#*:}"
	done
	field fence 'struct dma_fence *' 24 8 | poses gpu_scheduler drm_sched_process_job set_mempolicy_home_node
}
said() { sed -n "s/^$1 //p" "$scratch/out"; }
near() { awk -v got="$1" -v want="$2" 'BEGIN { exit !(got > want * 0.9 && got < want * 1.15 + 200000) }'; }

for generation in new old; do
	rm -rf "$scratch/events"
	pose_$generation
	is "doctor: the jobs sensor takes the $generation tracepoints" "$(posed gpu_scheduler "$tactus" doctor --json | json '[(s["state"], s["hook"]) for s in d["sensors"] if s["name"] == "jobs"]')" \
		"[('ok', 'tracepoint/gpu_scheduler')]"
	posed gpu_scheduler "$tactus" gpu --json -o "$scratch/recording" -- build/workloads/gpu_jobs 60 40 >"$scratch/out" 2>"$scratch/err"
	is "gpu with the $generation tracepoints ends well" $? 0
	grep '^{' "$scratch/out" >"$scratch/rows"
	json '"\n".join(" ".join(str(r.get(k)) for k in ("jobs", "ring", "device", "queue_p50_ns", "run_p50_ns", "run_max_ns", "idles", "idle_p50_ns")) for r in rows if r["record"] == "gpu_ring")' <"$scratch/rows" >"$scratch/ring"
	read -r jobs ring device queue run longest idles idle <"$scratch/ring"
	say_measured "$generation: jobs, ring, device, queue p50, run p50, run max, idles, idle p50: $(cat "$scratch/ring"); the program: queue $(said queue), run $(said run), idle $(said idle)"
	is "$generation: every job is counted, on its ring" "$jobs $ring $idles" "60 gfx 59"
	is "$generation: the device is named where the kernel names it" "$device" "$([ $generation = new ] && echo pci:3 || echo drm_sched)"
	holds "$generation: the median time in the queue is the program's own" near "$queue" "$(said queue | cut -d ' ' -f 1)"
	holds "$generation: the median time on the ring is the program's own" near "$run" "$(said run | cut -d ' ' -f 1)"
	holds "$generation: the longest time on the ring is the program's own" near "$longest" "$(said run | cut -d ' ' -f 2)"
	holds "$generation: the median idle period is the program's own" near "$idle" "$(said idle | cut -d ' ' -f 1)"
	is "$generation: the job that took 200 ms is a stall of the ring, told with who submitted it" \
		"$(json '[(r["pid"], r["kind"]) for r in rows if r.get("stall") == "run" and r["span_ns"] > 190e6]' <"$scratch/rows")" "[($(said pid), 'gfx')]"
done
is "a recording has the same of the ring" "$("$tactus" gpu -i "$scratch/recording" --json 2>/dev/null | grep '"record":"gpu_ring"')" "$(grep '"record":"gpu_ring"' "$scratch/rows")"

echo "# beside calls of CUDA"
library=$PWD/build/workloads/libcuda.so.1
both="build/workloads/cuda_calls '$library' copies 3; build/workloads/gpu_jobs 20 0"
posed gpu_scheduler "$tactus" cuda --live --json --library "$library" -o "$scratch/cuda.tac" -- sh -c "$both" >"$scratch/out" 2>"$scratch/err"
is "cuda beside jobs of a GPU ends well" $? 0
grep '^{' "$scratch/out" >"$scratch/rows"
is "cuda counts each job of the GPU, on its ring" "$(json '[(r["ring"], r["jobs"]) for r in rows if r["record"] == "gpu_ring"]' <"$scratch/rows")" "[('gfx', 20)]"
is "cuda has its calls beside the GPU's jobs" "$(json '[r["calls"] for r in rows if r["record"] == "cuda_calls" and r["function"] == "cuMemcpyHtoD_v2"]' <"$scratch/rows")" "[3]"
is "the lines of cuda --live count each job of the GPU" "$(json 'sum(r["gpu_done"] for r in rows if r["record"] == "cuda_second")' <"$scratch/rows")" 20
is "cuda has the GPU's jobs from a recording" "$("$tactus" cuda -i "$scratch/cuda.tac" --json 2>/dev/null | grep '"record":"gpu_ring"')" "$(grep '"record":"gpu_ring"' "$scratch/rows")"
like "cuda shows the GPU's jobs under a head of their own" "$("$tactus" cuda -i "$scratch/cuda.tac" 2>/dev/null | grep -A 2 '^work that GPUs have done' | tail -n 1)" 'gfx +20'

echo "# a driver that is loaded while tactus watches"
mv "$scratch/events/gpu_scheduler" "$scratch/events/later"
is "doctor: the jobs sensor waits where no driver has such jobs" \
	"$(posed gpu_scheduler "$tactus" doctor --json | json '[(s["state"], s["hook"]) for s in d["sensors"] if s["name"] == "jobs"]')" "[('ok', 'none yet')]"
: >"$scratch/err"
posed gpu_scheduler "$tactus" gpu --interval 1 --json >"$scratch/out" 2>"$scratch/err" &
watcher=$!
wait_for "$scratch/err" watching
build/workloads/gpu_jobs 5 0 >"$scratch/said"
mv "$scratch/events/later" "$scratch/events/gpu_scheduler"
for _ in $(seq 100); do
	build/workloads/gpu_jobs 20 0 >"$scratch/said"
	! grep -q '"record":"gpu_ring"' "$scratch/out" || break
done
end_posed $watcher
is "gpu ends well after a driver came" $? 0
is "jobs of a driver that came while tactus watched are seen, on their ring" \
	"$(grep '"record":"gpu_ring"' "$scratch/out" | json '{r["ring"] for r in rows if r["jobs"]}')" "{'gfx'}"
is "nothing is complained of as a driver comes" "$(grep -c "can't be watched" "$scratch/err")" 0

rm "$scratch/events/gpu_scheduler/drm_sched_process_job/format"
is "doctor says that the fields are others where a format is not as known" \
	"$(posed gpu_scheduler "$tactus" doctor --json | json '[s["state"] for s in d["sensors"] if s["name"] == "jobs"]')" "['off']"
done_testing
