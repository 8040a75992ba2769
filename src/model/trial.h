/* SPDX-License-Identifier: GPL-2.0 */
/* A trial of whether acting helps: turns with and without acting, in pairs of which a draw says what comes first, and a
 * test that may be looked at after every pair. Pure.
 *
 * If acting changes nothing, which of a pair's turns is the better one is decided by the draw alone: each sign is a
 * fair coin, whatever the sizes of the differences. So one who bets on signs, more on large differences than on small
 * ones, does not grow rich: that he ever has a hundred times what he began with is as likely as one in a hundred at
 * most (Ville's inequality), however often one looks and whenever one stops. What he has is the evidence. */
#ifndef TACTUS_MODEL_TRIAL_H
#define TACTUS_MODEL_TRIAL_H

#include <stdbool.h>

#include "bootstrap.h"

enum {
	TRIAL_PAIRS_MOST = 4096,
	TRIAL_CHOOSES_AFTER = 3, /* pairs: then it is fixed what is measured */
	TRIAL_EVIDENCE = 100,	 /* is enough: one in a hundred */
	TRIAL_STAKES = 2,
	TRIAL_WINDOWS_MOST = 8,
};

#define TRIAL_WARM_UP_NS (1ull * NSEC_PER_SEC)	 /* before the first turn: a program begins otherwise than it goes on */
#define TRIAL_SETTLE_NS (250ull * NSEC_PER_MSEC) /* left out after each change */

/* What is measured. */
enum trial_by { TRIAL_BY_FRAMES, TRIAL_BY_LAUNCHES, TRIAL_BY_WAITS, TRIAL_BY_PROGRESS, TRIAL_BYS };
/* Of these more is better, and of the others less. */
bool trial_is_rate(enum trial_by by);

/* What happened in a turn. */
struct trial_turn {
	u64 span_ns;
	u64 frames;
	double frame_ns, frame_squares; /* sums */
	u64 wakes;			/* of threads that are not batch work */
	double wait_squares;		/* of each that they waited for a CPU, in ns * ns */
	u64 cpu_ns;
	u64 launches; /* of kernels, by CUDA */
};

/* Of turns: how long a frame takes, over time (a long one counts as long as it lasts), in ns; what a thread
 * waits for CPUs a wake-up, as root of the mean square, by which long waits count more, in ns; or the CPU time,
 * or the launches of kernels, a second. NAN: nothing of that happened.
 */
double trial_measure(const struct trial_turn *turn, enum trial_by by);

/* The same of the middle one of the turns that act, or that do not: single turns that stand out do not move it. */
struct trial;
double trial_middle(const struct trial *trial, bool acts);

void trial_turn_add(struct trial_turn *into, const struct trial_turn *turn);

struct trial_pair {
	struct trial_turn turns[2]; /* without, and with acting */
};

struct trial {
	u64 seed;
	u32 turn; /* whose end comes next, from 0 */
	enum trial_by by;
	bool by_is_fixed;
	struct trial_pair pairs[TRIAL_PAIRS_MOST];
	u32 len;		   /* whole pairs */
	struct trial_turn sums[2]; /* of them */
};

void trial_begin(struct trial *trial, u64 seed);
/* Whether the turn of that number acts. */
bool trial_acts(const struct trial *trial, u32 turn);
/* The next turn is over. */
void trial_turn_ends(struct trial *trial, const struct trial_turn *turn);

/* The part of a turn that counts. */
struct trial_window {
	u64 from_ns, to_ns; /* to the end of time while its turn goes on */
	bool acts;
};

/* Turns that are not counted to their end yet: events come a while after they happened. */
struct trial_windows {
	struct trial_window all[TRIAL_WINDOWS_MOST]; /* the first is counted, or comes next, as events go */
	u32 len;
	bool is_counted; /* the first */
	u64 turn_end_ns; /* of the last; 0: none has begun */
};

/* From now on it acts, or does not, until the end of the turn; what comes before all has settled is not counted. */
void trial_windows_change(struct trial_windows *windows, u64 now_ns, bool acts, u64 turn_ns);
/* The last turn is over, and there is room for another. */
bool trial_windows_turn_is_over(const struct trial_windows *windows, u64 now_ns);

enum trial_pass { TRIAL_PASSES, TRIAL_COUNTS_FROM_NOW, TRIAL_COUNTED };
/* An event of that time is next. TRIAL_COUNTS_FROM_NOW: the first window's time has come; TRIAL_COUNTED: it is over,
 * and `counted` is that one. To be asked again until time only passes. */
enum trial_pass trial_windows_pass(struct trial_windows *windows, u64 now_ns, struct trial_window *counted);

struct trial_answer {
	double evidence;   /* against "acting changes nothing": so many to one */
	int says;	   /* 1: it helps; -1: it harms; 0: that can't be said */
	u32 better, worse; /* pairs */
	double low, high;  /* the measure with acting as a part of that without, by 95 %; 0 and 0: not known */
};

struct trial_answer trial_answer(const struct trial *trial);

#endif
