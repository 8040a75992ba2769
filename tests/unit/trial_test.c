// SPDX-License-Identifier: GPL-2.0
/* A trial on made turns: the order is balanced and follows from the seed, equal turns hardly ever lead to an answer
 * however often one looks, and a program that is helped or harmed gets the right one. */
#include <math.h>
#include <stdlib.h>

#include "../../src/model/trial.h"
#include "../../src/view/trial_words.h"
#include "tap.h"

enum { PAIRS = 30, TRIALS = 400 };

static double normal(struct draws *draws)
{
	double a = ((double)(draws_next(draws) >> 11) + 0.5) / 9007199254740992.0;

	return sqrt(-2 * log(a)) * cos(2 * M_PI * ((double)draws_below(draws, 1u << 30) / (1u << 30)));
}

static struct trial trial;

static void test_order(void)
{
	struct trial_turn turn = { .span_ns = NSEC_PER_SEC };
	u32 acted = 0, first = 0;
	int is_balanced = 1;
	u64 order[2] = { 0 };

	for (int again = 0; again < 2; again++) {
		trial_begin(&trial, 42);
		for (u32 i = 0; i < 64; i++) {
			bool acts = trial_acts(&trial, trial.turn);

			order[again] = order[again] << 1 | acts;
			acted += acts;
			first += acts && i % 2 == 0;
			if (i % 2)
				is_balanced &= acted % 2 == (again * 32 + i / 2 + 1) % 2;
			trial_turn_ends(&trial, &turn);
		}
	}
	is(order[0], order[1], "the same seed gives the same order of turns");
	is(acted, 64, "half of the turns act");
	ok(is_balanced, "the turns of every pair are one that acts and one that does not");
	printf("# measured: acting came first in %u of 64 pairs\n", first);
	is_between(17, first, 47, "turn of a pair that acts is drawn: the first in 17 to 47 of 64 pairs");
	trial_begin(&trial, 43);
	for (order[1] = 0; trial.turn < 64; trial_turn_ends(&trial, &turn))
		order[1] = order[1] << 1 | trial_acts(&trial, trial.turn);
	ok(order[0] != order[1], "another seed gives another order of turns");
}

/* How a program does: waits that drift, as load comes and goes, and what acting makes of them. */
static int run_trial(u64 seed, double times_with, double drifts, enum trial_by by, u32 *pairs)
{
	struct draws draws = { seed * 977 + 5 };
	double drift = normal(&draws);

	trial_begin(&trial, seed);
	for (*pairs = 0; trial.len < PAIRS;) {
		double times = trial_acts(&trial, trial.turn) ? times_with : 1;
		struct trial_turn turn = { .span_ns = 2ull * NSEC_PER_SEC };

		drift = 0.9 * drift + 0.43 * normal(&draws);
		times *= exp(drifts * drift + 0.1 * normal(&draws));
		turn.cpu_ns = (u64)(1e9 * (by == TRIAL_BY_PROGRESS ? times : 1));
		turn.wakes = by == TRIAL_BY_PROGRESS ? 0 : 400;
		turn.launches = by == TRIAL_BY_LAUNCHES ? (u64)(1e5 * times) : 0;
		turn.wait_squares = 400 * 1e6 * times * 1e6 * times;
		turn.frames = by == TRIAL_BY_FRAMES ? 120 : 0;
		turn.frame_ns = 120 * 16.7e6 * times;
		turn.frame_squares = 120 * 16.7e6 * 16.7e6 * times * times;
		trial_turn_ends(&trial, &turn);
		if (trial.turn % 2 == 0 && trial_answer(&trial).says) {
			*pairs = trial.len;
			return trial_answer(&trial).says;
		}
	}
	*pairs = trial.len;
	return 0;
}

static void test_equal(double drifts)
{
	u32 called = 0, pairs;

	for (u32 i = 0; i < TRIALS; i++)
		called += run_trial(i, 1, drifts, TRIAL_BY_WAITS, &pairs) != 0;
	printf("# measured: acting changes nothing, load drifts by %.1f: an answer in %u of %d trials of %d pairs\n",
	       drifts, called, TRIALS, PAIRS);
	ok(called * 100 <= TRIALS,
	   "a trial in which acting changes nothing gives an answer in one of 100 at most, with a drift of %.1f",
	   drifts);
}

/* As many as one would make by hand. */
static void test_twenty(void)
{
	u32 called = 0, pairs;

	for (u32 i = 0; i < 20; i++)
		called += run_trial(i + 1, 1, 0.3, i % 2 ? TRIAL_BY_PROGRESS : TRIAL_BY_FRAMES, &pairs) != 0;
	is(called, 0, "trials in which acting changes nothing, twenty of them, give no answer");
}

