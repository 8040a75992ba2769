/* SPDX-License-Identifier: GPL-2.0 */
/* Where one step of a program that repeats itself ends and the next begins, by what it does alone: a training loop
 * launches the same kernels again and again. An occurrence is one such thing; the marker is one that comes once a step.
 */
#ifndef TACTUS_MODEL_RHYTHM_H
#define TACTUS_MODEL_RHYTHM_H

#include <stdbool.h>

#include "../../core/types.h"

enum {
	RHYTHM_KEPT = 1 << 15, /* occurrences that are looked at */
	RHYTHM_FIRST = 128,    /* occurrences before the first look; after twice as many comes the next */
	RHYTHM_STEPS = 5,      /* that a look needs */
	RHYTHM_KEYS = 3,       /* different occurrences that have to agree */
};

/* What an occurrence is worth as a marker. A range that the program itself names outweighs a graph, that one kernels.
 */
enum beat_rank { BEAT_CALL, BEAT_LAUNCH, BEAT_GRAPH, BEAT_RANGE };

struct occurrence {
	u64 key;
	u32 tid;
	u8 rank;	  /* enum beat_rank */
	bool is_of_first; /* the process's first thread: rather its step than another's */
};

struct rhythm {
	struct occurrence *occurrences; /* the last RHYTHM_KEPT */
	u64 taken;
	u64 look_at; /* the next look, in occurrences taken */
	u64 marker;  /* 0: not found yet */
	u32 marker_tid;
	u32 period;    /* occurrences from one marker to the next */
	u8 rank;       /* of the marker */
	bool is_given; /* by the user: it is not looked for */
	u64 marked_at; /* in occurrences taken */
	u64 since;     /* what came before was another loop, in occurrences taken */
	u32 changes;   /* how often another marker was found */
};

enum rhythm_said { RHYTHM_NOTHING, RHYTHM_MARK, RHYTHM_CHANGED };

/* Takes an occurrence. RHYTHM_MARK: a step ends here. RHYTHM_CHANGED: only now is it known what a step is, and the
 * first begins with the next mark; what was counted before was something else. Without memory nothing is ever found. */
enum rhythm_said rhythm_take(struct rhythm *rhythm, const struct occurrence *occurrence);

/* The user says what a step begins with. */
void rhythm_give(struct rhythm *rhythm, u64 marker);
void rhythm_free(struct rhythm *rhythm);

#endif
