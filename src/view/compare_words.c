// SPDX-License-Identifier: GPL-2.0
/* Figures of a comparison as people read them.
 */
#include "compare_words.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../model/roles.h"
#include "../sink/text.h"
#include "thread_words.h"

enum { TIME_SIZE = 24 };

static const char *const cause_names[LATE_CAUSES] = {
	[LATE_RAN] = "it ran longer itself", [LATE_OTHER_RAN] = "it waited for a thread that ran",
	[LATE_WAITED] = "a wait for a CPU",  [LATE_SLEPT] = "sleep",
	[LATE_UNKNOWN] = "not known",
};
static const char *const cause_json[LATE_CAUSES] = {
	[LATE_RAN] = "ran",	[LATE_OTHER_RAN] = "other_ran", [LATE_WAITED] = "waited",
	[LATE_SLEPT] = "slept", [LATE_UNKNOWN] = "unknown",
};

const char *figure_words(const struct compare_row *row)
{
	static const char *const frames[] = { "frame time p50", "frame time p99", "frame time p99.9", "longest frame" };
	static const char *const waits[] = { "wait p50", "wait p99", "wait p99.9", "longest wait" };
	static const char *const others[FIGURES] = {
		[FIGURE_FRAME_RATE] = "frames a second",
		[FIGURE_LATE] = "late frames",
		[FIGURE_CAUSE] = "late frames",
		[FIGURE_MISSES] = "deadline misses",
		[FIGURE_CPUS] = "CPUs used",
		[FIGURE_SWITCHES] = "switches a second",
		[FIGURE_LAUNCHES] = "launches a second",
	};

	if (row->figure > FIGURE_LONGEST)
		return others[row->figure];
	return row->of == OF_PROGRAM ? frames[row->figure] : waits[row->figure];
}

const char *figure_json(const struct compare_row *row)
{
	static const char *const frames[] = { "frame_p50", "frame_p99", "frame_p999", "frame_longest" };
	static const char *const waits[] = { "wait_p50", "wait_p99", "wait_p999", "wait_longest" };
	static const char *const others[FIGURES] = {
		[FIGURE_FRAME_RATE] = "frames", [FIGURE_LATE] = "late_frames", [FIGURE_CAUSE] = "late_frames",
		[FIGURE_MISSES] = "misses",	[FIGURE_CPUS] = "cpu_time",    [FIGURE_SWITCHES] = "switches",
		[FIGURE_LAUNCHES] = "launches",
	};

	if (row->figure > FIGURE_LONGEST)
		return others[row->figure];
	return row->of == OF_PROGRAM ? frames[row->figure] : waits[row->figure];
}

const char *verdict_json(enum compare_verdict verdict)
{
	static const char *const names[] = {
		[VERDICT_TOO_LITTLE] = "too_little", [VERDICT_NONE] = "no_difference", [VERDICT_BETTER] = "better",
		[VERDICT_WORSE] = "worse",	     [VERDICT_MIXED] = "mixed",
	};

	return names[verdict];
}

const char *change_json(enum compare_change change)
{
	static const char *const names[] = {
		[CHANGE_NOT_KNOWN] = NULL, [CHANGE_NONE] = "none", [CHANGE_LESS] = "less", [CHANGE_MORE] = "more"
	};

	return names[change];
}

const char *unit_json(enum compare_unit unit)
{
	static const char *const names[] = {
		[UNIT_NS] = "ns", [UNIT_SHARE] = "share", [UNIT_PER_SECOND] = "per_s", [UNIT_CPUS] = "cpus"
	};

	return names[unit];
}

void compare_of_words(char into[COMPARE_WORDS_SIZE], const struct compare_row *row)
{
	char name[THREAD_NAME_SIZE];

	switch (row->of) {
	case OF_PROGRAM:
		comm_name(name, &row->program);
		snprintf(into, COMPARE_WORDS_SIZE, "%s", name);
		return;
	case OF_TIER:
		snprintf(into, COMPARE_WORDS_SIZE, "%s threads", tier_name(row->which));
		return;
	case OF_ROLE:
		snprintf(into, COMPARE_WORDS_SIZE, "%s threads", role_name(row->which));
		return;
	case OF_CAUSE:
		snprintf(into, COMPARE_WORDS_SIZE, "by %s", cause_names[row->which]);
		return;
	case OF_OTHERS:
		snprintf(into, COMPARE_WORDS_SIZE, "other programs");
		return;
	default:
		snprintf(into, COMPARE_WORDS_SIZE, "all threads");
	}
}

const char *compare_of_json(const struct compare_row *row)
{
	switch (row->of) {
	case OF_TIER:
		return tier_name(row->which);
	case OF_ROLE:
		return role_name(row->which);
	case OF_CAUSE:
		return cause_json[row->which];
	default:
		return NULL;
	}
}

