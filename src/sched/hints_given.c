// SPDX-License-Identifier: GPL-2.0
/* Reads the journal of hints while another process writes it. A thread's last line is what it has.
 */
#include "hints_given.h"

#include <stdio.h>
#include <stdlib.h>

#include "../base/vec.h"
#include "hints_book.h"

enum { GIVEN_MOST = 1 << 16 };

/* Its last line counts; a thread that has what it had before has no hint. */
static size_t take_entry(struct hint_given *given, size_t len, const struct journal_entry *entry)
{
	size_t at = 0;

	while (at < len && given[at].tid != entry->tid)
		at++;
	if (hint_same(&entry->before, &entry->after)) {
		if (at < len)
			given[at] = given[--len];
		return len;
	}
	given[at] = (struct hint_given){ entry->tid, entry->after };
	return at < len ? len : len + 1;
}

struct hint_given *hints_given(size_t *len)
{
	FILE *journal = journal_file_peek(HINTS_JOURNAL);
	struct hint_given *given = NULL;
	struct journal_entry entry;
	size_t room = 0, line_room = 0;
	char *line = NULL;
	ssize_t got;

	*len = 0;
	while (journal && *len < GIVEN_MOST && (got = getline(&line, &line_room, journal)) > 0) {
		if (journal_parse(line, (size_t)got, &entry))
			continue;
		if (!vec_reserve(given, room, *len + 1, 64))
			break;
		*len = take_entry(given, *len, &entry);
	}
	free(line);
	if (journal)
		fclose(journal);
	return given;
}
