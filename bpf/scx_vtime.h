/* SPDX-License-Identifier: GPL-2.0 */
/* A thread's virtual time: what a run is charged, its weight now, and where it joins a queue. For the scheduler alone.
 * The arithmetic is core/tier.h's. */
#ifndef TACTUS_BPF_SCX_VTIME_H
#define TACTUS_BPF_SCX_VTIME_H

#include "scx_quota.h"
#include "scx_urgency.h"

/* Charged is the CPU time that the thread used, not what is gone of its slice: the kernel refills the slice of a thread
 * that is alone, and yielding empties it. */
static __always_inline void charge(struct task_struct *p, struct task_ctx *thread)
{
	u64 ran_ns = p->se.sum_exec_runtime - thread->scx.charged_ns;
	u64 cost = tier_charge(ran_ns, thread->scx.effective_weight, thread->scx.tier,
			       load_of(thread->scx.queue)->many_urgent);

	thread->scx.burst_ns += ran_ns;
	thread->scx.charged_ns = p->se.sum_exec_runtime;
	quota_ran(thread, ran_ns);
	if (thread->scx.is_late) {
		thread->scx.is_late = 0;
		return;
	}
	thread->scx.vtime += cost;
	if (tier_uses_budget(thread->scx.tier, p->flags & PF_KTHREAD)) {
		thread->scx.watch.spared += vtime_charge(ran_ns, thread->scx.effective_weight) - cost;
		owner_charge(thread->scx.owner, ran_ns, bpf_ktime_get_ns());
	}
}

static __always_inline void update_weight(struct task_struct *p, struct task_ctx *thread, u64 now_ns)
{
	u64 effective_weight = 1ULL << GROUP_SHARE_BITS;

	if (thread->scx.group)
		effective_weight = group_weight_share_now(thread->scx.group, now_ns);
	effective_weight = tier_effective_weight(p->scx.weight, effective_weight);
	thread->scx.vtime = vtime_reweighed(thread->scx.vtime, *clock_of(thread->scx.queue),
					    thread->scx.effective_weight, effective_weight);
	thread->scx.effective_weight = effective_weight;
}

/* Moves the thread's vtime to the clock of the queue that it joins. */
static __always_inline void join_queue(struct task_ctx *thread, u32 queue, u32 tier, bool slept)
{
	u64 *clock = clock_of(queue);

	if (thread->scx.queue != queue) {
		thread->scx.vtime = vtime_moved(thread->scx.vtime, *clock_of(thread->scx.queue), *clock);
		thread->scx.queue = queue;
	}
	thread->scx.vtime = vtime_enqueued(thread->scx.vtime, *clock, tier, settings.slice_ns,
					   load_of(queue)->many_urgent, slept);
}

#endif
