// SPDX-License-Identifier: GPL-2.0
/* Command lines by argp, with its errors turned into the one line that this program gives.
 * The options are a table; a command says which of them it takes. */
#include "options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options_parse.h"
#include "say.h"
#include "suggest.h"

static const struct shared_option {
	unsigned int takes; /* 0: every command */
	struct argp_option option;
} shared_options[] = {
	{ TAKES_DURATION,
	  { "duration", 'd', "SECONDS", OPTION_LIVE, "End after this time (2, 0.5, 250ms, 1m30s) instead of at Ctrl-C",
	    0 } },
	{ TAKES_INTERVAL,
	  { "interval", KEY_INTERVAL, "SECONDS", 0, "Print a table each time; INTERVAL [COUNT] does the same", 0 } },
	{ TAKES_FILTER, { "pid", 'p', "PID,...", 0, "Watch only these processes, with all their threads", 0 } },
	{ TAKES_FILTER,
	  { "comm", 'c', "NAME,...", 0, "Watch only threads of these names, which may be patterns ('cc1*')", 0 } },
	{ TAKES_FILTER, { "cpu", 'C', "LIST", 0, "Watch only these CPUs, such as 0-3,8", 0 } },
	{ TAKES_FILTER,
	  { "cgroup", KEY_CGROUP, "PATH,...", OPTION_LIVE,
	    "Watch only threads in these cgroups (version 2; patterns too) and below", 0 } },
	{ TAKES_ROWS,
	  { "rows", 'n', "ROWS", 0,
	    "Print at most this many rows or lines, or 'all'; JSON has all unless this is given", 0 } },
	{ TAKES_TABLE, { "sort", KEY_SORT_BY, "COLUMN", 0, "Sort by this column, largest first", 0 } },
	{ TAKES_TABLE, { "reverse", 'r', 0, 0, "Print the last rows first", 0 } },
	{ TAKES_TABLE, { "columns", KEY_COLUMNS, "COLUMN,...", 0, "Print these columns, in this order", 0 } },
	{ TAKES_TABLE,
	  { "color", KEY_COLOUR, "auto|always|never", OPTION_HIDDEN,
	    "Colour what is bad; auto (default): on terminals, without NO_COLOR", 0 } },
	{ TAKES_INPUT, { "input", 'i', "FILE", 0, "Read a recording, not the kernel (repeatable)", 0 } },
	{ TAKES_INPUT, { "from", EXCERPT_FROM, "TIME", 0, "With -i: begin so long after its start (2.5s)", 0 } },
	{ TAKES_INPUT, { "to", EXCERPT_TO, "TIME", 0, "With -i: end so long after its start (4s)", 0 } },
	{ TAKES_INPUT, { "around", EXCERPT_AROUND, "FRAME", OPTION_HIDDEN, "With -i: what is around this frame", 0 } },
	{ TAKES_INPUT,
	  { "margin", EXCERPT_MARGIN, "SPAN", OPTION_HIDDEN, "With --around: so long before and after it (100ms)",
	    0 } },
	{ TAKES_OUTPUT,
	  { "output", 'o', "FILE", 0,
	    "Write what is watched: a recording for -i, or by the name FILE.jsonl one JSON object per event", 0 } },
	{ TAKES_OUTPUT,
	  { "format", KEY_FORMAT, "recording|jsonl|trace", OPTION_HIDDEN,
	    "Write this to the file of -o, whatever its name", 0 } },
	{ TAKES_TRACES,
	  { "output", 'o', "FILE", 0, "Write it to this file: FILE.pftrace for Perfetto, FILE.csv a table", 0 } },
	{ TAKES_TRACES,
	  { "format", KEY_FORMAT, "perfetto|chrome|csv|parquet", 0, "Write this, whatever the file's name", 0 } },
	{ TAKES_REPORT_O, { "output", 'o', "FILE", 0, "Write the report to this file, as --report does", 0 } },
	{ TAKES_REPORT,
	  { "report", KEY_REPORT, "FILE", 0,
	    "Write the report to this file; beside a command, text goes to stderr unless stdout is a terminal", 0 } },
	{ TAKES_OUTPUT | TAKES_REPORT | TAKES_FORCE | TAKES_TRACES,
	  { "force", KEY_FORCE, 0, OPTION_HIDDEN, "Replace a file even if tactus did not write it", 0 } },
	{ TAKES_RING,
	  { "ring-kb", KEY_RING, "KB", OPTION_HIDDEN | OPTION_LIVE, "Set the size of each CPU's ring, a power of two",
	    0 } },
	{ TAKES_COMMAND,
	  { "user", KEY_USER, "NAME", OPTION_HIDDEN,
	    "Run the command as this user; default under sudo: the user who called it", 0 } },
	{ TAKES_JSON, { "json", 'j', 0, 0, "Print JSON, one object per line, instead of a table", 0 } },
	{ 0,
	  { "config", KEY_CONFIG_FILE, "FILE", OPTION_HIDDEN,
	    "Read rules and defaults of options from this file instead of /etc/tactus.conf", 0 } },
	{ 0, { "verbose", 'v', 0, 0, "Also print messages of libbpf and of the kernel's verifier", 0 } },
	{ 0, { "help", 'h', 0, 0, "Print this help", 0 } },
};
enum { SHARED_OPTIONS = sizeof(shared_options) / sizeof(shared_options[0]), OWN_OPTIONS_MAX = 32 };
_Static_assert(SHARED_OPTIONS + OWN_OPTIONS_MAX < OPTIONS_MAX, "a list has room for all");

