// SPDX-License-Identifier: GPL-2.0
/* One line of the journal to and from a struct.
 * Each line ends with a mark, so that one that was cut in the middle is never taken for a whole one. */
#include "journal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define LINE_END " end"

size_t journal_format(char line[JOURNAL_LINE_SIZE], const struct journal_entry *entry)
{
	int len = snprintf(line, JOURNAL_LINE_SIZE,
			   "tid %" PRIu32 " start %" PRIu64 " had %" PRIu64 " %" PRId32 " %" PRIu32 " given %" PRIu64
			   " %" PRId32 " %" PRIu32 LINE_END "\n",
			   entry->tid, entry->start_ticks, entry->before.slice_ns, entry->before.nice,
			   entry->before.clamp_min, entry->after.slice_ns, entry->after.nice, entry->after.clamp_min);

	return (size_t)len;
}

static int hint_is_sane(const struct hint *hint)
{
	return hint->slice_ns <= HINT_SLICE_MOST_NS && hint->nice >= -20 && hint->nice <= 19 && hint->clamp_min <= 1024;
}

int journal_parse(const char *line, size_t len, struct journal_entry *entry)
{
	char text[JOURNAL_LINE_SIZE], again[JOURNAL_LINE_SIZE];
	size_t again_len;
	int fields;

	if (len && line[len - 1] == '\n')
		len--;
	if (len >= sizeof(text) || memchr(line, '\0', len))
		return -EINVAL;
	memcpy(text, line, len);
	text[len] = '\0';
	*entry = (struct journal_entry){ 0 };
	fields = sscanf(text,
			"tid %" SCNu32 " start %" SCNu64 " had %" SCNu64 " %" SCNd32 " %" SCNu32 " given %" SCNu64
			" %" SCNd32 " %" SCNu32,
			&entry->tid, &entry->start_ticks, &entry->before.slice_ns, &entry->before.nice,
			&entry->before.clamp_min, &entry->after.slice_ns, &entry->after.nice, &entry->after.clamp_min);
	if (fields != 8 || !entry->tid || !hint_is_sane(&entry->before) || !hint_is_sane(&entry->after))
		return -EINVAL;
	/* Only what would be written the same way is ours: no other spelling, no number that did not fit. */
	again_len = journal_format(again, entry) - 1;
	return again_len == len && !memcmp(again, text, len) ? 0 : -EINVAL;
}
