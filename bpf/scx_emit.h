/* SPDX-License-Identifier: GPL-2.0 */
/* What the scheduler reports: its decisions as events in the stream, its state in the kernel's dump, its exit record.
 */
#ifndef TACTUS_BPF_SCX_EMIT_H
#define TACTUS_BPF_SCX_EMIT_H

#include "scx_state.h"

/* Sends a decision as an event, where one is wanted. */
static __always_inline void send_decision(struct task_struct *p, struct task_ctx *thread, u64 now_ns,
					  const struct event_decision *decision)
{
	u32 cpu_id = bpf_get_smp_processor_id();
	struct sched_cpu *cpu = cpu_state(cpu_id);
	struct event_decision *event;

	if (!(config.emit & EVENTS_SCHED) || !thread->watched || !cpu || cpu->window != WINDOW_OPEN)
		return;
	emit_thread_info(cpu, cpu_id, p, thread, now_ns, 0, false);
	event = EVENT_BEGIN(cpu, cpu_id, DECISION, event_decision, now_ns, tid_of(p), false);
	if (!event)
		return;
	event->what = decision->what;
	event->tier = (u8)thread->scx.tier;
	event->from_cpu = decision->from_cpu;
	event->to_cpu = decision->to_cpu;
	event->boost = decision->boost;
	event->other_tid = decision->other_tid;
	event->other_tier = decision->other_tier;
	event->wait_ns = decision->wait_ns;
	event_send(cpu, event, sizeof(*event));
}

SEC("struct_ops/dump")
void BPF_PROG(tactus_dump, struct scx_dump_ctx *dump)
{
	u32 cache, queued;

	scx_dump("tactus: slice %llu us, light %llu us", settings.slice_ns / NSEC_PER_USEC,
		 settings.light_ns / NSEC_PER_USEC);
	scx_dump("tactus: credit %llu, discount %llu", settings.credit, settings.discount);
	scx_dump("tactus: %llu threads came, %llu went", threads_joined, threads_left);
	bpf_for(cache, 0, settings.caches_len)
	{
		queued = (u32)scx_bpf_dsq_nr_queued(cache);
		scx_dump("tactus: cache %llu: %llu queued, clock %llu", cache, queued, *clock_of(cache));
	}
}

SEC("struct_ops/dump_cpu")
void BPF_PROG(tactus_dump_cpu, struct scx_dump_ctx *dump, s32 cpu, bool idle)
{
	struct cpu_run *run = run_on(cpu);
	u32 own = (u32)scx_bpf_dsq_nr_queued(queue_of_cpu(cpu));

	if (idle && !own)
		return;
	scx_dump("tactus: thread %llu of tier %llu for %llu us, %llu queued for this CPU alone", run->tid, run->tier,
		 (bpf_ktime_get_ns() - run->since_ns) / NSEC_PER_USEC, own);
}

SEC("struct_ops/dump_task")
void BPF_PROG(tactus_dump_task, struct scx_dump_ctx *dump, struct task_struct *p)
{
	struct task_ctx *thread = thread_of(p);

	if (thread)
		scx_dump("tactus: role %llu (%llu %%), tier %llu, queue %llu, vtime %llu, burst %llu us, waits since "
			 "%llu",
			 thread->role.answer.role, thread->role.answer.confidence, thread->scx.tier, thread->scx.queue,
			 thread->scx.vtime, thread->scx.burst_ns / NSEC_PER_USEC, thread->scx.queued_at_ns);
}

SEC("struct_ops/exit")
void BPF_PROG(tactus_exit, struct scx_exit_info *info)
{
	bpf_probe_read_kernel_str(exit_info.reason, sizeof(exit_info.reason), info->reason);
	bpf_probe_read_kernel_str(exit_info.message, sizeof(exit_info.message), info->msg);
	bpf_probe_read_kernel_str(exit_info.dump, sizeof(exit_info.dump), info->dump);
	exit_info.code = info->exit_code;
	/* Last: it marks the record as complete. */
	exit_info.kind = info->kind;
}

#endif
