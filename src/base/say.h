/* SPDX-License-Identifier: GPL-2.0 */
/* How the program speaks to its user: one line on stderr per trouble, `tactus: what: why`.
 * And the exit statuses that go with it. Names, paths and others' words may be among what is said: a terminal gets only
 * plain text of it (core/plain.h). */
#ifndef TACTUS_BASE_SAY_H
#define TACTUS_BASE_SAY_H

#include <stddef.h>

enum {
	EXIT_USAGE = 2,
	EXIT_NOT_EXECUTABLE = 126,
	EXIT_NOT_FOUND = 127,
	EXIT_SIGNALLED = 128, /* plus the signal's number */
};

/* A reason in words, passed up from where the trouble is to where it is said. */
struct reason {
	char text[800];
};

void reason_set(struct reason *why, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Prints "tactus: WHAT: why". Returns EXIT_FAILURE, so that a caller can return it. */
int fail(const char *what, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Prints "tactus: note" where the user ought to know something that is no failure. */
void note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Prints lines that others wrote, such as a scheduler's dump, as they are but for what could harm a terminal. */
void say_lines(const char *text);

/* Flushes stdout and says so if not all of it could be written. A reader that went away is no failure. */
int finish_output(int status);

#endif
