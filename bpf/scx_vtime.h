/* SPDX-License-Identifier: GPL-2.0 */
/* A thread's virtual time: what a run is charged, its weight now, and where it joins a queue. For the scheduler alone.
 * The arithmetic is core/tier.h's. */
#ifndef TACTUS_BPF_SCX_VTIME_H
#define TACTUS_BPF_SCX_VTIME_H

#include "scx_quota.h"
#include "scx_urgency.h"

/* A thread that is urgent by its role and runs on and on stays urgent while its user may burn; then it is throttled,
 * and has another chance. */
static __always_inline void charge_burning(struct task_struct *p, struct task_ctx *thread, u64 ran_ns)
{
	bool was_urgent = thread->scx.tier == TIER_LATENCY_CRITICAL, may;
	u64 now_ns;

	if (settings.cpus_len < URGENCY_BURN_CPUS || (p->flags & PF_KTHREAD) ||
	    !tier_burns(thread->role.answer.tier, thread->scx.burst_ns))
		return;
	now_ns = bpf_ktime_get_ns();
	may = thread->scx.watch.throttled_until_ns <= now_ns &&
	      owner_may_burn(thread->scx.owner, was_urgent ? ran_ns : 0, now_ns);
	if (was_urgent)
		thread->scx.watch.burnt_ns += ran_ns;
	if (thread->scx.may_burn && !may)
		thread->scx.vtime += urgent_watch_throttle(&thread->scx.watch, now_ns);
	thread->scx.may_burn = may;
}

/* Charged is the CPU time that the thread used, not what is gone of its slice: the kernel refills the slice of a thread
 * that is alone, and yielding empties it. */
static __always_inline void charge(struct task_struct *p, struct task_ctx *thread)
{
	u64 ran_ns = p->se.sum_exec_runtime - thread->scx.charged_ns;
	u64 cost = tier_charge(ran_ns, thread->scx.effective_weight, thread->scx.tier, settings.discount,
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
		urgent_watch_ran(&thread->scx.watch, ran_ns, vtime_charge(ran_ns, thread->scx.effective_weight) - cost);
		owner_charge(thread->scx.owner, ran_ns, bpf_ktime_get_ns());
	}
	charge_burning(p, thread, ran_ns);
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
static __always_inline void join_queue(struct task_ctx *thread, u32 queue, u32 tier, bool slept, u64 behind_ns)
{
	u64 *clock = clock_of(queue);

	if (thread->scx.queue != queue) {
		thread->scx.vtime = vtime_moved(thread->scx.vtime, *clock_of(thread->scx.queue), *clock);
		thread->scx.queue = queue;
	}
	thread->scx.vtime = vtime_enqueued(thread->scx.vtime, *clock, tier_credited(tier, is_neutral != 0),
					   settings.slice_ns, settings.credit, load_of(queue)->many_urgent, slept,
					   behind_ns);
}

#endif
