// SPDX-License-Identifier: GPL-2.0
/* Says which figures there are of two sides, has them resampled, and judges.
 */
#include "compare.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bootstrap.h"
#include "compare_side.h"

enum {
	FRAMES_LEAST = 30, /* of a side, for a headline, */
	WAITS_LEAST = 100,
	TAIL_LEAST = 10,       /* so many must be longer, or a percentile says little, */
	TAIL_BLOCKS_LEAST = 8, /* in so many blocks: what follows each other may be one and the same trouble */
};

#define CONFIDENCE 0.95
/* Less than that of what there was is a trifle: no machine is that even. */
#define TRIFLE 0.01
#define TRIFLE_SHARE 0.001

static const double quantiles[] = { [FIGURE_P50] = 0.5, [FIGURE_P99] = 0.99, [FIGURE_P999] = 0.999 };

static u32 spread_of_row(const struct compare_row *row)
{
	switch (row->of) {
	case OF_PROGRAM:
		return SPREAD_FRAMES + row->which;
	case OF_TIER:
		return SPREAD_TIERS + row->which;
	case OF_ROLE:
		return SPREAD_ROLES + row->which;
	case OF_OTHERS:
		return SPREAD_OTHERS;
	default:
		return SPREAD_WAITS;
	}
}

static double merge(const struct side *side, const struct spread *spread, const u32 *weights)
{
	double total = 0, *merged = side->merged;

	memset(merged, 0, spread->bins * sizeof(*merged));
	for (u32 block = 0; block < side->blocks; block++) {
		const u32 *counts = &spread->counts[(size_t)block * spread->bins];

		for (u32 bin = 0; weights[block] && bin < spread->bins; bin++)
			merged[bin] += (double)weights[block] * counts[bin];
	}
	for (u32 bin = 0; bin < spread->bins; bin++)
		total += merged[bin];
	return total;
}

static double quantile(const struct side *side, const struct spread *spread, double total, double part)
{
	double rank = ceil(total * part), seen = 0;

	for (u32 bin = 0; bin < spread->bins && total > 0; bin++) {
		seen += side->merged[bin];
		if (seen >= rank)
			return spread->values[bin];
	}
	return NAN;
}

static double ratio(const struct side *side, const u32 *weights, u32 count, u32 of)
{
	double sum = 0, of_sum = 0;

	for (u32 block = 0; block < side->blocks; block++) {
		sum += weights[block] * (double)side_count(side, block, count);
		of_sum += weights[block] * (double)side_count(side, block, of);
	}
	return of_sum > 0 ? sum / of_sum : NAN;
}

/* What is divided by what, times what. */
struct quotient {
	u32 count, of;
	double times;
};

static struct quotient quotient_of(const struct compare_row *row)
{
	switch (row->figure) {
	case FIGURE_FRAME_RATE:
		return (struct quotient){ COUNT_FRAMES + row->which, COUNT_FRAME_NS + row->which, NSEC_PER_SEC };
	case FIGURE_LATE:
		return (struct quotient){ COUNT_LATE + row->which, COUNT_FRAMES + row->which, 1 };
	case FIGURE_CAUSE:
		return (struct quotient){ COUNT_CAUSES + row->which, COUNT_ALL_FRAMES, 1 };
	case FIGURE_MISSES:
		return row->of == OF_TIER ? (struct quotient){ COUNT_CRITICAL_MISSES, COUNT_CRITICAL_PERIODS, 1 }
					  : (struct quotient){ COUNT_MISSES, COUNT_PERIODS, 1 };
	case FIGURE_CPUS:
		return (struct quotient){ COUNT_CPU_NS, COUNT_SPAN_NS, 1 };
	case FIGURE_SWITCHES:
		return (struct quotient){ COUNT_SWITCHES, COUNT_SPAN_NS, NSEC_PER_SEC };
	default:
		return (struct quotient){ COUNT_LAUNCHES, COUNT_SPAN_NS, NSEC_PER_SEC };
	}
}

static void figures(const void *data, const u32 *weights, double *out)
{
	const struct side *side = data;
	const struct compare_result *result = side->result;
	u32 merged = SPREADS;
	double total = 0;

	for (u32 i = 0; i < result->len; i++) {
		const struct compare_row *row = &result->rows[i];
		u32 index = spread_of_row(row);
		const struct spread *spread = &side->spreads[index];

		if (row->figure > FIGURE_LONGEST) {
			struct quotient quotient = quotient_of(row);

			out[i] = quotient.times * ratio(side, weights, quotient.count, quotient.of);
			continue;
		}
		if (row->figure == FIGURE_LONGEST) {
			out[i] = spread->total ? (double)spread->longest_ns : NAN;
			continue;
		}
		if (merged != index)
			total = merge(side, spread, weights);
		merged = index;
		out[i] = quantile(side, spread, total, quantiles[row->figure]);
	}
}

