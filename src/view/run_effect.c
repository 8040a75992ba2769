// SPDX-License-Identifier: GPL-2.0
/* What 'tactus run' does to others: reads what processes wait, window by window, holds acting back where
 * model/effects.h wants to compare, and takes back what makes somebody wait longer: by hints, those of the process that
 * is the cause; under sched_ext, the one that waits is treated as urgent, and where that is not enough, the scheduler
 * leaves. A game in front keeps what it has: whom it costs too much is treated as urgent too, by hints as well. */
#include <unistd.h>

#include "../base/loop.h"
#include "../base/owner.h"
#include "../base/proc.h"
#include "../base/say.h"
#include "run.h"

void run_effect_begin(struct run *run)
{
	struct run_effect *effect = &run->effect;

	if (!run->began || run->chosen.no_compare || run->chosen.dry_run || (!run->scx && !run->hints))
		return;
	effect->effects = effects_new();
	if (!effect->effects)
		note("whether acting makes processes wait longer is not compared: out of memory");
	effect->settles = true;
	effect->since_ns = clock_now_ns();
}

/* Whether somebody is urgent by us. */
static enum effect_acting acts(const struct run *run)
{
	static const enum effect_acting by_scx[] = {
		[SCX_ACTS] = EFFECT_ACTED, [SCX_NEUTRAL] = EFFECT_NEUTRAL, [SCX_OUT] = EFFECT_NOT_ACTED
	};

	if (run->scx)
		return by_scx[scx_standing(run->scx)];
	return run->hints && hints_counts(run->hints).urgent ? EFFECT_ACTED : EFFECT_NOT_ACTED;
}

void run_hold(struct run *run, enum run_acting acting)
{
	static const enum scx_standing standing[] = {
		[RUN_ACTS] = SCX_ACTS, [RUN_IS_NEUTRAL] = SCX_NEUTRAL, [RUN_IS_OUT] = SCX_OUT
	};
	struct scx_exit_record last;
	int error = 0;

	/* Who paused it lets it go on. */
	if (run->control.is_paused)
		acting = RUN_IS_OUT;
	if (run->hints)
		hints_hold(run->hints, acting != RUN_ACTS);
	if (run->scx)
		error = scx_hold(run->scx, standing[acting]);
	/* It was put out, which the next tick finds; or it can't be put in, which is tried again. */
	if (error && acting != RUN_IS_OUT) {
		scx_stop(run->scx, &last);
		run->scx = NULL;
		run->tries = 1;
	}
}

void run_effect_settle(struct run *run)
{
	run->effect.settles = true;
	run->effect.since_ns = clock_now_ns();
}

static void window_begins(struct run *run)
{
	run->effect.settles = false;
	run->effect.since_ns = clock_now_ns();
	run->effect.acted = acts(run);
}

static void put_event(struct run *run, const struct effect_notice *notice)
{
	struct event_effect event = { .head = { .time_ns = clock_now_ns(), .tid = notice->pid, .kind = EVENT_EFFECT },
				      .pid = notice->pid,
				      .cause_pid = notice->cause_pid,
				      .acted_p99_ns = notice->acted_p99_ns,
				      .held_p99_ns = notice->held_p99_ns,
				      .span_ns = notice->span_ns,
				      .what = notice->remedy };

	capture_put(&run->capture, &event.head);
}

static void remedy_by_hints(struct run *run, struct effect_notice *notice)
{
	notice->cause_pid = hints_cause(run->hints, notice->pid);
	if (!notice->cause_pid)
		return;
	proc_comm(notice->cause_pid, &notice->cause_comm);
	notice->span_ns = hints_hold_back(run->hints, notice->cause_pid);
	notice->remedy = EFFECT_REMEDY_HOLD_BACK;
}

/* One that waits longer although it is eased shows that easing is not enough. */
static void remedy_by_scx(struct run *run, struct effect_notice *notice)
{
	u64 now_ns = clock_now_ns();

	if (!holds_has(&run->effect.eased, notice->pid, now_ns)) {
		notice->span_ns = holds_add(&run->effect.eased, notice->pid, proc_start_ticks(notice->pid), now_ns);
		notice->remedy = EFFECT_REMEDY_EASE;
	} else if (run_may_leave_scx(run)) {
		notice->remedy = EFFECT_REMEDY_LEAVE;
	}
}

/* Whether so many may be urgent beside a game. Whoever has ended is nobody's. */
static bool may_ease(const struct run *run, u32 pid, u64 now_ns)
{
	u32 user, other, eased = 0, of_user = 0;

	if (process_charged_to(pid, &user))
		return false;
	holds_for_each(hold, &run->effect.eased, now_ns)
	{
		eased++;
		of_user += !process_charged_to(hold->pid, &other) && other == user;
	}
	return effect_may_ease(eased, of_user);
}

