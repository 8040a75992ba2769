/* SPDX-License-Identifier: GPL-2.0 */
/* Control groups' weights for the scheduler: which groups there are, which have runnable threads, and so a thread's
 * effective weight. The arithmetic is core/group.h's. */
#ifndef TACTUS_BPF_SCX_GROUPS_H
#define TACTUS_BPF_SCX_GROUPS_H

#include "scx_calls.h"
#include "../core/group.h"
#include "../core/quota.h"

enum { GROUPS_MAX = 16384 };

struct group {
	struct bpf_spin_lock lock;
	u32 unused;
	struct group_sum sum;
	u64 parent; /* its id; 0: there is none, or it is the root */
	u64 share;  /* of one unit of weight in this group, as of share_at_ns */
	u64 share_at_ns;
	struct quota quota;
};

/* By the cgroup's id. The root is not in here: its threads' weights count in full. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, GROUPS_MAX);
	__type(key, u64);
	__type(value, struct group);
} groups SEC(".maps");

/* Groups that the map had no room for: their threads count as the root's. */
u64 groups_refused = 0;

static __always_inline u64 group_id(struct cgroup *cgroup)
{
	return BPF_CORE_READ(cgroup, level) > 0 ? BPF_CORE_READ(cgroup, kn, id) : 0;
}

static __always_inline void group_add(struct cgroup *cgroup, u32 weight, const struct quota *quota)
{
	struct cgroup *above = BPF_CORE_READ(cgroup, self.parent, cgroup);
	struct group fresh = { .sum.weight = weight, .quota = *quota };
	u64 id = group_id(cgroup);

	if (!id)
		return;
	fresh.parent = above ? group_id(above) : 0;
	if (bpf_map_update_elem(&groups, &id, &fresh, BPF_ANY))
		__sync_fetch_and_add(&groups_refused, 1);
}

/* Propagates a change to each group above, until one does not change. */
static __always_inline void group_pass(u64 id, s64 more, u64 weight, bool joins)
{
	struct group *group;
	s64 up;
	u32 i;

	bpf_for(i, 0, GROUP_LEVELS)
	{
		group = id ? bpf_map_lookup_elem(&groups, &id) : NULL;
		if (!group)
			return;
		bpf_spin_lock(&group->lock);
		if (more)
			group->sum.sum += (u64)more;
		up = more ? 0 : joins ? group_joined(&group->sum, weight) : group_left(&group->sum, weight);
		bpf_spin_unlock(&group->lock);
		if (!up)
			return;
		id = group->parent;
		weight = (u64)(up < 0 ? -up : up);
	}
}

static __noinline int group_thread_joins(u64 id, u64 weight)
{
	group_pass(id, 0, weight, true);
	return 0;
}

static __noinline int group_thread_leaves(u64 id, u64 weight)
{
	group_pass(id, 0, weight, false);
	return 0;
}

static __always_inline void group_reweigh(u64 id, u32 weight)
{
	struct group *group = id ? bpf_map_lookup_elem(&groups, &id) : NULL;
	s64 more;

	if (!group)
		return;
	bpf_spin_lock(&group->lock);
	more = group_reweighed(&group->sum, weight);
	bpf_spin_unlock(&group->lock);
	if (more)
		group_pass(group->parent, more, 0, true);
}

/* The share of one unit of weight in this group. Others' changes show with a delay of a millisecond. */
static __noinline u64 group_weight_share_now(u64 id, u64 now_ns)
{
	u64 share = group_share_first();
	struct group *own = bpf_map_lookup_elem(&groups, &id), *group = own;
	u32 i;

	if (!own)
		return 1ULL << GROUP_SHARE_BITS;
	if (group_share_is_fresh(own->share, own->share_at_ns, now_ns))
		return own->share;
	bpf_for(i, 0, GROUP_LEVELS)
	{
		if (!group)
			break;
		share = group_weight_share(share, group->sum.weight, group->sum.sum);
		id = group->parent;
		group = id ? bpf_map_lookup_elem(&groups, &id) : NULL;
	}
	own->share = group_share_last(share);
	own->share_at_ns = now_ns;
	return own->share;
}

#endif