/* What few need is named, and described in the manual: the help of a command fits on two screens. */
static void print_hidden(const struct argp_option *list)
{
	const char *gap = "\nAlso, described in 'man tactus': ";

	for (; list->name; list++) {
		if (!(list->flags & OPTION_HIDDEN))
			continue;
		printf("%s--%s", gap, list->name);
		gap = ", ";
	}
	if (gap[0] == ',')
		putchar('\n');
}

static void __attribute__((noreturn)) print_help(const struct parse *parse, char *name)
{
	/* Without a note of argp's own about values that everybody knows. */
	setenv("ARGP_HELP_FMT", "no-dup-args-note", 0);
	argp_help(parse->argp, stdout, ARGP_HELP_SHORT_USAGE | ARGP_HELP_LONG | ARGP_HELP_DOC, name);
	print_hidden(parse->argp->options);
	exit(finish_output(EXIT_SUCCESS));
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct parse *parse = state->input;

	options_note_next(parse, key, state);
	options_note_key(parse, key);
	if (options_keep_value(parse, key, arg) || options_take_value(parse, key, arg))
		return 0;
	switch (key) {
	case 'h':
		print_help(parse, state->name);
	case ARGP_KEY_ARG:
		options_take_word(parse, state, arg);
		return 0;
	case ARGP_KEY_END:
		if (state->quoted && !parse->options->command && !parse->options->word)
			bad_usage(parse, "no command after '--'");
		if (parse->options->user && !parse->options->command)
			bad_usage(parse, "--user is for a command after '--'");
		options_apply_defaults(parse, parse->argp->options);
		options_choose_format(parse);
		options_check_together(parse);
		return 0;
	case ARGP_KEY_INIT:
	case ARGP_KEY_NO_ARGS:
	case ARGP_KEY_SUCCESS:
	case ARGP_KEY_ERROR:
	case ARGP_KEY_FINI:
	case ARGP_KEY_ARGS:
		return ARGP_ERR_UNKNOWN;
	default:
		options_take_own(parse, key, arg);
		return 0;
	}
}

static bool is_taken(int index, unsigned int takes)
{
	int key = shared_options[index].option.key;

	if (key == KEY_CONFIG_FILE && (takes & TAKES_NO_CONFIG))
		return false;
	/* A recording does not say it: who watches nothing does not take it. */
	if (key == KEY_CGROUP && !(takes & TAKES_DURATION))
		return false;
	return !shared_options[index].takes || (shared_options[index].takes & takes);
}

/* The shared ones, then the command's own. */
void options_list(struct argp_option list[OPTIONS_MAX], const struct command_usage *usage)
{
	int taken = 0;

	memset(list, 0, OPTIONS_MAX * sizeof(*list));
	for (int i = 0; i < SHARED_OPTIONS; i++) {
		if (!is_taken(i, usage->takes))
			continue;
		list[taken] = shared_options[i].option;
		if (list[taken].key == 'i' && (usage->takes & TAKES_ONE_INPUT))
			list[taken].doc = "Read this recording";
		taken++;
	}
	for (int i = 0; usage->own && usage->own[i].name; i++) {
		/* Else the last ones would be options that do not exist. */
		if (i == OWN_OPTIONS_MAX)
			abort();
		list[taken++] = usage->own[i];
	}
}

