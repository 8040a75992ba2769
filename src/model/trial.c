// SPDX-License-Identifier: GPL-2.0
/* Draws the order of turns, chooses what is measured, and bets on the signs of differences.
 */
#include "trial.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base/sort.h"

enum {
	FRAMES_LEAST = 5,	/* in a turn */
	WAKES_LEAST_PER_S = 10, /* of a program that works when it is woken */
	LAUNCHES_LEAST = 10,	/* in a turn */
};

#define FOREVER (~0ull)

/* Differences that nobody feels are none: a hundredth, and of waits some microseconds. */
#define TRIFLE 0.01
#define TRIFLE_WAIT_NS 20000.0
/* So that waits of next to nothing do not differ by much. */
#define WAIT_LEAST_NS 10000.0

/* What part is staked at most, and what part of the beginning wealth goes by it. */
static const double stakes[TRIAL_STAKES] = { 0.9, 0.4 };
static const double parts[TRIAL_STAKES] = { 0.7, 0.3 };

bool trial_is_rate(enum trial_by by)
{
	return by == TRIAL_BY_PROGRESS || by == TRIAL_BY_LAUNCHES;
}

double trial_measure(const struct trial_turn *turn, enum trial_by by)
{
	switch (by) {
	case TRIAL_BY_FRAMES:
		return turn->frame_ns > 0 ? turn->frame_squares / turn->frame_ns : NAN;
	case TRIAL_BY_WAITS:
		return turn->wakes ? sqrt(turn->wait_squares / (double)turn->wakes) : NAN;
	case TRIAL_BY_LAUNCHES:
		return turn->span_ns ? (double)turn->launches * NSEC_PER_SEC / (double)turn->span_ns : NAN;
	default:
		return turn->span_ns ? (double)turn->cpu_ns / (double)turn->span_ns : NAN;
	}
}

void trial_turn_add(struct trial_turn *into, const struct trial_turn *turn)
{
	into->span_ns += turn->span_ns;
	into->frames += turn->frames;
	into->frame_ns += turn->frame_ns;
	into->frame_squares += turn->frame_squares;
	into->wakes += turn->wakes;
	into->wait_squares += turn->wait_squares;
	into->cpu_ns += turn->cpu_ns;
	into->launches += turn->launches;
}

void trial_begin(struct trial *trial, u64 seed)
{
	memset(trial, 0, sizeof(*trial));
	trial->seed = seed;
}

bool trial_acts(const struct trial *trial, u32 turn)
{
	struct draws seeds = { trial->seed }, draws = { draws_next(&seeds) + turn / 2 };

	return draws_below(&draws, 2) != turn % 2;
}

void trial_windows_change(struct trial_windows *windows, u64 now_ns, bool acts, u64 turn_ns)
{
	u64 from_ns = now_ns + (windows->turn_end_ns ? TRIAL_SETTLE_NS : TRIAL_WARM_UP_NS);

	if (windows->len == TRIAL_WINDOWS_MOST)
		return;
	if (windows->len && windows->all[windows->len - 1].to_ns == FOREVER)
		windows->all[windows->len - 1].to_ns = now_ns;
	windows->all[windows->len++] = (struct trial_window){ from_ns, FOREVER, acts };
	windows->turn_end_ns = from_ns - TRIAL_SETTLE_NS + turn_ns;
}

bool trial_windows_turn_is_over(const struct trial_windows *windows, u64 now_ns)
{
	return now_ns >= windows->turn_end_ns && windows->len < TRIAL_WINDOWS_MOST;
}

enum trial_pass trial_windows_pass(struct trial_windows *windows, u64 now_ns, struct trial_window *counted)
{
	struct trial_window *first = &windows->all[0];

	if (!windows->len)
		return TRIAL_PASSES;
	if (!windows->is_counted && now_ns >= first->from_ns) {
		first->from_ns = now_ns;
		windows->is_counted = true;
		return TRIAL_COUNTS_FROM_NOW;
	}
	if (!windows->is_counted || now_ns < first->to_ns)
		return TRIAL_PASSES;
	*counted = *first;
	windows->is_counted = false;
	memmove(first, first + 1, --windows->len * sizeof(*first));
	return TRIAL_COUNTED;
}

/* By what happens in both kinds of turns alike: so the choice says nothing of which is better. */
static void choose(struct trial *trial)
{
	u32 with_frames = 0, with_launches = 0;
	u64 wakes = 0, span_ns = 0;

	for (u32 i = 0; i < trial->len; i++)
		for (u32 side = 0; side < 2; side++) {
			const struct trial_turn *turn = &trial->pairs[i].turns[side];

			with_frames += turn->frames >= FRAMES_LEAST;
			with_launches += turn->launches >= LAUNCHES_LEAST;
			wakes += turn->wakes;
			span_ns += turn->span_ns;
		}
	if (with_frames > trial->len)
		trial->by = TRIAL_BY_FRAMES;
	else if (with_launches > trial->len)
		trial->by = TRIAL_BY_LAUNCHES;
	else if ((double)wakes * NSEC_PER_SEC >= WAKES_LEAST_PER_S * (double)span_ns && span_ns)
		trial->by = TRIAL_BY_WAITS;
	else
		trial->by = TRIAL_BY_PROGRESS;
	trial->by_is_fixed = true;
}

