/* SPDX-License-Identifier: GPL-2.0 */
/* What acting does to processes: keeps what each waits while we act and while we do not, puts those under suspicion on
 * trial, and says who waits longer because of us. The rules are core/effect.h's. Threads that are known to be batch do
 * not count: that they wait for others is what acting is for. */
#ifndef TACTUS_MODEL_EFFECTS_H
#define TACTUS_MODEL_EFFECTS_H

#include <stdbool.h>

#include "../../core/effect.h"
#include "../../core/tier.h"

struct effects;

struct effect_finding {
	u32 pid;
	struct comm comm;
	u64 acted_p99_ns; /* of its waits in the trial, or beside the game */
	u64 held_p99_ns;  /* and without us, or before the game */
	u32 game_pid;	  /* the game in front that costs it too much; 0: a trial found it */
};

/* Whether we acted in a window. */
enum effect_acting {
	EFFECT_NOT_ACTED,
	EFFECT_NEUTRAL, /* the scheduler was in charge, and nobody was urgent */
	EFFECT_ACTED,
	EFFECT_ACTED_PARTLY, /* such a window says nothing */
};

/* NULL for want of memory. */
struct effects *effects_new(void);
void effects_free(struct effects *effects);

/* A row of the present window: a struct wait_row. Returns 0, also for want of memory: then it is left out. */
int effects_take(void *effects, const void *row);

/* What came so far is of no window. */
void effects_drop(struct effects *effects);

/* The window that ends, and whom to tell of processes that wait longer because of us, or too long for a game's sake. */
struct effect_window {
	enum effect_acting acting;
	u64 now_ns;
	u32 game_pid;				 /* in front; 0: none */
	bool (*is_of_game)(void *data, u32 pid); /* the game, or what serves it */
	void (*found)(void *data, const struct effect_finding *finding);
	void *data; /* of both */
};
void effects_window_ends(struct effects *effects, const struct effect_window *window);

/* Whether acting is to be held back in the window that begins now. */
bool effects_hold(const struct effects *effects);
/* If so, whether the scheduler is to leave the kernel for it: a neutral one did not help. */
bool effects_hold_out(const struct effects *effects);

/* How long the window that begins now lasts. */
u64 effects_window_ns(const struct effects *effects);

/* Processes so far that waited longer beside a game in front, and may. */
u64 effects_for_game(const struct effects *effects);

/* Trials that were begun so far. */
u64 effects_trials(const struct effects *effects);

#endif
