/* SPDX-License-Identifier: GPL-2.0 */
/* How the program speaks to its user: one line on stderr per trouble, `tactus: what: why`.
 * And the exit statuses that go with it. Names, paths and others' words may be among what is said: a terminal gets only
 * plain text of it (core/plain.h). */
#ifndef TACTUS_BASE_SAY_H
#define TACTUS_BASE_SAY_H

#include <stdbool.h>
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

/* The same about something that people look for in a journal: by topic, process and name, which are fields there. */
struct say_about {
	const char *topic;
	unsigned int pid; /* 0: of none */
	const char *comm; /* any bytes; NULL: of none */
	bool is_warning;
};
void note_about(const struct say_about *about, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* What is said goes to stderr from here on, which is another one than it was, and not to the journal. */
void say_to_stderr(void);

/* Sets unit to the name of the service that a text like /proc/self/cgroup's names. False if it names none that fits. */
bool say_unit_of(const char *cgroup, char *unit, size_t size);
/* A message as the journal takes it, in lines of FIELD=value; texts are plain, unit may be "". Returns how long it is,
 * cut to size. */
size_t say_journal_text(char *into, size_t size, int priority, const char *unit, const struct say_about *about,
			const char *message);
/* Whether $JOURNAL_STREAM, a text like "8:12345", names this device and inode. */
bool say_is_journal(const char *stream, unsigned long long device, unsigned long long inode);

/* Prints lines that others wrote, such as a scheduler's dump, as they are but for what could harm a terminal. */
void say_lines(const char *text);

/* Flushes stdout and says so if not all of it could be written. A reader that went away is no failure. */
int finish_output(int status);

#endif
