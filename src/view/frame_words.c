// SPDX-License-Identifier: GPL-2.0
/* What a late frame's time went into, as a sentence: what most of the excess was first, then the other parts.
 */
#include "frame_words.h"

#include <stdio.h>
#include <string.h>

#include "../sink/text.h"
#include "thread_words.h"

/* A part is worth a word from so small a part of the frame on, and there are not more words than a line takes. */
enum { TIME_SIZE = 16, WORD_LEAST_PART = 20, PARTS_NAMED = 4 };

static void cause_words(char *into, size_t size, const struct threads *threads, const struct late_frame *late)
{
	const struct path_item *cause = &late->cause;
	char name[THREAD_NAME_SIZE], who[THREAD_WORDS_SIZE], other[THREAD_WORDS_SIZE], span[TIME_SIZE],
		usual[TIME_SIZE];

	thread_name(name, threads, cause->tid);
	thread_words(who, threads, cause->tid, THREAD_TIGHT);
	thread_words(other, threads, cause->other_tid, THREAD_TIGHT);
	format_time(span, sizeof(span), cause->ns);
	format_time(usual, sizeof(usual), late->usual_ns);
	if (!late->has_cause)
		snprintf(into, size, "nothing is known of its time");
	else if (cause->kind == PATH_RAN && cause->tid == late->tid)
		snprintf(into, size, "%s ran %s itself, usually %s", name, span, usual);
	else if (cause->kind == PATH_RAN)
		snprintf(into, size, "it waited for %s, which ran %s", who, span);
	else if (cause->kind == PATH_WAITED && cause->other_tid)
		snprintf(into, size, "%s waited %s on CPU %u behind %s", name, span, cause->cpu, other);
	else if (cause->kind == PATH_WAITED)
		snprintf(into, size, "%s waited %s for CPU %u", name, span, cause->cpu);
	else if (cause->tid != late->tid)
		snprintf(into, size, "it waited for %s, which slept %s", who, span);
	else if (cause->other_tid && (cause->woken_by & EVENT_FLAG_BY_THREAD))
		snprintf(into, size, "%s slept %s, until %s woke it", name, span, other);
	else if (cause->other_tid)
		snprintf(into, size, "%s slept %s, until a timer, a device or %s woke it", name, span, other);
	else
		snprintf(into, size, "%s slept %s, until a timer or a device woke it", name, span);
}

static bool is_worth_a_word(const struct late_frame *late, u64 part_ns)
{
	return part_ns * WORD_LEAST_PART >= late->interval_ns;
}

/* ", llvmpipe-0 waited 38 ms behind cc1 [4411]"; without the name if `follows`, a part of the same thread's. */
static void add_part(char *into, size_t size, const struct threads *threads, const struct path_item *part, bool follows)
{
	static const char *const verbs[PATH_KINDS] = { "ran ", "waited ", "slept ", "" };
	char name[THREAD_NAME_SIZE], other[THREAD_WORDS_SIZE], span[TIME_SIZE];
	size_t used = strlen(into);

	thread_name(name, threads, part->tid);
	thread_words(other, threads, part->other_tid, THREAD_TIGHT);
	format_time(span, sizeof(span), part->ns);
	snprintf(into + used, size - used, ", %s%s%s%s%s%s%s", follows ? "" : name, follows ? "" : " ",
		 verbs[part->kind], span, part->kind == PATH_WAITED && part->other_tid ? " behind " : "",
		 part->kind == PATH_WAITED && part->other_tid ? other : "",
		 part->kind == PATH_UNKNOWN ? " of which nothing is known" : "");
}

void late_cause_words(char *into, size_t size, const struct threads *threads, const struct late_frame *late)
{
	u32 named_tid = late->cause.tid, named = late->has_cause;
	u64 rest_ns = late->rest_ns;
	char span[TIME_SIZE];
	size_t used;

	cause_words(into, size, threads, late);
	for (u32 i = named; i < late->parts_len; i++) {
		const struct path_item *part = &late->parts[i];

		if (named >= PARTS_NAMED || !is_worth_a_word(late, part->ns)) {
			rest_ns += part->ns;
			continue;
		}
		add_part(into, size, threads, part, named && part->tid == named_tid);
		named_tid = part->tid;
		named++;
	}
	used = strlen(into);
	format_time(span, sizeof(span), rest_ns);
	if (named && rest_ns && is_worth_a_word(late, rest_ns))
		snprintf(into + used, size - used, ", %s in smaller parts", span);
}

/* Worth a word if it is a quarter of what the frame was late by. */
static bool gpu_matters(const struct late_frame *late)
{
	return late->gpu_ns > late->usual_gpu_ns && (late->gpu_ns - late->usual_gpu_ns) * 4 >= late->late_ns;
}

void late_frame_words(char *into, size_t size, const struct threads *threads, const struct late_frame *late)
{
	char span[TIME_SIZE], usual[TIME_SIZE];
	size_t used;

	late_cause_words(into, size, threads, late);
	used = strlen(into);
	if (late->moves) {
		snprintf(into + used, size - used, "; moved %u time%s", late->moves, late->moves == 1 ? "" : "s");
		used = strlen(into);
	}
	if (!gpu_matters(late))
		return;
	format_time(span, sizeof(span), late->gpu_ns);
	format_time(usual, sizeof(usual), late->usual_gpu_ns);
	snprintf(into + used, size - used, "; %s of it in calls to the GPU's driver, usually %s", span, usual);
}
