// SPDX-License-Identifier: GPL-2.0
/* core/period.h: a timer's clock is heard through overruns and wake-ups by others, and not where there is none. */
#include "../../core/behaviour.h"
#include "../../core/timer.h"
#include "tap.h"

enum { FRAME_NS = 16666667 };

static struct behaviour with_timer(const struct timer *timer)
{
	return (struct behaviour){ .span_ns = 500 * NSEC_PER_MSEC,
				   .cpu_ns = 120 * NSEC_PER_MSEC,
				   .wakeups = 2 * timer->periods, /* each frame a worker wakes it too */
				   .gap_ns = FRAME_NS / 2,
				   .gap_dev_ns = FRAME_NS / 3,
				   .periods = timer->periods,
				   .period_ns = timer->gap_ns,
				   .period_dev_ns = timer->gap_dev_ns };
}

/* Periods, the n-th left out where the pattern says so. */
static struct timer heard(u64 periods, const char *pattern)
{
	struct timer timer = { 0 };

	for (u64 i = 0; i < periods; i++)
		if (pattern[i % __builtin_strlen(pattern)] == '#')
			timer_heard(&timer, NSEC_PER_SEC + i * FRAME_NS);
	return timer;
}

static struct timer heard_at_random(u64 periods)
{
	struct timer timer = { 0 };
	u64 random = 7, now_ns = NSEC_PER_SEC;

	for (u64 i = 0; i < periods; i++) {
		random = random * 6364136223846793005ULL + 1442695040888963407ULL;
		now_ns += 2 * NSEC_PER_MSEC + (random >> 33) % (30 * NSEC_PER_MSEC);
		timer_heard(&timer, now_ns);
	}
	return timer;
}

static int is_timely(const struct timer *timer)
{
	struct behaviour seen = with_timer(timer);
	struct pattern pattern = { 0 };

	pattern_learn_timely(&pattern, &seen);
	return pattern.timely > 0;
}

/* How timely a thread seems that has no clock of its own and woke an urgent one so many times in 60 turns. */
static u32 serving(u64 serves)
{
	struct behaviour seen = { .span_ns = NSEC_PER_SEC,
				  .cpu_ns = NSEC_PER_SEC / 6,
				  .wakeups = 60,
				  .gap_ns = FRAME_NS,
				  .gap_dev_ns = FRAME_NS,
				  .serves = serves };
	struct pattern pattern = { 0 };

	pattern_learn_timely(&pattern, &seen);
	return pattern.timely;
}

int main(void)
{
	struct timer steady = heard(30, "#"), overruns = heard(60, "#.##..#."), late = heard(60, "#.#.##"),
		     none = heard_at_random(60), paused = heard(60, "##########...................."), slower = steady,
		     third = { 0 }, few = heard(5, "#");
	struct behaviour seen = with_timer(&steady);
	struct pattern pattern = { 0 };

	is(steady.gap_ns, FRAME_NS, "steady clock is heard with its period");
	ok(is_timely(&steady), "thread that works by a steady clock is timely, however often others wake it");
	ok(overruns.gap_ns > FRAME_NS * 99ULL / 100,
	   "clock of a thread that overruns is heard no faster than it is (%lu)", overruns.gap_ns);
	ok(overruns.gap_ns < FRAME_NS * 101ULL / 100,
	   "clock of a thread that overruns is heard no slower than it is (%lu)", overruns.gap_ns);
	ok(is_timely(&overruns), "thread that overruns its clock is timely");
	ok(late.gap_ns < FRAME_NS * 101ULL / 100,
	   "clock that began with every other period is heard once a short gap shows it (%lu)", late.gap_ns);
	is(paused.gap_ns, FRAME_NS, "clock of a thread that is kept from the CPU for long is heard");
	ok(is_timely(&paused), "thread with a clock that is kept from the CPU for long is timely");
	for (u64 i = 0; i < 40; i++) /* woken by another a third of a period before its first period */
		timer_heard(&third, NSEC_PER_SEC + (i ? i * FRAME_NS : FRAME_NS * 2 / 3));
	ok(third.gap_ns > FRAME_NS * 99ULL / 100,
	   "clock after one gap of a third of its period is not heard at a third (%lu)", third.gap_ns);
	ok(third.gap_ns < FRAME_NS * 101ULL / 100, "clock after one gap of a third of its period is heard whole (%lu)",
	   third.gap_ns);
	for (u64 i = 0; i < 20; i++)
		timer_heard(&slower, slower.heard_ns + 20ULL * FRAME_NS);
	ok(slower.gap_ns > 18ULL * FRAME_NS, "a clock that has become much slower is heard as that (%lu)",
	   slower.gap_ns);
	seen.periods = 3;
	seen.gap_dev_ns = seen.gap_ns;
	pattern.timely = 100;
	seen.wait_ns = seen.span_ns * 3 / 4;
	pattern_learn_timely(&pattern, &seen);
	is(pattern.timely, 100, "waiting for a CPU does not count against a thread that was on time");
	seen.wait_ns = 0;
	pattern_learn_timely(&pattern, &seen);
	ok(pattern.timely < 100, "thread that wakes at any time becomes less timely");
	pattern.timely = 100;
	seen.wait_ns = seen.span_ns * 3 / 5;
	seen.cpu_ns = seen.span_ns * 2 / 5;
	pattern_learn_timely(&pattern, &seen);
	ok(pattern.timely < 100, "thread that works on and on becomes less timely, waiting or not");
	ok(serving(60) > 0, "thread that wakes an urgent thread nearly whenever it works is timely");
	is(serving(20), 0, "thread that wakes an urgent thread now and then is not timely");
	ok(!is_timely(&none), "interrupts at any time are no clock");
	ok(!is_timely(&few), "five wake-ups are no clock");
	is(times_near(5, 0), 0, "period of 0 fits no number of times");
	is(times_near(50, 10), 5, "fifty is near five times ten");
	is(times_near(55, 10), 0, "five and a half times is not near");
	is(times_near(1000, 10), 0, "a hundred periods are not left out, they are a pause");
	return tap_end();
}
