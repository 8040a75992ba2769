/* SPDX-License-Identifier: GPL-2.0 */
/* A log-linear histogram of 64-bit values: each power of two is cut into eight slots, so a slot's edges lie at
 * most 12.5 % apart. The edges follow from hist_slot_low() alone; counting and percentiles both use it. */
#ifndef TACTUS_CORE_HIST_H
#define TACTUS_CORE_HIST_H

#include "types.h"

enum {
	HIST_SUB_BITS = 3,
	HIST_SUBS = 1 << HIST_SUB_BITS,
	HIST_SLOTS = (64 - HIST_SUB_BITS + 1) * HIST_SUBS,
	HIST_PER_MILLION = 1000000,
};

struct hist {
	u64 total;
	u64 sum;
	u64 max;
	u64 counts[HIST_SLOTS];
};

/* Without the compiler's count of leading zeros, which BPF does not have. */
core_fn u32 log2_floor(u64 value)
{
	u32 log = 0;

	for (u32 step = 32; step; step /= 2) {
		if (value >> step) {
			value >>= step;
			log += step;
		}
	}
	return log;
}

core_fn u32 hist_slot(u64 value)
{
	u32 octave, sub;

	if (value < HIST_SUBS)
		return (u32)value;
	octave = log2_floor(value) - HIST_SUB_BITS;
	sub = (u32)(value >> octave) & (HIST_SUBS - 1);
	return (octave + 1) * HIST_SUBS + sub;
}

/* The smallest value that falls into a slot. */
core_fn u64 hist_slot_low(u32 slot)
{
	u32 octave = slot / HIST_SUBS, sub = slot % HIST_SUBS;

	if (octave == 0)
		return slot;
	return (u64)(HIST_SUBS + sub) << (octave - 1);
}

/* The largest value that falls into a slot. */
core_fn u64 hist_slot_high(u32 slot)
{
	return slot + 1 >= HIST_SLOTS ? ~0ULL : hist_slot_low(slot + 1) - 1;
}

core_fn void hist_add(struct hist *hist, u64 value)
{
	u32 slot = hist_slot(value);

	if (slot >= HIST_SLOTS) /* never true; said for the kernel's verifier */
		return;
	hist->counts[slot]++;
	hist->total++;
	hist->sum += value;
	if (value > hist->max)
		hist->max = value;
}

core_fn void hist_merge(struct hist *into, const struct hist *from)
{
	for (u32 slot = 0; slot < HIST_SLOTS; slot++)
		into->counts[slot] += from->counts[slot];
	into->total += from->total;
	into->sum += from->sum;
	if (from->max > into->max)
		into->max = from->max;
}

/* The value that `per_million` parts of a million do not exceed: the upper edge of the slot that holds it, but never
 * more than the largest value seen. 990000 is p99. An empty histogram gives 0. */
core_fn u64 hist_percentile(const struct hist *hist, u32 per_million)
{
	/* Split, so that a total near 2^64 does not overflow. */
	u64 whole = hist->total / HIST_PER_MILLION, rest = hist->total % HIST_PER_MILLION;
	u64 rank = whole * per_million + (rest * per_million + HIST_PER_MILLION - 1) / HIST_PER_MILLION;
	u64 seen = 0;

	if (hist->total == 0)
		return 0;
	if (rank == 0)
		rank = 1;
	for (u32 slot = 0; slot < HIST_SLOTS; slot++) {
		u64 high = hist_slot_high(slot);

		seen += hist->counts[slot];
		if (seen >= rank)
			return high < hist->max ? high : hist->max;
	}
	return hist->max;
}

#endif
