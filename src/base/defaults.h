/* SPDX-License-Identifier: GPL-2.0 */
/* Values of options that a file gives, for calls that do not give them. */
#ifndef TACTUS_BASE_DEFAULTS_H
#define TACTUS_BASE_DEFAULTS_H

#include <stdbool.h>
#include <stddef.h>

enum { DEFAULT_ORIGIN_SIZE = 128 };

/* A line of a file. */
struct option_default {
	char *command; /* the only one that it is for; NULL: every one that takes the option */
	char *name;
	char *value;
	int line;
};

struct option_defaults {
	char *path;
	struct option_default *all;
	size_t len;
};

/* Copies its texts. Returns 0 or -ENOMEM. */
int defaults_add(struct option_defaults *defaults, const char *command, const char *name, const char *value, int line);
void defaults_free(struct option_defaults *defaults);

/* The line that counts for an option of a command: what is for that command alone before what is for all, and the last
 * of several. NULL: there is none. */
const struct option_default *defaults_find(const struct option_defaults *defaults, const char *command,
					   const char *name);

/* "thread|process" has "thread"; what is in capitals stands for anything. A text without '|' is no list, and has all.
 */
bool choices_have(const char *choices, const char *value);

/* Who reads them: from the file that the user named, or with NULL from the usual place. Returns 0, or after a message
 * the status to end with. Until somebody is named there are none. */
typedef int (*defaults_reader)(const char *config, const struct option_defaults **out);
void defaults_read_by(defaults_reader reader);
int defaults_read(const char *config, const struct option_defaults **out);

#endif
