// SPDX-License-Identifier: GPL-2.0
/* What 'tactus run' does to others: reads what processes wait, window by window, holds acting back where
 * model/effects.h wants to compare, and takes back what makes somebody wait longer: by hints, those of the process that
 * is the cause; under sched_ext, the one that waits is treated as urgent, and where that is not enough, the scheduler
 * leaves. */
#include <unistd.h>

#include "../base/loop.h"
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

/* Somebody is urgent by us. */
static bool acts(const struct run *run)
{
	if (run->scx)
		return !scx_is_held(run->scx);
	return run->hints && hints_counts(run->hints).urgent;
}

void run_hold(struct run *run, bool is_held)
{
	struct scx_exit_record last;
	int error = 0;

	/* Who paused it lets it go on. */
	is_held |= run->control.is_paused;
	if (run->hints)
		hints_hold(run->hints, is_held);
	if (run->scx)
		error = scx_hold(run->scx, is_held);
	/* It was put out, which the next tick finds; or it can't be put in, which is tried again. */
	if (error && !is_held) {
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

static void on_worse(void *data, const struct effect_finding *finding)
{
	struct effect_notice notice = { .pid = finding->pid,
					.comm = finding->comm,
					.acted_p99_ns = finding->acted_p99_ns,
					.held_p99_ns = finding->held_p99_ns };
	char words[EFFECT_WORDS_SIZE];
	struct run *run = data;

	if (run_game_may_cost(run, finding)) {
		run->for_game++;
		return;
	}
	if (run->hints)
		remedy_by_hints(run, &notice);
	else
		remedy_by_scx(run, &notice);
	run->effect.worse++;
	run->effect.last = notice;
	effect_words(words, &notice);
	note_about(&(struct say_about){ "effect", notice.pid, notice.comm.text, true }, "%s", words);
	put_event(run, &notice);
}

/* Threads that began meanwhile are eased too. */
static void ease(struct run *run)
{
	u64 now_ns = clock_now_ns();

	holds_for_each(hold, &run->effect.eased, now_ns)
		sched_ease(run->sched, hold->pid, now_ns + 2 * EFFECT_WATCH_NS);
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
	bool acted = acts(run), was_held = effects_hold(effect->effects);
	enum effect_acting acting = acted != effect->acted ? EFFECT_ACTED_PARTLY
				    : acted		   ? EFFECT_ACTED
							   : EFFECT_NOT_ACTED;

	run->game_pid = run->game_next;
	run->game_next = 0;
	effects_window_ends(effect->effects, acting, clock_now_ns(), on_worse, run);
	if (run->scx && effect->last.remedy == EFFECT_REMEDY_LEAVE && !run_leave_scx(run))
		return false;
	if (run->scx)
		ease(run);
	else
		effect->eased = (struct holds){ 0 };
	if (effects_hold(effect->effects) != was_held) {
		run_hold(run, !was_held);
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
