// SPDX-License-Identifier: GPL-2.0
/* Draws blocks again and again, and takes the interval from how the figures then differ.
 */
#include "bootstrap.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base/sort.h"

enum { TELL_LEAST_OF_TEN = 9 };

/* So many deviations to both sides hold 95 % of a normal variable: the middle part that is taken. */
#define NORMAL_95 1.959964

/* Neighbours that are more alike than this can't be told from a trend. */
#define LIKENESS_MOST 0.8

/* splitmix64, of Steele, Lea and Flood. */
u64 draws_next(struct draws *draws)
{
	u64 value = draws->state += 0x9e3779b97f4a7c15ULL;

	value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9ULL;
	value = (value ^ value >> 27) * 0x94d049bb133111ebULL;
	return value ^ value >> 31;
}

u32 draws_below(struct draws *draws, u32 below)
{
	return (u32)((draws_next(draws) >> 32) * below >> 32);
}

/* How often such a variable is within -t and t: the finite sums for whole degrees of freedom (Abramowitz and Stegun,
 * 26.7.3 and 26.7.4). */
static double student_within(double t, u32 degrees)
{
	double angle = atan(t / sqrt(degrees)), cosine = cos(angle), square = cosine * cosine, term, sum;
	bool is_odd = degrees % 2;

	term = sum = is_odd ? cosine : 1;
	for (u32 i = is_odd ? 3 : 2; i + 2 <= degrees; i += 2) {
		term *= square * (i - 1) / i;
		sum += term;
	}
	if (!is_odd)
		return sin(angle) * sum;
	return 2 / M_PI * (angle + (degrees > 1 ? sin(angle) * sum : 0));
}

double student_quantile(double confidence, u32 degrees)
{
	double low = 0, high = 1e6;

	/* From here on it is normal for all that is asked here. */
	if (degrees > 1000)
		degrees = 1000;
	for (int i = 0; i < 100; i++) {
		double middle = (low + high) / 2;

		if (student_within(middle, degrees ? degrees : 1) < confidence)
			low = middle;
		else
			high = middle;
	}
	return high;
}

static u32 blocks_of(const struct bootstrap_sample *sample)
{
	u32 len = 0;

	for (u32 i = 0; i < sample->runs_len; i++)
		len += sample->runs[i];
	return len;
}

/* What is drawn again: runs, or blocks where there is one run. */
static u32 units_of(const struct bootstrap_sample *sample)
{
	return sample->runs_len > 1 ? sample->runs_len : blocks_of(sample);
}

static u32 degrees_of(const struct bootstrap_sample *a, const struct bootstrap_sample *b)
{
	u32 units_a = units_of(a), units_b = units_of(b);

	if ((a->runs_len > 1) == (b->runs_len > 1))
		return units_a + units_b - 2;
	return (units_a < units_b ? units_a : units_b) - 1;
}

double bootstrap_wider(const struct bootstrap_sample *a, const struct bootstrap_sample *b, double confidence,
		       double than)
{
	u32 degrees = degrees_of(a, b);

	return student_quantile(confidence, degrees) / student_quantile(than, degrees);
}

static u32 run_begin(const struct bootstrap_sample *sample, u32 run)
{
	u32 begin = 0;

	for (u32 i = 0; i < run; i++)
		begin += sample->runs[i];
	return begin;
}

static void draw(const struct bootstrap_sample *sample, struct draws *draws, u32 *weights)
{
	memset(weights, 0, blocks_of(sample) * sizeof(*weights));
	for (u32 i = 0; i < sample->runs_len; i++) {
		u32 run = draws_below(draws, sample->runs_len), begin = run_begin(sample, run);

		for (u32 j = 0; j < sample->runs[run]; j++)
			weights[begin + draws_below(draws, sample->runs[run])]++;
	}
}

/* How alike neighbouring blocks of the one run are: the first autocorrelation of each figure, put right for what few
 * values make it too small by (Marriott and Pope, 1954). */
