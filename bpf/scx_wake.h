/* SPDX-License-Identifier: GPL-2.0 */
/* What is done when a thread becomes runnable and when it no longer is: inherited urgency, and the sums of its control
 * group. For the scheduler alone. */
#ifndef TACTUS_BPF_SCX_WAKE_H
#define TACTUS_BPF_SCX_WAKE_H

#include "scx_groups.h"
#include "scx_locks.h"
#include "scx_state.h"
#include "scx_urgency.h"

/* Adds the thread, with its weight, to its group's runnable ones. */
static __always_inline void join_group(struct task_struct *p, struct task_ctx *thread)
{
	if (!thread->scx.group || thread->scx.group_weight == p->scx.weight)
		return;
	if (thread->scx.group_weight)
		group_thread_leaves(thread->scx.group, thread->scx.group_weight);
	thread->scx.group_weight = p->scx.weight;
	group_thread_joins(thread->scx.group, thread->scx.group_weight);
}

static __always_inline void leave_group(struct task_ctx *thread)
{
	if (!thread->scx.group_weight)
		return;
	group_thread_leaves(thread->scx.group, thread->scx.group_weight);
	thread->scx.group_weight = 0;
}

/* The waker of an urgent thread inherits its urgency, since that one waited for it. Returns the time. */
static __always_inline u64 on_wakeup(struct task_struct *p, struct task_ctx *thread, bool by_interrupt, bool is_sure)
{
	u64 now_ns = bpf_ktime_get_ns();
	struct task_struct *current;
	struct task_ctx *waker;
	u32 depth;

	/* A thread that another thread wakes does not preempt as a light one: its waker may have more to do first. */
	thread->scx.is_light = by_interrupt && is_sure && may_raise(p, thread) &&
			       tier_is_light(thread->scx.last_burst_ns, now_ns - thread->scx.awake_since_ns,
					     settings.light_ns);
	thread->scx.awake_since_ns = now_ns;
	thread->scx.by_timer = by_interrupt && is_sure;
	if (by_interrupt)
		return now_ns;
	depth = inherit_depth(thread->role.answer.tier, &thread->scx.inherited, now_ns);
	/* Most threads have nothing to pass on or to inherit, and a look-up costs more than all the rest. */
	if (depth >= TIER_INHERIT_DEPTH && !((config.raise & RAISE_INPUT) && input_is_near(now_ns)))
		return now_ns;
	current = bpf_get_current_task_btf();
	waker = tid_of(current) && tid_of(current) != tid_of(p) ? thread_of(current) : NULL;
	if (!waker)
		return now_ns;
	lock_is_free(waker);
	/* Inherited input handling ends when the waker's does. */
	if ((config.raise & RAISE_INPUT) && waker->scx.input_until_ns > now_ns)
		thread->scx.input_until_ns = waker->scx.input_until_ns;
	if (inherit_passes(depth, waker->role.facts.has & HAS_KERNEL_THREAD, waker->role.answer.tier)) {
		waker->scx.inherited = inherit_from(depth, thread->role.answer.boost, thread->scx.inherited.boost,
						    now_ns);
		count(SCX_COUNT_INHERITED);
	}
	return now_ns;
}

/* Where interrupts can't be recognized, a current thread of another process counts as interrupted by a timer. */
static __always_inline bool seems_interrupted(struct task_struct *p)
{
	struct task_struct *current = bpf_get_current_task_btf();

	return pid_of(current) != pid_of(p);
}

#endif
