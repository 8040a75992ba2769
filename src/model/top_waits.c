// SPDX-License-Identifier: GPL-2.0
/* Histograms of the last turns, added up: each turn is taken off again when it leaves the window. */
#include "top_waits.h"

#include <stdlib.h>
#include <string.h>

/* Of octaves that have nothing in them, not even the counts are set: most threads' waits are much alike. */
struct top_turn {
	u32 total;
	u32 octaves; /* as bits */
	u32 counts[TOP_WAIT_SLOTS];
};

void top_waits_free(struct top_waits *waits)
{
	for (u32 i = 0; i < TOP_WAIT_TURNS; i++)
		free(waits->turns[i]);
	free(waits->sums);
	*waits = (struct top_waits){ 0 };
}

static bool has_octave(u32 octaves, u32 octave)
{
	return octaves >> octave & 1;
}

static void count(u32 *counts, u32 *octaves, u32 slot, u32 times)
{
	u32 octave = slot / HIST_SUBS;

	if (!has_octave(*octaves, octave))
		memset(&counts[octave * HIST_SUBS], 0, HIST_SUBS * sizeof(*counts));
	*octaves |= 1u << octave;
	counts[slot] += times;
}

/* The turn that goes on; NULL for want of memory. */
static struct top_turn *turn_of(struct top_waits *waits)
{
	struct top_turn *turn = waits->turns[waits->at];

	if (!waits->sums)
		waits->sums = malloc(TOP_WAIT_SLOTS * sizeof(*waits->sums));
	if (!turn) {
		turn = waits->turns[waits->at] = malloc(sizeof(*turn));
		if (turn)
			turn->total = turn->octaves = 0;
	}
	return waits->sums ? turn : NULL;
}

static void add(struct top_waits *waits, struct top_turn *turn, u32 slot, u32 times)
{
	count(turn->counts, &turn->octaves, slot, times);
	turn->total += times;
	count(waits->sums, &waits->octaves, slot, times);
	waits->total += times;
}

static void note_longest(struct top_waits *waits, u64 wait_ns)
{
	if (wait_ns > waits->max_ns[waits->at])
		waits->max_ns[waits->at] = wait_ns;
}

bool top_waits_add(struct top_waits *waits, u64 wait_ns)
{
	struct top_turn *turn = turn_of(waits);

	if (!turn)
		return false;
	add(waits, turn, sums_slot(wait_ns), 1);
	note_longest(waits, wait_ns);
	return true;
}

bool top_waits_add_sums(struct top_waits *waits, const struct thread_sums *sums)
{
	struct top_turn *turn = sums->waits ? turn_of(waits) : NULL;

	for (u32 slot = 0; turn && slot < SUMS_SLOTS; slot++)
		if (sums->counts[slot])
			add(waits, turn, slot, sums->counts[slot]);
	note_longest(waits, sums->longest.wait_ns);
	return turn || !sums->waits;
}

static void take_off(struct top_waits *waits, const struct top_turn *turn)
{
	for (u32 slot = 0; slot < TOP_WAIT_SLOTS; slot++) {
		if (has_octave(turn->octaves, slot / HIST_SUBS))
			waits->sums[slot] -= turn->counts[slot];
		else
			slot += HIST_SUBS - 1;
	}
	waits->total -= turn->total;
}

void top_waits_turn(struct top_waits *waits)
{
	struct top_turn *oldest;

	waits->last = waits->turns[waits->at] ? waits->turns[waits->at]->total : 0;
	waits->at = (waits->at + 1) % TOP_WAIT_TURNS;
	waits->max_ns[waits->at] = 0;
	oldest = waits->turns[waits->at];
	waits->turns[waits->at] = NULL;
	if (!oldest)
		return;
	take_off(waits, oldest);
	free(oldest);
	if (!waits->total) {
		free(waits->sums);
		waits->sums = NULL;
		waits->octaves = 0;
	}
}

void top_waits_begin(struct top_wait_sum *sum)
{
	sum->octaves = 0;
	sum->total = sum->max_ns = 0;
}

void top_waits_sum(struct top_wait_sum *sum, const struct top_waits *waits)
{
	const struct top_turn *now = waits->turns[waits->at];

	if (!waits->total)
		return;
	for (u32 octave = 0; octave < TOP_WAIT_OCTAVES; octave++) {
		bool is_now = now && has_octave(now->octaves, octave);

		if (!has_octave(waits->octaves, octave))
			continue;
		if (!has_octave(sum->octaves, octave))
			memset(&sum->counts[octave * HIST_SUBS], 0, HIST_SUBS * sizeof(sum->counts[0]));
		for (u32 slot = octave * HIST_SUBS; slot < (octave + 1) * HIST_SUBS; slot++)
			sum->counts[slot] += waits->sums[slot] - (is_now ? now->counts[slot] : 0);
	}
	sum->octaves |= waits->octaves;
	sum->total += waits->total - (now ? now->total : 0);
	for (u32 i = 0; i < TOP_WAIT_TURNS; i++)
		if (i != waits->at && waits->max_ns[i] > sum->max_ns)
			sum->max_ns = waits->max_ns[i];
}

static u64 percentile(const struct top_wait_sum *sum, u64 per_hundred)
{
	u64 rank = (sum->total * per_hundred + 99) / 100, seen = 0;

	for (u32 slot = 0; slot < TOP_WAIT_SLOTS; slot++) {
		u64 high_ns = hist_slot_high(slot + SUMS_FIRST_SLOT);

		if (!has_octave(sum->octaves, slot / HIST_SUBS)) {
			slot += HIST_SUBS - 1;
			continue;
		}
		seen += sum->counts[slot];
		if (seen >= rank)
			return high_ns < sum->max_ns ? high_ns : sum->max_ns;
	}
	return sum->max_ns;
}

struct top_wait_summary top_waits_summary(const struct top_wait_sum *sum)
{
	if (!sum->total)
		return (struct top_wait_summary){ 0 };
	return (struct top_wait_summary){
		.waits = sum->total, .p50_ns = percentile(sum, 50), .p99_ns = percentile(sum, 99), .max_ns = sum->max_ns
	};
}
