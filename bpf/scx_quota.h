/* SPDX-License-Identifier: GPL-2.0 */
/* Control groups' quotas (cpu.max), which the kernel leaves to the scheduler from 6.17 on: a thread whose group, or one
 * above it, has no quota left is parked in a queue of its own, and a timer takes it out when a period has begun. The
 * arithmetic is core/quota.h's. */
#ifndef TACTUS_BPF_SCX_QUOTA_H
#define TACTUS_BPF_SCX_QUOTA_H

#include "scx_groups.h"
#include "scx_state.h"

enum { PARKED_SEEN_MAX = 4096, CLOCK_MONOTONIC = 1, EBUSY = 16 };

/* Groups that have a quota; while there are none, none of this costs anything. */
static u32 limited_groups;
/* How often the timer fires, by the shortest period there was. */
static u64 timer_every_ns = QUOTA_TIMER_MOST_NS;
static u64 last_parked_ns;
/* While the timer's callback runs. The verifier does not explore what it does not know. */
static u32 parked_seen;
static u64 next_timer_ns;

struct quota_timer {
	struct bpf_timer timer;
};
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct quota_timer);
} quota_timers SEC(".maps");

/* Takes a slice, or what is left of it, from the quotas of the group and all above. Returns how much; 0: nothing. */
static __noinline u64 quota_take_slice(u64 group_id, u64 wanted_ns, u64 now_ns)
{
	struct group *group;
	u64 id = group_id;
	u32 i;

	bpf_for(i, 0, GROUP_LEVELS)
	{
		group = id && wanted_ns ? bpf_map_lookup_elem(&groups, &id) : NULL;
		if (!group)
			break;
		bpf_spin_lock(&group->lock);
		wanted_ns = quota_grants(&group->quota, wanted_ns, now_ns);
		bpf_spin_unlock(&group->lock);
		id = group->parent;
	}
	id = group_id;
	bpf_for(i, 0, GROUP_LEVELS)
	{
		group = id && wanted_ns ? bpf_map_lookup_elem(&groups, &id) : NULL;
		if (!group)
			break;
		bpf_spin_lock(&group->lock);
		quota_take(&group->quota, wanted_ns);
		bpf_spin_unlock(&group->lock);
		id = group->parent;
	}
	return wanted_ns;
}

/* Returns what was granted and takes what was run. */
static __noinline int quota_return(u64 id, u64 granted_ns, u64 ran_ns)
{
	struct group *group;
	u32 i;

	bpf_for(i, 0, GROUP_LEVELS)
	{
		group = id ? bpf_map_lookup_elem(&groups, &id) : NULL;
		if (!group)
			break;
		bpf_spin_lock(&group->lock);
		quota_reconcile(&group->quota, granted_ns, ran_ns);
		bpf_spin_unlock(&group->lock);
		id = group->parent;
	}
	return 0;
}

/* How long until the group and all above it have quota again. */
static __noinline u64 quota_wait(u64 id, u64 now_ns)
{
	u64 longest_ns = 0, wait_ns;
	struct group *group;
	u32 i;

	bpf_for(i, 0, GROUP_LEVELS)
	{
		group = id ? bpf_map_lookup_elem(&groups, &id) : NULL;
		if (!group)
			break;
		bpf_spin_lock(&group->lock);
		wait_ns = quota_wait_ns(&group->quota, now_ns);
		bpf_spin_unlock(&group->lock);
		longest_ns = wait_ns > longest_ns ? wait_ns : longest_ns;
		id = group->parent;
	}
	return longest_ns;
}

static __always_inline void quota_ran(struct task_ctx *thread, u64 ran_ns)
{
	if (!limited_groups || !thread->scx.group)
		return;
	quota_return(thread->scx.group, thread->scx.granted_ns, ran_ns);
	thread->scx.granted_ns = 0;
}

/* How much of the wanted slice the thread may run; 0: it is to be parked. */
static __always_inline u64 slice_within_quota(struct task_ctx *thread, u64 wanted_ns, u64 now_ns)
{
	if (!limited_groups || !thread->scx.group)
		return wanted_ns;
	if (thread->scx.granted_ns)
		quota_ran(thread, 0);
	thread->scx.granted_ns = quota_take_slice(thread->scx.group, wanted_ns, now_ns);
	return thread->scx.granted_ns;
}

static __always_inline void park(struct task_struct *p, struct task_ctx *thread, u64 enq_flags, u64 now_ns)
{
	thread->scx.parked_at_ns = last_parked_ns = now_ns;
	thread->scx.queued_at_ns = 0;
	count(SCX_COUNT_PARKED);
	dsq_insert(p, SCX_PARKED, settings.slice_ns, enq_flags);
}

