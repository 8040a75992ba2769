// SPDX-License-Identifier: GPL-2.0
/* Comparing two sides: how often equal ones are called different, though what follows each other in time is alike; how
 * often a difference that is there is found; blocks that stay few and lose nothing; and the verdict. */
#include <math.h>
#include <stdlib.h>

#include "../../src/model/bootstrap.h"
#include "../../src/model/compare.h"
#include "../../src/view/compare_words.h"
#include "tap.h"

enum { BLOCKS = 24, TIMES = 300, FRAMES_PER_S = 60 };

static double uniform(struct draws *draws)
{
	return ((double)(draws_next(draws) >> 11) + 0.5) / 9007199254740992.0;
}

static double normal(struct draws *draws)
{
	return sqrt(-2 * log(uniform(draws))) * cos(2 * M_PI * uniform(draws));
}

static int is_about(double got, double want, double off)
{
	if (fabs(got - want) <= off)
		return 1;
	printf("# got %f, want %f\n", got, want);
	return 0;
}

static void test_student(void)
{
	ok(is_about(student_quantile(0.95, 1), 12.706, 0.001), "95 %% of Student's with one degree are within 12.706");
	ok(is_about(student_quantile(0.95, 4), 2.776, 0.001), "95 %% of Student's with 4 degrees are within 2.776");
	ok(is_about(student_quantile(0.99, 15), 2.947, 0.001), "99 %% of Student's with 15 degrees are within 2.947");
	ok(is_about(student_quantile(0.95, 1000000), 1.960, 0.005), "95 %% of a normal variable are within 1.96");
}

/* A series whose blocks are like their neighbours. */
static void make_series(double *series, u32 len, double alike, double shift, struct draws *draws)
{
	double value = normal(draws);

	for (u32 i = 0; i < len; i++) {
		value = alike * value + sqrt(1 - alike * alike) * normal(draws);
		series[i] = 10 + shift + value;
	}
}

struct series {
	double values[4 * BLOCKS];
	u32 len;
};

static void mean_of(const void *data, const u32 *weights, double *figures)
{
	const struct series *series = data;
	double sum = 0, all = 0;

	for (u32 i = 0; i < series->len; i++) {
		sum += weights[i] * series->values[i];
		all += weights[i];
	}
	figures[0] = sum / all;
}

static void adds_to_mean(const void *data, u32 block, const double *whole, double *adds)
{
	const struct series *series = data;

	adds[0] = series->values[block] - whole[0];
}

static int differs(const struct series *a, const struct series *b, const u32 *runs, u32 runs_len)
{
	struct bootstrap_sample samples[2] = { { runs, runs_len, mean_of, adds_to_mean, a },
					       { runs, runs_len, mean_of, adds_to_mean, b } };
	struct bootstrap_interval interval;

	if (bootstrap_differences(&samples[0], &samples[1], 1, 0.95, 1, &interval) || !interval.is_known)
		return -1;
	return interval.low > 0 || interval.high < 0;
}

/* As if all values were independent. */
static int differs_naively(const struct series *a, const struct series *b)
{
	double mean[2] = { 0 }, squares[2] = { 0 };
	const struct series *both[] = { a, b };

	for (int i = 0; i < 2; i++) {
		for (u32 j = 0; j < both[i]->len; j++)
			mean[i] += both[i]->values[j] / both[i]->len;
		for (u32 j = 0; j < both[i]->len; j++)
			squares[i] += (both[i]->values[j] - mean[i]) * (both[i]->values[j] - mean[i]);
	}
	return fabs(mean[0] - mean[1]) > 1.96 * sqrt((squares[0] + squares[1]) / a->len / (a->len - 1));
}

static void test_equal_series(double alike, u32 len, u32 most_permille)
{
	struct draws draws = { 5 };
	struct series a, b;
	u32 called = 0, naively = 0;

	a.len = b.len = len;
	for (u32 i = 0; i < TIMES; i++) {
		make_series(a.values, len, alike, 0, &draws);
		make_series(b.values, len, alike, 0, &draws);
		called += differs(&a, &b, &len, 1) == 1;
		naively += differs_naively(&a, &b);
	}
	printf("# measured: equal series of %u blocks whose neighbours are alike by %.1f: %u of %d called different, "
	       "as if "
	       "independent %u\n",
	       len, alike, called, TIMES, naively);
	ok(called * 1000 <= TIMES * most_permille,
	   "of equal series of %u blocks, alike by %.1f, at most %u of 1000 are called different", len, alike,
	   most_permille);
	if (alike > 0.5)
		ok(naively * 5 > TIMES,
		   "a test that takes alike blocks for independent calls one of five equal series different");
}

