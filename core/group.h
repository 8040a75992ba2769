/* SPDX-License-Identifier: GPL-2.0 */
/* The share of a control group's weight: of what its parent gets, a group has its weight's share among its siblings
 * that have runnable threads, and its threads divide that. Pure; bpf/scx_groups.h keeps the sums. */
#ifndef TACTUS_CORE_GROUP_H
#define TACTUS_CORE_GROUP_H

#include "types.h"

enum {
	GROUP_LEVELS = 16, /* deeper groups count as if they were at this depth */
	GROUP_WEIGHT_NORMAL = 100,
	GROUP_SHARE_BITS = 16,	    /* shares are parts of 65536 */
	GROUP_SHARE_MORE_BITS = 14, /* and finer while they are multiplied, level by level */
	GROUP_STALE_NS = 1 * NSEC_PER_MSEC,
};

/* The runnable threads and groups in a group, and the sum of their weights. */
struct group_sum {
	u64 weight; /* the group's own, in its parent */
	u64 given;  /* what its parent's sum has of it: 0 while nothing in it is runnable */
	u64 active;
	u64 sum;
};

/* A thread or group of this weight becomes runnable, or no longer is. Returns by how much the parent's sum changes. */
core_fn s64 group_joined(struct group_sum *group, u64 weight)
{
	group->sum += weight;
	if (group->active++)
		return 0;
	group->given = group->weight;
	return (s64)group->given;
}

core_fn s64 group_left(struct group_sum *group, u64 weight)
{
	s64 given = (s64)group->given;

	group->sum -= weight < group->sum ? weight : group->sum;
	if (group->active)
		group->active--;
	if (group->active)
		return 0;
	group->sum = 0;
	group->given = 0;
	return -given;
}

core_fn s64 group_reweighed(struct group_sum *group, u64 weight)
{
	s64 more = (s64)weight - (s64)group->given;

	group->weight = weight;
	if (!group->active)
		return 0;
	group->given = weight;
	return more;
}

/* The share of one unit of weight of this group in its parent, given that share in the group so far. From the thread's
 * group up to the root this gives a thread's share among all. */
core_fn u64 group_weight_share(u64 share, u64 weight, u64 sum)
{
	return sum ? share * weight / sum : share;
}

/* The first and the last step of that; a share is never 0. */
core_fn u64 group_share_first(void)
{
	return 1ULL << (GROUP_SHARE_BITS + GROUP_SHARE_MORE_BITS);
}

core_fn u64 group_share_last(u64 share)
{
	share >>= GROUP_SHARE_MORE_BITS;
	return share ? share : 1;
}

/* Whether a share that was found then still holds. 0: none was found yet. */
core_fn int group_share_is_fresh(u64 share, u64 found_at_ns, u64 now_ns)
{
	return share && now_ns - found_at_ns < GROUP_STALE_NS;
}

#endif
