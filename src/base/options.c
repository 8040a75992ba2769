// SPDX-License-Identifier: GPL-2.0
/* Command lines by argp, with its errors turned into the one line that this program gives.
 * The options are a table; a command says which of them it takes. */
#include "options.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "say.h"

enum { LONGEST_DURATION_S = 366 * 24 * 3600 };

struct parse {
	struct options *options;
	const struct command_usage *usage;
	const struct argp *argp;
	int next; /* the word after the last one that was understood */
};

enum { KEY_CGROUP = 0x100, KEY_RING, KEY_USER };

static const struct shared_option {
	unsigned int takes; /* 0: every command */
	struct argp_option option;
} shared_options[] = {
	{ TAKES_DURATION, { "duration", 'd', "SECONDS", 0, "End after this time (2, 0.5, 250ms); else at Ctrl-C", 0 } },
	{ TAKES_FILTER, { "pid", 'p', "PID", 0, "Watch this process only, all its threads", 0 } },
	{ TAKES_FILTER, { "comm", 'c', "NAME", 0, "Watch threads of this name only", 0 } },
	{ TAKES_FILTER, { "cpu", 'C', "LIST", 0, "Watch these CPUs only (0-3,8)", 0 } },
	{ TAKES_FILTER,
	  { "cgroup", KEY_CGROUP, "PATH", 0, "Watch threads in this cgroup (version 2) and below only", 0 } },
	{ TAKES_ROWS, { "rows", 'n', "ROWS", 0, "Print at most so many rows, or 'all'", 0 } },
	{ TAKES_INPUT, { "input", 'i', "FILE", 0, "Read a recording instead of the kernel", 0 } },
	{ TAKES_OUTPUT, { "output", 'o', "FILE", 0, "Write what is watched to a recording", 0 } },
	{ TAKES_RING, { "ring-kb", KEY_RING, "KB", 0, "Size of each CPU's ring, a power of two", 0 } },
	{ TAKES_COMMAND,
	  { "user", KEY_USER, "NAME", 0, "Run the command as this user; else, under sudo, as the one who called it",
	    0 } },
	{ TAKES_JSON, { "json", 'j', 0, 0, "Print JSON, one object a line, instead of a table", 0 } },
	{ 0, { "verbose", 'v', 0, 0, "Also print what libbpf and the kernel's verifier say", 0 } },
	{ 0, { "help", 'h', 0, 0, "Print this help", 0 } },
};
enum { SHARED_OPTIONS = sizeof(shared_options) / sizeof(shared_options[0]), OWN_OPTIONS_MAX = 16 };

static void __attribute__((format(printf, 2, 3), noreturn))
bad_usage(const struct command_usage *usage, const char *format, ...)
{
	struct reason why;
	va_list args;

	va_start(args, format);
	vsnprintf(why.text, sizeof(why.text), format, args);
	va_end(args);
	fail(usage->name, "%s (see 'tactus %s --help')", why.text, usage->name);
	exit(EXIT_USAGE);
}

int parse_duration(const char *text, u64 *duration_ns)
{
	static const struct {
		const char *suffix;
		double seconds;
	} units[] = { { "", 1 }, { "s", 1 }, { "ms", 1e-3 }, { "us", 1e-6 }, { "m", 60 }, { "h", 3600 } };
	char *end;
	double value;

	/* strtod also takes "inf", "nan" and hexadecimal; a duration is none of these. */
	if (strspn(text, "0123456789.") == 0)
		return text[0] == '-' || text[0] == '+' ? -ERANGE : -EINVAL;
	if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X'))
		return -EINVAL;
	value = strtod(text, &end);
	if (end == text)
		return -EINVAL;
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (strcmp(end, units[i].suffix) != 0)
			continue;
		value *= units[i].seconds;
		if (!(value >= 1e-6 && value <= LONGEST_DURATION_S))
			return -ERANGE;
		*duration_ns = (u64)(value * NSEC_PER_SEC + 0.5);
		return 0;
	}
	return -EINVAL;
}