static void test_equal_runs(void)
{
	struct draws draws = { 6 };
	const u32 runs[3] = { 8, 8, 8 };
	u32 called = 0, as_one = 0, one = 24;

	for (u32 i = 0; i < TIMES; i++) {
		struct series sides[2];

		for (int side = 0; side < 2; side++) {
			sides[side].len = one;
			for (u32 run = 0; run < 3; run++)
				make_series(&sides[side].values[8 * run], 8, 0, 2 * normal(&draws), &draws);
		}
		called += differs(&sides[0], &sides[1], runs, 3) == 1;
		as_one += differs(&sides[0], &sides[1], &one, 1) == 1;
	}
	printf("# measured: three runs a side, each of which is off by itself: %u of %d equal sides called different, "
	       "as "
	       "one run %u\n",
	       called, TIMES, as_one);
	ok(called * 1000 <= TIMES * 75,
	   "three runs a side that differ among themselves are called different in 7 of 100 at most");
}

static void test_power(void)
{
	struct draws draws = { 7 };
	struct series a, b;
	u32 found = 0, len = BLOCKS;

	a.len = b.len = len;
	for (u32 i = 0; i < TIMES; i++) {
		make_series(a.values, len, 0.3, 0, &draws);
		make_series(b.values, len, 0.3, 2, &draws);
		found += differs(&a, &b, &len, 1) == 1;
	}
	printf("# measured: a difference of two deviations in %d blocks found %u of %d times\n", BLOCKS, found, TIMES);
	ok(found * 100 >= TIMES * 95, "a difference of two deviations is found in 95 of 100 or more");
}

static const struct comm game = { "game" };

/* What a run of frames is like. */
struct play {
	double seconds;
	double late_share; /* of frames that take three times as long */
	double times;	   /* as long as 16.7 ms, each frame */
};

/* Frames whose times drift: each is like the one before. */
static void make_run(struct blocks *blocks, const struct play *play, struct draws *draws)
{
	u32 frames = (u32)(play->seconds * FRAMES_PER_S), program = blocks_program(blocks, &game);
	double drift = normal(draws), piece_ns = 0;

	for (u32 i = 0; i < frames; i++) {
		bool is_late = uniform(draws) < play->late_share;
		double time_ns;

		drift = 0.99 * drift + 0.141 * normal(draws);
		time_ns = 16.7e6 * play->times * exp(0.05 * drift + 0.02 * normal(draws)) * (is_late ? 3 : 1);
		blocks_time(blocks, SPREAD_FRAMES + program, (u64)time_ns);
		blocks_count(blocks, COUNT_FRAMES + program, 1);
		blocks_count(blocks, COUNT_FRAME_NS + program, (u64)time_ns);
		blocks_count(blocks, COUNT_LATE + program, is_late);
		piece_ns += time_ns;
		if (piece_ns < 250e6)
			continue;
		blocks_piece_ends(blocks, (u64)piece_ns);
		piece_ns = 0;
	}
	blocks_end(blocks);
}

static enum compare_verdict verdict_of(const struct play *a, const struct play *b, u64 seed, char *words)
{
	struct compare_names names = { "A", "B" };
	struct compare_result *result = calloc(1, sizeof(*result));
	struct blocks *runs = calloc(2, sizeof(*runs));
	struct compare_side sides[2] = { { &runs[0], 1 }, { &runs[1], 1 } };
	struct draws draws = { seed };
	enum compare_verdict verdict;

	make_run(&runs[0], a, &draws);
	make_run(&runs[1], b, &draws);
	compare_sides(result, sides);
	verdict = result->verdict;
	if (words)
		compare_verdict_words(words, result, &names);
	blocks_free(&runs[0]);
	blocks_free(&runs[1]);
	free(runs);
	free(result);
	return verdict;
}

static void test_verdicts(void)
{
	const struct play good = { 20, 0.005, 1 }, stutters = { 20, 0.1, 1 }, slow = { 20, 0.005, 1.5 },
			  brief = { 1, 0, 1 };
	char words[COMPARE_SENTENCE_SIZE], again[COMPARE_SENTENCE_SIZE];
	u32 right[4] = { 0 }, times = 12;

	for (u32 i = 0; i < times; i++) {
		right[0] += verdict_of(&stutters, &good, i, NULL) == VERDICT_BETTER;
		right[1] += verdict_of(&good, &stutters, i, NULL) == VERDICT_WORSE;
		right[2] += verdict_of(&good, &slow, i, NULL) == VERDICT_WORSE;
		right[3] += verdict_of(&good, &good, i, NULL) == VERDICT_NONE;
	}
	printf("# measured: of %u each, right: %u better, %u stutters, %u slower, %u equal\n", times, right[0],
	       right[1], right[2], right[3]);
	is(right[0], times, "20 s with half a percent of late frames are better than with a tenth, each time");
	is(right[1], times, "20 s with a tenth of late frames are worse than with half a percent, each time");
	is(right[2], times, "20 s of frames that take half as long again are worse, each time");
	ok(right[3] + 1 >= times, "two equal runs show no difference, but for one at most");
	verdict_of(&stutters, &good, 3, words);
	verdict_of(&stutters, &good, 3, again);
	is_text(again, words, "the same input gives the same sentence");
	ok(!strncmp(words, "B is better: ", 13), "the verdict says who is better: %s", words);
	ok(strstr(words, " of game: "), "the verdict says by what of whom: %s", words);
	verdict_of(&good, &good, 3, words);
	ok(!strncmp(words, "no difference that this data can show: ", 39), "a verdict without a difference says so: %s",
	   words);
	is(verdict_of(&good, &brief, 1, words), VERDICT_TOO_LITTLE, "a second of frames is too little");
	ok(!strncmp(words, "this data is too little to compare", 34), "a verdict of too little says so");
}

