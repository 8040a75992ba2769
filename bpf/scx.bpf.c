// SPDX-License-Identifier: GPL-2.0
/* The scheduler: every runnable thread waits in one queue, ordered by the virtual time it has used so far.
 *
 * A thread that wakes while a CPU is idle goes straight to that CPU. Any other joins the queue at its own virtual time,
 * which grows by what it ran, divided by its weight: who used least runs next, and nice keeps its meaning. Sleeping
 * saves up one slice at most. The decisions are core/tier.h's; here they get their inputs and are carried out. */
#include "scx.h"
#include "../core/scx_exit.h"
#include "../core/tier.h"

char LICENSE[] SEC("license") = "GPL";

enum { SHARED_QUEUE = 0, ENOMEM = 12 };

/* The queue's clock: the virtual time of the thread that started last. */
static u64 queue_vtime;

struct scx_farewell farewell = {};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, SCX_COUNTERS);
	__type(key, u32);
	__type(value, u64);
} counters SEC(".maps");

/* What the scheduler keeps of each thread. */
struct thread {
	u64 charged_ns; /* how much of its CPU time has been turned into virtual time */
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct thread);
} threads SEC(".maps");

static __always_inline void count(u32 which)
{
	u64 *counter = bpf_map_lookup_elem(&counters, &which);

	if (counter)
		(*counter)++;
}

SEC("struct_ops/select_cpu")
s32 BPF_PROG(tactus_select_cpu, struct task_struct *p, s32 prev_cpu, u64 wake_flags)
{
	bool is_idle = false;
	s32 cpu = scx_bpf_select_cpu_dfl(p, prev_cpu, wake_flags, &is_idle);

	if (is_idle) {
		count(SCX_COUNT_IDLE);
		dsq_insert(p, scx_value(scx_dsq_id_flags, SCX_DSQ_LOCAL), TIER_SLICE_NS, 0);
	}
	return cpu;
}

SEC("struct_ops/enqueue")
void BPF_PROG(tactus_enqueue, struct task_struct *p, u64 enq_flags)
{
	u64 vtime = vtime_join(p->scx.dsq_vtime, queue_vtime, TIER_SLICE_NS);

	count(SCX_COUNT_QUEUED);
	dsq_insert_vtime(p, SHARED_QUEUE, TIER_SLICE_NS, vtime, enq_flags);
}

/* A thread's virtual time with what it has run since it was last charged. */
static __always_inline u64 vtime_now(struct task_struct *p)
{
	struct thread *thread = bpf_task_storage_get(&threads, p, NULL, 0);

	return p->scx.dsq_vtime +
	       (thread ? vtime_charge(p->se.sum_exec_runtime - thread->charged_ns, p->scx.weight) : 0);
}

/* The thread whose slice is over is not in the queue yet, so the queue's first would always win against it; two threads
 * would then take turns whatever their weights. */
static __always_inline bool goes_on(struct task_struct *prev)
{
	struct task_struct *first;

	if (!(prev->scx.flags & scx_value(scx_ent_flags, SCX_TASK_QUEUED)))
		return false;
	bpf_for_each(scx_dsq, first, SHARED_QUEUE, 0) return vtime_keeps_turn(vtime_now(prev), first->scx.dsq_vtime);
	return true;
}

SEC("struct_ops/dispatch")
void BPF_PROG(tactus_dispatch, s32 cpu, struct task_struct *prev)
{
	if (prev && goes_on(prev))
		prev->scx.slice = TIER_SLICE_NS;
	else
		dsq_move_to_local(SHARED_QUEUE);
}

SEC("struct_ops/running")
void BPF_PROG(tactus_running, struct task_struct *p)
{
	struct thread *thread = bpf_task_storage_get(&threads, p, NULL, 0);

	if (thread)
		thread->charged_ns = p->se.sum_exec_runtime;
	/* Two CPUs may race here; the clock is then off by less than a slice until the next thread starts. */
	if (vtime_before(queue_vtime, p->scx.dsq_vtime))
		queue_vtime = p->scx.dsq_vtime;
}

/* Charged is what the thread really ran, not what is gone of its slice: the kernel lengthens the slice of a thread that
 * has no rival, and yielding empties it. */
SEC("struct_ops/stopping")
void BPF_PROG(tactus_stopping, struct task_struct *p, bool runnable)
{
	p->scx.dsq_vtime = vtime_now(p);
}

SEC("struct_ops.s/init_task")
s32 BPF_PROG(tactus_init_task, struct task_struct *p, struct scx_init_task_args *args)
{
	return bpf_task_storage_get(&threads, p, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE) ? 0 : -ENOMEM;
}

SEC("struct_ops/enable")
void BPF_PROG(tactus_enable, struct task_struct *p)
{
	p->scx.dsq_vtime = queue_vtime;
}

SEC("struct_ops.s/init")
s32 BPF_PROG(tactus_init)
{
	return scx_bpf_create_dsq(SHARED_QUEUE, -1);
}

SEC("struct_ops/exit")
void BPF_PROG(tactus_exit, struct scx_exit_info *info)
{
	bpf_probe_read_kernel_str(farewell.reason, sizeof(farewell.reason), info->reason);
	bpf_probe_read_kernel_str(farewell.message, sizeof(farewell.message), info->msg);
	farewell.code = info->exit_code;
	/* Last, since it tells the program that the rest is there. */
	farewell.kind = info->kind;
}

SEC(".struct_ops.link")
struct sched_ext_ops tactus_ops = {
	.select_cpu = (void *)tactus_select_cpu,
	.enqueue = (void *)tactus_enqueue,
	.dispatch = (void *)tactus_dispatch,
	.running = (void *)tactus_running,
	.stopping = (void *)tactus_stopping,
	.enable = (void *)tactus_enable,
	.init_task = (void *)tactus_init_task,
	.init = (void *)tactus_init,
	.exit = (void *)tactus_exit,
	.timeout_ms = 5000,
	.name = "tactus",
};
