// SPDX-License-Identifier: GPL-2.0
/* core/period.h and core/miss.h over thousands of made series of wake-ups, each from a seed: whatever else wakes a
 * thread and whatever periods it leaves out, its clock is heard with its period or not at all. */
#include "../../core/behaviour.h"
#include "../../core/miss.h"
#include "tap.h"

enum { SEEDS = 1000, BEATS = 600, SETTLED = 64, CHANGE_AT = BEATS / 2, TOLERANCE_PER_MILLE = 80, WAKES = BEATS * 8 };

static u64 state;

static u64 random_below(u64 limit)
{
	state = state * 6364136223846793005ULL + 1442695040888963407ULL;
	return limit ? (state >> 33) % limit : 0;
}

static int happens(u64 per_mille)
{
	return random_below(1000) < per_mille;
}

static u64 wakes_ns[WAKES];
static u32 wakes;

static void wake_at(u64 time_ns)
{
	if (wakes < WAKES)
		wakes_ns[wakes++] = time_ns;
}

static void sort_wakes(void)
{
	for (u32 i = 1; i < wakes; i++) {
		u64 time_ns = wakes_ns[i];
		u32 at = i;

		for (; at && wakes_ns[at - 1] > time_ns; at--)
			wakes_ns[at] = wakes_ns[at - 1];
		wakes_ns[at] = time_ns;
	}
}

/* What a series may have besides periods; chances in per mille of a period. */
struct series {
	const char *name;
	u64 missed;	     /* it overruns: periods that are left out */
	u64 bursts;	     /* up to six of them in a row */
	u64 late, strangers; /* timers that fire late; wake-ups by others at any time */
	u64 part;	     /* wake-ups by others just after one part of a period */
	u64 parts_least, parts_most;
	u64 at_start;	   /* wake-ups by others before the first period */
	u64 learned_least; /* series of a thousand in which the clock is known after SETTLED periods */
	int other_phase;   /* a second clock of the same period */
	int other_clock;   /* and of another */
	int changes;	   /* the period changes once */
};

/* One clock's wake-ups, from a time on. */
static u64 add_clock(const struct series *like, u64 from_ns, u64 period_ns, u64 jitter_ns, u32 periods)
{
	u64 missed = random_below(like->missed + 1), strangers = random_below(like->strangers + 1);
	u64 late = random_below(like->late + 1), part = random_below(like->part + 1);
	u64 parts = like->parts_least + random_below(like->parts_most - like->parts_least + 1);

	for (u32 i = 0, out = 0; i < periods; i++) {
		u64 due_ns = from_ns + i * period_ns + random_below(jitter_ns + 1);

		if (!out && happens(like->bursts))
			out = 1 + (u32)random_below(6);
		if (happens(strangers))
			wake_at(due_ns + random_below(period_ns));
		if (happens(part) && parts)
			wake_at(due_ns + period_ns / parts);
		if (out)
			out--;
		else if (!happens(missed))
			wake_at(due_ns + (happens(late) ? random_below(period_ns / 2) : 0));
	}
	return from_ns + periods * period_ns;
}

static int is_period(u64 heard_ns, u64 period_ns)
{
	return is_near(heard_ns, period_ns, TOLERANCE_PER_MILLE);
}

static u64 watch_period_ns(const struct timer_watch *watch)
{
	return watch_is_steady(watch) ? watch->timer.gap_ns : 0;
}

static u64 timer_period_ns(const struct timer *timer)
{
	return timer->periods >= LEAST_WAKES && percent_of(timer->gap_dev_ns, timer->gap_ns) <= EXACT_PERCENT
		       ? timer->gap_ns
		       : 0;
}

struct outcome {
	u32 learned, settled; /* after SETTLED periods; ever */
	u32 wrong_in_timer, wrong_in_watch;
	u64 wrong_ns, true_ns, other_ns;
	u32 wrong_seed;
	u64 periods_to_learn; /* of all that learned, summed */
};

