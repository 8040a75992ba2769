/* SPDX-License-Identifier: GPL-2.0 */
/* What is done when a thread starts to run: deadline misses and migrations are noted, and a thread that is not urgent
 * gives way. For the scheduler alone. */
#ifndef TACTUS_BPF_SCX_RUNNING_H
#define TACTUS_BPF_SCX_RUNNING_H

#include "scx_emit.h"

static __always_inline void emit_deadline_miss(struct task_struct *p, struct task_ctx *thread, struct cpu_run *run,
					       s32 cpu, u64 now_ns)
{
	struct event_decision decision = { .what = DECISION_DEADLINE_MISS, .from_cpu = (u16)cpu, .to_cpu = (u16)cpu };
	/* Who leaves the CPU is still the current thread here, also a realtime one, of which this scheduler knows
	 * nothing. */
	struct task_struct *leaving = bpf_get_current_task_btf();

	decision.wait_ns = thread->scx.queued_at_ns ? span_between(thread->scx.queued_at_ns, now_ns) : 0;
	thread->scx.queued_at_ns = 0;
	if (!tier_misses_deadline(thread->scx.tier, decision.wait_ns))
		return;
	count(SCX_COUNT_MISSED);
	decision.other_tid = tid_of(leaving) && tid_of(leaving) != tid_of(p) ? tid_of(leaving) : run->before_tid;
	send_decision(p, thread, now_ns, &decision);
}

static __always_inline void count_move(struct task_struct *p, struct task_ctx *thread, s32 cpu, u64 now_ns)
{
	struct event_decision decision = { .what = DECISION_MOVE };

	move_rate_note(&thread->scx.move_rate, thread->scx.cpu != cpu, now_ns);
	if (thread->scx.cpu != cpu) {
		count(SCX_COUNT_MOVED);
		decision.from_cpu = (u16)thread->scx.cpu;
		decision.to_cpu = (u16)cpu;
		send_decision(p, thread, now_ns, &decision);
	}
	thread->scx.cpu = cpu;
}

/* A thread that a realtime thread preempted goes on after it without a call to the scheduler, so it would also go
 * before an urgent thread that was enqueued meanwhile. */
static __always_inline void give_way(struct task_struct *p, struct task_ctx *thread, struct cpu_run *run, s32 cpu)
{
	struct queue_load *load = load_of(cache_of(cpu));

	if (thread->scx.counted_urgent) {
		thread->scx.counted_urgent = 0;
		load = load_of(thread->scx.queue);
		if (load->urgent)
			__sync_fetch_and_sub(&load->urgent, 1);
		return;
	}
	/* One that has waited for a second gets its millisecond. */
	if (!tier_gives_way(run->tier) || thread->scx.is_late)
		return;
	if (!load->urgent)
		load = load_of(queue_of_cpu(cpu));
	if (!load->urgent)
		return;
	load->urgent = 0;
	if (!can_kick()) {
		/* Its slice ends with the next tick; until then an urgent thread that wakes may preempt it. */
		set_slice(p, 0);
		return;
	}
	run->kicked = 1;
	kick(cpu, scx_value(scx_kick_flags, SCX_KICK_PREEMPT));
}

#endif
