// SPDX-License-Identifier: GPL-2.0
/* Lines up the blocks of all runs of a side: a program has another number in each, and of a spread most slots are
 * empty. */
#include "compare_side.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Which spread, or count from `first` on, is that of a run, where programs have other numbers in each. */
static u32 in_run(const struct side *side, u32 run, u32 index, u32 first)
{
	u32 program = index - first;

	if (index < first || program >= BLOCKS_PROGRAMS)
		return index;
	program = side->program_of[run][program];
	return program < BLOCKS_PROGRAMS ? first + program : ~0u;
}

u64 side_count(const struct side *side, u32 block, u32 count)
{
	u32 run = side->run_of[block];
	u64 frames = 0;

	for (u32 i = 0; count == COUNT_ALL_FRAMES && i < BLOCKS_PROGRAMS; i++)
		frames += side->all[block]->counts[COUNT_FRAMES + i];
	if (count == COUNT_ALL_FRAMES)
		return frames;
	count = in_run(side, run, count, COUNT_FRAMES);
	count = count == ~0u ? count : in_run(side, run, count, COUNT_LATE);
	count = count == ~0u ? count : in_run(side, run, count, COUNT_FRAME_NS);
	return count == ~0u ? 0 : side->all[block]->counts[count];
}

static const u32 *slots_of(const struct side *side, u32 block, u32 spread)
{
	spread = in_run(side, side->run_of[block], spread, SPREAD_FRAMES);
	return spread == ~0u ? NULL : side->all[block]->spreads[spread];
}

/* What each slot holds in all runs, and the sum of its times. */
static void add_slots(const struct side *side, u32 spread, u64 *counts, u64 *sums, u64 *longest_ns)
{
	for (u32 block = 0; block < side->blocks; block++) {
		const u32 *slots = slots_of(side, block, spread);

		for (u32 slot = 0; slots && slot < SPREAD_SLOTS; slot++)
			counts[slot] += slots[slot];
	}
	for (u32 run = 0; run < side->given->len; run++) {
		const struct blocks *blocks = &side->given->runs[run];
		u32 own = in_run(side, run, spread, SPREAD_FRAMES);

		if (own == ~0u || !blocks->sums[own])
			continue;
		for (u32 slot = 0; slot < SPREAD_SLOTS; slot++)
			sums[slot] += blocks->sums[own][slot];
		if (blocks->longest[own] > *longest_ns)
			*longest_ns = blocks->longest[own];
	}
}

static int prepare_spread(struct side *side, u32 index)
{
	u64 counts[SPREAD_SLOTS] = { 0 }, sums[SPREAD_SLOTS] = { 0 };
	struct spread *spread = &side->spreads[index];
	u32 bin = 0;

	add_slots(side, index, counts, sums, &spread->longest_ns);
	for (u32 slot = 0; slot < SPREAD_SLOTS; slot++) {
		spread->bins += counts[slot] != 0;
		spread->total += counts[slot];
	}
	if (!spread->bins)
		return 0;
	spread->counts = calloc((size_t)spread->bins * side->blocks, sizeof(*spread->counts));
	spread->values = calloc(spread->bins, sizeof(*spread->values));
	if (!spread->counts || !spread->values)
		return -ENOMEM;
	for (u32 slot = 0; slot < SPREAD_SLOTS; slot++) {
		if (!counts[slot])
			continue;
		spread->values[bin] = (double)sums[slot] / (double)counts[slot];
		for (u32 block = 0; block < side->blocks; block++) {
			const u32 *slots = slots_of(side, block, index);

			spread->counts[(size_t)block * spread->bins + bin] = slots ? slots[slot] : 0;
		}
		bin++;
	}
	return 0;
}

int side_init(struct side *side, const struct compare_side *given, const struct comm *programs, u32 len)
{
	int error = 0;

	side->given = given;
	for (u32 run = 0; run < given->len && run < COMPARE_RUNS_MOST; run++) {
		const struct blocks *blocks = &given->runs[run];

		for (u32 i = 0; i < BLOCKS_PROGRAMS; i++) {
			u32 own = 0;

			while (own < blocks->programs_len &&
			       (i >= len || memcmp(&blocks->programs[own], &programs[i], sizeof(*programs)) != 0))
				own++;
			side->program_of[run][i] = own < blocks->programs_len ? own : BLOCKS_PROGRAMS;
		}
		side->runs[run] = blocks->len;
		for (u32 i = 0; i < blocks->len; i++) {
			side->all[side->blocks] = &blocks->all[i];
			side->run_of[side->blocks++] = run;
			side->span_ns += blocks->all[i].counts[COUNT_SPAN_NS];
		}
	}
	side->merged = calloc(SPREAD_SLOTS, sizeof(*side->merged));
	for (u32 i = 0; i < SPREADS && !error; i++)
		error = prepare_spread(side, i);
	return side->merged ? error : -ENOMEM;
}

void side_free(struct side *side)
{
	for (u32 i = 0; i < SPREADS; i++) {
		free(side->spreads[i].counts);
		free(side->spreads[i].values);
	}
	free(side->merged);
	free(side);
}
