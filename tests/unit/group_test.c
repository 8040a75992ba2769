// SPDX-License-Identifier: GPL-2.0
/* core/group.h: what groups' weights are worth, with two busy groups of different weights and one inside another. */
#include "../../core/group.h"
#include "tap.h"

static void test_sums(void)
{
	struct group_sum group = { .weight = 200 };

	is(group_joined(&group, 100), 200, "first thread of a group brings the group's weight to its parent");
	is(group_joined(&group, 50), 0, "second thread of a group brings its parent nothing more");
	is(group.sum, 150, "weights of two groups add up inside their parent");
	is(group_reweighed(&group, 300), 100, "a heavier group brings the difference");
	is(group_left(&group, 100), 0, "group that leaves keeps the other's weight");
	is(group_left(&group, 50), -300, "last thread of a group takes all its weight away");
	is(group.sum, 0, "parent of no group has no weight");
	is(group_reweighed(&group, 10), 0, "group with nothing to run tells its parent no weight");
	is(group_joined(&group, 100), 10, "group that joins brings its weight again");
	is(group_left(&group, 1000), -10, "group counted wrong does not make the sum negative");
	is(group.sum, 0, "sum of a group that was counted wrong is empty then");
	is(group_left(&group, 1), 0, "group that was never inside changes nothing");
}

/* Two groups beside each other, 300 and 100, with three threads and one: together they share as 3 to 1. */
static void test_effective_weight(void)
{
	u64 one = 1 << GROUP_SHARE_BITS;
	u64 heavy = group_weight_share(one, 300, 3 * 100), light = group_weight_share(one, 100, 100);

	is(heavy * 3, light * 3, "three threads in a group of 300 weigh as much each as one in a group of 100");
	is(group_weight_share(one, 100, 4 * 100), one / 4, "four threads in a group of 100 weigh a quarter each");
	is(group_weight_share(group_weight_share(one, 50, 100), 100, 200), one / 4,
	   "group inside another shares what that has");
	is(group_weight_share(one, 100, 0), one, "an empty sum divides nothing by zero");
}

static void test_share(void)
{
	u64 whole = group_share_first();

	is(group_share_last(whole), 1 << GROUP_SHARE_BITS, "share outside of all groups is whole");
	is(group_share_last(group_weight_share(whole, 100, 400)), (1 << GROUP_SHARE_BITS) / 4,
	   "share through one group is that group's");
	is(group_share_last(1), 1, "share is never nothing, however many groups it went through");
	ok(!group_share_is_fresh(0, 1000, 1000), "share that was never found is not fresh");
	ok(group_share_is_fresh(5, 1000, 1000 + GROUP_STALE_NS - 1), "share that was just found is fresh");
	ok(!group_share_is_fresh(5, 1000, 1000 + GROUP_STALE_NS), "share is stale after a while");
}

int main(void)
{
	test_sums();
	test_effective_weight();
	test_share();
	return tap_end();
}
