// SPDX-License-Identifier: GPL-2.0
/* Keeps the processes whose waits are compared, and conducts trials: one at a time, for all that are under suspicion
 * then, since what is held back is held back for all. */
#include "effects.h"

#include <stdlib.h>
#include <string.h>

#include "../base/map.h"
#include "../base/vec.h"

enum { PROCESSES_LEAST = 64, FORGOTTEN_WINDOWS = 60 };

struct process {
	u32 pid;
	struct comm comm;
	u64 seen; /* the window in which it last waited */
	struct waits window;
	struct waits acted, without; /* in the last windows of each kind */
	u32 suspicious;		     /* windows, one after the other */
	u32 cleared;		     /* so often, one after the other */
	u32 found;		     /* likewise, to wait longer because of us */
	u64 tried_again_ns;	     /* not before */
	bool wants_out;		     /* a neutral scheduler did not help */
	struct effect_trial *trial;  /* NULL: it is not on trial */
	/* What it waited while no game was in front, in so many windows; and beside one. */
	struct waits before, beside;
	u32 before_windows;
	u32 too_long;	     /* windows beside the game, one after the other */
	u32 found_beside;    /* so often */
	u64 beside_again_ns; /* not before */
	bool is_counted;     /* as one that waits for the game that is in front */
};

struct effects {
	struct process *processes;
	size_t len, room;
	struct map by_pid;
	u64 window;	   /* windows so far */
	bool has_audience; /* in this window: acting is not held back while people would notice */
	bool in_trial;
	u32 trial_window;
	u32 spoiled;	 /* windows of the trial */
	bool has_found;	 /* the trial: somebody */
	bool is_out;	 /* the trial: the scheduler leaves the kernel, and is not just neutral */
	bool is_neutral; /* the trial: the scheduler was */
	u64 next_trial_ns, trials;
	u64 for_game;
};

struct effects *effects_new(void)
{
	return calloc(1, sizeof(struct effects));
}

void effects_free(struct effects *effects)
{
	if (!effects)
		return;
	for (size_t i = 0; i < effects->len; i++)
		free(effects->processes[i].trial);
	free(effects->processes);
	map_free(&effects->by_pid);
	free(effects);
}

static struct process *process_of(struct effects *effects, const struct wait_row *row)
{
	u32 place = map_get(&effects->by_pid, row->pid);
	struct process *process;

	if (place)
		return &effects->processes[place - 1];
	if (!vec_reserve(effects->processes, effects->room, effects->len + 1, PROCESSES_LEAST) ||
	    !map_set(&effects->by_pid, row->pid, (u32)effects->len + 1))
		return NULL;
	process = &effects->processes[effects->len++];
	*process = (struct process){ .pid = row->pid, .comm = row->comm };
	return process;
}

int effects_take(void *data, const void *bytes)
{
	struct effects *effects = data;
	const struct wait_row *row = bytes;
	struct process *process = row->tier == TIER_BATCH ? NULL : process_of(effects, row);

	effects->has_audience |= row->has_audience != 0;
	if (!process)
		return 0;
	process->seen = effects->window;
	/* The first thread's name is the process's. */
	if (row->tid == row->pid)
		process->comm = row->comm;
	waits_merge(&process->window, &row->waits);
	return 0;
}

void effects_drop(struct effects *effects)
{
	for (size_t i = 0; i < effects->len; i++)
		memset(&effects->processes[i].window, 0, sizeof(struct waits));
	effects->has_audience = false;
}

/* Those that have not waited for long: they have ended, or nothing is wrong with them. */
static void forget_old(struct effects *effects)
{
	size_t kept = 0;

	for (size_t i = 0; i < effects->len; i++) {
		if (effects->window - effects->processes[i].seen > FORGOTTEN_WINDOWS && !effects->processes[i].trial)
			continue;
		effects->processes[kept++] = effects->processes[i];
	}
	if (kept == effects->len)
		return;
	effects->len = kept;
	map_clear(&effects->by_pid);
	for (size_t i = 0; i < kept; i++)
		map_set(&effects->by_pid, effects->processes[i].pid, (u32)i + 1);
}

