/* SPDX-License-Identifier: GPL-2.0 */
/* How far two samples differ, and how sure that is: a block bootstrap. What follows each other in time is alike, so
 * stretches of time (blocks) are drawn again, not single values as if they were independent; where there are several
 * runs, runs are drawn first and blocks of theirs then. Intervals are widened for few blocks (as Hesterberg, "What
 * Teachers Should Know About the Bootstrap", 2015, has it) and where neighbouring blocks are still alike. The same
 * input gives the same output. Pure. */
#ifndef TACTUS_MODEL_BOOTSTRAP_H
#define TACTUS_MODEL_BOOTSTRAP_H

#include <stdbool.h>

#include "../../core/types.h"

enum { BOOTSTRAP_ROUNDS = 1000, BOOTSTRAP_BLOCKS_LEAST = 6 };

/* Numbers that look random and are always the same for a seed. */
struct draws {
	u64 state;
};

u64 draws_next(struct draws *draws);
/* From 0 to `below` - 1. */
u32 draws_below(struct draws *draws, u32 below);

/* A sample: so many blocks a run, one run after another. */
struct bootstrap_sample {
	const u32 *runs;
	u32 runs_len;
	/* All figures of the sample in which each block is there so often as its weight says; NAN: it can't be told. */
	void (*figures)(const void *data, const u32 *weights, double *figures);
	/* What one block adds to each figure, given those of the whole, up to a factor and a constant; NAN: nothing. By
	 * these is told how alike neighbours are. */
	void (*adds)(const void *data, u32 block, const double *whole, double *adds);
	const void *data;
};

struct bootstrap_interval {
	bool is_known; /* how far the figure may be off; else `low` and `high` say nothing */
	double low, high;
};

/* The differences b - a of `len` figures, each within its interval by that confidence (0.95). Returns 0 or -ENOMEM. */
int bootstrap_differences(const struct bootstrap_sample *a, const struct bootstrap_sample *b, u32 len,
			  double confidence, u64 seed, struct bootstrap_interval *intervals);

/* How much wider the interval of another confidence is than that of the first, with so few blocks or runs. */
double bootstrap_wider(const struct bootstrap_sample *a, const struct bootstrap_sample *b, double confidence,
		       double than);

/* The value that a variable of Student's distribution exceeds, to both sides, as often as `confidence` leaves. */
double student_quantile(double confidence, u32 degrees);

#endif
