/* SPDX-License-Identifier: GPL-2.0 */
/* A control group's quota (cpu.max): so much CPU time in each period, for all its threads together. A slice is taken
 * from it before it is run and what was not run is returned; what was run beyond it is a debt and comes off the next
 * periods. Pure; bpf/scx_quota.h keeps the groups and parks threads that get nothing. */
#ifndef TACTUS_CORE_QUOTA_H
#define TACTUS_CORE_QUOTA_H

#include "types.h"

enum {
	QUOTA_LEAST_NS = 1 * NSEC_PER_MSEC,	  /* no slice is shorter, since each switch costs */
	QUOTA_TIMER_MOST_NS = 25 * NSEC_PER_MSEC, /* the timer looks for threads that may run again at least so often */
	QUOTA_TIMER_BUSY_NS = 5 * NSEC_PER_MSEC,  /* and so often where a thread was parked lately */
	QUOTA_SOONEST_NS = 100 * NSEC_PER_USEC,
};
/* A thread that was parked for so long runs a little all the same, or the kernel's watchdog takes it for stalled. */
#define QUOTA_LONGEST_NS (4ull * NSEC_PER_SEC)
#define QUOTA_MOST_NS (1ull << 50)
#define QUOTA_UNLIMITED_US (~0ull)

struct quota {
	u64 period_ns;
	u64 quota_ns; /* 0: there is no limit */
	u64 burst_ns; /* what may be saved up beyond one period's */
	u64 began_ns; /* start of the current period */
	s64 left_ns;  /* negative: a debt */
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

/* A debt stays when the limit changes, but no more than one period's. */
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

/* Each period that began since the last refill adds its quota. */
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
core_fn u64 quota_grants(struct quota *quota, u64 wanted_ns, u64 now_ns)
{
	u64 left_ns;

	if (!quota->quota_ns)
		return wanted_ns;
	quota_refill(quota, now_ns);
	if (quota->left_ns <= 0)
		return 0;
	left_ns = (u64)quota->left_ns > QUOTA_LEAST_NS ? (u64)quota->left_ns : QUOTA_LEAST_NS;
	return wanted_ns < left_ns ? wanted_ns : left_ns;
}

/* A slice was granted, or has been run; it may have got longer or shorter than planned. */
core_fn void quota_take(struct quota *quota, u64 ns)
{
	if (quota->quota_ns)
		quota->left_ns -= (s64)ns;
}

core_fn void quota_reconcile(struct quota *quota, u64 granted_ns, u64 ran_ns)
{
	if (!quota->quota_ns)
		return;
	quota->left_ns += (s64)granted_ns - (s64)ran_ns;
	quota_cap(quota);
}

/* How long until the group has quota again. */
core_fn u64 quota_wait_ns(const struct quota *quota, u64 now_ns)
{
	u64 owed_ns, at_ns;

	if (!quota->quota_ns || quota->left_ns > 0)
		return 0;
	owed_ns = (u64)-quota->left_ns;
	at_ns = quota->began_ns + (owed_ns / quota->quota_ns + 1) * quota->period_ns;
	return (s64)(at_ns - now_ns) > 0 ? at_ns - now_ns : 0;
}

/* The slice of a parked thread, given what the quota grants it. */
core_fn u64 quota_parked_slice_ns(u64 granted_ns, u64 parked_ns)
{
	return !granted_ns && parked_ns > QUOTA_LONGEST_NS ? QUOTA_LEAST_NS : granted_ns;
}

/* The timer's delay, given how long until a thread may run. */
core_fn u64 quota_timer_delay_ns(u64 wait_ns)
{
	return wait_ns > QUOTA_SOONEST_NS ? wait_ns : QUOTA_SOONEST_NS;
}

/* How often the timer fires for groups with such periods: a few times in each. */
core_fn u64 quota_timer_every_ns(u64 period_ns)
{
	u64 part_ns = period_ns / 4;

	if (part_ns > QUOTA_TIMER_MOST_NS)
		return QUOTA_TIMER_MOST_NS;
	return part_ns > QUOTA_LEAST_NS ? part_ns : QUOTA_LEAST_NS;
}

/* The timer's next delay, given how long ago a thread was last parked. */
core_fn u64 quota_timer_next_ns(u64 every_ns, u64 since_parked_ns)
{
	return since_parked_ns < NSEC_PER_SEC && every_ns > QUOTA_TIMER_BUSY_NS ? QUOTA_TIMER_BUSY_NS : every_ns;
}

#endif
