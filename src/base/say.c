// SPDX-License-Identifier: GPL-2.0
/* One line on stderr per trouble, and the last check that what was printed has arrived.
 * Every message of the program passes through here. */
#include "say.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void reason_set(struct reason *why, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(why->text, sizeof(why->text), format, args);
	va_end(args);
}

int fail(const char *what, const char *format, ...)
{
	va_list args;

	fprintf(stderr, "tactus: %s: ", what);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	return EXIT_FAILURE;
}

void note(const char *format, ...)
{
	va_list args;

	fputs("tactus: ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
}

int finish_output(int status)
{
	int had_error = ferror(stdout);

	errno = 0;
	if (fflush(stdout) == 0 && !had_error)
		return status;
	/* An earlier failed write leaves only the mark; the usual cause of that is a reader that went away. */
	if (errno == EPIPE || errno == 0)
		return status;
	return fail("standard output", "%s", strerror(errno));
}
