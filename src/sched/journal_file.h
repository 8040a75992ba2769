/* SPDX-License-Identifier: GPL-2.0 */
/* The files in which changes are written down before they are made. One process at a time has such a file; it is there
 * for as long as something in it is not undone. */
#ifndef TACTUS_SCHED_JOURNAL_FILE_H
#define TACTUS_SCHED_JOURNAL_FILE_H

#include <stddef.h>
#include <stdio.h>

#include "../base/say.h"

struct journal_file {
	int fd;
	size_t lines; /* written since it was last replaced */
	char path[512];
};

/* Below /run/tactus for root, else in the user's runtime folder. Returns 0 and locks it, or -errno with a reason;
 * -ENOENT: there is none, with `create` no place for it; -EBUSY: another process has it. */
int journal_file_open(struct journal_file *file, const char *name, int create, struct reason *why);

/* For reading, though another process has it. NULL: there is none. */
FILE *journal_file_peek(const char *name);

/* One line, whole or not at all. Returns 0 or -errno. */
int journal_file_append(struct journal_file *file, const char *line, size_t len);

/* Only these lines are left. Until they are in place the old ones hold. Returns 0 or -errno. */
int journal_file_replace(struct journal_file *file, const char *lines, size_t len, size_t count);

/* Closes it; `remove`: and nothing in it is needed any more. */
void journal_file_close(struct journal_file *file, int remove);

#endif