static void hear(const struct series *like, u32 seed, struct outcome *outcome)
{
	u64 period_ns = 1 * NSEC_PER_MSEC + random_below(40 * NSEC_PER_MSEC), begin_ns = NSEC_PER_SEC, end_ns;
	u64 jitter_ns = period_ns * random_below(40) / 1000, other_ns = period_ns, change_ns, changed_ns = period_ns;
	static const u64 ratios_percent[] = { 33, 50, 67, 150, 200, 300, 125, 80 };
	struct timer_watch watch = { 0 };
	struct timer timer = { 0 };
	int wrong_in_timer = 0, wrong_in_watch = 0, settled = 0, learned = 0;

	wakes = 0;
	for (u64 i = random_below(like->at_start + 1); i; i--)
		wake_at(begin_ns += period_ns / 10 + random_below(period_ns));
	change_ns = add_clock(like, begin_ns, period_ns, jitter_ns, like->changes ? CHANGE_AT : BEATS);
	end_ns = change_ns;
	if (like->changes) {
		changed_ns = period_ns * ratios_percent[random_below(8)] / 100;
		add_clock(like, change_ns, changed_ns, changed_ns * random_below(40) / 1000, BEATS - CHANGE_AT);
	}
	if (like->other_phase) /* two clocks at half a period from each other are one of half the period */
		add_clock(like, begin_ns + period_ns * (12 + random_below(30)) / 100, period_ns, jitter_ns, BEATS);
	if (like->other_clock) {
		/* Twice the period is left out: at half a phase it makes three of four periods of a faster clock. */
		other_ns = period_ns * (113 + random_below(75) + (happens(500) ? 100 : 0)) / 100;
		add_clock(like, begin_ns + random_below(period_ns), other_ns, jitter_ns, BEATS * 100 / 313);
	}
	sort_wakes();
	for (u32 i = 0; i < wakes; i++) {
		u64 now_ns = wakes_ns[i], by_watch_ns, by_period_ns;
		u64 true_ns = now_ns < change_ns ? period_ns : changed_ns;
		int in_change = like->changes && now_ns >= change_ns && now_ns < change_ns + SETTLED * changed_ns;

		watch_woken(&watch, now_ns, 1);
		timer_heard(&timer, now_ns);
		by_watch_ns = watch_period_ns(&watch);
		by_period_ns = timer_period_ns(&timer);
		if (is_period(by_period_ns, true_ns)) {
			if (!learned)
				outcome->periods_to_learn += (now_ns - begin_ns) / period_ns;
			learned = 1;
			settled |= now_ns < begin_ns + SETTLED * period_ns;
		}
		if (in_change || now_ns > end_ns + BEATS * changed_ns)
			continue;
		wrong_in_timer |= by_period_ns && !is_period(by_period_ns, true_ns) &&
				  !(other_ns != period_ns && is_period(by_period_ns, other_ns));
		wrong_in_watch |= by_watch_ns && !is_period(by_watch_ns, true_ns) &&
				  !(other_ns != period_ns && is_period(by_watch_ns, other_ns));
		if (!outcome->wrong_seed && (wrong_in_timer || wrong_in_watch)) {
			outcome->wrong_seed = seed;
			outcome->wrong_ns = wrong_in_timer ? by_period_ns : by_watch_ns;
			outcome->true_ns = true_ns;
			outcome->other_ns = other_ns;
		}
	}
	outcome->settled += (u32)settled;
	outcome->learned += (u32)learned;
	outcome->wrong_in_timer += (u32)wrong_in_timer;
	outcome->wrong_in_watch += (u32)wrong_in_watch;
}

static void test_series(const struct series *like)
{
	struct outcome outcome = { 0 };

	for (u32 seed = 1; seed <= SEEDS; seed++) {
		state = seed * 0x9e3779b97f4a7c15ULL;
		hear(like, seed, &outcome);
	}
	if (outcome.wrong_seed)
		printf("# first with seed %u: heard %" PRIu64 " ns, the period is %" PRIu64 ", the other's %" PRIu64
		       "\n",
		       outcome.wrong_seed, (uint64_t)outcome.wrong_ns, (uint64_t)outcome.true_ns,
		       (uint64_t)outcome.other_ns);
	printf("# measured: %s: learned in %u of %d series, in %u within %d periods, after %u on average\n", like->name,
	       outcome.learned, SEEDS, outcome.settled, SETTLED,
	       outcome.learned ? (u32)(outcome.periods_to_learn / outcome.learned) : 0);
	is(outcome.wrong_in_timer, 0, "period is the clock's period or unknown in every series: %s", like->name);
	is(outcome.wrong_in_watch, 0, "watched period is the clock's or unknown in every series: %s", like->name);
	ok(outcome.settled >= like->learned_least, "clock is known after %d periods in %u of 1000 series at least: %s",
	   SETTLED, (u32)like->learned_least, like->name);
}

int main(void)
{
	static const struct series all[] = {
		{ .name = "jitter alone", .learned_least = 1000 },
		{ .name = "single periods left out", .missed = 300, .learned_least = 950 },
		{ .name = "many periods left out", .missed = 600, .learned_least = 600 },
		{ .name = "periods left out in bursts", .missed = 100, .bursts = 150, .learned_least = 600 },
		{ .name = "wake-ups by others before the first period",
		  .missed = 50,
		  .at_start = 12,
		  .learned_least = 990 },
		{ .name = "wake-ups by others now and then", .missed = 50, .strangers = 200, .learned_least = 900 },
		{ .name = "wake-ups by others all the time", .missed = 50, .strangers = 1000 },
		{ .name = "timers that fire late", .missed = 50, .late = 150, .learned_least = 850 },
		{ .name = "wake-ups after a third of a period",
		  .missed = 100,
		  .part = 600,
		  .parts_least = 3,
		  .parts_most = 3 },
		{ .name = "wake-ups after a third of a period now and then",
		  .part = 150,
		  .parts_least = 3,
		  .parts_most = 3,
		  .learned_least = 900 },
		{ .name = "wake-ups after a whole part of a period",
		  .missed = 50,
		  .part = 60,
		  .parts_least = 3,
		  .parts_most = 8,
		  .learned_least = 900 },
		/* More often than that they are nothing else than a faster clock with periods left out. */
		{ .name = "wake-ups after half a period, rarely",
		  .missed = 50,
		  .part = 20,
		  .parts_least = 2,
		  .parts_most = 2,
		  .learned_least = 900 },
		{ .name = "all of that",
		  .missed = 150,
		  .bursts = 20,
		  .strangers = 200,
		  .late = 50,
		  .part = 100,
		  .parts_least = 3,
		  .parts_most = 3,
		  .at_start = 8 },
		{ .name = "two clocks of one period", .missed = 100, .other_phase = 1 },
		{ .name = "two clocks of different periods", .missed = 50, .other_clock = 1 },
		{ .name = "a clock that changes its period",
		  .missed = 100,
		  .strangers = 50,
		  .changes = 1,
		  .learned_least = 900 },
	};

	for (u32 i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		test_series(&all[i]);
	return tap_end();
}
