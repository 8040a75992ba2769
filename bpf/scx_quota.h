/* SPDX-License-Identifier: GPL-2.0 */
/* Control groups' quotas (cpu.max), which the kernel leaves to the scheduler from 6.17 on: a thread whose group, or one
 * above it, has nothing left is parked in a queue of its own, and a timer takes it out when a period has begun. The
 * arithmetic is core/quota.h's. */
#ifndef TACTUS_BPF_SCX_QUOTA_H
#define TACTUS_BPF_SCX_QUOTA_H

#include "scx_groups.h"
#include "scx_state.h"

enum { PARKED_LOOKED = 4096, CLOCK_MONOTONIC = 1, EBUSY = 16 };

/* Groups that have a quota; while there are none, none of this costs anything. */
static u32 limited_groups;
/* How often the timer has to look, by the shortest period there was. */
static u64 look_every_ns = QUOTA_LOOK_MOST_NS;
static u64 last_parked_ns;
/* While the timer looks. What the verifier does not know it does not try out. */
static u32 parked_looked;
static u64 next_look_ns;

struct look {
	struct bpf_timer timer;
};
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct look);
} looks SEC(".maps");

/* Takes a slice, or what there is of it, from the group and all above. Returns how much that is; 0: nothing. */
static __noinline u64 quota_ask(u64 group_id, u64 wish_ns, u64 now_ns)
{
	struct group *group;
	u64 id = group_id;
	u32 i;

	bpf_for(i, 0, GROUP_LEVELS)
	{
		group = id && wish_ns ? bpf_map_lookup_elem(&groups, &id) : NULL;
		if (!group)
			break;
		bpf_spin_lock(&group->lock);
		wish_ns = quota_grants(&group->quota, wish_ns, now_ns);
		bpf_spin_unlock(&group->lock);
		id = group->parent;
	}
	id = group_id;
	bpf_for(i, 0, GROUP_LEVELS)
	{
		group = id && wish_ns ? bpf_map_lookup_elem(&groups, &id) : NULL;
		if (!group)
			break;
		bpf_spin_lock(&group->lock);
		quota_take(&group->quota, wish_ns);
		bpf_spin_unlock(&group->lock);
		id = group->parent;
	}
	return wish_ns;
}

/* What was granted comes back, what was run goes off. */
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
		quota_settle(&group->quota, granted_ns, ran_ns);
		bpf_spin_unlock(&group->lock);
		id = group->parent;
	}
	return 0;
}

/* How long until the group and all above it have something again. */
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

static __always_inline void quota_ran(struct kthread *thread, u64 ran_ns)
{
	if (!limited_groups || !thread->turn.group)
		return;
	quota_return(thread->turn.group, thread->turn.granted_ns, ran_ns);
	thread->turn.granted_ns = 0;
}

/* How long the thread may run of what it wishes; 0: not now. */
static __always_inline u64 slice_within_quota(struct kthread *thread, u64 wish_ns, u64 now_ns)
{
	if (!limited_groups || !thread->turn.group)
		return wish_ns;
	if (thread->turn.granted_ns)
		quota_ran(thread, 0);
	thread->turn.granted_ns = quota_ask(thread->turn.group, wish_ns, now_ns);
	return thread->turn.granted_ns;
}

static __always_inline void park(struct task_struct *p, struct kthread *thread, u64 enq_flags, u64 now_ns)
{
	thread->turn.parked_at_ns = last_parked_ns = now_ns;
	thread->turn.queued_at_ns = 0;
	count(SCX_COUNT_PARKED);
	dsq_insert(p, SCX_PARKED, settings.slice_ns, enq_flags);
}

