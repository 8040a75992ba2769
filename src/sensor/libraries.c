// SPDX-License-Identifier: GPL-2.0
/* Which libraries processes map: stands in until the real one does.
 * It finds nothing. */
#include "libraries.h"

#include <stddef.h>
#include <errno.h>

int libraries_open(struct libraries **out, struct reason *why)
{
	*out = NULL;
	reason_set(why, "not there yet");
	return -ENOTSUP;
}
void libraries_close(struct libraries *libraries)
{
	(void)libraries;
}
int libraries_want(struct libraries *libraries, const char *pattern, library_found found, void *data)
{
	(void)libraries;
	(void)pattern;
	(void)found;
	(void)data;
	return -ENOTSUP;
}
void libraries_scan(struct libraries *libraries)
{
	(void)libraries;
}
void libraries_scan_process(struct libraries *libraries, u32 pid)
{
	(void)libraries;
	(void)pid;
}
int libraries_fd(const struct libraries *libraries)
{
	(void)libraries;
	return -1;
}
void libraries_work(struct libraries *libraries)
{
	(void)libraries;
}
u64 libraries_lost(const struct libraries *libraries)
{
	(void)libraries;
	return 0;
}
