/* SPDX-License-Identifier: GPL-2.0 */
/* The options that commands share, and how a command adds its own.
 * Bad usage prints one line and ends the program with status 2. */
#ifndef TACTUS_BASE_OPTIONS_H
#define TACTUS_BASE_OPTIONS_H

#include <argp.h>
#include <stdbool.h>

#include "../../core/types.h"
#include "defaults.h"
#include "excerpt.h"
#include "filter.h"
#include "several.h"

/* What -o writes: as --format says, else by the end of the file's name. */
enum output_format {
	OUTPUT_BY_NAME,
	OUTPUT_RECORDING,
	OUTPUT_LINES,
	OUTPUT_TRACE, /* for chrome://tracing */
	OUTPUT_PERFETTO,
	OUTPUT_CSV,
	OUTPUT_PARQUET,
	OUTPUT_FORMATS
};

enum colour_when { COLOUR_AUTO, COLOUR_ALWAYS, COLOUR_NEVER };

struct options {
	u64 duration_ns; /* 0: until a signal or the command's end */
	bool json;
	bool verbose;
	char **command;			  /* the words after `--`, or NULL */
	const char *user;		  /* whom the command runs as; NULL: see base/privileges.h */
	const char *input;		  /* a recording to read instead of the kernel */
	struct several inputs;		  /* all that were named: see capture/replay.c where they are several */
	struct excerpt excerpt;		  /* what of it */
	const char *output;		  /* a recording to write, or what output_format says */
	bool output_is_stdout;		  /* it is called '-': what is said besides goes to stderr */
	enum output_format output_format; /* known once the options are parsed, if there is an output */
	const char *report;		  /* where the report goes; NULL: see base/report.h */
	bool force;			  /* replace files of others */
	struct filter filter;
	u64 interval_ns;  /* a table each time; 0: see view/every.h */
	const char *sort; /* a column of the view's tables; NULL: as they are */
	bool reverse;
	const char *columns; /* with commas; NULL: those that matter */
	enum colour_when colour;
	u32 rows;	  /* 0: the view's own default */
	u32 ring_bytes;	  /* size of each CPU's ring; 0: the default */
	const char *word; /* without a dash before it, or NULL */
	/* Where the columns come from, as "file:line", if not from the command line. */
	char sort_from[DEFAULT_ORIGIN_SIZE], columns_from[DEFAULT_ORIGIN_SIZE];
};

#define ROWS_ALL 0xffffffffu

/* How many rows to print at most. Who reads JSON is a program: it gets all unless it asked for fewer. */
u32 options_rows(const struct options *options, u32 by_default);

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
	TAKES_EXPORT = 1 << 9,	   /* -o also of what -i reads: the command looks at it itself */
	TAKES_REPORT = 1 << 10,	   /* --report, see base/report.h */
	TAKES_REPORT_O = 1 << 11,  /* and -o means the same */
	TAKES_FORCE = 1 << 12,	   /* by itself; comes with -o and --report */
	TAKES_TABLE = 1 << 13,	   /* --sort, --reverse, --columns, --color */
	TAKES_INTERVAL = 1 << 14,  /* --interval, and INTERVAL [COUNT] as words */
	TAKES_REST = 1 << 15,	   /* all from the first word on, as `command` */
	TAKES_NO_CONFIG = 1 << 16, /* no file gives its options values */
	TAKES_ONE_INPUT = 1 << 17, /* with TAKES_INPUT: not several */
	TAKES_FILES = 1 << 18,	   /* words are recordings: `inputs` */
	TAKES_TRACES = 1 << 26,	   /* -o and --format: what viewers of others read, and nothing else */
	TAKES_PERFETTO = 1 << 27,  /* with TAKES_OUTPUT: -o also a trace for Perfetto */
	TAKES_EVENTS_OF_VIEW = TAKES_DURATION | TAKES_COMMAND | TAKES_JSON | TAKES_INPUT | TAKES_OUTPUT | TAKES_FILTER |
			       TAKES_RING | TAKES_REPORT,
};

/* In the flags of an option: it is about what is watched, and means nothing for a recording. For argp it is no flag. */
enum { OPTION_LIVE = 1 << 16 };

struct command_usage {
	const char *name;
	const char *text; /* what --help says before the options, and after a \v behind them */
	unsigned int takes;
	const char *word; /* with TAKES_WORD: what it is, for --help */
	/* A command's own options: an argp list, and what to do with each, where `data` is the command's own struct
	 * that holds them. take_own returns NULL, or what is wrong with the value, in words that follow "the value 'x'
	 * ". */
	const struct argp_option *own;
	const char *(*take_own)(void *data, int key, const char *value);
	size_t own_size; /* of that struct */
	/* Whether a file's value of an option makes sense beside what was chosen before it, by the command line and by
	 * the file. NULL: all do. */
	bool (*fits)(const void *data, const struct options *options, const char *option);
};

/* Every option that a command takes, in a list that one without a name ends. */
enum { OPTIONS_MAX = 64 };
void options_list(struct argp_option list[OPTIONS_MAX], const struct command_usage *usage);

/* `own_data`: for take_own; NULL where a command has no options of its own. */
void options_parse(struct options *options, const struct command_usage *usage, void *own_data, int argc, char **argv);

/* One more of `inputs`, of which those past SEVERAL_MOST are only counted. */
void options_take_file(struct options *options, const char *file);

/* What -o is to write, as far as it is known while options are taken. */
enum output_format options_format(const struct options *options);

/* The file that --config named; NULL: the usual place. */
const char *options_config(void);

/* Whether an option belongs on a command line, and not into a file: it is about the files of one call. */
bool option_is_for_one_call(const char *name);

/* An option of a command, with the value that it has for such a command line. */
struct option_in_force {
	const struct argp_option *option;
	const char *value;			/* NULL: nobody gave one */
	const struct option_default *from_file; /* NULL: it is not the file's */
};

/* Takes all values as the command would, into `options`, and ends the program at one that is wrong. */
void options_in_force(struct options *options, const struct command_usage *usage,
		      const struct option_defaults *defaults, int argc, char **argv,
		      void (*each)(void *data, const struct option_in_force *force), void *data);

/* A span of time like "2", "0.5", "250ms", "1m30s": 0 < span <= a year. Returns 0 or -EINVAL (no number) or -ERANGE. */
int parse_duration(const char *text, u64 *duration_ns);

/* The same, but with its unit, where seconds are not what most people mean. Returns NULL, or what is wrong with it, in
 * words that follow "the value 'x' ". */
const char *parse_span(const char *text, u64 *span_ns);

/* A whole number in decimal. Returns 0, -EINVAL or -ERANGE. */
int parse_number(const char *text, u64 most, u64 *number);

/* A list such as "0-3,8" into a set of `len` bits. Returns 0, -EINVAL or -ERANGE. */
int parse_cpu_list(const char *text, u64 *cpus, u32 len);

#endif