static void likeness(const struct bootstrap_sample *sample, const double *whole, u32 len, double *each,
		     double *likenesses)
{
	u32 blocks = blocks_of(sample);

	for (u32 i = 0; i < blocks; i++)
		sample->adds(sample->data, i, whole, &each[i * len]);
	for (u32 figure = 0; figure < len; figure++) {
		double sum = 0, squares = 0, products = 0, mean, found;
		u32 known = 0;

		for (u32 i = 0; i < blocks; i++) {
			double value = each[i * len + figure];

			known += !isnan(value);
			sum += isnan(value) ? 0 : value;
		}
		mean = known ? sum / known : 0;
		for (u32 i = 0; i < blocks; i++) {
			double value = each[i * len + figure],
			       next = i + 1 < blocks ? each[(i + 1) * len + figure] : NAN;

			squares += isnan(value) ? 0 : (value - mean) * (value - mean);
			products += isnan(value) || isnan(next) ? 0 : (value - mean) * (next - mean);
		}
		found = squares > 0 ? products / squares : 0;
		found = known > 4 ? (known * found + 1) / (known - 4) : 0;
		likenesses[figure] = found < 0 ? 0 : found > LIKENESS_MOST ? LIKENESS_MOST : found;
	}
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

struct work {
	u32 *weights;
	double *figures_a, *figures_b; /* of a round, and in the end of the whole */
	double *differences;	       /* of all rounds, by figure */
	double *each, *likeness_a, *likeness_b;
};

static void work_free(struct work *work)
{
	free(work->weights);
	free(work->figures_a);
	free(work->figures_b);
	free(work->differences);
	free(work->each);
	free(work->likeness_a);
	free(work->likeness_b);
}

static int work_init(struct work *work, u32 blocks, u32 len)
{
	work->weights = calloc(blocks, sizeof(*work->weights));
	work->figures_a = calloc(len, sizeof(double));
	work->figures_b = calloc(len, sizeof(double));
	work->differences = calloc((size_t)len * BOOTSTRAP_ROUNDS, sizeof(double));
	work->each = calloc((size_t)len * blocks, sizeof(double));
	work->likeness_a = calloc(len, sizeof(double));
	work->likeness_b = calloc(len, sizeof(double));
	return work->weights && work->figures_a && work->figures_b && work->differences && work->each &&
			       work->likeness_a && work->likeness_b
		       ? 0
		       : -ENOMEM;
}

static void whole(const struct bootstrap_sample *sample, u32 *weights, double *figures)
{
	for (u32 i = 0; i < blocks_of(sample); i++)
		weights[i] = 1;
	sample->figures(sample->data, weights, figures);
}

static double deviation(const double *values, u32 len)
{
	double sum = 0, squares = 0;

	for (u32 i = 0; i < len; i++)
		sum += values[i];
	for (u32 i = 0; i < len; i++)
		squares += (values[i] - sum / len) * (values[i] - sum / len);
	return sqrt(squares / len);
}

/* The middle part of what came out, widened around the difference that there is. Few runs can be drawn in few ways, so
 * that the ends of what comes out say little: then the deviation is the least. */
static struct bootstrap_interval interval_of(double *differences, double difference, double widen, bool by_runs)
{
	struct bootstrap_interval interval = { 0 };
	double least;
	u32 known = 0;

	for (u32 i = 0; i < BOOTSTRAP_ROUNDS; i++)
		if (!isnan(differences[i]))
			differences[known++] = differences[i];
	if (isnan(difference) || known * 10 < BOOTSTRAP_ROUNDS * TELL_LEAST_OF_TEN)
		return interval;
	sort_rows(differences, known, sizeof(*differences), by_value);
	/* Where the middle does not hold the difference itself, it is an end. */
	least = by_runs ? NORMAL_95 * deviation(differences, known) : 0;
	interval.is_known = true;
	interval.low = difference - widen * fmax(difference - differences[known / 40], least);
	interval.high = difference + widen * fmax(differences[known - 1 - known / 40] - difference, least);
	return interval;
}

static double widening(const struct bootstrap_sample *a, const struct bootstrap_sample *b, double confidence,
		       double alike_a, double alike_b)
{
	u32 units_a = units_of(a), units_b = units_of(b), least = units_a < units_b ? units_a : units_b;
	double alike = alike_a > alike_b ? alike_a : alike_b;

	return sqrt((double)least / (least - 1)) * sqrt((1 + alike) / (1 - alike)) *
	       student_quantile(confidence, degrees_of(a, b)) / NORMAL_95;
}

int bootstrap_differences(const struct bootstrap_sample *a, const struct bootstrap_sample *b, u32 len,
			  double confidence, u64 seed, struct bootstrap_interval *intervals)
{
	u32 blocks_a = blocks_of(a), blocks_b = blocks_of(b);
	struct draws draws = { seed };
	struct work work = { 0 };
	int error;

	memset(intervals, 0, len * sizeof(*intervals));
	if (blocks_a < BOOTSTRAP_BLOCKS_LEAST || blocks_b < BOOTSTRAP_BLOCKS_LEAST)
		return 0;
	error = work_init(&work, blocks_a > blocks_b ? blocks_a : blocks_b, len);
	for (u32 round = 0; !error && round < BOOTSTRAP_ROUNDS; round++) {
		draw(a, &draws, work.weights);
		a->figures(a->data, work.weights, work.figures_a);
		draw(b, &draws, work.weights);
		b->figures(b->data, work.weights, work.figures_b);
		for (u32 i = 0; i < len; i++)
			work.differences[(size_t)i * BOOTSTRAP_ROUNDS + round] = work.figures_b[i] - work.figures_a[i];
	}
	if (!error) {
		whole(a, work.weights, work.figures_a);
		whole(b, work.weights, work.figures_b);
	}
	if (!error && a->runs_len == 1)
		likeness(a, work.figures_a, len, work.each, work.likeness_a);
	if (!error && b->runs_len == 1)
		likeness(b, work.figures_b, len, work.each, work.likeness_b);
	for (u32 i = 0; !error && i < len; i++)
		intervals[i] = interval_of(work.differences + (size_t)i * BOOTSTRAP_ROUNDS,
					   work.figures_b[i] - work.figures_a[i],
					   widening(a, b, confidence, work.likeness_a[i], work.likeness_b[i]),
					   a->runs_len > 1 || b->runs_len > 1);
	work_free(&work);
	return error;
}