/* How many of the block's times are longer than a percentile, beyond what is to be expected. */
static double adds_longer(const struct side *side, const struct compare_row *row, u32 block, double value)
{
	const struct spread *spread = &side->spreads[spread_of_row(row)];
	const u32 *counts = &spread->counts[(size_t)block * spread->bins];
	double all = 0, longer = 0;

	for (u32 bin = 0; bin < spread->bins; bin++) {
		all += counts[bin];
		longer += spread->values[bin] > value ? counts[bin] : 0;
	}
	return all > 0 ? longer - all * (1 - quantiles[row->figure]) : NAN;
}

static void adds(const void *data, u32 block, const double *whole, double *out)
{
	const struct side *side = data;

	for (u32 i = 0; i < side->result->len; i++) {
		const struct compare_row *row = &side->result->rows[i];

		if (row->figure == FIGURE_LONGEST || isnan(whole[i])) {
			out[i] = NAN;
		} else if (row->figure < FIGURE_LONGEST) {
			out[i] = adds_longer(side, row, block, whole[i]);
		} else {
			struct quotient quotient = quotient_of(row);

			out[i] = quotient.times * (double)side_count(side, block, quotient.count) -
				 whole[i] * (double)side_count(side, block, quotient.of);
		}
	}
}

static struct compare_row *add_row(struct compare_result *result, enum compare_figure figure, enum compare_of of,
				   u32 which, enum compare_unit unit, int better)
{
	struct compare_row *row = &result->rows[result->len];

	if (result->len == COMPARE_ROWS_MOST)
		return NULL;
	result->len++;
	*row = (struct compare_row){ .figure = figure, .of = of, .which = which, .unit = unit, .better = better };
	return row;
}

static bool has_spread(struct side *const sides[2], u32 spread)
{
	return sides[0]->spreads[spread].total || sides[1]->spreads[spread].total;
}

static u64 sum_of(const struct side *side, u32 count)
{
	u64 sum = 0;

	for (u32 block = 0; block < side->blocks; block++)
		sum += side_count(side, block, count);
	return sum;
}

static bool has_count(struct side *const sides[2], u32 count)
{
	return sum_of(sides[0], count) || sum_of(sides[1], count);
}

static void add_times(struct compare_result *result, struct side *const sides[2], enum compare_of of, u32 which)
{
	struct compare_row of_it = { .of = of, .which = which };

	for (u32 figure = FIGURE_P50; has_spread(sides, spread_of_row(&of_it)) && figure <= FIGURE_LONGEST; figure++)
		add_row(result, figure, of, which, UNIT_NS, -1);
}

static void add_rows(struct compare_result *result, struct side *const sides[2], const struct comm *programs, u32 len)
{
	for (u32 i = 0; i < len; i++) {
		add_row(result, FIGURE_FRAME_RATE, OF_PROGRAM, i, UNIT_PER_SECOND, 1);
		add_row(result, FIGURE_LATE, OF_PROGRAM, i, UNIT_SHARE, -1);
		add_times(result, sides, OF_PROGRAM, i);
	}
	for (u32 i = 0; i < result->len; i++)
		result->rows[i].program = programs[result->rows[i].which];
	for (u32 i = 0; i < LATE_CAUSES; i++)
		if (has_count(sides, COUNT_CAUSES + i))
			add_row(result, FIGURE_CAUSE, OF_CAUSE, i, UNIT_SHARE, -1);
	add_times(result, sides, OF_ALL, 0);
	for (u32 i = TIERS; i > 0; i--)
		add_times(result, sides, OF_TIER, i - 1);
	for (u32 i = 0; i < ROLES; i++)
		add_times(result, sides, OF_ROLE, i);
	add_times(result, sides, OF_OTHERS, 0);
	if (has_count(sides, COUNT_CRITICAL_PERIODS))
		add_row(result, FIGURE_MISSES, OF_TIER, TIER_LATENCY_CRITICAL, UNIT_SHARE, -1);
	if (has_count(sides, COUNT_PERIODS))
		add_row(result, FIGURE_MISSES, OF_ALL, 0, UNIT_SHARE, -1);
	if (has_count(sides, COUNT_CPU_NS))
		add_row(result, FIGURE_CPUS, OF_ALL, 0, UNIT_CPUS, 0);
	if (has_count(sides, COUNT_SWITCHES))
		add_row(result, FIGURE_SWITCHES, OF_ALL, 0, UNIT_PER_SECOND, 0);
	if (has_count(sides, COUNT_LAUNCHES))
		add_row(result, FIGURE_LAUNCHES, OF_ALL, 0, UNIT_PER_SECOND, 1);
}

