// SPDX-License-Identifier: GPL-2.0
/* Says what a trial found, by what, and how sure that is.
 */
#include "trial_words.h"

#include <math.h>
#include <stdio.h>

#include "../sink/text.h"

static const char *const by_json[TRIAL_BYS] = {
	[TRIAL_BY_FRAMES] = "frames",
	[TRIAL_BY_LAUNCHES] = "launches",
	[TRIAL_BY_WAITS] = "waits",
	[TRIAL_BY_PROGRESS] = "progress",
};

const char *trial_by_words(enum trial_by by)
{
	static const char *const words[TRIAL_BYS] = {
		[TRIAL_BY_FRAMES] = "frame time (mean over time)",
		[TRIAL_BY_LAUNCHES] = "launches of kernels a second",
		[TRIAL_BY_WAITS] = "wait for a CPU at each wake-up (root mean square)",
		[TRIAL_BY_PROGRESS] = "CPU time a second",
	};

	return words[by];
}

const char *trial_by_json(enum trial_by by)
{
	return by_json[by];
}

/* Fewer pairs can't be enough, whatever they say. */
static bool is_too_little(const struct trial *trial, const struct trial_answer *answer)
{
	return !answer->says && (trial->len < TRIAL_PAIRS_LEAST || !trial->by_is_fixed);
}

const char *trial_verdict_json(const struct trial *trial, const struct trial_answer *answer)
{
	if (is_too_little(trial, answer))
		return "too_little";
	return answer->says > 0 ? "helps" : answer->says < 0 ? "harms" : "no_difference";
}

void trial_value_words(char into[TRIAL_VALUE_SIZE], enum trial_by by, double value)
{
	if (isnan(value))
		snprintf(into, TRIAL_VALUE_SIZE, "nothing");
	else if (by == TRIAL_BY_LAUNCHES)
		snprintf(into, TRIAL_VALUE_SIZE, "%.1f", value);
	else if (by == TRIAL_BY_PROGRESS)
		snprintf(into, TRIAL_VALUE_SIZE, "%.3f s", value);
	else
		format_time(into, TRIAL_VALUE_SIZE, (u64)value);
}

/* Signs of pairs decide; a sum over all turns may say the contrary for one turn that stands out, such as a long wait
 * that counts by its square. */
static bool sums_contradict(const struct trial *trial, const struct trial_answer *answer, double with, double without)
{
	bool is_better = trial_is_rate(trial->by) ? with > without : with < without;

	return answer->says && is_better != (answer->says > 0);
}

void trial_answer_words(char into[TRIAL_WORDS_SIZE], const struct trial *trial, const struct trial_answer *answer)
{
	const char *verdict = answer->says > 0	 ? "tactus helps this program here"
			      : answer->says < 0 ? "tactus harms this program here"
						 : "no difference that this data can show";
	double sums[] = { trial_measure(&trial->sums[0], trial->by), trial_measure(&trial->sums[1], trial->by) };
	bool contradict = sums_contradict(trial, answer, sums[1], sums[0]);
	char with[TRIAL_VALUE_SIZE], without[TRIAL_VALUE_SIZE], rest[2 * TRIAL_VALUE_SIZE + 80] = "";
	char interval[80] = "";

	if (is_too_little(trial, answer)) {
		snprintf(into, TRIAL_WORDS_SIZE, "too little to say: %u pairs of turns, and an answer takes %d or more",
			 trial->len, TRIAL_PAIRS_LEAST);
		return;
	}
	trial_value_words(without, trial->by, sums[0]);
	trial_value_words(with, trial->by, sums[1]);
	if (contradict) {
		snprintf(rest, sizeof(rest), "; over all turns %s and %s, because of single turns that stand out", with,
			 without);
		trial_value_words(without, trial->by, trial_middle(trial, false));
		trial_value_words(with, trial->by, trial_middle(trial, true));
	}
	if (answer->high > 0)
		snprintf(interval, sizeof(interval), " (from pair to pair %.0f %% to %.0f %% of what it is without)",
			 100 * answer->low, 100 * answer->high);
	snprintf(into, TRIAL_WORDS_SIZE,
		 "%s: %s: %s with tactus, %s without%s%s; better in %u and worse in %u of %u pairs of turns%s; "
		 "evidence %.3g to 1 (an answer takes %d to 1)",
		 verdict, trial_by_words(trial->by), with, without, contradict ? " in the median turn" : "", interval,
		 answer->better, answer->worse, trial->len, rest, answer->evidence, TRIAL_EVIDENCE);
}
