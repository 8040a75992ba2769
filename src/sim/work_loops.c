// SPDX-License-Identifier: GPL-2.0
/* What of a thread goes round: a clock of which it sleeps until the next period, and a loop that goes on with more of
 * the same when it gets through sooner than it did in the recording. */
#include <math.h>
#include <stdlib.h>

#include "../base/sort.h"
#include "work_state.h"

enum {
	WAKES_LOOKED = 512,
	WAKES_LEAST = 16,
	PARTS_MOST = 16, /* of a usual gap between two wake-ups: so many periods may have been missed in it */
	NEAR_PERIODS = 20,
	PERIOD_LEAST_NS = 200 * NSEC_PER_USEC,
	SLACK_NS = 60 * NSEC_PER_USEC, /* the kernel's 50 us of timer slack, and an interrupt */
	LOOP_SLEEPS_LEAST = 8,
	LOOP_OPEN_GAPS = 4, /* one that has not slept or woken for longer when the recording ends did something else */
};

struct wakes {
	u64 at_ns[WAKES_LOOKED], slept_ns[WAKES_LOOKED];
	u32 len;
};

static void gather(struct wakes *wakes, const struct work_thread *thread)
{
	wakes->len = 0;
	for (u32 i = 1; i < thread->len && wakes->len < WAKES_LOOKED; i++) {
		const struct step *step = &thread->steps[i];

		if (!sleep_is_by_interrupt(step) || sleep_is_io(step))
			continue;
		wakes->at_ns[wakes->len] = step->value;
		wakes->slept_ns[wakes->len++] = (u64)step->thread * NSEC_PER_USEC;
	}
}

static int by_size(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return (x > y) - (x < y);
}

static u64 gap_at_quarter(const struct wakes *wakes)
{
	u64 gaps[WAKES_LOOKED] = { 0 };

	for (u32 i = 1; i < wakes->len; i++)
		gaps[i - 1] = wakes->at_ns[i] - wakes->at_ns[i - 1];
	sort_rows(gaps, wakes->len - 1, sizeof(*gaps), by_size);
	return gaps[(wakes->len - 1) / 4];
}

/* One gap says little of a period, all of them much: first the short ones, then all. */
static double refined(const struct wakes *wakes, double period_ns)
{
	for (u32 pass = 0; pass < 2; pass++) {
		double sum = 0, periods = 0;

		for (u32 i = 1; i < wakes->len; i++) {
			double gap = (double)(wakes->at_ns[i] - wakes->at_ns[i - 1]), of = round(gap / period_ns);

			if (of < 1 || (!pass && of > NEAR_PERIODS))
				continue;
			sum += gap;
			periods += of;
		}
		period_ns = periods > 0 ? sum / periods : period_ns;
	}
	return period_ns;
}

static u64 from_grid(u64 time_ns, u64 period_ns, u64 phase_ns)
{
	u64 over = (time_ns % period_ns + period_ns - phase_ns) % period_ns;

	return over < period_ns - over ? over : period_ns - over;
}

static u64 grid_tolerance(u64 period_ns)
{
	return period_ns / 32 + SLACK_NS;
}

/* The phase that wake-ups have in the mean. */
static u64 phase_of(const struct wakes *wakes, u64 period_ns)
{
	double x = 0, y = 0, turn;

	for (u32 i = 0; i < wakes->len; i++) {
		double angle = (double)(wakes->at_ns[i] % period_ns) / (double)period_ns * 2 * M_PI;

		x += cos(angle);
		y += sin(angle);
	}
	turn = atan2(y, x) / (2 * M_PI);
	return (u64)((turn < 0 ? turn + 1 : turn) * (double)period_ns) % period_ns;
}

/* Nearly all wake-ups are at one phase of it, and nearly no sleep is longer. */
static bool is_period(const struct wakes *wakes, u64 period_ns, u64 phase_ns)
{
	u64 tolerance_ns = grid_tolerance(period_ns);
	u32 on_grid = 0, within = 0;

	for (u32 i = 0; i < wakes->len; i++) {
		on_grid += from_grid(wakes->at_ns[i], period_ns, phase_ns) <= tolerance_ns;
		within += wakes->slept_ns[i] <= period_ns + tolerance_ns;
	}
	return on_grid * 100 >= wakes->len * 85 && within * 100 >= wakes->len * 95;
}

/* What was found on the first wake-ups is followed through all of them: a nanosecond a period is a millisecond in the
 * end. */