/* An idle CPU that takes threads from this queue. -1: none. */
static __always_inline s32 idle_for(struct task_struct *p, u32 queue)
{
	s32 own = (s32)(queue - SCX_CACHES_MAX);

	if (queue >= SCX_CACHES_MAX)
		return scx_bpf_test_and_clear_cpu_idle(own) ? own : -1;
	return bpf_ksym_exists(scx_bpf_pick_idle_cpu) ? scx_bpf_pick_idle_cpu(p->cpus_ptr, 0) : -1;
}

/* An unparked thread goes into its queue, and an idle CPU is told: one that went idle before that would not look. Where
 * CPUs can't be kicked, it goes to the idle CPU. */
static __always_inline bool unpark(struct bpf_iter_scx_dsq *it, struct task_struct *p, struct task_ctx *thread,
				   u64 slice_ns, u64 now_ns)
{
	u32 queue = thread->scx.queue;
	s32 idle = can_kick() ? -1 : idle_for(p, queue);

	thread->scx.parked_at_ns = 0;
	thread->scx.queued_at_ns = now_ns;
	scx_bpf_dsq_move_set_slice(it, slice_ns);
	if (idle >= 0) {
		run_on(idle)->is_given = 1;
		return scx_bpf_dsq_move(it, p, scx_value(scx_dsq_id_flags, SCX_DSQ_LOCAL_ON) | (u32)idle, 0);
	}
	thread->scx.vtime = vtime_owed(thread->scx.vtime, *clock_of(queue), settings.slice_ns, settings.credit);
	scx_bpf_dsq_move_set_vtime(it, tier_deadline(thread->scx.vtime, slice_ns, thread->scx.effective_weight, 0));
	if (!scx_bpf_dsq_move_vtime(it, p, queue, 0))
		return false;
	if (queue >= SCX_CACHES_MAX)
		run_on((s32)(queue - SCX_CACHES_MAX))->own_waits = 1;
	idle = can_kick() ? idle_for(p, queue) : -1;
	if (idle >= 0) {
		run_on(idle)->is_given = 1;
		kick(idle, scx_value(scx_kick_flags, SCX_KICK_IDLE));
	}
	return true;
}

static int unpark_threads(void *map, u32 *key, struct quota_timer *timer)
{
	u64 now_ns = bpf_ktime_get_ns();
	struct task_struct *p;

	parked_seen = 0;
	next_timer_ns = quota_timer_next_ns(timer_every_ns, span_between(last_parked_ns, now_ns));
	/* A program that may sleep has set the timer, so the verifier of Linux 6.17 wants it said that this one does
	 * not. */
	bpf_rcu_read_lock();
	bpf_for_each(scx_dsq, p, SCX_PARKED, 0)
	{
		struct task_ctx *thread = thread_of(p);
		u64 slice_ns, wait_ns;

		if (parked_seen++ >= PARKED_SEEN_MAX)
			break;
		if (!thread)
			continue;
		slice_ns = slice_within_quota(thread, tier_slice_ns(thread->scx.tier, settings.slice_ns), now_ns);
		slice_ns = quota_parked_slice_ns(slice_ns, span_between(thread->scx.parked_at_ns, now_ns));
		if (slice_ns) {
			if (!unpark(&___it, p, thread, slice_ns, now_ns))
				quota_ran(thread, 0);
			continue;
		}
		wait_ns = quota_wait(thread->scx.group, now_ns);
		if (wait_ns < next_timer_ns)
			next_timer_ns = wait_ns;
	}
	bpf_rcu_read_unlock();
	if (limited_groups)
		bpf_timer_start(&timer->timer, quota_timer_delay_ns(next_timer_ns), 0);
	return 0;
}

/* To be called where a group gets its first limit; a second start only changes when the timer fires next. */
static __always_inline void start_quota_timer(u64 period_ns)
{
	u64 every_ns = quota_timer_every_ns(period_ns);
	u32 key = 0;
	struct quota_timer *timer = bpf_map_lookup_elem(&quota_timers, &key);

	if (every_ns < timer_every_ns)
		timer_every_ns = every_ns;
	if (timer)
		bpf_timer_start(&timer->timer, timer_every_ns, 0);
}

static __always_inline int init_quota_timer(void)
{
	u32 key = 0;
	struct quota_timer *timer = bpf_map_lookup_elem(&quota_timers, &key);
	s32 error;

	if (!timer)
		return 0;
	error = bpf_timer_init(&timer->timer, &quota_timers, CLOCK_MONOTONIC);
	/* It exists already where the scheduler ran before. */
	return error && error != -EBUSY ? error : bpf_timer_set_callback(&timer->timer, unpark_threads);
}

static __always_inline void count_limited_groups(u64 was_ns, u64 is_ns)
{
	if (!was_ns && is_ns)
		__sync_fetch_and_add(&limited_groups, 1);
	if (was_ns && !is_ns)
		__sync_fetch_and_sub(&limited_groups, 1);
}

#endif
