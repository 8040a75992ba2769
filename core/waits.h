/* SPDX-License-Identifier: GPL-2.0 */
/* How long one thread, or one process, was kept from its work in a window: a small histogram of its turns. A turn is
 * what a thread does from when it is woken until it sleeps again, and all that it waits for CPUs meanwhile counts,
 * since one that is preempted ten times is late although each single wait was short. The kernel half keeps one with
 * each thread; the program takes them over, window by window. */
#ifndef TACTUS_CORE_WAITS_H
#define TACTUS_CORE_WAITS_H

#include "hist.h"

enum {
	WAITS_SLOTS = 32,	  /* two for each power of two; the first and the last take what is less and more */
	WAITS_SLOT_FIRST = 27,	  /* these are counted from there: the first ends at 65 us, the last begins at 2 s */
	WAITS_SLOTS_PER_SLOT = 4, /* of core/hist.h */
	WAITS_SHORT_NS = 1 << 16, /* where the first slot ends */
	WAITS_PER_MILLION_ALL = 1000000,
};

struct waits {
	u32 counts[WAITS_SLOTS];
};

/* What one thread waited since it was last asked. */
struct wait_row {
	u32 tid;
	u32 pid;
	u32 tier;	  /* by its role */
	u32 has_audience; /* see role_has_audience */
	struct comm comm;
	struct waits waits;
};

core_fn u32 waits_slot(u64 wait_ns)
{
	u32 slot;

	/* Most are short, and to find a slot costs more than all the rest. */
	if (wait_ns < WAITS_SHORT_NS)
		return 0;
	slot = hist_slot(wait_ns) / WAITS_SLOTS_PER_SLOT - WAITS_SLOT_FIRST;
	return slot < WAITS_SLOTS ? slot : WAITS_SLOTS - 1;
}

/* The largest wait that falls into a slot; of the last one the smallest. */
core_fn u64 waits_slot_ns(u32 slot)
{
	u32 high = slot < WAITS_SLOTS - 1 ? slot + 1 : slot;

	return hist_slot_low((WAITS_SLOT_FIRST + high) * WAITS_SLOTS_PER_SLOT) - (slot < WAITS_SLOTS - 1);
}

core_fn void waits_add(struct waits *waits, u64 wait_ns)
{
	u32 slot = waits_slot(wait_ns);

	if (slot < WAITS_SLOTS) /* never false; said for the kernel's verifier */
		waits->counts[slot]++;
}

core_fn void waits_merge(struct waits *into, const struct waits *from)
{
	for (u32 slot = 0; slot < WAITS_SLOTS; slot++)
		into->counts[slot] += from->counts[slot];
}

/* What was counted so far counts half from now on. */
core_fn void waits_fade(struct waits *waits)
{
	for (u32 slot = 0; slot < WAITS_SLOTS; slot++)
		waits->counts[slot] /= 2;
}

core_fn u64 waits_total(const struct waits *waits)
{
	u64 total = 0;

	for (u32 slot = 0; slot < WAITS_SLOTS; slot++)
		total += waits->counts[slot];
	return total;
}

/* All of them together, at the least. */
core_fn u64 waits_sum_ns(const struct waits *waits)
{
	u64 sum_ns = 0;

	for (u32 slot = 1; slot < WAITS_SLOTS; slot++)
		sum_ns += waits->counts[slot] * hist_slot_low((WAITS_SLOT_FIRST + slot) * WAITS_SLOTS_PER_SLOT);
	return sum_ns;
}

/* The wait that so many parts of a million do not exceed, up to its slot. None: 0. */
core_fn u64 waits_percentile_ns(const struct waits *waits, u32 per_million)
{
	u64 total = waits_total(waits), seen = 0;
	u64 rank = (total * per_million + WAITS_PER_MILLION_ALL - 1) / WAITS_PER_MILLION_ALL;

	if (!total)
		return 0;
	for (u32 slot = 0; slot < WAITS_SLOTS; slot++) {
		seen += waits->counts[slot];
		if (seen >= rank && seen)
			return waits_slot_ns(slot);
	}
	return waits_slot_ns(WAITS_SLOTS - 1);
}

#endif