static void remember(struct waits *so_far, const struct waits *window)
{
	waits_fade(so_far);
	waits_merge(so_far, window);
}

/* True if it is on trial from now on. */
static bool suspect(struct process *process, u64 now_ns)
{
	remember(&process->acted, &process->window);
	process->suspicious = effect_is_suspect(&process->acted, &process->without) ? process->suspicious + 1 : 0;
	return process->suspicious >= EFFECT_SUSPECT_WINDOWS && now_ns >= process->tried_again_ns;
}

static void watch(struct effects *effects, enum effect_acting acting, u64 now_ns)
{
	effects->is_out = effects->is_neutral = false;
	for (size_t i = 0; i < effects->len; i++) {
		struct process *process = &effects->processes[i];

		if (acting == EFFECT_NOT_ACTED)
			remember(&process->without, &process->window);
		if (acting != EFFECT_ACTED || !suspect(process, now_ns) || now_ns < effects->next_trial_ns ||
		    effects->has_audience)
			continue;
		process->trial = calloc(1, sizeof(*process->trial));
		effects->in_trial |= process->trial != NULL;
		effects->is_out |= process->trial && process->wants_out;
	}
	effects->trial_window = effects->spoiled = 0;
	effects->has_found = false;
	effects->trials += effects->in_trial;
}

/* It is judged by what it did in the trial, and what it did without us there is the next measure. */
static void trial_ends(struct process *process, bool is_neutral)
{
	if (!process->trial)
		return;
	process->wants_out = is_neutral && !process->found &&
			     effect_wants_out(&process->trial->all_acted, &process->trial->all_held);
	if (effect_is_enough(&process->trial->all_held) && !process->wants_out)
		process->without = process->trial->all_held;
	memset(&process->acted, 0, sizeof(process->acted));
	process->suspicious = 0;
	free(process->trial);
	process->trial = NULL;
}

static void all_trials_end(struct effects *effects, u64 now_ns)
{
	for (size_t i = 0; i < effects->len; i++)
		trial_ends(&effects->processes[i], effects->is_neutral);
	effects->in_trial = false;
	effects->next_trial_ns = now_ns + (effects->has_found ? EFFECT_AGAIN_NS : EFFECT_REST_NS);
}

static struct effect_finding finding_of(const struct process *process)
{
	return (struct effect_finding){ .pid = process->pid,
					.comm = process->comm,
					.acted_p99_ns = waits_percentile_ns(&process->trial->all_acted, 990000),
					.held_p99_ns = waits_percentile_ns(&process->trial->all_held, 990000) };
}

/* True if it has no verdict yet. */
static bool pair_ends(struct process *process, u64 now_ns, bool *is_worse)
{
	enum effect_verdict verdict = effect_pair_ends(process->trial);

	*is_worse = verdict == EFFECT_CONVICTED;
	if (verdict == EFFECT_CLEARED) {
		process->tried_again_ns = now_ns + effect_hold_ns(process->cleared++);
		process->found = 0;
	} else if (*is_worse) {
		process->tried_again_ns = now_ns + effect_found_again_ns(process->found++);
		process->cleared = 0;
	}
	return verdict == EFFECT_OPEN;
}

static bool trial_goes_on(struct effects *effects, const struct effect_window *window)
{
	bool is_held = effect_window_is_held(effects->trial_window);
	bool ends_pair = effect_window_ends_pair(effects->trial_window), is_open = false, is_worse;

	for (size_t i = 0; i < effects->len; i++) {
		struct process *process = &effects->processes[i];

		if (!process->trial)
			continue;
		effect_window_passes(process->trial, &process->window, is_held);
		if (!ends_pair) {
			is_open = true;
			continue;
		}
		if (pair_ends(process, window->now_ns, &is_worse)) {
			is_open = true;
			continue;
		}
		if (is_worse) {
			struct effect_finding finding = finding_of(process);

			effects->has_found = true;
			window->found(window->data, &finding);
		}
		trial_ends(process, effects->is_neutral);
	}
	effects->trial_window++;
	return is_open;
}

