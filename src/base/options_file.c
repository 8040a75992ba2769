// SPDX-License-Identifier: GPL-2.0
/* Options that a file gives values: which of its lines count for a command line, and what is in force then.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "options_parse.h"
#include "say.h"

bool option_is_for_one_call(const char *name)
{
	static const char *const names[] = { "help", "config", "input", "output", "report",
					     "csv",  "force",  "user",	"with" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(name, names[i]))
			return true;
	return false;
}

void default_origin(char into[DEFAULT_ORIGIN_SIZE], const struct option_defaults *defaults,
		    const struct option_default *one)
{
	snprintf(into, DEFAULT_ORIGIN_SIZE, "%s:%d", defaults->path, one->line);
}

static bool is_given(const struct parse *parse, int key)
{
	return key > 0 && key < OPTION_KEYS && parse->given[key / 64] >> (key % 64) & 1;
}

/* The part of a recording that the command line chooses is all of the choice. */
static bool excerpt_fits(const struct parse *parse, int key)
{
	if (!parse->options->input)
		return false;
	if (key == EXCERPT_MARGIN)
		return parse->options->excerpt.around;
	return !is_given(parse, EXCERPT_FROM) && !is_given(parse, EXCERPT_TO) && !is_given(parse, EXCERPT_AROUND);
}

static bool format_fits(const struct parse *parse, const struct option_default *one)
{
	return parse->options->output &&
	       (one->command || strcmp(one->value, "trace") != 0 || (parse->usage->takes & TAKES_EXPORT));
}

/* A default that makes no sense beside what the command line asks for does not count: nobody asked for it now. */
static bool fits(const struct parse *parse, const struct argp_option *option, const struct option_default *one)
{
	const struct options *options = parse->options;

	if (is_given(parse, option->key) || option_is_for_one_call(option->name))
		return false;
	if (!one->command && option->arg && !choices_have(option->arg, one->value))
		return false;
	if ((option->flags & OPTION_LIVE) && options->input)
		return false;
	if (option->key == KEY_FORMAT && !format_fits(parse, one))
		return false;
	if (option->key >= EXCERPT_FROM && option->key < EXCERPT_END && !excerpt_fits(parse, option->key))
		return false;
	if (parse->usage->fits && !parse->usage->fits(parse->own_data, options, option->name))
		return false;
	return option->key != 'p' || !options->command;
}

static const struct option_default *default_of(const struct parse *parse, const struct argp_option *option)
{
	const struct option_default *one = defaults_find(parse->defaults, parse->usage->name, option->name);

	return one && fits(parse, option, one) ? one : NULL;
}

/* For an option without a value: whether it is to be as if it had been given. */
static bool is_yes(const struct parse *parse, const struct option_default *one)
{
	if (strcasecmp(one->value, "yes") != 0 && strcasecmp(one->value, "no") != 0)
		bad_usage(parse, "'%s' is neither yes nor no: %s takes no other value", one->value, one->name);
	return !strcasecmp(one->value, "yes");
}

static void apply(struct parse *parse, const struct argp_option *option, char *value)
{
	if (option->key == KEY_SORT_BY)
		default_origin(parse->options->sort_from, parse->defaults, parse->applied);
	if (option->key == KEY_COLUMNS)
		default_origin(parse->options->columns_from, parse->defaults, parse->applied);
	if (option->key == KEY_FORMAT)
		parse->format = parse->applied;
	if (option->key >= EXCERPT_FROM && option->key < EXCERPT_END)
		parse->excerpt = parse->applied;
	if (!options_keep_value(parse, option->key, value) && !options_take_value(parse, option->key, value))
		options_take_own(parse, option->key, value);
}

void options_apply_defaults(struct parse *parse, const struct argp_option *list)
{
	int status;

	if (parse->usage->takes & TAKES_NO_CONFIG)
		return;
	status = defaults_read(options_config(), &parse->defaults);
	if (status)
		exit(status);
	for (; list->name; list++) {
		const struct option_default *one = default_of(parse, list);

		parse->applied = one;
		if (one && (list->arg || is_yes(parse, one)))
			apply(parse, list, list->arg ? one->value : NULL);
	}
	parse->applied = NULL;
}

