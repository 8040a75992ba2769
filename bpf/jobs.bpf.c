// SPDX-License-Identifier: GPL-2.0
/* How long work waits in the queues of the kernel's scheduler for GPUs (drm_sched), and how long a ring then takes over
 * it: by its tracepoints, whose names and layouts changed in Linux 6.17. Where fields lie, the program has read from
 * their formats. */
#include "roles.h"
#include "../core/job_format.h"

char LICENSE[] SEC("license") = "GPL";

enum { JOBS_MAX = 4096 };

const volatile struct job_format format = {};

/* Since 6.17 the context and number of the job's fence, before that its address. */
struct job_key {
	u64 first;
	u64 second;
};

struct job {
	u64 queued_ns;
	u64 run_ns; /* 0: not yet */
	u32 tid;
	u32 unused;
	struct comm device;
	struct comm ring;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, JOBS_MAX);
	__type(key, struct job_key);
	__type(value, struct job);
} jobs SEC(".maps");

/* Jobs that the map had no room for. */
u64 jobs_refused = 0;

static __always_inline u64 number_at(const void *ctx, u32 offset)
{
	u64 number = 0;

	bpf_probe_read_kernel(&number, sizeof(number), ctx + offset);
	return number;
}

/* The low half of the field says how far from here the text is. */
static __always_inline void text_at(struct comm *into, const void *ctx, u32 offset)
{
	u32 where = 0;

	bpf_probe_read_kernel(&where, sizeof(where), ctx + offset);
	bpf_probe_read_kernel_str(into->text, COMM_LEN, ctx + (where & 0xffff));
}

static __always_inline struct job_key key_at(const void *ctx, u32 first, u32 second)
{
	return (struct job_key){ number_at(ctx, first), second ? number_at(ctx, second) : 0 };
}

/* In the thread that submits. */
SEC("tracepoint")
int on_job_queue(void *ctx)
{
	struct task_struct *current = bpf_get_current_task_btf();
	struct job_key key = key_at(ctx, format.job_first, format.job_second);
	u32 cpu_id = bpf_get_smp_processor_id();
	struct sched_cpu *cpu = cpu_state(cpu_id);
	struct task_ctx *thread = thread_here(current);
	struct job job = { .queued_ns = bpf_ktime_get_ns(), .device = { "drm_sched" } };

	if (!cpu || cpu->window != WINDOW_OPEN || (thread ? !thread->watched : filters_threads()))
		return 0;
	/* Its end comes where this thread is not known. */
	if (thread) {
		emit_thread_info(cpu, cpu_id, current, thread, job.queued_ns, 0, true);
		job.tid = tid_of(current);
	}
	text_at(&job.ring, ctx, format.ring);
	if (format.device)
		text_at(&job.device, ctx, format.device);
	if (bpf_map_update_elem(&jobs, &key, &job, BPF_ANY))
		__sync_fetch_and_add(&jobs_refused, 1);
	return 0;
}

static __always_inline void send(const struct job *job, const struct job_key *key, u64 since_ns, u64 now_ns, u8 flags)
{
	u32 cpu_id = bpf_get_smp_processor_id();
	struct sched_cpu *cpu = cpu_state(cpu_id);
	struct event_fence *event;

	if (!cpu || cpu->window != WINDOW_OPEN)
		return;
	event = EVENT_BEGIN(cpu, cpu_id, FENCE, event_fence, now_ns, job->tid, true);
	if (!event)
		return;
	event->head.flags = flags;
	event->took_ns = span_between(since_ns, now_ns);
	event->context = (u32)key->first;
	event->seqno = (u32)key->second;
	event->driver = job->device;
	event->timeline = job->ring;
	event_send(cpu, event, sizeof(*event));
}

SEC("tracepoint")
int on_job_run(void *ctx)
{
	struct job_key key = key_at(ctx, format.job_first, format.job_second);
	struct job *job = bpf_map_lookup_elem(&jobs, &key);
	u64 now_ns = bpf_ktime_get_ns();

	if (!job)
		return 0;
	job->run_ns = now_ns;
	send(job, &key, job->queued_ns, now_ns, EVENT_FLAG_QUEUED);
	return 0;
}

SEC("tracepoint")
int on_job_done(void *ctx)
{
	struct job_key key = key_at(ctx, format.done_first, format.done_second);
	struct job *job = bpf_map_lookup_elem(&jobs, &key);

	if (!job)
		return 0;
	if (job->run_ns)
		send(job, &key, job->run_ns, bpf_ktime_get_ns(), EVENT_FLAG_RAN);
	bpf_map_delete_elem(&jobs, &key);
	return 0;
}
