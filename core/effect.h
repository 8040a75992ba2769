/* SPDX-License-Identifier: GPL-2.0 */
/* Whether acting makes a process's threads wait longer than they would without. A process whose waits are long, or
 * longer than before, is under suspicion. That proves nothing, since the machine may just have become busier: so acting
 * is held back for half a second, goes on for as long, and so on, and the two are compared pair by pair. Load that
 * comes and goes does not follow that pattern. Pure; src/model/effects.c keeps the processes. */
#ifndef TACTUS_CORE_EFFECT_H
#define TACTUS_CORE_EFFECT_H

#include "waits.h"

enum {
	EFFECT_WATCH_NS = NSEC_PER_SEC,	    /* a window, */
	EFFECT_TRIAL_NS = NSEC_PER_SEC / 2, /* and one of a trial: while acting is held back, urgent threads suffer */
	EFFECT_SETTLE_NS = 150 * NSEC_PER_MSEC,	      /* after a change, before the next window begins */
	EFFECT_WAITS_LEAST = 16,		      /* a window with fewer says nothing, */
	EFFECT_WAITED_LEAST_NS = 100 * NSEC_PER_MSEC, /* unless they are so long in all */
	EFFECT_TAIL_PER_MILLION = 950000,     /* what is compared: how long the longest twentieth waits at least */
	EFFECT_TIMES_WORSE = 2,		      /* so many times as long is worse, */
	EFFECT_WORSE_NS = 2 * NSEC_PER_MSEC,  /* if it is so much more */
	EFFECT_TIMES_SHARE = 4,		      /* so many times, for one that */
	EFFECT_SHARE_NS = 30 * NSEC_PER_MSEC, /* waits so long without us: it wants more CPU than there is */
	EFFECT_LONG_NS = 5 * NSEC_PER_MSEC,   /* where nothing else is known, this is long */
	EFFECT_GAME_TIMES = 2, /* beside a game in front others may wait so many times as long as elsewhere, */
	EFFECT_GAME_LONG_NS = 20 * NSEC_PER_MSEC, /* and so long in any case; */
	EFFECT_GAME_WINDOWS = 4,		  /* what is more is too much after so many windows in a row */
	EFFECT_GAME_EASED_MOST = 8,		  /* processes at a time that are treated as urgent beside a game, */
	EFFECT_GAME_EASED_OF_USER = 4,		  /* so many of one user: whoever likes can have many that wait */
	EFFECT_BEFORE_WINDOWS = 16,		  /* what was waited before a game came fades in so many */
	EFFECT_SUSPECT_WINDOWS = 2,		  /* one after the other are enough for a trial */
	EFFECT_PAIRS_SURE = 4,			  /* so many pairs more must be worse than not */
	EFFECT_PAIRS_CLEAR = 2,			  /* so many that are not are enough to clear */
	EFFECT_SPOILED_MOST = 4,		  /* windows that were not as they should be, in a trial */
	EFFECT_DOUBLES_MOST = 4, /* a hold doubles so often, and so does the time until the next trial */
};
#define EFFECT_REST_NS (60ull * NSEC_PER_SEC)  /* from one trial to the next, */
#define EFFECT_AGAIN_NS (20ull * NSEC_PER_SEC) /* or if somebody was found: there may be another cause */
#define EFFECT_HOLD_NS (60ull * NSEC_PER_SEC)  /* from a verdict on until it is tried again */

enum effect { EFFECT_UNKNOWN, EFFECT_BETTER, EFFECT_SAME, EFFECT_WORSE };

/* Whether a window has enough waits to say something. Long ones are few by nature. */
core_fn int effect_is_enough(const struct waits *waits)
{
	return waits_total(waits) >= EFFECT_WAITS_LEAST || waits_sum_ns(waits) >= EFFECT_WAITED_LEAST_NS;
}

core_fn u64 effect_tail_ns(const struct waits *waits)
{
	return waits_percentile_ns(waits, EFFECT_TAIL_PER_MILLION);
}

/* Who waits long in any case wants more CPU than there is. That urgent threads get theirs first, within their budgets,
 * is then what acting is for, and only what goes beyond that is worse. */
core_fn int effect_is_longer(u64 tail_ns, u64 than_ns)
{
	u64 times = than_ns >= EFFECT_SHARE_NS ? EFFECT_TIMES_SHARE : EFFECT_TIMES_WORSE;

	return tail_ns >= times * than_ns && tail_ns - than_ns >= EFFECT_WORSE_NS;
}

/* What acting does, by the waits with it and without. */
core_fn enum effect effect_of(const struct waits *acted, const struct waits *held)
{
	u64 acted_ns = effect_tail_ns(acted), held_ns = effect_tail_ns(held);

	if (!effect_is_enough(acted) || !effect_is_enough(held))
		return EFFECT_UNKNOWN;
	if (effect_is_longer(acted_ns, held_ns))
		return EFFECT_WORSE;
	return effect_is_longer(held_ns, acted_ns) ? EFFECT_BETTER : EFFECT_SAME;
}

