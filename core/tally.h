/* SPDX-License-Identifier: GPL-2.0 */
/* How long threads of each tier waited for a CPU, and how often that was too long: kept a CPU by the kernel half where
 * roles are kept, whoever schedules. */
#ifndef TACTUS_CORE_TALLY_H
#define TACTUS_CORE_TALLY_H

#include "hist.h"
#include "tier.h"

struct sched_tally {
	struct hist waits[TIERS];
	u64 deadline_misses; /* urgent threads that waited longer than they may */
	u64 moves;	     /* of threads from one CPU to another */
};

core_fn void tally_wait(struct sched_tally *tally, u64 tier, u64 wait_ns)
{
	if (tier < TIERS)
		hist_add(&tally->waits[tier], wait_ns);
	tally->deadline_misses += (u64)tier_misses_deadline((u32)tier, wait_ns);
}

core_fn void tally_merge(struct sched_tally *into, const struct sched_tally *from)
{
	for (u32 tier = 0; tier < TIERS; tier++)
		hist_merge(&into->waits[tier], &from->waits[tier]);
	into->deadline_misses += from->deadline_misses;
	into->moves += from->moves;
}

/* What came since an earlier reading of the same tally. The largest value is then that of all time: a percentile is
 * right up to its slot. */
core_fn void tally_subtract(struct sched_tally *tally, const struct sched_tally *before)
{
	for (u32 tier = 0; tier < TIERS; tier++) {
		struct hist *hist = &tally->waits[tier];
		const struct hist *old = &before->waits[tier];

		for (u32 slot = 0; slot < HIST_SLOTS; slot++)
			hist->counts[slot] -= old->counts[slot];
		hist->total -= old->total;
		hist->sum -= old->sum;
	}
	tally->deadline_misses -= before->deadline_misses;
	tally->moves -= before->moves;
}

#endif
