/* SPDX-License-Identifier: GPL-2.0 */
/* The journal of hints: one line for each change, written before the change is made, so that whoever comes after a
 * crash can undo it. Text, a line an entry; no files here, only lines. */
#ifndef TACTUS_SCHED_JOURNAL_H
#define TACTUS_SCHED_JOURNAL_H

#include <stddef.h>

#include "../../core/hints.h"

struct journal_entry {
	u32 tid;
	u64 start_ticks; /* field 22 of /proc/TID/stat: with the tid, who it is */
	struct hint before;
	struct hint after;
};

enum { JOURNAL_LINE_SIZE = 256 };

/* Writes the line, its newline included; returns its length. */
size_t journal_format(char line[JOURNAL_LINE_SIZE], const struct journal_entry *entry);

/* Reads one line, without or with its newline. Returns 0, or -EINVAL for one that is not whole or not ours. */
int journal_parse(const char *line, size_t len, struct journal_entry *entry);

#endif