static int by_value(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return x < y ? -1 : x > y;
}

/* What is kept of a long run against all of its times. */
static void test_blocks(void)
{
	enum { LEN = 50000 };
	struct blocks *runs = calloc(2, sizeof(*runs));
	struct compare_side sides[2] = { { &runs[0], 1 }, { &runs[1], 1 } };
	struct compare_result *result = calloc(1, sizeof(*result));
	static u64 times[LEN];
	struct draws draws = { 9 };
	u64 counted = 0, spans_ns = 0;

	for (u32 i = 0; i < LEN; i++) {
		times[i] = (u64)(1e6 * exp(normal(&draws)));
		for (u32 side = 0; side < 2; side++) {
			blocks_time(&runs[side], SPREAD_WAITS, times[i]);
			blocks_count(&runs[side], COUNT_SWITCHES, 1);
			if (i % 10 == 9)
				blocks_piece_ends(&runs[side], 250 * NSEC_PER_MSEC);
		}
	}
	for (u32 i = 0; i < runs[0].len; i++) {
		counted += runs[0].all[i].counts[COUNT_SWITCHES];
		spans_ns += runs[0].all[i].counts[COUNT_SPAN_NS];
	}
	is(counted, LEN, "blocks that became few have all that was counted");
	is(spans_ns, LEN / 10 * 250ull * NSEC_PER_MSEC, "blocks that became few have all the time");
	is_between(BLOCKS_MOST / 2, runs[0].len, BLOCKS_MOST, "5000 pieces of time become 16 to 32 blocks: %u",
		   runs[0].len);
	qsort(times, LEN, sizeof(times[0]), by_value);
	compare_sides(result, sides);
	ok(is_about(result->rows[FIGURE_P50].a, (double)times[LEN / 2], (double)times[LEN / 2] * 0.016),
	   "the median of blocks is that of all times, within 1.6 %%");
	ok(is_about(result->rows[FIGURE_P999].a, (double)times[LEN * 999ull / 1000],
		    (double)times[LEN * 999ull / 1000] * 0.03),
	   "the 99.9th percentile of blocks is that of all times, within a slot and its neighbour");
	ok(is_about(result->rows[FIGURE_LONGEST].b, (double)times[LEN - 1], 0),
	   "the longest time of blocks is that of all");
	ok(!result->rows[FIGURE_LONGEST].has_interval, "the longest time has no interval");
	is(result->rows[FIGURE_P99].change, CHANGE_NONE, "the same run on both sides has no difference");
	blocks_free(&runs[0]);
	blocks_free(&runs[1]);
	free(runs);
	free(result);
}

static void test_slots(void)
{
	u32 before = 0;
	int grows = 1;

	for (u64 time_ns = 1; time_ns < 1ULL << 40; time_ns += time_ns / 100 + 1) {
		u32 slot = spread_slot(time_ns);

		grows &= slot >= before && slot < SPREAD_SLOTS;
		before = slot;
	}
	ok(grows, "slots grow with times, and none is past the last");
	is(spread_slot(~0ULL), SPREAD_SLOTS - 1, "the longest time there is has the last slot");
	is(spread_slot(1024), 1, "the first slot takes what is less than 1024 ns, the second begins there");
}

/* Nothing at all, on either side. */
static void test_nothing(void)
{
	struct blocks *runs = calloc(2, sizeof(*runs));
	struct compare_side sides[2] = { { &runs[0], 1 }, { &runs[1], 1 } };
	struct compare_result *result = calloc(1, sizeof(*result));

	is(compare_sides(result, sides), 0, "two empty runs can be compared");
	is(result->verdict, VERDICT_TOO_LITTLE, "two empty runs are too little");
	is(result->len, 0, "two empty runs have no rows");
	free(runs);
	free(result);
}

int main(void)
{
	test_student();
	test_equal_series(0, BLOCKS, 65);
	test_equal_series(0.4, BLOCKS, 65);
	test_equal_series(0.7, 2 * BLOCKS, 65);
	test_equal_series(0.3, 8, 75);
	test_equal_runs();
	test_power();
	test_verdicts();
	test_blocks();
	test_slots();
	test_nothing();
	return tap_end();
}