/* The game in front keeps what it has. Returns whether the one that waits may be urgent beside it. */
static bool remedy_for_game(struct run *run, struct effect_notice *notice, u32 game_pid)
{
	u64 now_ns = clock_now_ns();

	if (!may_ease(run, notice->pid, now_ns))
		return false;
	notice->cause_pid = game_pid;
	proc_comm(game_pid, &notice->cause_comm);
	notice->span_ns = holds_add(&run->effect.eased, notice->pid, proc_start_ticks(notice->pid), now_ns);
	notice->remedy = EFFECT_REMEDY_EASE;
	return true;
}

static void on_worse(void *data, const struct effect_finding *finding)
{
	struct effect_notice notice = { .pid = finding->pid,
					.comm = finding->comm,
					.acted_p99_ns = finding->acted_p99_ns,
					.held_p99_ns = finding->held_p99_ns };
	char words[EFFECT_WORDS_SIZE];
	struct run *run = data;

	if (finding->game_pid) {
		if (!remedy_for_game(run, &notice, finding->game_pid))
			return;
	} else if (run->hints) {
		remedy_by_hints(run, &notice);
	} else {
		remedy_by_scx(run, &notice);
	}
	run->effect.worse++;
	run->effect.last = notice;
	effect_words(words, &notice);
	note_about(&(struct say_about){ "effect", notice.pid, notice.comm.text, true }, "%s", words);
	put_event(run, &notice);
}

static int ease_by_hint(void *data, const void *bytes)
{
	struct event_role event = *(const struct event_role *)bytes;

	if (event.head.kind != EVENT_ROLE)
		return 0;
	if (event.tier == TIER_INTERACTIVE)
		event.tier = TIER_LATENCY_CRITICAL;
	run_hint(data, &event);
	return 0;
}

/* Threads that began meanwhile are eased too. */
static void ease(struct run *run)
{
	struct run_effect *effect = &run->effect;
	u64 now_ns = clock_now_ns();

	for (const struct hold *hold = effect->eased.all; hold < effect->eased.all + HOLDS_MOST; hold++) {
		bool is_over = hold->until_ns <= now_ns;

		/* It may have ended, and its number be another's. */
		if (!hold->pid || hold->until_ns <= effect->eased_ns ||
		    proc_start_ticks(hold->pid) != hold->start_ticks)
			continue;
		if (!run->scx)
			sched_read_roles(run->sched, hold->pid, is_over ? run_hint_again : ease_by_hint, run);
		else if (!is_over)
			sched_ease(run->sched, hold->pid, now_ns + 2 * EFFECT_WATCH_NS);
	}
	effect->eased_ns = now_ns;
}

/* What this process itself waits is nobody's trouble. */
static int take_row(void *data, const void *bytes)
{
	const struct wait_row *row = bytes;
	struct run *run = data;

	run_game_row(run, row);
	return row->pid == (u32)getpid() ? 0 : effects_take(run->effect.effects, row);
}

static bool window_ends(struct run *run)
{
	struct run_effect *effect = &run->effect;
	bool was_held = effects_hold(effect->effects);
	enum effect_acting acted = acts(run), acting = acted == effect->acted ? acted : EFFECT_ACTED_PARTLY;

	run_game_window_ends(run);
	effects_window_ends(effect->effects, &(struct effect_window){ .acting = acting,
								      .now_ns = clock_now_ns(),
								      .game_pid = run->game_pid,
								      .is_of_game = run_game_has,
								      .found = on_worse,
								      .data = run });
	if (run->scx && effect->last.remedy == EFFECT_REMEDY_LEAVE && !run_leave_scx(run))
		return false;
	if (run->scx || run->hints)
		ease(run);
	else
		effect->eased = (struct holds){ 0 };
	if (effects_hold(effect->effects) != was_held) {
		run_hold(run, was_held ? RUN_ACTS : effects_hold_out(effect->effects) ? RUN_IS_OUT : RUN_IS_NEUTRAL);
		effect->settles = true;
		effect->since_ns = clock_now_ns();
		return true;
	}
	window_begins(run);
	return true;
}

bool run_effect_tick(struct run *run)
{
	struct run_effect *effect = &run->effect;
	u64 span_ns = clock_now_ns() - effect->since_ns;

	if (!effect->effects || run->control.is_paused ||
	    span_ns < (effect->settles ? EFFECT_SETTLE_NS : effects_window_ns(effect->effects)))
		return true;
	if (sched_take_waits(run->sched, take_row, run)) {
		effects_drop(effect->effects);
		return true;
	}
	if (!effect->settles)
		return window_ends(run);
	effects_drop(effect->effects);
	window_begins(run);
	return true;
}

void run_effect_end(struct run *run)
{
	effects_free(run->effect.effects);
	run->effect.effects = NULL;
}