/* It fades slowly, since a game may be loading for a while before it shows itself. */
static void before_game(struct process *process)
{
	if (++process->before_windows % EFFECT_BEFORE_WINDOWS == 0)
		waits_fade(&process->before);
	waits_merge(&process->before, &process->window);
	memset(&process->beside, 0, sizeof(process->beside));
	process->too_long = 0;
	process->is_counted = false;
}

static void beside_game(struct effects *effects, struct process *process, const struct effect_window *window)
{
	enum effect_cost cost;

	remember(&process->beside, &process->window);
	cost = effect_of_game(&process->beside, &process->before);
	process->too_long = cost == EFFECT_COSTS_TOO_MUCH ? process->too_long + 1 : 0;
	if (cost != EFFECT_COSTS_LITTLE && !process->is_counted) {
		process->is_counted = true;
		effects->for_game++;
	}
	if (process->too_long < EFFECT_GAME_WINDOWS || window->now_ns < process->beside_again_ns)
		return;
	process->beside_again_ns = window->now_ns + effect_hold_ns(process->found_beside++);
	process->too_long = 0;
	window->found(window->data,
		      &(struct effect_finding){ .pid = process->pid,
						.comm = process->comm,
						.acted_p99_ns = waits_percentile_ns(&process->beside, 990000),
						.held_p99_ns = waits_percentile_ns(&process->before, 990000),
						.game_pid = window->game_pid });
}

/* Nothing is held back in front of a game: what it costs others shows by what they waited before it came. */
static void watch_game(struct effects *effects, const struct effect_window *window)
{
	for (size_t i = 0; i < effects->len; i++) {
		struct process *process = &effects->processes[i];

		if (!window->game_pid)
			before_game(process);
		else if (window->acting == EFFECT_ACTED && !window->is_of_game(window->data, process->pid))
			beside_game(effects, process, window);
	}
}

void effects_window_ends(struct effects *effects, const struct effect_window *window)
{
	enum effect_acting acting = window->acting;
	bool is_held = effects_hold(effects);
	u64 now_ns = window->now_ns;

	effects->window++;
	effects->is_neutral |= acting == EFFECT_NEUTRAL;
	if (!effects->in_trial) {
		watch_game(effects, window);
		watch(effects, acting, now_ns);
	} else if (effects->has_audience) {
		all_trials_end(effects, now_ns);
	} else if (is_held ? acting != EFFECT_NOT_ACTED && acting != EFFECT_NEUTRAL : acting != EFFECT_ACTED) {
		/* It is had once more, unless there is nothing to compare with any more. */
		if (++effects->spoiled > EFFECT_SPOILED_MOST)
			all_trials_end(effects, now_ns);
	} else if (!trial_goes_on(effects, window)) {
		all_trials_end(effects, now_ns);
	}
	effects_drop(effects);
	if (!effects->in_trial)
		forget_old(effects);
}

bool effects_hold(const struct effects *effects)
{
	return effects->in_trial && effect_window_is_held(effects->trial_window);
}

bool effects_hold_out(const struct effects *effects)
{
	return effects_hold(effects) && effects->is_out;
}

u64 effects_window_ns(const struct effects *effects)
{
	return effects->in_trial ? EFFECT_TRIAL_NS : EFFECT_WATCH_NS;
}

u64 effects_trials(const struct effects *effects)
{
	return effects->trials;
}

u64 effects_for_game(const struct effects *effects)
{
	return effects->for_game;
}
