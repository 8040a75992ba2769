/* SPDX-License-Identifier: GPL-2.0 */
/* How long one thread waited for a CPU in the last seconds: a histogram that forgets what is older.
 * The slots are those of core/sums.h, from a microsecond to some seconds; what waits nothing keeps nothing. */
#ifndef TACTUS_MODEL_TOP_WAITS_H
#define TACTUS_MODEL_TOP_WAITS_H

#include <stdbool.h>

#include "../../core/sums.h"

enum {
	TOP_WAIT_TURNS = 11, /* ten that count, and the one that goes on */
	TOP_WAIT_OCTAVES = SUMS_OCTAVES,
	TOP_WAIT_SLOTS = SUMS_SLOTS,
};

/* All zeroes is an empty one. */
struct top_waits {
	u32 *sums;   /* of each slot, over all turns; NULL: there were none */
	u32 octaves; /* of which there is something in the sums, as bits */
	struct top_turn *turns[TOP_WAIT_TURNS];
	u64 max_ns[TOP_WAIT_TURNS];
	u32 at; /* the turn that goes on */
	u64 total;
	u64 last; /* in the last turn */
};

struct top_wait_summary {
	u64 waits;
	u64 p50_ns, p99_ns, max_ns;
};

void top_waits_free(struct top_waits *waits);

/* False for want of memory. */
bool top_waits_add(struct top_waits *waits, u64 wait_ns);
/* All that the kernel half has added up. */
bool top_waits_add_sums(struct top_waits *waits, const struct thread_sums *sums);

/* The next turn begins; the oldest is forgotten. */
void top_waits_turn(struct top_waits *waits);

/* Adds up several threads' for one summary. What goes on does not count yet. */
struct top_wait_sum {
	u64 counts[TOP_WAIT_SLOTS];
	u32 octaves; /* only these have counts; the others' are not even set */
	u64 total, max_ns;
};
void top_waits_begin(struct top_wait_sum *sum);
void top_waits_sum(struct top_wait_sum *sum, const struct top_waits *waits);
struct top_wait_summary top_waits_summary(const struct top_wait_sum *sum);

#endif
