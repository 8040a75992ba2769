/* SPDX-License-Identifier: GPL-2.0 */
/* Whether a thread that works by a timer ran when it was due. The timer is found in its wake-ups (core/timer.h): a
 * timer fires on time whether the thread then gets a CPU or not. Pure. */
#ifndef TACTUS_CORE_MISS_H
#define TACTUS_CORE_MISS_H

#include "timer.h"

enum {
	MISS_PERIODS = 16,	  /* before so many nothing is a timer */
	MISS_STEADY_PERCENT = 10, /* deviation that a timer may have */
	MISS_SLACK_PERCENT = 25,  /* of the period: a thread that runs within that is on time */
};
#define MISS_PERIOD_MOST_NS (200ull * NSEC_PER_MSEC)

enum clock_state { CLOCK_ASLEEP, CLOCK_DUE, CLOCK_AT_WORK, CLOCK_PUSHED_OFF };

struct timer_watch {
	struct timer timer;
	u64 due_ns;	 /* the period that it is to run for, or runs for */
	u64 next_due_ns; /* the one after that; while it is at work */
	u64 since_ns;	 /* at work or pushed off since */
	u64 work_ns;	 /* that it has run for this period */
	u64 usual_work_ns;
	u32 state; /* enum clock_state */
	u32 unused;
};

enum miss_kind {
	MISS_NONE,
	MISS_WAITED, /* it was due and had no CPU */
	MISS_OVERRAN /* it was still at work, for an earlier period, and had its CPU */
};

struct miss_verdict {
	enum miss_kind kind;
	u64 expected_ns, actual_ns;
	u64 late_ns;
	u64 period_ns;
	u64 periods; /* that passed in that time, the expected one included */
};

core_fn int watch_is_steady(const struct timer_watch *watch)
{
	const struct timer *timer = &watch->timer;

	return timer->kept >= MISS_PERIODS && timer->gap_ns && timer->gap_ns <= MISS_PERIOD_MOST_NS &&
	       timer->gap_dev_ns * 100 <= timer->gap_ns * MISS_STEADY_PERCENT;
}

core_fn u64 watch_slack_ns(const struct timer_watch *watch, u64 slack_ns)
{
	return slack_ns ? slack_ns : watch->timer.gap_ns * MISS_SLACK_PERCENT / 100;
}

core_fn void watch_begins(struct timer_watch *watch, u64 due_ns, enum clock_state state, u64 now_ns)
{
	watch->due_ns = due_ns;
	watch->next_due_ns = due_ns + watch->timer.gap_ns;
	watch->since_ns = now_ns;
	watch->work_ns = 0;
	watch->state = state;
}

/* It is woken, by something outside of its process; `asleep`: else it was on its way to sleep and goes on. */
core_fn void watch_woken(struct timer_watch *watch, u64 now_ns, int asleep)
{
	if (timer_heard(&watch->timer, now_ns) && watch_is_steady(watch))
		watch_begins(watch, now_ns, asleep ? CLOCK_DUE : CLOCK_AT_WORK, now_ns);
}

core_fn struct miss_verdict watch_late(struct timer_watch *watch, enum miss_kind kind, u64 expected_ns, u64 actual_ns,
				       u64 slack_ns)
{
	struct miss_verdict verdict = { .period_ns = watch->timer.gap_ns };
	u64 late_ns = span_between(expected_ns, actual_ns);

	if (late_ns <= watch_slack_ns(watch, slack_ns) || !watch->timer.gap_ns)
		return verdict;
	verdict.kind = kind;
	verdict.expected_ns = expected_ns;
	verdict.actual_ns = actual_ns;
	verdict.late_ns = late_ns;
	verdict.periods = late_ns / watch->timer.gap_ns + 1;
	/* What passed meanwhile is reported with this. */
	watch->next_due_ns = expected_ns + verdict.periods * watch->timer.gap_ns;
	return verdict;
}

/* It gets a CPU. */
core_fn struct miss_verdict watch_ran(struct timer_watch *watch, u64 now_ns, u64 slack_ns)
{
	struct miss_verdict verdict = { 0 };

	if (watch->state == CLOCK_DUE)
		verdict = watch_late(watch, MISS_WAITED, watch->due_ns, now_ns, slack_ns);
	else if (watch->state == CLOCK_PUSHED_OFF && watch->since_ns <= watch->next_due_ns)
		verdict = watch_late(watch, MISS_WAITED, watch->next_due_ns, now_ns, slack_ns);
	if (watch->state != CLOCK_ASLEEP) {
		watch->state = CLOCK_AT_WORK;
		watch->since_ns = now_ns;
	}
	return verdict;
}

/* It is pushed off its CPU. */
core_fn void watch_pushed_off(struct timer_watch *watch, u64 now_ns)
{
	if (watch->state != CLOCK_AT_WORK)
		return;
	watch->work_ns += span_between(watch->since_ns, now_ns);
	watch->state = CLOCK_PUSHED_OFF;
	watch->since_ns = now_ns;
}

/* It goes to sleep. One that is past its next period has begun with that at the latest as much earlier as it usually
 * works for one. */
core_fn struct miss_verdict watch_slept(struct timer_watch *watch, u64 now_ns, u64 slack_ns)
{
	struct miss_verdict verdict = { 0 };

	if (watch->state == CLOCK_AT_WORK) {
		watch->work_ns += span_between(watch->since_ns, now_ns);
		verdict = watch_late(watch, MISS_OVERRAN, watch->next_due_ns,
				     span_between(watch->usual_work_ns, now_ns), slack_ns);
		if (!verdict.kind && now_ns < watch->next_due_ns)
			watch->usual_work_ns = watch->usual_work_ns ? ewma(watch->usual_work_ns, watch->work_ns)
								    : watch->work_ns;
	}
	watch->state = CLOCK_ASLEEP;
	return verdict;
}

/* Events are missing: what it does now is not known, its timer still is. */
core_fn void watch_lost_sight(struct timer_watch *watch)
{
	watch->state = CLOCK_ASLEEP;
}

#endif
