/* SPDX-License-Identifier: GPL-2.0 */
/* What happened in a run, by blocks of time: counts, and how long frames and waits were. Memory is bounded: when there
 * are too many blocks, two and two become one. */
#ifndef TACTUS_MODEL_BLOCKS_H
#define TACTUS_MODEL_BLOCKS_H

#include <stdbool.h>

#include "../../core/hist.h"
#include "../../core/role.h"

enum {
	BLOCKS_MOST = 32,      /* in the end 16 to 32 of a run that is long enough */
	BLOCKS_PROGRAMS = 4,   /* that present, by name */
	SPREAD_SUB_BITS = 6,   /* a slot is at most 1.6 % wide, */
	SPREAD_LOW_BITS = 10,  /* from a microsecond */
	SPREAD_HIGH_BITS = 36, /* to a minute; the first and the last take what is less and more */
	SPREAD_SLOTS = ((SPREAD_HIGH_BITS - SPREAD_LOW_BITS) << SPREAD_SUB_BITS) + 2,
};

/* What most of a late frame's excess went into. */
enum late_cause { LATE_RAN, LATE_OTHER_RAN, LATE_WAITED, LATE_SLEPT, LATE_UNKNOWN, LATE_CAUSES };

enum block_count {
	COUNT_SPAN_NS,
	COUNT_CPU_NS,
	COUNT_SWITCHES,
	COUNT_LAUNCHES,
	COUNT_PERIODS, /* of threads that work by a timer */
	COUNT_MISSES,
	COUNT_CRITICAL_PERIODS, /* likewise, while they were latency-critical */
	COUNT_CRITICAL_MISSES,
	COUNT_FRAMES,				       /* by program, */
	COUNT_LATE = COUNT_FRAMES + BLOCKS_PROGRAMS,   /* likewise, */
	COUNT_FRAME_NS = COUNT_LATE + BLOCKS_PROGRAMS, /* that they took together */
	COUNT_CAUSES = COUNT_FRAME_NS + BLOCKS_PROGRAMS,
	COUNTS = COUNT_CAUSES + LATE_CAUSES,
};

/* Of what there are spreads of times. */
enum block_spread {
	SPREAD_FRAMES, /* by program */
	SPREAD_WAITS = SPREAD_FRAMES + BLOCKS_PROGRAMS,
	SPREAD_TIERS,			      /* waits, by tier, */
	SPREAD_ROLES = SPREAD_TIERS + TIERS,  /* by role, */
	SPREAD_OTHERS = SPREAD_ROLES + ROLES, /* and of threads that are not looked at otherwise */
	SPREADS,
};

struct block {
	u64 counts[COUNTS];
	u32 *spreads[SPREADS]; /* each of SPREAD_SLOTS, or NULL: nothing */
};

struct blocks {
	struct block all[BLOCKS_MOST];
	u32 len;
	u32 pieces_each;    /* of time that came at once, in a block */
	u32 pieces;	    /* in the last one, so far */
	u64 *sums[SPREADS]; /* by slot, so that a slot stands for the mean of what is in it */
	u64 longest[SPREADS];
	struct comm programs[BLOCKS_PROGRAMS];
	u32 programs_len;
	u64 programs_refused; /* frames of more programs than that */
	bool failed;	      /* something is missing for want of memory */
};

void blocks_free(struct blocks *blocks);

/* Where counts and times go: the piece of time that goes on. */
void blocks_count(struct blocks *blocks, u32 count, u64 much);
void blocks_time(struct blocks *blocks, u32 spread, u64 time_ns);
/* One time that counts in several. */
void blocks_times(struct blocks *blocks, const u32 *spreads, u32 len, u64 time_ns);
/* The program's number; BLOCKS_PROGRAMS: there are too many. */
u32 blocks_program(struct blocks *blocks, const struct comm *comm);

/* The piece is over, and was so long. A next one begins with what is counted next. */
void blocks_piece_ends(struct blocks *blocks, u64 span_ns);

/* What is too short to stand alone at the end joins the block before it. */
void blocks_end(struct blocks *blocks);

u32 spread_slot(u64 time_ns);

#endif