/* What a game in front costs a process that is no part of it. */
enum effect_cost {
	EFFECT_COSTS_LITTLE,
	EFFECT_MAY_COST, /* it waits longer than it would have to elsewhere, and may for the game's sake */
	EFFECT_COSTS_TOO_MUCH
};

/* By what it waits beside the game and what it waited before that came in front: twice as much is allowed as for
 * anybody else, and whatever is short is nobody's trouble. */
core_fn enum effect_cost effect_of_game(const struct waits *beside, const struct waits *before)
{
	u64 beside_ns = effect_tail_ns(beside), before_ns = effect_tail_ns(before);

	if (!effect_is_enough(beside) || !effect_is_enough(before) || !effect_is_longer(beside_ns, before_ns))
		return EFFECT_COSTS_LITTLE;
	return beside_ns >= EFFECT_GAME_LONG_NS && effect_is_longer(beside_ns, EFFECT_GAME_TIMES * before_ns)
		       ? EFFECT_COSTS_TOO_MUCH
		       : EFFECT_MAY_COST;
}

/* Whether one more of a user's processes is treated as urgent beside a game, given how many are, and how many of them
 * are that user's. */
core_fn int effect_may_ease(u32 eased, u32 eased_of_user)
{
	return eased < EFFECT_GAME_EASED_MOST && eased_of_user < EFFECT_GAME_EASED_OF_USER;
}

/* Whether a process's waits while we act call for a trial, given what it waited without, if that is known. */
core_fn int effect_is_suspect(const struct waits *acted, const struct waits *without)
{
	if (!effect_is_enough(acted))
		return 0;
	if (!effect_is_enough(without))
		return effect_tail_ns(acted) >= EFFECT_LONG_NS;
	return effect_of(acted, without) == EFFECT_WORSE;
}

/* Whether a process that waits as long while nobody is urgent is tried once more, and then without any
 * scheduler of ours: it waits so long that what both have in common might be the cause. That is the last resort, since
 * for some hundredths of a second the kernel runs all in the order of arrival. */
core_fn int effect_wants_out(const struct waits *acted, const struct waits *neutral)
{
	return effect_is_enough(acted) && effect_is_enough(neutral) && effect_tail_ns(acted) >= EFFECT_SHARE_NS &&
	       effect_tail_ns(neutral) >= EFFECT_SHARE_NS;
}

/* The windows of a trial in order: held, acted, acted, held, held, acted, ... Each pair has both, and which comes first
 * takes turns, so that a load that only grows is not taken for an effect. */
core_fn int effect_window_is_held(u32 window)
{
	return (window + 1) / 2 % 2 == 0;
}

core_fn int effect_window_ends_pair(u32 window)
{
	return window % 2 == 1;
}

/* A process on trial. */
struct effect_trial {
	u32 worse;		  /* pairs */
	u32 not_worse;		  /* these, and those that said nothing: acting is not held back for long */
	struct waits acted, held; /* of this pair */
	struct waits all_acted, all_held;
};

core_fn void effect_window_passes(struct effect_trial *trial, const struct waits *waits, int is_held)
{
	waits_merge(is_held ? &trial->held : &trial->acted, waits);
	waits_merge(is_held ? &trial->all_held : &trial->all_acted, waits);
}

enum effect_verdict { EFFECT_OPEN, EFFECT_CLEARED, EFFECT_CONVICTED };

/* A pair is over. */
core_fn enum effect_verdict effect_pair_ends(struct effect_trial *trial)
{
	enum effect pair = effect_of(&trial->acted, &trial->held);
	struct waits none = { 0 };

	trial->acted = none;
	trial->held = none;
	trial->worse += pair == EFFECT_WORSE;
	trial->not_worse += pair != EFFECT_WORSE;
	if (trial->worse >= trial->not_worse + EFFECT_PAIRS_SURE)
		return effect_of(&trial->all_acted, &trial->all_held) == EFFECT_WORSE ? EFFECT_CONVICTED
										      : EFFECT_CLEARED;
	return trial->not_worse >= EFFECT_PAIRS_CLEAR ? EFFECT_CLEARED : EFFECT_OPEN;
}

/* What is done about it. */
enum effect_remedy {
	EFFECT_REMEDY_NONE,	 /* there is nothing that could be */
	EFFECT_REMEDY_HOLD_BACK, /* the cause gets no hints for a while */
	EFFECT_REMEDY_EASE,	 /* the scheduler treats the process as urgent for a while */
	EFFECT_REMEDY_LEAVE,	 /* the scheduler leaves, and hints take over */
	EFFECT_REMEDIES,
};

/* For how long what was found the cause is held back, given how often it was before; and for how long who was cleared
 * so often is not tried again. */
core_fn u64 effect_hold_ns(u32 times)
{
	return EFFECT_HOLD_NS << (times < EFFECT_DOUBLES_MOST ? times : EFFECT_DOUBLES_MOST);
}

/* Until who was found so often is tried again: soon at first, since something else may be the cause; but what nothing
 * helps against is not tried for ever. */
core_fn u64 effect_found_again_ns(u32 times)
{
	return times ? effect_hold_ns(times - 1) : EFFECT_AGAIN_NS;
}

#endif