static void take_duration(struct parse *parse, const char *text)
{
	switch (parse_duration(text, &parse->options->duration_ns)) {
	case 0:
		return;
	case -ERANGE:
		bad_usage(parse->usage, "duration '%s' is out of range: more than 0 and at most a year", text);
	default:
		bad_usage(parse->usage, "duration '%s' is not a number of seconds", text);
	}
}

int parse_number(const char *text, u64 most, u64 *number)
{
	char *end;

	if (text[0] < '0' || text[0] > '9')
		return -EINVAL;
	errno = 0;
	*number = strtoull(text, &end, 10);
	if (*end)
		return -EINVAL;
	return errno || *number > most ? -ERANGE : 0;
}

int parse_cpu_list(const char *text, u64 *cpus, u32 len)
{
	const char *at = text;

	for (;;) {
		char *end;
		unsigned long from, to;

		if (*at < '0' || *at > '9')
			return -EINVAL;
		from = to = strtoul(at, &end, 10);
		if (*end == '-') {
			if (end[1] < '0' || end[1] > '9')
				return -EINVAL;
			to = strtoul(end + 1, &end, 10);
		}
		if (from > to || to >= len)
			return -ERANGE;
		for (; from <= to; from++)
			cpus[from / 64] |= 1ULL << (from % 64);
		if (!*end)
			return 0;
		if (*end != ',')
			return -EINVAL;
		at = end + 1;
	}
}

static u64 take_number(struct parse *parse, const char *what, const char *text, u64 least, u64 most)
{
	u64 number;

	if (parse_number(text, most, &number) || number < least)
		bad_usage(parse->usage, "%s '%s' is not a number from %llu to %llu", what, text,
			  (unsigned long long)least, (unsigned long long)most);
	return number;
}

static void take_ring(struct parse *parse, const char *text)
{
	u64 kilobytes = take_number(parse, "ring size", text, 4, 1 << 20);

	if (kilobytes & (kilobytes - 1))
		bad_usage(parse->usage, "ring size '%s' is not a power of two", text);
	parse->options->ring_bytes = (u32)kilobytes * 1024;
}

static void take_filter(struct parse *parse, int key, const char *text)
{
	struct filter *filter = &parse->options->filter;

	switch (key) {
	case 'p':
		filter->pid = (u32)take_number(parse, "pid", text, 1, 1 << 22);
		break;
	case 'c':
		if (!text[0])
			bad_usage(parse->usage, "an empty name matches no thread");
		snprintf(filter->comm, sizeof(filter->comm), "%s", text);
		break;
	case 'C':
		if (parse_cpu_list(text, filter->cpus, sizeof(filter->cpus) * 8))
			bad_usage(parse->usage, "'%s' is not a list of CPUs such as 0-3,8 (at most 1023)", text);
		filter->has_cpus = true;
		break;
	default:
		filter->cgroup = text;
		break;
	}
}

static void take_word(struct parse *parse, struct argp_state *state, char *word)
{
	if ((parse->usage->takes & TAKES_WORD) && !parse->options->word &&
	    !(state->quoted && (parse->usage->takes & TAKES_COMMAND))) {
		parse->options->word = word;
		return;
	}
	if (!(parse->usage->takes & TAKES_COMMAND))
		bad_usage(parse->usage, "unexpected word '%s'", word);
	if (!state->quoted)
		bad_usage(parse->usage, "unexpected word '%s': put '--' before a command to run", word);
	/* Everything from here on is the command's. */
	parse->options->command = &state->argv[state->next - 1];
	state->next = state->argc;
}

static void take_own(struct parse *parse, int key, const char *value)
{
	const char *wrong = parse->usage->take_own(key, value);

	if (wrong)
		bad_usage(parse->usage, "the value '%s' %s", value ? value : "", wrong);
}