static void test_effect(const char *what, double times_with, enum trial_by by, int want)
{
	u32 right = 0, most = 0, sum = 0, pairs;
	bool is_measured = true;

	for (u32 i = 0; i < 40; i++) {
		right += run_trial(i, times_with, 0.3, by, &pairs) == want;
		is_measured &= trial.by == by;
		most = pairs > most ? pairs : most;
		sum += pairs;
	}
	printf("# measured: %s: %u of 40 right, after %.1f pairs on average, %u at most\n", what, right, sum / 40.0,
	       most);
	is(right, 40, "a program %s gets that answer in 40 of 40 trials", what);
	ok(is_measured, "a program %s is measured by what it does", what);
}

static void test_trifle(void)
{
	u32 pairs;

	/* For sure, and nobody feels it. */
	trial_begin(&trial, 1);
	while (trial.len < PAIRS) {
		struct trial_turn turn = { .span_ns = NSEC_PER_SEC, .wakes = 100 };

		turn.wait_squares = 100 * (trial_acts(&trial, trial.turn) ? 8000.0 * 8000 : 3000.0 * 3000);
		trial_turn_ends(&trial, &turn);
	}
	ok(trial_answer(&trial).evidence > TRIAL_EVIDENCE, "five microseconds in each pair are evidence");
	is(trial_answer(&trial).says, 0, "five microseconds of waits are no harm");
	is(run_trial(1, 0.2, 0, TRIAL_BY_WAITS, &pairs), 1, "a fifth of the waits is help");
	ok(trial_answer(&trial).low < 0.21, "the interval of a fifth begins below it: %.3f", trial_answer(&trial).low);
	is_between(190, trial_answer(&trial).high * 1000, 300, "the interval of a fifth ends above it and near it");
	is(pairs, 9, "a clear answer takes nine pairs");
}

/* Helped in all turns but one, in which it waited a hundred times as long as ever. */
static void test_one_stands_out(void)
{
	struct trial_answer answer;
	char words[TRIAL_WORDS_SIZE];

	trial_begin(&trial, 1);
	for (u32 i = 0; trial.len < 14; i++) {
		double wait_ns = trial_acts(&trial, trial.turn) ? 30e3 : 800e3;
		struct trial_turn turn = { .span_ns = NSEC_PER_SEC, .wakes = 200 };

		if (trial.len == 12 && wait_ns < 800e3)
			wait_ns = 22e6;
		turn.wait_squares = 200 * wait_ns * wait_ns;
		trial_turn_ends(&trial, &turn);
	}
	answer = trial_answer(&trial);
	trial_answer_words(words, &trial, &answer);
	printf("# %s\n", words);
	is(answer.says, 1, "a program that is helped in all pairs of turns but one is helped");
	ok(trial_measure(&trial.sums[1], trial.by) > trial_measure(&trial.sums[0], trial.by),
	   "a turn that stands out makes the sums say the contrary");
	ok(strstr(words, "30.0 us with tactus, 800 us without in the median turn"),
	   "where sums say the contrary of the verdict the sentence has the middle turns");
	ok(strstr(words, "over all turns 5.88 ms and 800 us"),
	   "where sums say the contrary of the verdict the sentence says so");
}

struct seen {
	u32 passes, begins, ends;
	struct trial_window counted;
};

/* Events every 10 ms from one moment to another, in ms: how many fell into a window. */
static u32 events_between(struct trial_windows *windows, u64 from_ms, u64 to_ms, struct seen *seen)
{
	u32 counted = 0;

	for (u64 ms = from_ms; ms < to_ms; ms += 10) {
		enum trial_pass pass;

		while ((pass = trial_windows_pass(windows, ms * NSEC_PER_MSEC, &seen->counted)) != TRIAL_PASSES) {
			seen->begins += pass == TRIAL_COUNTS_FROM_NOW;
			seen->ends += pass == TRIAL_COUNTED;
		}
		counted += windows->is_counted;
	}
	return counted;
}