static void lock_on(struct work_thread *thread, u64 period_ns, u64 phase_ns, u64 near_ns)
{
	u64 over_ns = (near_ns % period_ns + period_ns - phase_ns) % period_ns;
	double anchor = (double)(over_ns * 2 < period_ns ? near_ns - over_ns : near_ns + (period_ns - over_ns));
	double period = (double)period_ns;

	for (u32 i = 1; i < thread->len; i++) {
		const struct step *step = &thread->steps[i];
		double since = (double)step->value - anchor, periods = round(since / period);

		if (!sleep_is_by_interrupt(step) || sleep_is_io(step) || periods < 1 ||
		    fabs(since - periods * period) > (double)grid_tolerance(period_ns))
			continue;
		/* The first few say nothing that is not known. */
		if (periods > WAKES_LOOKED)
			period = since / periods;
	}
	thread->period_ns = (u64)round(period);
	thread->phase_ns = (u64)anchor % thread->period_ns;
}

bool work_find_period(struct work_thread *thread)
{
	struct wakes wakes;
	double gap_ns;

	gather(&wakes, thread);
	if (wakes.len < WAKES_LEAST)
		return false;
	gap_ns = (double)gap_at_quarter(&wakes);
	/* The longest that fits: of a shorter one there would have been more wake-ups. */
	for (u32 parts = 1; parts <= PARTS_MOST && gap_ns / parts >= PERIOD_LEAST_NS; parts++) {
		u64 period_ns = (u64)refined(&wakes, gap_ns / parts), phase_ns;

		if (period_ns < PERIOD_LEAST_NS)
			continue;
		phase_ns = phase_of(&wakes, period_ns);
		if (!is_period(&wakes, period_ns, phase_ns))
			continue;
		lock_on(thread, period_ns, phase_ns, wakes.at_ns[0]);
		return true;
	}
	return false;
}

bool work_is_on_grid(const struct work_thread *thread, u64 time_ns)
{
	return from_grid(time_ns, thread->period_ns, thread->phase_ns) <= grid_tolerance(thread->period_ns);
}

/* Whom it woke last before a sleep, plus one; 0: nobody since the sleep before. */
static u32 woke_before(const struct work_thread *thread, u32 sleep)
{
	for (u32 i = sleep; i > 0 && !step_is_sleep(&thread->steps[i - 1]); i--)
		if (thread->steps[i - 1].kind == STEP_WAKE)
			return thread->steps[i - 1].thread + 1;
	return 0;
}

/* Whether a thread that comes to the one may go on with the other. Where it waits for an answer and goes on with a
 * timer, or the other way round, it and whoever answers would wait for each other for ever. */
static bool sleeps_alike(const struct work_thread *thread, u32 a, u32 b)
{
	const struct step *first = &thread->steps[a], *second = &thread->steps[b];

	return (first->kind == second->kind || first->value == ~0ULL || second->value == ~0ULL) &&
	       woke_before(thread, a) == woke_before(thread, b);
}

struct round {
	u32 sleeps;   /* in the second half */
	u32 from, to; /* the first of them, and the last that is like it */
	u64 from_ns, to_ns;
	u64 ends_ns; /* the last of all */
	u64 run_ns;
};

/* Only the second half of the recording is gone round: the first may be how the program began. False: it ends. */
static bool find_round(struct round *round, const struct work_thread *thread, u64 middle_ns)
{
	for (u32 i = 0; i < thread->len; i++) {
		const struct step *step = &thread->steps[i];

		if (step->kind == STEP_RUN && round->sleeps)
			round->run_ns += step->value;
		if (step->kind == STEP_EXIT)
			return false;
		if (!step_is_sleep(step) || step->value == ~0ULL ||
		    step->value - (u64)step->thread * NSEC_PER_USEC < middle_ns)
			continue;
		if (!round->sleeps++) {
			round->from = i;
			round->from_ns = step->value;
		}
		round->ends_ns = step->value;
		if (sleeps_alike(thread, round->from, i)) {
			round->to = i;
			round->to_ns = step->value;
		}
	}
	return true;
}

void work_find_loop(struct work_thread *thread, u64 first_ns, u64 last_ns)
{
	struct round round = { 0 };
	u32 last = thread->len - 1;
	u64 gap_ns;

	if (!find_round(&round, thread, first_ns + (last_ns - first_ns) / 2))
		return;
	if (round.sleeps < LOOP_SLEEPS_LEAST || round.to_ns <= round.from_ns ||
	    round.run_ns / round.sleeps < NSEC_PER_USEC)
		return;
	gap_ns = (round.ends_ns - round.from_ns) / (round.sleeps - 1);
	if (round.ends_ns > last_ns || last_ns - round.ends_ns > LOOP_OPEN_GAPS * gap_ns)
		return;
	thread->loop_from = round.from;
	thread->loop_to = round.to;
	thread->loop_ns = round.to_ns - round.from_ns;
	if (step_is_sleep(&thread->steps[last]) && thread->steps[last].value == ~0ULL &&
	    sleeps_alike(thread, round.from, last)) {
		thread->loop_to = last;
		thread->loop_ns = round.ends_ns + gap_ns - round.from_ns;
	}
	thread->goes_on = 0;
}