struct noted {
	struct parse parse;
	struct argp_option list[OPTIONS_MAX];
	const char *values[OPTIONS_MAX]; /* of the command line */
};

static void note_value(struct noted *noted, int key, const char *value)
{
	for (int i = 0; noted->list[i].name; i++)
		if (noted->list[i].key == key)
			noted->values[i] = value ? value : "yes";
	options_note_key(&noted->parse, key);
}

static error_t note_option(int key, char *arg, struct argp_state *state)
{
	struct noted *noted = state->input;

	if (key == ARGP_KEY_ARG) {
		if (!state->quoted && (noted->parse.usage->takes & TAKES_INTERVAL) &&
		    !noted->parse.options->interval_ns)
			note_value(noted, KEY_INTERVAL, arg);
		options_take_word(&noted->parse, state, arg);
		return 0;
	}
	if (key <= 0 || key >= OPTION_KEYS)
		return ARGP_ERR_UNKNOWN;
	options_note_next(&noted->parse, key, state);
	note_value(noted, key, arg);
	if (!options_keep_value(&noted->parse, key, arg) && !options_take_value(&noted->parse, key, arg) && key != 'h')
		options_take_own(&noted->parse, key, arg);
	return 0;
}

static void *new_own(const struct command_usage *usage)
{
	void *own = calloc(1, usage->own_size + 1);

	if (!own)
		exit(fail(usage->name, "out of memory"));
	return own;
}

/* A line that does not count for this command line may for another: its value is looked at, and forgotten. */
static void check_unused(const struct parse *parse, const struct argp_option *option)
{
	const struct option_default *one = defaults_find(parse->defaults, parse->usage->name, option->name);
	struct options options = { 0 };
	struct parse alone = {
		.options = &options, .usage = parse->usage, .defaults = parse->defaults, .applied = one
	};

	if (!one || option_is_for_one_call(option->name) ||
	    (!one->command && option->arg && !choices_have(option->arg, one->value)))
		return;
	alone.own_data = new_own(parse->usage);
	if (option->arg || is_yes(&alone, one))
		apply(&alone, option, option->arg ? one->value : NULL);
	free(alone.own_data);
}

void options_in_force(struct options *options, const struct command_usage *usage,
		      const struct option_defaults *defaults, int argc, char **argv,
		      void (*each)(void *data, const struct option_in_force *force), void *data)
{
	struct noted noted = { .parse = { .options = options, .usage = usage, .defaults = defaults, .next = 1 } };
	const struct argp argp = { .options = noted.list, .parser = note_option };
	struct parse *parse = &noted.parse;
	int error;

	*options = (struct options){ 0 };
	parse->own_data = new_own(usage);
	options_list(noted.list, usage);
	error = argp_parse(&argp, argc, argv, ARGP_IN_ORDER | ARGP_NO_ERRS | ARGP_NO_HELP, NULL, &noted);
	if (error)
		wrong_option(parse, noted.list, argv[parse->next < argc ? parse->next : argc - 1], error);
	for (int i = 0; noted.list[i].name; i++) {
		const struct argp_option *option = &noted.list[i];
		const struct option_default *one = noted.values[i] ? NULL : default_of(parse, option);
		const char *value = one ? one->value : noted.values[i];

		parse->applied = one;
		if (one && !option->arg)
			value = is_yes(parse, one) ? "yes" : "no";
		if (one && (option->arg || value[0] == 'y'))
			apply(parse, option, option->arg ? one->value : NULL);
		if (!value)
			check_unused(parse, option);
		each(data, &(struct option_in_force){ option, value, one });
	}
	parse->applied = NULL;
	options_choose_format(parse);
	options_check_together(parse);
	free(parse->own_data);
}
