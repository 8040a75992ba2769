/* SPDX-License-Identifier: GPL-2.0 */
/* One side of a comparison, ready to be added up by weight. compare.c's own.
 */
#ifndef TACTUS_MODEL_COMPARE_SIDE_H
#define TACTUS_MODEL_COMPARE_SIDE_H

#include "compare.h"

enum { COUNT_ALL_FRAMES = COUNTS }; /* of all programs together */

/* What is spread, ready to be added up by weight: of each block the counts of those slots that are in use. */
struct spread {
	u32 bins;
	u32 *counts;	/* of a block `bins`, block by block */
	double *values; /* what a slot stands for */
	u64 total, longest_ns;
};

struct side {
	const struct compare_side *given;
	u32 runs[COMPARE_RUNS_MOST];
	u32 blocks;
	u64 span_ns;
	const struct block *all[COMPARE_RUNS_MOST * BLOCKS_MOST];
	u32 run_of[COMPARE_RUNS_MOST * BLOCKS_MOST];
	struct spread spreads[SPREADS];
	u32 program_of[COMPARE_RUNS_MOST][BLOCKS_PROGRAMS]; /* a run's number of each program; BLOCKS_PROGRAMS: none */
	double *merged;
	const struct compare_result *result;
};

/* Returns 0 or -ENOMEM; to be freed in either case. Programs are those of both sides. */
int side_init(struct side *side, const struct compare_side *given, const struct comm *programs, u32 len);
void side_free(struct side *side);

/* Of a block, where a program's number is that of both sides. */
u64 side_count(const struct side *side, u32 block, u32 count);

#endif
