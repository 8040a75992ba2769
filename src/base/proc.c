// SPDX-License-Identifier: GPL-2.0
/* Reads and parses /proc/TID/stat.
 * A thread's name may hold spaces, brackets and newlines: what counts comes after the last bracket. */
#include "proc.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { START_FIELD = 22, FIRST_FIELD_AFTER_NAME = 3 };

u64 stat_start_ticks(const char *text)
{
	const char *at = strrchr(text, ')');

	for (int field = FIRST_FIELD_AFTER_NAME - 1; at && field < START_FIELD; field++) {
		at = strchr(at, ' ');
		at = at ? at + 1 : NULL;
	}
	return at && *at >= '0' && *at <= '9' ? strtoull(at, NULL, 10) : 0;
}

u64 proc_start_ticks(u32 tid)
{
	char path[32], text[1024];
	ssize_t got;
	int fd;

	snprintf(path, sizeof(path), "/proc/%u/stat", tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	got = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (got <= 0)
		return 0;
	text[got] = '\0';
	return stat_start_ticks(text);
}