static void check_together(struct parse *parse)
{
	const struct options *options = parse->options;

	if (!options->input)
		return;
	if (options->command)
		bad_usage(parse->usage, "a recording is read or a command is watched, not both");
	if (options->output && !(parse->usage->takes & TAKES_EXPORT))
		bad_usage(parse->usage, "a recording is read or written, not both");
	if (options->duration_ns)
		bad_usage(parse->usage, "a recording is read to its end: leave -d out");
	if (options->filter.pid || options->filter.comm[0] || options->filter.has_cpus || options->filter.cgroup)
		bad_usage(parse->usage, "filters act in the kernel: give them when recording");
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct parse *parse = state->input;

	if (key > 0 && key < ARGP_KEY_END && state->next > parse->next)
		parse->next = state->next;
	switch (key) {
	case 'd':
		take_duration(parse, arg);
		return 0;
	case 'p':
	case 'c':
	case 'C':
	case KEY_CGROUP:
		take_filter(parse, key, arg);
		return 0;
	case 'n':
		parse->options->rows = strcmp(arg, "all") ? (u32)take_number(parse, "number of rows", arg, 1, 1 << 24)
							  : ROWS_ALL;
		return 0;
	case 'i':
		parse->options->input = arg;
		return 0;
	case 'o':
		parse->options->output = arg;
		return 0;
	case KEY_RING:
		take_ring(parse, arg);
		return 0;
	case KEY_USER:
		parse->options->user = arg;
		return 0;
	case 'j':
		parse->options->json = true;
		return 0;
	case 'v':
		parse->options->verbose = true;
		return 0;
	case 'h':
		argp_help(parse->argp, stdout, ARGP_HELP_USAGE | ARGP_HELP_LONG | ARGP_HELP_DOC, state->name);
		exit(finish_output(EXIT_SUCCESS));
	case ARGP_KEY_ARG:
		take_word(parse, state, arg);
		return 0;
	case ARGP_KEY_END:
		if (state->quoted && !parse->options->command && !parse->options->word)
			bad_usage(parse->usage, "no command after '--'");
		if (parse->options->user && !parse->options->command)
			bad_usage(parse->usage, "--user is for a command after '--'");
		check_together(parse);
		return 0;
	case ARGP_KEY_INIT:
	case ARGP_KEY_NO_ARGS:
	case ARGP_KEY_SUCCESS:
	case ARGP_KEY_ERROR:
	case ARGP_KEY_FINI:
	case ARGP_KEY_ARGS:
		return ARGP_ERR_UNKNOWN;
	default:
		take_own(parse, key, arg);
		return 0;
	}
}

/* The shared options that the command takes, then its own. */
static void list_options(struct argp_option *list, const struct command_usage *usage)
{
	int taken = 0;

	for (int i = 0; i < SHARED_OPTIONS; i++)
		if (!shared_options[i].takes || (shared_options[i].takes & usage->takes))
			list[taken++] = shared_options[i].option;
	for (int i = 0; usage->own && usage->own[i].name && i < OWN_OPTIONS_MAX; i++)
		list[taken++] = usage->own[i];
}

void options_parse(struct options *options, const struct command_usage *usage, int argc, char **argv)
{
	struct argp_option list[SHARED_OPTIONS + OWN_OPTIONS_MAX + 1] = { 0 };
	struct parse parse = { .options = options, .usage = usage, .next = 1 };
	struct argp argp = { .options = list, .parser = parse_option, .doc = usage->text };
	char name[64];

	parse.argp = &argp;
	*options = (struct options){ 0 };
	list_options(list, usage);
	argp.args_doc = usage->takes & TAKES_COMMAND ? "[-- CMD ARGS...]" : usage->word;
	snprintf(name, sizeof(name), "tactus %s", usage->name);
	argv[0] = name;
	/* Without argp's own errors its help is silent too, so both are done here. */
	if (argp_parse(&argp, argc, argv, ARGP_IN_ORDER | ARGP_NO_ERRS | ARGP_NO_HELP, NULL, &parse) != 0)
		bad_usage(usage, "unknown option, or one without its value: '%s'",
			  argv[parse.next < argc ? parse.next : argc - 1]);
	argv[0] = (char *)usage->name;
}
