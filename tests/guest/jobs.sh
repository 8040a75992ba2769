#!/usr/bin/env bash
# Jobs in the queues of the kernel's scheduler for GPUs, on a stock kernel: its module comes while tactus watches, and what tactus reads
# of its tracepoints is what this kernel's own module describes. No driver of a VM queues jobs there: how they are counted is
# in tests/host/86-gpu-jobs.sh. Runs in a VM.
. tests/tap.sh

events=/sys/kernel/tracing/events/gpu_scheduler
others=launch:,gpu:,wine:,input:,frame:,socket:,sound:,learned:,cuda:,fence:,memory:,display:,feed:,stacks:
jobs_by_doctor() { TACTUS_SKIP_HOOKS=$others "$tactus" doctor --json | json '[(s["state"], s["hook"]) for s in d["sensors"] if s["name"] == "jobs"]'; }

mountpoint -q /sys/kernel/tracing || mount -t tracefs none /sys/kernel/tracing
is "the tracepoints of the scheduler for GPUs are not there without a driver that uses it" "$(ls -d $events 2>/dev/null)" ""
is "doctor: the jobs sensor waits where no driver uses the scheduler for GPUs, and that is no fault" "$(jobs_by_doctor)" "[('ok', 'none yet')]"
TACTUS_SKIP_HOOKS=$others "$tactus" gpu -v >"$scratch/out" 2>"$scratch/err" &
watcher=$!
wait_for "$scratch/err" watching
modprobe gpu-sched
wait_for "$scratch/err" 'jobs: .*watched from now on'
is "jobs are watched once the kernel's scheduler for GPUs has come" "$(grep -c 'jobs: .*watched from now on' "$scratch/err")" 1
kill -INT $watcher
wait $watcher
is "gpu ends well after the scheduler for GPUs has come" $? 0
is "nothing is complained of as the scheduler for GPUs comes" "$(grep "can't be watched" "$scratch/err")" ""
is "doctor: the jobs sensor takes the kernel's own tracepoints" "$(jobs_by_doctor)" "[('ok', 'tracepoint/gpu_scheduler')]"

# What is read of each: eight bytes of a number or an address, four of where a text is.
# sizes TRACEPOINT FIELD...: with its type, as the kernel describes it
sizes() {
	local name=$1 field
	shift
	for field in "$@"; do sed -nE "s/^\tfield:(.*[ *])$field;\toffset:[0-9]+;\tsize:([0-9]+);.*/$field \1\2/p" "$events/$name/format"; done | tr -s ' ' | paste -sd,
}
if [ -e $events/drm_sched_job_queue ]; then
	say_measured "drm_sched_job_queue: $(sed -nE 's/^\tfield:(.*);\toffset:([0-9]+);\tsize:([0-9]+);.*/\1 at \2/p' $events/drm_sched_job_queue/format | paste -sd,)"
	for name in drm_sched_job_queue drm_sched_job_run; do
		is "$name names a job by two numbers, its device and its ring by texts" "$(sizes $name fence_context fence_seqno dev name)" \
			"fence_context u64 8,fence_seqno u64 8,dev __data_loc char[] 4,name __data_loc char[] 4"
		is "$name has its fields where drm_sched_job_queue has them" "$(grep -E 'fence_context|fence_seqno' $events/$name/format)" "$(grep -E 'fence_context|fence_seqno' $events/drm_sched_job_queue/format)"
	done
	is "drm_sched_job_done names a job by the same two numbers" "$(sizes drm_sched_job_done fence_context fence_seqno)" "fence_context u64 8,fence_seqno u64 8"
else
	say_measured "drm_sched_job: $(sed -nE 's/^\tfield:(.*);\toffset:([0-9]+);\tsize:([0-9]+);.*/\1 at \2/p' $events/drm_sched_job/format | paste -sd,)"
	for name in drm_sched_job drm_run_job; do
		is "$name names a job by its fence, and its ring by a text" "$(sizes $name fence name)" "fence struct dma_fence * 8,name __data_loc char[] 4"
		is "$name has its fields where drm_sched_job has them" "$(grep -E 'fence|name;' $events/$name/format)" "$(grep -E 'fence|name;' $events/drm_sched_job/format)"
	done
	is "drm_sched_process_job names a job by its fence" "$(sizes drm_sched_process_job fence)" "fence struct dma_fence * 8"
fi
done_testing
