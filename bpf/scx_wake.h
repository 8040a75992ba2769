/* SPDX-License-Identifier: GPL-2.0 */
/* What becomes of a thread when it wants to run, and no longer does: who woke it, and what its control group hears.
 * For the scheduler alone. */
#ifndef TACTUS_BPF_SCX_WAKE_H
#define TACTUS_BPF_SCX_WAKE_H

#include "scx_groups.h"
#include "scx_state.h"

/* The thread's group hears that it wants to run, and with which weight. */
static __always_inline void join_group(struct task_struct *p, struct kthread *thread)
{
	if (!thread->turn.group || thread->turn.group_weight == p->scx.weight)
		return;
	if (thread->turn.group_weight)
		group_thread_leaves(thread->turn.group, thread->turn.group_weight);
	thread->turn.group_weight = p->scx.weight;
	group_thread_joins(thread->turn.group, thread->turn.group_weight);
}

static __always_inline void leave_group(struct kthread *thread)
{
	if (!thread->turn.group_weight)
		return;
	group_thread_leaves(thread->turn.group, thread->turn.group_weight);
	thread->turn.group_weight = 0;
}

/* Who wakes an urgent thread is what that one waited for: he and, within bounds, who wakes him are as urgent. Returns
 * the time. */
static __always_inline u64 woken(struct task_struct *p, struct kthread *thread, bool by_interrupt, bool is_sure)
{
	u64 now_ns = bpf_ktime_get_ns();
	struct task_struct *current;
	struct kthread *waker;
	u32 depth;

	/* Who is woken by a thread waits until that one has said all it has to say. */
	thread->turn.is_light = by_interrupt && is_sure &&
				tier_is_light(thread->turn.last_burst_ns, now_ns - thread->turn.awake_since_ns);
	thread->turn.awake_since_ns = now_ns;
	if (by_interrupt)
		return now_ns;
	depth = thread->role.answer.tier == TIER_LATENCY_CRITICAL ? 0
		: thread->turn.lent_until_ns > now_ns		  ? thread->turn.lent_depth
								  : TIER_LENT_DEPTH;
	/* Most have nothing to pass on or to get, and to look a thread up costs more than all the rest. */
	if (depth >= TIER_LENT_DEPTH && !((config.raise & RAISE_INPUT) && input_is_near(now_ns)))
		return now_ns;
	current = bpf_get_current_task_btf();
	waker = current->pid && current->pid != p->pid ? thread_of(current) : NULL;
	/* What is passed on ends when it would have ended. */
	if (waker && (config.raise & RAISE_INPUT) && waker->turn.input_until_ns > now_ns)
		thread->turn.input_until_ns = waker->turn.input_until_ns;
	if (!waker || depth >= TIER_LENT_DEPTH || (waker->role.facts.has & HAS_KERNEL_THREAD) ||
	    waker->role.answer.tier == TIER_LATENCY_CRITICAL)
		return now_ns;
	waker->turn.lent_until_ns = now_ns + TIER_LENT_NS;
	waker->turn.lent_depth = depth + 1;
	waker->turn.lent_boost = depth ? thread->turn.lent_boost : thread->role.answer.boost;
	count(SCX_COUNT_LENT);
	return now_ns;
}

/* Where interrupts can't be told, another process on the CPU is taken for one that a timer interrupted. */
static __always_inline bool seems_interrupted(struct task_struct *p)
{
	struct task_struct *current = bpf_get_current_task_btf();

	return current->tgid != p->tgid;
}

#endif
