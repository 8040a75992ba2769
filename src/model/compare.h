/* SPDX-License-Identifier: GPL-2.0 */
/* Two sides, each a run or several, and how they differ: figures with intervals, and a verdict. Pure: what a page or a
 * table shows is all in struct compare_result. */
#ifndef TACTUS_MODEL_COMPARE_H
#define TACTUS_MODEL_COMPARE_H

#include "blocks.h"

enum { COMPARE_RUNS_MOST = 64, COMPARE_ROWS_MOST = 128, COMPARE_SEED = 21 };

/* Each side's blocks, a run each. */
struct compare_side {
	const struct blocks *runs;
	u32 len;
};

enum compare_figure {
	FIGURE_P50,
	FIGURE_P99,
	FIGURE_P999,
	FIGURE_LONGEST,
	FIGURE_FRAME_RATE, /* frames a second of the time that frames took: pauses are none */
	FIGURE_LATE,	   /* frames that were late, of all */
	FIGURE_CAUSE,	   /* frames that were late for that, of all */
	FIGURE_MISSES,	   /* deadline misses, of all periods */
	FIGURE_CPUS,	   /* CPU time a second */
	FIGURE_SWITCHES,   /* a second */
	FIGURE_LAUNCHES,   /* a second */
	FIGURES,
};

/* Of what. */
enum compare_of {
	OF_ALL,
	OF_PROGRAM, /* frames; the row has its name */
	OF_TIER,    /* waits, `which` is the tier */
	OF_ROLE,    /* waits, `which` is the role */
	OF_CAUSE,   /* late frames, `which` is enum late_cause */
	OF_OTHERS,  /* waits of threads that are not those that are compared */
};

enum compare_unit { UNIT_NS, UNIT_SHARE, UNIT_PER_SECOND, UNIT_CPUS };

/* By its own interval, which one figure of twenty leaves by chance. */
enum compare_change { CHANGE_NOT_KNOWN, CHANGE_NONE, CHANGE_LESS, CHANGE_MORE };

struct compare_row {
	enum compare_figure figure;
	enum compare_of of;
	u32 which;
	struct comm program;
	enum compare_unit unit;
	int better;  /* -1: less is better; 1: more is; 0: neither */
	double a, b; /* NAN: there is nothing to tell it from */
	bool has_interval;
	double low, high; /* of b - a, by 95 % */
	enum compare_change change;
	bool is_headline;	    /* the verdict is by these */
	double sure_low, sure_high; /* by 95 % for all headlines together */
};

enum compare_verdict {
	VERDICT_TOO_LITTLE, /* there is nothing in both to compare, or too little of it */
	VERDICT_NONE,	    /* no difference that this data can show */
	VERDICT_BETTER,	    /* B is better */
	VERDICT_WORSE,
	VERDICT_MIXED, /* better by one headline, worse by another */
};

struct compare_result {
	struct compare_row rows[COMPARE_ROWS_MOST];
	u32 len;
	enum compare_verdict verdict;
	u32 runs[2], blocks[2];
	u64 span_ns[2];
	bool failed; /* something is missing for want of memory */
};

/* Returns 0 or -ENOMEM. */
int compare_sides(struct compare_result *result, const struct compare_side sides[2]);

/* Of the rows that are headlines, the one whose interval is farthest from nothing in that direction (1: B is better,
 * -1: worse, 0: in none); NULL: there is none. */
const struct compare_row *compare_strongest(const struct compare_result *result, int direction);

/* 1: B is better by this headline, for sure and by more than a trifle; -1: worse; 0: that can't be said. */
int compare_headline_says(const struct compare_row *row);

#endif
