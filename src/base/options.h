/* SPDX-License-Identifier: GPL-2.0 */
/* The options that commands share, and how a command adds its own.
 * Bad usage prints one line and ends the program with status 2. */
#ifndef TACTUS_BASE_OPTIONS_H
#define TACTUS_BASE_OPTIONS_H

#include <argp.h>
#include <stdbool.h>

#include "../../core/types.h"

struct options {
	u64 duration_ns; /* 0: until a signal or the command's end */
	bool json;
	bool verbose;
	char **command; /* the words after `--`, or NULL */
};

/* Which of the shared options a command takes. */
enum {
	TAKES_DURATION = 1 << 0,
	TAKES_COMMAND = 1 << 1,
	TAKES_JSON = 1 << 2,
};

struct command_usage {
	const char *name;
	const char *text; /* what --help says before the options, and after a \v behind them */
	unsigned int takes;
};

void options_parse(struct options *options, const struct command_usage *usage, int argc, char **argv);

/* A span of time like "2", "0.5", "250ms": 0 < span <= a year. Returns 0 or -EINVAL (no number) or -ERANGE. */
int parse_duration(const char *text, u64 *duration_ns);

#endif
