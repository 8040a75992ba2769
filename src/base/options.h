/* SPDX-License-Identifier: GPL-2.0 */
/* The options that commands share, and how a command adds its own.
 * Bad usage prints one line and ends the program with status 2. */
#ifndef TACTUS_BASE_OPTIONS_H
#define TACTUS_BASE_OPTIONS_H

#include <argp.h>
#include <stdbool.h>

#include "../../core/types.h"

/* Which threads and CPUs to watch. Empty: all. */
struct filter {
	u32 pid;	     /* 0: any */
	char comm[COMM_LEN]; /* "": any; else the exact name, as the kernel cuts it to 15 bytes */
	const char *cgroup;  /* NULL: any; else the path of a cgroup */
	u64 cpus[1024 / 64]; /* a set of CPUs, if has_cpus */
	bool has_cpus;
};

struct options {
	u64 duration_ns; /* 0: until a signal or the command's end */
	bool json;
	bool verbose;
	char **command;	    /* the words after `--`, or NULL */
	const char *user;   /* whom the command runs as; NULL: see base/privileges.h */
	const char *input;  /* a recording to read instead of the kernel */
	const char *output; /* a recording to write */
	struct filter filter;
	u32 rows;	  /* 0: the view's own default */
	u32 ring_bytes;	  /* size of each CPU's ring; 0: the default */
	const char *word; /* without a dash before it, or NULL */
};

#define ROWS_ALL 0xffffffffu

/* Which of the shared options a command takes. */
enum {
	TAKES_DURATION = 1 << 0,
	TAKES_COMMAND = 1 << 1,
	TAKES_JSON = 1 << 2,
	TAKES_INPUT = 1 << 3,
	TAKES_OUTPUT = 1 << 4,
	TAKES_FILTER = 1 << 5, /* -p -c -C --cgroup */
	TAKES_ROWS = 1 << 6,
	TAKES_RING = 1 << 7,
	TAKES_WORD = 1 << 8,
	TAKES_EXPORT = 1 << 9, /* -o also of what -i reads: the command looks at it itself */
	TAKES_EVENTS_OF_VIEW = TAKES_DURATION | TAKES_COMMAND | TAKES_JSON | TAKES_INPUT | TAKES_OUTPUT | TAKES_FILTER |
			       TAKES_RING,
};

struct command_usage {
	const char *name;
	const char *text; /* what --help says before the options, and after a \v behind them */
	unsigned int takes;
	const char *word; /* with TAKES_WORD: what it is, for --help */
	/* A command's own options: an argp list, and what to do with each. take_own returns NULL, or what is wrong with
	 * the value, in words that follow "the value 'x' ". */
	const struct argp_option *own;
	const char *(*take_own)(int key, const char *value);
};

void options_parse(struct options *options, const struct command_usage *usage, int argc, char **argv);

/* A span of time like "2", "0.5", "250ms": 0 < span <= a year. Returns 0 or -EINVAL (no number) or -ERANGE. */
int parse_duration(const char *text, u64 *duration_ns);

/* A whole number in decimal. Returns 0, -EINVAL or -ERANGE. */
int parse_number(const char *text, u64 most, u64 *number);

/* A list such as "0-3,8" into a set of `len` bits. Returns 0, -EINVAL or -ERANGE. */
int parse_cpu_list(const char *text, u64 *cpus, u32 len);

#endif
