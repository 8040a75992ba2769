// SPDX-License-Identifier: GPL-2.0
/* One line on stderr per trouble, and the last check that what was printed has arrived.
 * Every message of the program passes through here. */
#include "say.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../core/plain.h"

/* Longer messages are cut; no memory is asked for, since that there is none is one of them. */
enum { MESSAGE_SIZE = 4096 };

void reason_set(struct reason *why, const char *format, ...)
{
	char raw[sizeof(why->text)];
	va_list args;

	va_start(args, format);
	vsnprintf(raw, sizeof(raw), format, args);
	va_end(args);
	plain_copy(why->text, sizeof(why->text), raw);
}

static void print_line(const char *format, va_list args)
{
	char raw[MESSAGE_SIZE], plain[MESSAGE_SIZE];

	vsnprintf(raw, sizeof(raw), format, args);
	plain_copy(plain, sizeof(plain), raw);
	fputs(plain, stderr);
}

static void __attribute__((format(printf, 1, 2))) print_part(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	print_line(format, args);
	va_end(args);
}

int fail(const char *what, const char *format, ...)
{
	va_list args;

	print_part("tactus: %s: ", what);
	va_start(args, format);
	print_line(format, args);
	va_end(args);
	fputc('\n', stderr);
	return EXIT_FAILURE;
}

void note(const char *format, ...)
{
	va_list args;

	fputs("tactus: ", stderr);
	va_start(args, format);
	print_line(format, args);
	va_end(args);
	fputc('\n', stderr);
}

/* By pieces: a scheduler's dump or a verifier's log has any length. */
void say_lines(const char *text)
{
	char piece[MESSAGE_SIZE];
	size_t len = 0;
	char last = '\n';

	while (*text) {
		struct utf8_char next = utf8_read(text);

		last = *text;
		if (last == '\n' || last == '\t')
			piece[len++] = last;
		else
			len += plain_put(piece + len, text, next);
		text += next.length ? next.length : 1;
		if (len + UTF8_LONGEST >= sizeof(piece) || !*text) {
			fwrite(piece, 1, len, stderr);
			len = 0;
		}
	}
	if (last != '\n')
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