static const struct argp_option *option_of(const struct argp_option *list, const char *name, size_t len, int *fits)
{
	const struct argp_option *found = NULL;

	*fits = 0;
	for (; list->name; list++) {
		if (strncmp(list->name, name, len) != 0)
			continue;
		found = list;
		*fits += 1;
		if (!list->name[len]) {
			*fits = 1;
			break;
		}
	}
	return found;
}

/* One of those that come with tables; 'tactus top' sorts in its own way. */
static bool is_for_tables(const struct argp_option *list, const char *word, size_t len)
{
	static const char *const names[] = { "sort", "columns", "reverse" };
	bool is_one = false;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		is_one |= strlen(names[i]) == len && !strncmp(names[i], word, len);
	while (is_one && list->name && strcmp(list->name, "sort"))
		list++;
	return is_one && !list->name;
}

static void __attribute__((noreturn))
wrong_long(const struct parse *parse, const struct argp_option *list, const char *word)
{
	size_t len = strcspn(word + 2, "=");
	struct suggestion meant = { .word = word + 2, .len = len };
	int fits;
	const struct argp_option *option = option_of(list, word + 2, len, &fits);

	if (option && fits == 1 && option->arg)
		bad_usage(parse, "option '--%s' needs a value: %s", option->name, option->arg);
	if (option && fits == 1)
		bad_usage(parse, "option '--%s' takes no value", option->name);
	if (option)
		bad_usage(parse, "option '%s' could be several, '--%s' among them", word, option->name);
	if (!(parse->usage->takes & TAKES_TABLE) && is_for_tables(list, word + 2, len))
		bad_usage(parse,
			  "there is no option '%.*s': 'tactus %s' prints no table to sort or to choose columns of",
			  (int)len + 2, word, parse->usage->name);
	for (; list->name; list++)
		suggest(&meant, list->name);
	bad_usage(parse, "there is no option '%.*s'%s%s%s", (int)len + 2, word,
		  meant.nearest ? ": did you mean '--" : "", meant.nearest ? meant.nearest : "",
		  meant.nearest ? "'?" : "");
}

/* argp only says that something is wrong. */
void wrong_option(const struct parse *parse, const struct argp_option *list, const char *word, int error)
{
	if (error == ENOMEM) {
		fail(parse->usage->name, "%s", strerror(error));
		exit(EXIT_FAILURE);
	}
	if (!strncmp(word, "--", 2))
		wrong_long(parse, list, word);
	for (const char *letter = word + 1; *letter; letter++) {
		const struct argp_option *option = list;

		while (option->name && option->key != *letter)
			option++;
		if (!option->name)
			bad_usage(parse, "there is no option '-%c'", *letter);
		if (option->arg)
			bad_usage(parse, "option '-%c' needs a value: %s", *letter, option->arg);
	}
	bad_usage(parse, "the option '%s' is wrong", word);
}

void options_parse(struct options *options, const struct command_usage *usage, void *own_data, int argc, char **argv)
{
	struct argp_option list[OPTIONS_MAX];
	struct parse parse = { .options = options, .usage = usage, .own_data = own_data, .next = 1 };
	struct argp argp = { .options = list, .parser = parse_option, .doc = usage->text };
	char name[64];
	int error;

	parse.argp = &argp;
	*options = (struct options){ 0 };
	options_list(list, usage);
	argp.args_doc = usage->takes & TAKES_INTERVAL  ? "[INTERVAL [COUNT]] [-- CMD ARGS...]"
			: usage->takes & TAKES_COMMAND ? "[-- CMD ARGS...]"
						       : usage->word;
	snprintf(name, sizeof(name), "tactus %s", usage->name);
	argv[0] = name;
	/* Without argp's own errors its help is silent too, so both are done here. */
	error = argp_parse(&argp, argc, argv, ARGP_IN_ORDER | ARGP_NO_ERRS | ARGP_NO_HELP, NULL, &parse);
	if (error)
		wrong_option(&parse, list, argv[parse.next < argc ? parse.next : argc - 1], error);
	argv[0] = (char *)usage->name;
}