/* In how many blocks is something as long. */
static u32 blocks_as_long(const struct side *side, const struct spread *spread, double value)
{
	u32 blocks = 0;

	for (u32 block = 0; block < side->blocks; block++) {
		const u32 *counts = &spread->counts[(size_t)block * spread->bins];
		u32 bin = spread->bins;

		while (bin > 0 && spread->values[bin - 1] >= value && !counts[bin - 1])
			bin--;
		blocks += bin > 0 && spread->values[bin - 1] >= value;
	}
	return blocks;
}

/* A percentile with hardly anything beyond it is what it is by chance; the longest of all has no interval. */
static bool may_have_interval(const struct compare_row *row, struct side *const sides[2])
{
	const double values[] = { row->a, row->b };

	if (row->figure == FIGURE_LONGEST)
		return false;
	for (u32 i = 0; i < 2 && row->figure < FIGURE_LONGEST; i++) {
		const struct spread *spread = &sides[i]->spreads[spread_of_row(row)];

		if ((double)spread->total * (1 - quantiles[row->figure]) < TAIL_LEAST ||
		    blocks_as_long(sides[i], spread, values[i]) < TAIL_BLOCKS_LEAST)
			return false;
	}
	return true;
}

static bool is_small(const struct side *side, u32 spread, u64 least)
{
	return side->spreads[spread].total < least;
}

/* The program that presents most, of those that do so on both sides; BLOCKS_PROGRAMS: none does. */
static u32 main_program(struct side *const sides[2], u32 len)
{
	u32 found = BLOCKS_PROGRAMS;
	u64 most = 0;

	for (u32 i = 0; i < len; i++) {
		u64 a = sides[0]->spreads[SPREAD_FRAMES + i].total, b = sides[1]->spreads[SPREAD_FRAMES + i].total;
		u64 both = a < b ? a : b;

		if (both < FRAMES_LEAST || both <= most)
			continue;
		most = both;
		found = i;
	}
	return found;
}

/* Misses of urgent threads, where there are any; else those of all that a timer wakes. */
static bool misses_that_count(const struct compare_row *row, struct side *const sides[2])
{
	bool has_critical = sum_of(sides[0], COUNT_CRITICAL_PERIODS) && sum_of(sides[1], COUNT_CRITICAL_PERIODS);

	return has_critical == (row->of == OF_TIER);
}

/* Frames are what people see, where there are any; else what urgent threads and those that are not known wait, and what
 * is late; launches in any case. */
static bool is_headline(const struct compare_row *row, struct side *const sides[2], u32 program)
{
	u32 spread = spread_of_row(row);

	if (!row->has_interval)
		return false;
	if (row->figure == FIGURE_LAUNCHES)
		return true;
	if (program < BLOCKS_PROGRAMS)
		return row->of == OF_PROGRAM && row->which == program &&
		       (row->figure == FIGURE_P99 || row->figure == FIGURE_LATE || row->figure == FIGURE_FRAME_RATE);
	if (row->figure == FIGURE_MISSES)
		return misses_that_count(row, sides);
	if (row->figure != FIGURE_P99 || is_small(sides[0], spread, WAITS_LEAST) ||
	    is_small(sides[1], spread, WAITS_LEAST))
		return false;
	return (row->of == OF_TIER && row->which == TIER_LATENCY_CRITICAL) ||
	       (row->of == OF_ROLE && row->which == ROLE_UNKNOWN);
}

int compare_headline_says(const struct compare_row *row)
{
	double trifle = row->unit == UNIT_SHARE ? TRIFLE_SHARE : TRIFLE * fabs(row->a);

	if (!row->is_headline || fabs(row->b - row->a) < trifle)
		return 0;
	if (row->sure_low > 0)
		return row->better;
	return row->sure_high < 0 ? -row->better : 0;
}

/* How many of its interval's halves a headline is away from nothing. */
static double strength(const struct compare_row *row)
{
	double difference = row->b - row->a;
	double half = difference > 0 ? difference - row->sure_low : row->sure_high - difference;

	if (half > 0)
		return fabs(difference) / half;
	return difference != 0 ? INFINITY : 0;
}

const struct compare_row *compare_strongest(const struct compare_result *result, int direction)
{
	const struct compare_row *found = NULL;

	for (u32 i = 0; i < result->len; i++) {
		const struct compare_row *row = &result->rows[i];

		if (row->is_headline && compare_headline_says(row) == direction &&
		    (!found || strength(row) > strength(found)))
			found = row;
	}
	return found;
}