/* A thread whose time has come goes to a CPU that is idle, else into its queue. */
static __always_inline bool unpark(struct bpf_iter_scx_dsq *it, struct task_struct *p, struct kthread *thread,
				   u64 slice_ns, u64 now_ns)
{
	u32 queue = thread->turn.queue;
	s32 idle = -1;

	if (bpf_ksym_exists(scx_bpf_pick_idle_cpu))
		idle = scx_bpf_pick_idle_cpu(p->cpus_ptr, 0);
	thread->turn.parked_at_ns = 0;
	thread->turn.queued_at_ns = now_ns;
	scx_bpf_dsq_move_set_slice(it, slice_ns);
	if (idle >= 0)
		return scx_bpf_dsq_move(it, p, scx_value(scx_dsq_id_flags, SCX_DSQ_LOCAL_ON) | (u32)idle, 0);
	thread->turn.vtime = vtime_owed(thread->turn.vtime, *clock_of(queue), settings.slice_ns);
	scx_bpf_dsq_move_set_vtime(it, tier_deadline(thread->turn.vtime, slice_ns, thread->turn.worth, 0));
	if (!scx_bpf_dsq_move_vtime(it, p, queue, 0))
		return false;
	if (queue >= SCX_CACHES_MAX)
		run_on((s32)(queue - SCX_CACHES_MAX))->own_waits = 1;
	return true;
}

static int look_at_parked(void *map, u32 *key, struct look *look)
{
	u64 now_ns = bpf_ktime_get_ns();
	struct task_struct *p;

	parked_looked = 0;
	next_look_ns = quota_look_next_ns(look_every_ns, span_between(last_parked_ns, now_ns));
	/* A program that may sleep has set the timer, so the verifier of Linux 6.17 wants it said that this one does
	 * not. */
	bpf_rcu_read_lock();
	bpf_for_each(scx_dsq, p, SCX_PARKED, 0)
	{
		struct kthread *thread = thread_of(p);
		u64 slice_ns, wait_ns;

		if (parked_looked++ >= PARKED_LOOKED)
			break;
		if (!thread)
			continue;
		slice_ns = slice_within_quota(thread, tier_slice_ns(thread->turn.tier, settings.slice_ns), now_ns);
		if (!slice_ns && span_between(thread->turn.parked_at_ns, now_ns) > QUOTA_LONGEST_NS)
			slice_ns = QUOTA_LEAST_NS;
		if (slice_ns) {
			if (!unpark(&___it, p, thread, slice_ns, now_ns))
				quota_ran(thread, 0);
			continue;
		}
		wait_ns = quota_wait(thread->turn.group, now_ns);
		if (wait_ns < next_look_ns)
			next_look_ns = wait_ns;
	}
	bpf_rcu_read_unlock();
	if (limited_groups)
		bpf_timer_start(&look->timer, next_look_ns > QUOTA_SOONEST_NS ? next_look_ns : QUOTA_SOONEST_NS, 0);
	return 0;
}

/* To be called where a group gets its first limit; a second start changes only when it looks next. */
static __always_inline void start_looking(u64 period_ns)
{
	u64 every_ns = quota_look_every_ns(period_ns);
	u32 key = 0;
	struct look *look = bpf_map_lookup_elem(&looks, &key);

	if (every_ns < look_every_ns)
		look_every_ns = every_ns;
	if (look)
		bpf_timer_start(&look->timer, look_every_ns, 0);
}

static __always_inline int prepare_look(void)
{
	u32 key = 0;
	struct look *look = bpf_map_lookup_elem(&looks, &key);
	s32 error;

	if (!look)
		return 0;
	error = bpf_timer_init(&look->timer, &looks, CLOCK_MONOTONIC);
	/* It is there already where the scheduler was in charge before. */
	return error && error != -EBUSY ? error : bpf_timer_set_callback(&look->timer, look_at_parked);
}

static __always_inline void limit_counts(u64 was_ns, u64 is_ns)
{
	if (!was_ns && is_ns)
		__sync_fetch_and_add(&limited_groups, 1);
	if (was_ns && !is_ns)
		__sync_fetch_and_sub(&limited_groups, 1);
}

#endif