/* Turns of two seconds that begin at 100 s, as the events of the first three come. */
static void test_transitions(void)
{
	struct trial_windows windows = { 0 };
	struct seen seen = { 0 };
	u64 ms = NSEC_PER_MSEC;

	ok(trial_windows_turn_is_over(&windows, 1), "the first turn may begin at once");
	trial_windows_change(&windows, 100000 * ms, true, 2000 * ms);
	is(events_between(&windows, 100000, 101000, &seen), 0, "the first second of a trial is left out");
	is(events_between(&windows, 101000, 102750, &seen), 175, "what comes after the first second is counted");
	ok(!trial_windows_turn_is_over(&windows, 102749 * ms),
	   "the first turn goes on until as much of it has counted as of any other");
	ok(trial_windows_turn_is_over(&windows, 102750 * ms), "the first turn is over by its time");
	trial_windows_change(&windows, 102750 * ms, false, 2000 * ms);
	is(events_between(&windows, 102750, 103000, &seen), 0, "a quarter of a second after a change is left out");
	is(seen.ends, 1, "a turn ends with the first event after the change");
	is(seen.counted.from_ns, 101000 * ms, "the first turn counts from the end of the first second");
	is(seen.counted.to_ns, 102750 * ms, "a turn counts to the change");
	ok(seen.counted.acts, "the turn that ended is the one that acted");
	is(events_between(&windows, 103000, 104750, &seen), 175,
	   "a turn counts from a quarter of a second after a change");
	ok(trial_windows_turn_is_over(&windows, 104750 * ms), "a turn is as long as it is to be");
	is(seen.begins, 2, "turns begin to count one time each");
}

/* Events of three turns come when the third goes on already. */
static void test_late_events(void)
{
	struct trial_windows windows = { 0 };
	struct seen seen = { 0 };
	u64 ms = NSEC_PER_MSEC;

	trial_windows_change(&windows, 0, false, 2000 * ms);
	trial_windows_change(&windows, 2750 * ms, true, 2000 * ms);
	trial_windows_change(&windows, 4750 * ms, false, 2000 * ms);
	is(events_between(&windows, 0, 2750, &seen), 175,
	   "events that come late are counted in the turn in which they were");
	is(events_between(&windows, 2750, 4750, &seen), 175, "events that come late are left out where a change was");
	ok(seen.counted.acts == false && seen.ends == 1, "the first of three turns is over for its events alone");
	is(events_between(&windows, 4750, 5000, &seen), 0,
	   "of events that come late the second change is left out too");
	ok(seen.counted.acts, "the second of three turns acted");
	/* None for a long time: turns in which nothing happened are over as well. */
	for (u64 from_ms = 6750; windows.len < TRIAL_WINDOWS_MOST; from_ms += 2000)
		trial_windows_change(&windows, from_ms * ms, true, 2000 * ms);
	ok(!trial_windows_turn_is_over(&windows, 3600ull * NSEC_PER_SEC),
	   "no turn ends while there is no room for another");
	events_between(&windows, 60000, 60010, &seen);
	is(windows.len, 1, "an event after many turns ends all but the one that goes on");
	is(seen.ends, TRIAL_WINDOWS_MOST + 1, "turns end one time each");
}

static void test_launches(void)
{
	struct trial_turn turn = { .span_ns = NSEC_PER_SEC / 2, .launches = 300, .wakes = 400, .wait_squares = 1e9 };
	char words[TRIAL_VALUE_SIZE];

	is((u64)trial_measure(&turn, TRIAL_BY_LAUNCHES), 600, "launches are counted a second");
	trial_value_words(words, TRIAL_BY_LAUNCHES, 600);
	is_text(words, "600.0", "launches a second are a number without a unit");
	trial_begin(&trial, 1);
	turn.frames = 60;
	for (u32 i = 0; i < 6; i++)
		trial_turn_ends(&trial, &turn);
	is(trial.by, TRIAL_BY_FRAMES, "a program that presents and launches kernels is measured by its frames");
}

static void test_nothing(void)
{
	struct trial_turn nothing = { 0 };

	trial_begin(&trial, 1);
	for (u32 i = 0; i < 2 * TRIAL_PAIRS_MOST + 8; i++)
		trial_turn_ends(&trial, &nothing);
	is(trial.len, TRIAL_PAIRS_MOST, "a trial keeps so many pairs and no more");
	is(trial_answer(&trial).says, 0, "turns in which nothing happens say nothing");
}

int main(void)
{
	test_order();
	test_equal(0);
	test_equal(0.5);
	test_twenty();
	test_effect("that waits a third as long", 0.33, TRIAL_BY_WAITS, 1);
	test_effect("that waits twice as long", 2, TRIAL_BY_WAITS, -1);
	test_effect("whose frames take two thirds as long", 0.67, TRIAL_BY_FRAMES, 1);
	test_effect("that gets twice the CPU time", 2, TRIAL_BY_PROGRESS, 1);
	test_effect("that gets half the CPU time", 0.5, TRIAL_BY_PROGRESS, -1);
	test_effect("that launches half as many kernels again", 1.5, TRIAL_BY_LAUNCHES, 1);
	test_effect("that launches two thirds as many kernels", 0.67, TRIAL_BY_LAUNCHES, -1);
	test_transitions();
	test_late_events();
	test_launches();
	test_trifle();
	test_one_stands_out();
	test_nothing();
	return tap_end();
}
