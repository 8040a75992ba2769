// SPDX-License-Identifier: GPL-2.0
/* Distances between two runs.
 */
#include "fidelity.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

u64 fidelity_slot_ns(u32 slot)
{
	u32 octave, part;

	if (!slot)
		return 0;
	octave = (slot - 1) >> SPREAD_SUB_BITS;
	part = (slot - 1) & ((1 << SPREAD_SUB_BITS) - 1);
	return ((1ULL << SPREAD_SUB_BITS) + part) << (octave + SPREAD_LOW_BITS - SPREAD_SUB_BITS);
}

static u64 sum_up(u64 *slots, const struct blocks *blocks, u32 spread)
{
	u64 sum = 0;

	memset(slots, 0, SPREAD_SLOTS * sizeof(*slots));
	for (u32 block = 0; block < blocks->len; block++) {
		const u32 *of = blocks->all[block].spreads[spread];

		for (u32 slot = 0; of && slot < SPREAD_SLOTS; slot++) {
			slots[slot] += of[slot];
			sum += of[slot];
		}
	}
	return sum;
}

static u64 quantile_ns(const u64 *slots, u64 sum, u64 permille)
{
	u64 wanted = (sum * permille + 999) / 1000, seen = 0;

	for (u32 slot = 0; slot < SPREAD_SLOTS; slot++) {
		seen += slots[slot];
		if (seen && seen >= wanted)
			return fidelity_slot_ns(slot);
	}
	return 0;
}

/* The area between the two curves, over the logarithm of time. */
static double distance(const u64 *a, u64 a_sum, const u64 *b, u64 b_sum)
{
	double octaves = 0, a_part = 0, b_part = 0;

	for (u32 slot = 0; slot + 1 < SPREAD_SLOTS; slot++) {
		u64 from_ns = fidelity_slot_ns(slot), to_ns = fidelity_slot_ns(slot + 1);

		a_part += (double)a[slot] / (double)a_sum;
		b_part += (double)b[slot] / (double)b_sum;
		if (from_ns >= FIDELITY_FLOOR_NS)
			octaves += fabs(a_part - b_part) * log2((double)to_ns / (double)from_ns);
	}
	return octaves;
}

static void compare_waits(struct fidelity_waits *waits, const struct compare_run *a, const struct compare_run *b,
			  u32 spread)
{
	u64 a_slots[SPREAD_SLOTS], b_slots[SPREAD_SLOTS];

	waits->a = sum_up(a_slots, &a->blocks, spread);
	waits->b = sum_up(b_slots, &b->blocks, spread);
	waits->octaves = NAN;
	if (!waits->a || !waits->b)
		return;
	waits->a_p50_ns = quantile_ns(a_slots, waits->a, 500);
	waits->b_p50_ns = quantile_ns(b_slots, waits->b, 500);
	waits->a_p99_ns = quantile_ns(a_slots, waits->a, 990);
	waits->b_p99_ns = quantile_ns(b_slots, waits->b, 990);
	if (waits->a >= FIDELITY_WAITS_LEAST && waits->b >= FIDELITY_WAITS_LEAST)
		waits->octaves = distance(a_slots, waits->a, b_slots, waits->b);
}

static u64 all_counts(const struct blocks *blocks, u32 from, u32 len)
{
	u64 sum = 0;

	for (u32 block = 0; block < blocks->len; block++)
		for (u32 i = 0; i < len; i++)
			sum += blocks->all[block].counts[from + i];
	return sum;
}

static double sum_of(const struct compare_shares *shares)
{
	double sum = 0;

	for (u32 i = 0; i < shares->len; i++)
		sum += (double)shares->cpu_ns[i];
	return sum;
}

/* Half of all that differs: what one has too much another has too little. */
static double shares_differ(const struct compare_shares *a, const struct compare_shares *b)
{
	double a_sum = sum_of(a), b_sum = sum_of(b), differ = 0;

	if (!a_sum || !b_sum)
		return 0;
	for (u32 i = 0; i < a->len; i++) {
		u32 place = map_get(&b->by_key, a->keys[i]);

		differ += fabs((double)a->cpu_ns[i] / a_sum - (place ? (double)b->cpu_ns[place - 1] / b_sum : 0));
	}
	for (u32 i = 0; i < b->len; i++)
		if (!map_get(&a->by_key, b->keys[i]))
			differ += (double)b->cpu_ns[i] / b_sum;
	return differ / 2;
}

static void compare_shares(struct fidelity *fidelity, const struct compare_run *a, const struct compare_run *b)
{
	double a_sum = sum_of(&a->by_pid), b_sum = sum_of(&b->by_pid);

	fidelity->shares = shares_differ(&a->by_pid, &b->by_pid);
	fidelity->names = shares_differ(&a->by_name, &b->by_name);
	fidelity->cpu = a_sum && b_sum ? fabs(b_sum - a_sum) / a_sum : 0;
}

void fidelity_of(struct fidelity *fidelity, const struct compare_run *a, const struct compare_run *b)
{
	const struct compare_run *runs[2] = { a, b };
	double sum = 0, weight = 0;

	*fidelity = (struct fidelity){ 0 };
	compare_waits(&fidelity->all, a, b, SPREAD_WAITS);
	for (u32 role = 0; role < ROLES; role++) {
		struct fidelity_waits *waits = &fidelity->roles[role];

		compare_waits(waits, a, b, SPREAD_ROLES + role);
		if (!isnan(waits->octaves)) {
			sum += waits->octaves * (double)waits->a;
			weight += (double)waits->a;
		}
	}
	fidelity->waits = weight ? sum / weight : isnan(fidelity->all.octaves) ? 0 : fidelity->all.octaves;
	for (u32 side = 0; side < 2; side++) {
		fidelity->frames[side] = all_counts(&runs[side]->blocks, COUNT_FRAMES, BLOCKS_PROGRAMS);
		fidelity->late_frames[side] = all_counts(&runs[side]->blocks, COUNT_LATE, BLOCKS_PROGRAMS);
	}
	if (fidelity->frames[0] && fidelity->frames[1])
		fidelity->late = fabs((double)fidelity->late_frames[0] / (double)fidelity->frames[0] -
				      (double)fidelity->late_frames[1] / (double)fidelity->frames[1]);
	compare_shares(fidelity, a, b);
	fidelity->urgent_ns[0] = a->urgent_ns;
	fidelity->urgent_ns[1] = b->urgent_ns;
	if (a->urgent_ns >= FIDELITY_URGENT_LEAST_NS)
		fidelity->urgent = fabs((double)b->urgent_ns - (double)a->urgent_ns) / (double)a->urgent_ns;
}

const char *fidelity_breaks(const struct fidelity *fidelity, const struct fidelity_bound *bound)
{
	if (fidelity->waits > bound->waits)
		return "waits";
	if (fidelity->late > bound->late)
		return "late frames";
	if (fidelity->urgent > bound->urgent)
		return "what urgent threads got done";
	return fidelity->shares > bound->shares ? "shares of CPU time" : NULL;
}
