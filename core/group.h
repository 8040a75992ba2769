/* SPDX-License-Identifier: GPL-2.0 */
/* What a control group's weight is worth: of what its parent gets, a group has its weight's share among those beside it
 * that have something to run, and its threads share that. Pure; bpf/scx_groups.h keeps the sums. */
#ifndef TACTUS_CORE_GROUP_H
#define TACTUS_CORE_GROUP_H

#include "types.h"

enum {
	GROUP_LEVELS = 16, /* groups below this depth count as if they were here */
	GROUP_WEIGHT_NORMAL = 100,
	GROUP_WORTH_BITS = 16, /* worths are parts of 65536 */
	GROUP_STALE_NS = 1 * NSEC_PER_MSEC,
};

/* Who in a group has something to run, threads and groups, and what their weights come to. */
struct group_sum {
	u64 weight; /* the group's own, in its parent */
	u64 given;  /* what its parent's sum has of it: 0 while nobody in it wants to run */
	u64 active;
	u64 sum;
};

/* A thread or group of this weight comes, or goes. Returns by how much the parent's sum changes. */
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

/* What one unit of weight inside the group is worth in its parent, given what one is worth in the group so far. From
 * the thread's group up to the top this gives what a thread's weight is worth among all. */
core_fn u64 group_worth(u64 worth, u64 weight, u64 sum)
{
	return sum ? worth * weight / sum : worth;
}

#endif
