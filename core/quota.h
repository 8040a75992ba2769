/* SPDX-License-Identifier: GPL-2.0 */
/* A control group's quota (cpu.max): so much time on CPUs in each period, for all its threads together. A slice is
 * taken from it before it is run and what was not run is given back; what was run beyond it is owed and comes off the
 * next periods. Pure; bpf/scx_quota.h keeps the groups and parks who gets nothing. */
#ifndef TACTUS_CORE_QUOTA_H
#define TACTUS_CORE_QUOTA_H

#include "types.h"

enum {
	QUOTA_LEAST_NS = 1 * NSEC_PER_MSEC,	 /* no slice is shorter, since each has its price */
	QUOTA_LOOK_MOST_NS = 25 * NSEC_PER_MSEC, /* at least so often somebody looks who may go on */
	QUOTA_LOOK_BUSY_NS = 5 * NSEC_PER_MSEC,	 /* and so often where somebody was kept waiting lately */
	QUOTA_SOONEST_NS = 100 * NSEC_PER_USEC,
};
/* Who was kept waiting for so long runs a little all the same, or the kernel takes it for forgotten. */
#define QUOTA_LONGEST_NS (4ull * NSEC_PER_SEC)
#define QUOTA_MOST_NS (1ull << 50)
#define QUOTA_UNLIMITED_US (~0ull)

struct quota {
	u64 period_ns;
	u64 quota_ns; /* 0: there is no limit */
	u64 burst_ns; /* what may be saved up beyond one period's */
	u64 began_ns; /* the period that goes on */
	s64 left_ns;  /* negative: owed */
};

core_fn u64 quota_ns_of(u64 us)
{
	return us < QUOTA_MOST_NS / NSEC_PER_USEC ? us * NSEC_PER_USEC : QUOTA_MOST_NS;
}

core_fn void quota_cap(struct quota *quota)
{
	s64 most_ns = (s64)(quota->quota_ns + quota->burst_ns);

	if (quota->left_ns > most_ns)
		quota->left_ns = most_ns;
}

/* What is owed stays owed when the limit changes, but no more than one period's: who asked for more now has it. */
core_fn void quota_set(struct quota *quota, u64 period_us, u64 quota_us, u64 burst_us, u64 now_ns)
{
	if (quota_us == QUOTA_UNLIMITED_US || !quota_us || !period_us) {
		quota->quota_ns = 0;
		quota->left_ns = 0;
		return;
	}
	if (!quota->quota_ns)
		quota->left_ns = QUOTA_MOST_NS;
	quota->began_ns = now_ns;
	quota->period_ns = quota_ns_of(period_us);
	quota->quota_ns = quota_ns_of(quota_us);
	quota->burst_ns = quota_ns_of(burst_us);
	if (quota->left_ns > (s64)quota->quota_ns)
		quota->left_ns = (s64)quota->quota_ns;
	if (quota->left_ns < -(s64)quota->quota_ns)
		quota->left_ns = -(s64)quota->quota_ns;
}

/* Each period that began since somebody last looked brings its quota. */
core_fn void quota_refill(struct quota *quota, u64 now_ns)
{
	u64 periods;

	if (!quota->quota_ns || (s64)(now_ns - quota->began_ns) < (s64)quota->period_ns)
		return;
	periods = (now_ns - quota->began_ns) / quota->period_ns;
	quota->began_ns += periods * quota->period_ns;
	/* After so many nothing that was owed or saved up matters any more. */
	if (periods > 1024)
		quota->left_ns = (s64)(quota->quota_ns + quota->burst_ns);
	else
		quota->left_ns += (s64)(periods * quota->quota_ns);
	quota_cap(quota);
}

/* How much of a wished slice the group has left. 0: nothing, until a period begins. */
core_fn u64 quota_grants(struct quota *quota, u64 wish_ns, u64 now_ns)
{
	u64 left_ns;

	if (!quota->quota_ns)
		return wish_ns;
	quota_refill(quota, now_ns);
	if (quota->left_ns <= 0)
		return 0;
	left_ns = (u64)quota->left_ns > QUOTA_LEAST_NS ? (u64)quota->left_ns : QUOTA_LEAST_NS;
	return wish_ns < left_ns ? wish_ns : left_ns;
}

/* A slice was granted, or has been run; it may have become longer or shorter than it was to be. */
core_fn void quota_take(struct quota *quota, u64 ns)
{
	if (quota->quota_ns)
		quota->left_ns -= (s64)ns;
}

core_fn void quota_settle(struct quota *quota, u64 granted_ns, u64 ran_ns)
{
	if (!quota->quota_ns)
		return;
	quota->left_ns += (s64)granted_ns - (s64)ran_ns;
	quota_cap(quota);
}

/* How long until the group has something again. */
core_fn u64 quota_wait_ns(const struct quota *quota, u64 now_ns)
{
	u64 owed_ns, at_ns;

	if (!quota->quota_ns || quota->left_ns > 0)
		return 0;
	owed_ns = (u64)-quota->left_ns;
	at_ns = quota->began_ns + (owed_ns / quota->quota_ns + 1) * quota->period_ns;
	return (s64)(at_ns - now_ns) > 0 ? at_ns - now_ns : 0;
}

/* How often somebody has to look where groups have such periods: a few times in each. */
core_fn u64 quota_look_every_ns(u64 period_ns)
{
	u64 part_ns = period_ns / 4;

	if (part_ns > QUOTA_LOOK_MOST_NS)
		return QUOTA_LOOK_MOST_NS;
	return part_ns > QUOTA_LEAST_NS ? part_ns : QUOTA_LEAST_NS;
}

/* When to look next, so long after somebody was last kept waiting. */
core_fn u64 quota_look_next_ns(u64 every_ns, u64 since_parked_ns)
{
	return since_parked_ns < NSEC_PER_SEC && every_ns > QUOTA_LOOK_BUSY_NS ? QUOTA_LOOK_BUSY_NS : every_ns;
}

#endif
