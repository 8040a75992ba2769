// SPDX-License-Identifier: GPL-2.0
/* Keeps blocks, and joins them where there are too many.
 */
#include "blocks.h"

#include <stdlib.h>
#include <string.h>

static void block_free(struct block *block)
{
	for (u32 i = 0; i < SPREADS; i++)
		free(block->spreads[i]);
	memset(block, 0, sizeof(*block));
}

void blocks_free(struct blocks *blocks)
{
	for (u32 i = 0; i < BLOCKS_MOST; i++)
		block_free(&blocks->all[i]);
	for (u32 i = 0; i < SPREADS; i++)
		free(blocks->sums[i]);
	memset(blocks, 0, sizeof(*blocks));
}

u32 spread_slot(u64 time_ns)
{
	u32 octave;

	if (time_ns < 1ULL << SPREAD_LOW_BITS)
		return 0;
	if (time_ns >= 1ULL << SPREAD_HIGH_BITS)
		return SPREAD_SLOTS - 1;
	octave = log2_floor(time_ns);
	return 1 + ((octave - SPREAD_LOW_BITS) << SPREAD_SUB_BITS) +
	       ((u32)(time_ns >> (octave - SPREAD_SUB_BITS)) & ((1 << SPREAD_SUB_BITS) - 1));
}

/* `into` gets all that is in `from`, which is empty then. */
static void block_join(struct block *into, struct block *from)
{
	for (u32 i = 0; i < COUNTS; i++)
		into->counts[i] += from->counts[i];
	for (u32 i = 0; i < SPREADS; i++) {
		if (!into->spreads[i]) {
			into->spreads[i] = from->spreads[i];
			from->spreads[i] = NULL;
			continue;
		}
		for (u32 slot = 0; from->spreads[i] && slot < SPREAD_SLOTS; slot++)
			into->spreads[i][slot] += from->spreads[i][slot];
	}
	block_free(from);
}

static void join_pairs(struct blocks *blocks)
{
	for (u32 i = 0; i < BLOCKS_MOST / 2; i++) {
		block_join(&blocks->all[2 * i], &blocks->all[2 * i + 1]);
		if (!i)
			continue;
		blocks->all[i] = blocks->all[2 * i];
		memset(&blocks->all[2 * i], 0, sizeof(blocks->all[0]));
	}
	blocks->len = BLOCKS_MOST / 2;
	blocks->pieces_each *= 2;
}

/* The block that goes on. */
static struct block *block_now(struct blocks *blocks)
{
	if (!blocks->pieces_each)
		blocks->pieces_each = 1;
	if (blocks->len && blocks->pieces < blocks->pieces_each)
		return &blocks->all[blocks->len - 1];
	if (blocks->len == BLOCKS_MOST)
		join_pairs(blocks);
	blocks->pieces = 0;
	return &blocks->all[blocks->len++];
}

void blocks_count(struct blocks *blocks, u32 count, u64 much)
{
	if (count < COUNTS && much)
		block_now(blocks)->counts[count] += much;
}

static bool make_room(struct blocks *blocks, struct block *block, u32 spread)
{
	if (!block->spreads[spread])
		block->spreads[spread] = calloc(SPREAD_SLOTS, sizeof(u32));
	if (!blocks->sums[spread])
		blocks->sums[spread] = calloc(SPREAD_SLOTS, sizeof(u64));
	if (block->spreads[spread] && blocks->sums[spread])
		return true;
	blocks->failed = true;
	return false;
}

void blocks_times(struct blocks *blocks, const u32 *spreads, u32 len, u64 time_ns)
{
	u32 slot = spread_slot(time_ns);
	struct block *block = block_now(blocks);

	for (u32 i = 0; i < len; i++) {
		u32 spread = spreads[i];

		if (spread >= SPREADS ||
		    ((!block->spreads[spread] || !blocks->sums[spread]) && !make_room(blocks, block, spread)))
			continue;
		block->spreads[spread][slot]++;
		blocks->sums[spread][slot] += time_ns;
		if (time_ns > blocks->longest[spread])
			blocks->longest[spread] = time_ns;
	}
}

void blocks_time(struct blocks *blocks, u32 spread, u64 time_ns)
{
	blocks_times(blocks, &spread, 1, time_ns);
}

u32 blocks_program(struct blocks *blocks, const struct comm *comm)
{
	u32 i = 0;

	while (i < blocks->programs_len && memcmp(&blocks->programs[i], comm, sizeof(*comm)) != 0)
		i++;
	if (i == BLOCKS_PROGRAMS)
		blocks->programs_refused++;
	else if (i == blocks->programs_len)
		blocks->programs[blocks->programs_len++] = *comm;
	return i;
}

void blocks_piece_ends(struct blocks *blocks, u64 span_ns)
{
	block_now(blocks)->counts[COUNT_SPAN_NS] += span_ns;
	blocks->pieces++;
}

void blocks_end(struct blocks *blocks)
{
	u32 last = blocks->len ? blocks->len - 1 : 0;

	if (!last || blocks->all[last].counts[COUNT_SPAN_NS] * 2 >= blocks->all[0].counts[COUNT_SPAN_NS])
		return;
	block_join(&blocks->all[last - 1], &blocks->all[last]);
	blocks->len--;
}