static void judge(struct compare_result *result, const struct bootstrap_sample samples[2])
{
	u32 headlines = 0, better = 0, worse = 0;
	double wider;

	for (u32 i = 0; i < result->len; i++)
		headlines += result->rows[i].is_headline;
	if (!headlines)
		return;
	wider = bootstrap_wider(&samples[0], &samples[1], 1 - (1 - CONFIDENCE) / headlines, CONFIDENCE);
	for (u32 i = 0; i < result->len; i++) {
		struct compare_row *row = &result->rows[i];
		double difference = row->b - row->a;

		row->sure_low = difference + wider * (row->low - difference);
		row->sure_high = difference + wider * (row->high - difference);
		better += compare_headline_says(row) > 0;
		worse += compare_headline_says(row) < 0;
	}
	result->verdict = better && worse ? VERDICT_MIXED
			  : better	  ? VERDICT_BETTER
			  : worse	  ? VERDICT_WORSE
					  : VERDICT_NONE;
}

/* The names of both sides, as far as there is room: those of the first first. */
static u32 join_programs(const struct compare_side sides[2], struct comm *programs)
{
	u32 len = 0;

	for (u32 side = 0; side < 2; side++)
		for (u32 run = 0; run < sides[side].len; run++) {
			const struct blocks *blocks = &sides[side].runs[run];

			for (u32 i = 0; i < blocks->programs_len; i++) {
				u32 known = 0;

				while (known < len &&
				       memcmp(&programs[known], &blocks->programs[i], sizeof(*programs)) != 0)
					known++;
				if (known == len && len < BLOCKS_PROGRAMS)
					programs[len++] = blocks->programs[i];
			}
		}
	return len;
}

/* A percentile is known up to the slot that it is in. */
static double slot_width(const struct compare_row *row)
{
	return row->figure < FIGURE_LONGEST ? fmax(row->a, row->b) / (1 << SPREAD_SUB_BITS) : 0;
}

static int resample(struct compare_result *result, struct side *const sides[2], u32 programs)
{
	struct bootstrap_sample samples[2];
	struct bootstrap_interval intervals[COMPARE_ROWS_MOST];
	double values[2][COMPARE_ROWS_MOST];
	u32 weights[COMPARE_RUNS_MOST * BLOCKS_MOST], program = main_program(sides, programs);
	int error;

	for (u32 i = 0; i < COMPARE_RUNS_MOST * BLOCKS_MOST; i++)
		weights[i] = 1;
	for (u32 i = 0; i < 2; i++) {
		samples[i] = (struct bootstrap_sample){ sides[i]->runs, sides[i]->given->len, figures, adds, sides[i] };
		figures(sides[i], weights, values[i]);
	}
	error = bootstrap_differences(&samples[0], &samples[1], result->len, CONFIDENCE, COMPARE_SEED, intervals);
	for (u32 i = 0; i < result->len && !error; i++) {
		struct compare_row *row = &result->rows[i];

		row->a = values[0][i];
		row->b = values[1][i];
		row->has_interval = intervals[i].is_known && may_have_interval(row, sides);
		row->low = row->has_interval ? intervals[i].low - slot_width(row) : 0;
		row->high = row->has_interval ? intervals[i].high + slot_width(row) : 0;
		if (row->has_interval)
			row->change = row->low > 0 ? CHANGE_MORE : row->high < 0 ? CHANGE_LESS : CHANGE_NONE;
		row->is_headline = is_headline(row, sides, program);
	}
	if (!error)
		judge(result, samples);
	return error;
}

int compare_sides(struct compare_result *result, const struct compare_side given[2])
{
	struct side *sides[2] = { calloc(1, sizeof(struct side)), calloc(1, sizeof(struct side)) };
	struct comm programs[BLOCKS_PROGRAMS];
	u32 len = join_programs(given, programs);
	int error = sides[0] && sides[1] ? 0 : -ENOMEM;

	*result = (struct compare_result){ 0 };
	for (u32 i = 0; i < 2 && !error; i++) {
		error = side_init(sides[i], &given[i], programs, len);
		sides[i]->result = result;
		result->runs[i] = given[i].len;
		result->blocks[i] = sides[i]->blocks;
		result->span_ns[i] = sides[i]->span_ns;
		for (u32 run = 0; run < given[i].len; run++)
			result->failed |= given[i].runs[run].failed;
	}
	if (!error)
		add_rows(result, sides, programs, len);
	if (!error)
		error = resample(result, sides, len);
	for (u32 i = 0; i < 2; i++)
		if (sides[i])
			side_free(sides[i]);
	return error;
}