void compare_value_words(char into[COMPARE_WORDS_SIZE], enum compare_unit unit, double value)
{
	if (isnan(value))
		snprintf(into, COMPARE_WORDS_SIZE, "-");
	else if (unit == UNIT_NS)
		format_time(into, COMPARE_WORDS_SIZE, (u64)value);
	else if (unit == UNIT_SHARE)
		snprintf(into, COMPARE_WORDS_SIZE, "%.2f %%", 100 * value);
	else
		snprintf(into, COMPARE_WORDS_SIZE, unit == UNIT_CPUS ? "%.2f" : "%.1f", value);
}

/* With its sign; of shares the points. */
static void change_words(char into[COMPARE_WORDS_SIZE], enum compare_unit unit, double change)
{
	char value[COMPARE_WORDS_SIZE];

	compare_value_words(value, unit, fabs(change));
	if (unit == UNIT_SHARE)
		snprintf(value, sizeof(value), "%.2f points", 100 * fabs(change));
	snprintf(into, COMPARE_WORDS_SIZE, "%s%.40s", change < 0 ? "-" : "+", value);
}

void compare_difference_words(char into[COMPARE_WORDS_SIZE], const struct compare_row *row)
{
	char change[COMPARE_WORDS_SIZE];

	if (isnan(row->a) || isnan(row->b)) {
		snprintf(into, COMPARE_WORDS_SIZE, "-");
		return;
	}
	change_words(change, row->unit, row->b - row->a);
	if (row->a > 0 && row->unit != UNIT_SHARE)
		snprintf(into, COMPARE_WORDS_SIZE, "%.30s (%+.*f %%)", change, fabs(row->b - row->a) < row->a,
			 100 * (row->b - row->a) / row->a);
	else
		snprintf(into, COMPARE_WORDS_SIZE, "%.40s", change);
}

static void span_words(char into[COMPARE_WORDS_SIZE], const struct compare_row *row, double low, double high)
{
	char from[COMPARE_WORDS_SIZE], to[COMPARE_WORDS_SIZE];

	change_words(from, row->unit, low);
	change_words(to, row->unit, high);
	snprintf(into, COMPARE_WORDS_SIZE, "%.28s to %.28s", from, to);
}

void compare_interval_words(char into[COMPARE_WORDS_SIZE], const struct compare_row *row)
{
	into[0] = '\0';
	if (row->has_interval)
		span_words(into, row, row->low, row->high);
}

/* "late frames of game: 0.40 % instead of 12.30 % (a difference of -16.20 points to -7.10 points)" */
static void headline_words(char *into, size_t size, const struct compare_row *row)
{
	char of[COMPARE_WORDS_SIZE], a[COMPARE_WORDS_SIZE], b[COMPARE_WORDS_SIZE], span[COMPARE_WORDS_SIZE];

	compare_of_words(of, row);
	compare_value_words(a, row->unit, row->a);
	compare_value_words(b, row->unit, row->b);
	span_words(span, row, row->sure_low, row->sure_high);
	snprintf(into, size, "%s of %s: %s instead of %s (a difference of %s)", figure_words(row), of, b, a, span);
}

void compare_verdict_words(char into[COMPARE_SENTENCE_SIZE], const struct compare_result *result,
			   const struct compare_names *names)
{
	char better[COMPARE_SENTENCE_SIZE / 3] = "", worse[COMPARE_SENTENCE_SIZE / 3] = "";
	const struct compare_row *good = compare_strongest(result, 1), *bad = compare_strongest(result, -1),
				 *open = compare_strongest(result, 0);

	if (good)
		headline_words(better, sizeof(better), good);
	if (bad)
		headline_words(worse, sizeof(worse), bad);
	switch (result->verdict) {
	case VERDICT_BETTER:
		snprintf(into, COMPARE_SENTENCE_SIZE, "%s is better: %s", names->b, better);
		return;
	case VERDICT_WORSE:
		snprintf(into, COMPARE_SENTENCE_SIZE, "%s is worse: %s", names->b, worse);
		return;
	case VERDICT_MIXED:
		snprintf(into, COMPARE_SENTENCE_SIZE, "%s is better by one figure, %s, and worse by another, %s",
			 names->b, better, worse);
		return;
	case VERDICT_NONE:
		if (open)
			headline_words(better, sizeof(better), open);
		snprintf(into, COMPARE_SENTENCE_SIZE, "no difference that this data can show%s%s", open ? ": " : "",
			 better);
		return;
	default:
		snprintf(into, COMPARE_SENTENCE_SIZE,
			 "this data is too little to compare: it takes 1.5 s of each, with frames of one program or "
			 "waits for CPUs in both");
	}
}