void trial_turn_ends(struct trial *trial, const struct trial_turn *turn)
{
	bool ends_pair = trial->turn % 2;

	if (trial->len == TRIAL_PAIRS_MOST)
		return;
	trial->pairs[trial->len].turns[trial_acts(trial, trial->turn)] = *turn;
	trial->turn++;
	if (!ends_pair)
		return;
	for (u32 side = 0; side < 2; side++)
		trial_turn_add(&trial->sums[side], &trial->pairs[trial->len].turns[side]);
	trial->len++;
	if (trial->len == TRIAL_CHOOSES_AFTER && !trial->by_is_fixed)
		choose(trial);
}

/* Positive: acting is worse. As the logarithm of a quotient, so that twice as long and half as long are as far. */
static double difference(const struct trial_pair *pair, enum trial_by by)
{
	double without = trial_measure(&pair->turns[0], by), with = trial_measure(&pair->turns[1], by);
	double least = by == TRIAL_BY_WAITS ? WAIT_LEAST_NS : 0;
	double logarithm;

	if (isnan(without) || isnan(with) || without + least <= 0 || with + least <= 0)
		return NAN;
	logarithm = log((with + least) / (without + least));
	return trial_is_rate(by) ? -logarithm : logarithm;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

double trial_middle(const struct trial *trial, bool acts)
{
	double *sorted = calloc(TRIAL_PAIRS_MOST, sizeof(double)), middle = NAN;
	u32 len = 0;

	for (u32 i = 0; sorted && i < trial->len; i++) {
		double one = trial_measure(&trial->pairs[i].turns[acts], trial->by);

		if (!isnan(one))
			sorted[len++] = one;
	}
	if (len) {
		sort_rows(sorted, len, sizeof(*sorted), by_value);
		middle = (sorted[(len - 1) / 2] + sorted[len / 2]) / 2;
	}
	free(sorted);
	return middle;
}

/* What a quarter of the sizes so far does not exceed. Sizes say nothing of signs, so a stake may go by them. */
static double usual_size(const double *differences, u32 len, double *sorted)
{
	for (u32 i = 0; i < len; i++)
		sorted[i] = fabs(differences[i]);
	sort_rows(sorted, len, sizeof(*sorted), by_value);
	return sorted[len / 4];
}

static bool is_trifle(const struct trial *trial)
{
	double without = trial_measure(&trial->sums[0], trial->by), with = trial_measure(&trial->sums[1], trial->by);

	return isnan(without) || isnan(with) || fabs(with - without) < TRIFLE * without ||
	       (trial->by == TRIAL_BY_WAITS && fabs(with - without) < TRIFLE_WAIT_NS);
}

/* Of the mean of the logarithms, by Student's distribution. */
static void fill_interval(struct trial_answer *answer, const double *differences, u32 len, bool is_rate)
{
	double sum = 0, squares = 0, half;

	for (u32 i = 0; i < len; i++)
		sum += differences[i];
	for (u32 i = 0; i < len; i++)
		squares += (differences[i] - sum / len) * (differences[i] - sum / len);
	if (len < 2)
		return;
	half = student_quantile(0.95, len - 1) * sqrt(squares / (len - 1) / len);
	answer->low = exp((is_rate ? -sum : sum) / len - half);
	answer->high = exp((is_rate ? -sum : sum) / len + half);
}

/* What one who bets that acting helps, and one who bets that it harms, have in the end. */
static void bet(const double *differences, u32 len, double *sorted, double *helps, double *harms)
{
	*helps = *harms = 0;
	for (u32 i = 0; i < TRIAL_STAKES; i++) {
		double for_help = parts[i], for_harm = parts[i];

		for (u32 pair = 0; pair < len; pair++) {
			double usual = usual_size(differences, pair + 1, sorted), size = fabs(differences[pair]);
			double stake = usual > 0 ? stakes[i] * fmin(1, size / usual) : 0;

			for_help *= differences[pair] < 0 ? 1 + stake : 1 - stake;
			for_harm *= differences[pair] > 0 ? 1 + stake : 1 - stake;
		}
		*helps += for_help;
		*harms += for_harm;
	}
}

struct trial_answer trial_answer(const struct trial *trial)
{
	double *differences = calloc(2 * TRIAL_PAIRS_MOST, sizeof(double)), helps, harms;
	struct trial_answer answer = { .evidence = 1 };
	u32 len = 0;

	for (u32 i = 0; differences && trial->by_is_fixed && i < trial->len; i++) {
		double one = difference(&trial->pairs[i], trial->by);

		if (isnan(one) || one == 0)
			continue;
		differences[len++] = one;
		answer.better += one < 0;
		answer.worse += one > 0;
	}
	if (len) {
		bet(differences, len, differences + TRIAL_PAIRS_MOST, &helps, &harms);
		answer.evidence = (helps + harms) / 2;
		fill_interval(&answer, differences, len, trial_is_rate(trial->by));
		if (answer.evidence >= TRIAL_EVIDENCE && !is_trifle(trial))
			answer.says = helps > harms ? 1 : -1;
	}
	free(differences);
	return answer;
}
