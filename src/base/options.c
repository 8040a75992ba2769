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
};

static const struct shared_option {
	unsigned int takes; /* 0: every command */
	struct argp_option option;
} shared_options[] = {
	{ TAKES_DURATION, { "duration", 'd', "SECONDS", 0, "End after this time (2, 0.5, 250ms); else at Ctrl-C", 0 } },
	{ TAKES_JSON, { "json", 'j', 0, 0, "Print JSON, one object a line, instead of a table", 0 } },
	{ 0, { "verbose", 'v', 0, 0, "Also print what libbpf and the kernel's verifier say", 0 } },
	{ 0, { "help", 'h', 0, 0, "Print this help", 0 } },
};

static void __attribute__((format(printf, 2, 3), noreturn))
bad_usage(const struct command_usage *usage, const char *format, ...)
{
	va_list args;

	fprintf(stderr, "tactus: %s: ", usage->name);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fprintf(stderr, " (see 'tactus %s --help')\n", usage->name);
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

static void take_word(struct parse *parse, struct argp_state *state, char *word)
{
	if (!(parse->usage->takes & TAKES_COMMAND))
		bad_usage(parse->usage, "unexpected word '%s'", word);
	if (!state->quoted)
		bad_usage(parse->usage, "unexpected word '%s': put '--' before a command to run", word);
	/* Everything from here on is the command's. */
	parse->options->command = &state->argv[state->next - 1];
	state->next = state->argc;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct parse *parse = state->input;

	switch (key) {
	case 'd':
		take_duration(parse, arg);
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
		if (state->quoted && !parse->options->command)
			bad_usage(parse->usage, "no command after '--'");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

void options_parse(struct options *options, const struct command_usage *usage, int argc, char **argv)
{
	struct argp_option list[sizeof(shared_options) / sizeof(shared_options[0]) + 1] = { 0 };
	struct parse parse = { .options = options, .usage = usage };
	struct argp argp = { .options = list, .parser = parse_option, .doc = usage->text };
	char name[64];
	int taken = 0, next = 0;

	parse.argp = &argp;
	*options = (struct options){ 0 };
	for (size_t i = 0; i < sizeof(shared_options) / sizeof(shared_options[0]); i++)
		if (!shared_options[i].takes || (shared_options[i].takes & usage->takes))
			list[taken++] = shared_options[i].option;
	if (usage->takes & TAKES_COMMAND)
		argp.args_doc = "[-- CMD ARGS...]";
	snprintf(name, sizeof(name), "tactus %s", usage->name);
	argv[0] = name;
	/* Without argp's own errors its help is silent too, so both are done here. */
	if (argp_parse(&argp, argc, argv, ARGP_IN_ORDER | ARGP_NO_ERRS | ARGP_NO_HELP, &next, &parse) != 0)
		bad_usage(usage, "unknown option, or one without its value: '%s'",
			  argv[next > 1 ? next - 1 : argc - 1]);
}
