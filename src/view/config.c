// SPDX-License-Identifier: GPL-2.0
/* tactus config: which values options have for a command line, which rules there are, and where each comes from.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../base/say.h"
#include "../model/rules.h"
#include "../sink/table.h"
#include "../store/rules_file.h"
#include "view.h"

enum { KEY_ALL = 0x200, VALUE_SIZE = 256, WORDS_MAX = 64 };

struct chosen {
	bool all;
};

static const char *take_own(void *data, int key, const char *value)
{
	(void)key;
	(void)value;
	((struct chosen *)data)->all = true;
	return NULL;
}

static const struct argp_option own_options[] = {
	{ "all", KEY_ALL, 0, 0, "Also list options of every command that nobody gave a value, and built-in rules", 0 },
	{ 0 },
};

const struct command_usage config_usage = {
	.name = "config",
	.text = "Shows which options and rules are in force, and where each comes from: the command line, a line of "
		"the config file, or the program itself.\v"
		"With a command and its options: every option of that command, as it would be for that command line. "
		"Nothing is run. Without: what the config file says of all commands, and its rules.\n"
		"\n"
		"The file has sections [options] for all commands and [options COMMAND] for one, with lines such as "
		"'rows = 20' or 'json = yes'. What is given on the command line counts before the file. "
		"'man tactus' has the whole format; the sample is in share/doc/tactus/tactus.conf.\n"
		"\n"
		"Examples:\n"
		"  tactus config                    what the config file says\n"
		"  tactus config tasks -n 5         the options of 'tactus tasks -n 5'\n"
		"  tactus config --all --json       every option of every command, and every rule\n"
		"  tactus config --config my.conf   whether a file is right",
	.takes = TAKES_JSON | TAKES_REST | TAKES_TABLE,
	.word = "[COMMAND [OPTION...]]",
	.own = own_options,
	.take_own = take_own,
	.own_size = sizeof(struct chosen),
};

#define OPTION_TABLE(COLUMN, SHOWN)                   \
	COLUMN(OPTION, command, "COMMAND", CELL_TEXT) \
	COLUMN(OPTION, option, "OPTION", CELL_TEXT)   \
	COLUMN(OPTION, value, "VALUE", CELL_TEXT)     \
	COLUMN(OPTION, from, "FROM", CELL_TEXT)
TABLE_OF(option_columns, OPTION);

#define RULE_TABLE(COLUMN, SHOWN)                   \
	COLUMN(RULE, section, "SECTION", CELL_TEXT) \
	COLUMN(RULE, pattern, "PATTERN", CELL_TEXT) \
	COLUMN(RULE, value, "VALUE", CELL_TEXT)     \
	COLUMN(RULE, from, "FROM", CELL_TEXT)
TABLE_OF(rule_columns, RULE);
const struct table_columns config_tables[] = { { option_columns, OPTION_CELLS }, { rule_columns, RULE_CELLS }, { 0 } };

struct shown {
	struct chosen chosen;
	struct options options;
	const struct option_defaults *defaults;
	const char *config; /* what was named, or NULL */
	const char *path;
	struct table table;
	const char *command; /* whose options they are */
	bool is_asked_for;   /* it was named: all its options are listed */
	bool has_list;	     /* it prints another table, by --list */
	int argc;	     /* its command line */
	char **argv;
	size_t rules;
};

static void print_origin(char into[DEFAULT_ORIGIN_SIZE], const char *path, int line)
{
	snprintf(into, DEFAULT_ORIGIN_SIZE, "%s:%d", path, line);
}

/* "(default: x)", "(default x)" or "x (default)" in what the help says of an option. */
static void default_words(char into[VALUE_SIZE], const struct argp_option *option)
{
	const char *doc = option->doc, *at = strstr(doc, "(default"), *begin, *end;

	snprintf(into, VALUE_SIZE, "%s", option->arg ? "" : "no");
	if (!option->arg || !at)
		return;
	begin = at + strlen("(default");
	if (*begin == ')') {
		for (end = begin = at - (at > doc); begin > doc && begin[-1] != ' '; begin--)
			;
	} else {
		begin += strspn(begin, ": ");
		end = begin + strcspn(begin, ")");
	}
	snprintf(into, VALUE_SIZE, "%.*s", (int)(end - begin), begin);
}

static void add_option(struct shown *shown, const char *option, const char *value, const char *from)
{
	const char *nothing = shown->options.json ? "" : "-";

	table_row(&shown->table, (union cell[OPTION_CELLS]){
					 [OPTION_command] = { .text = shown->command },
					 [OPTION_option] = { .text = option },
					 [OPTION_value] = { .text = value[0] ? value : nothing },
					 [OPTION_from] = { .text = from },
				 });
}

static void show_option(void *data, const struct option_in_force *force)
{
	struct shown *shown = data;
	char from[DEFAULT_ORIGIN_SIZE], value[VALUE_SIZE];
	const char *name = force->option->name;

	shown->has_list |= !strcmp(name, "list") && force->value && !strcmp(force->value, "yes");
	if (!strcmp(name, "help") || !strcmp(name, "config") || (!shown->is_asked_for && !shown->chosen.all))
		return;
	snprintf(from, sizeof(from), "%s", force->value ? "command line" : "default");
	if (force->from_file)
		print_origin(from, shown->path, force->from_file->line);
	default_words(value, force->option);
	add_option(shown, name, force->value ? force->value : value, from);
}

/* Whether it is shown or not, the values of the file are looked at. */
static bool show_command(const void *data, const struct command *command)
{
	struct shown *shown = *(struct shown *const *)data;
	char *no_words[] = { (char *)command->name, NULL };
	struct options options;

	if (command->is_hidden)
		return false;
	shown->command = command->usage->name;
	shown->has_list = false;
	options_in_force(&options, command->usage, shown->defaults, shown->argc ? shown->argc : 1,
			 shown->argc ? shown->argv : no_words, show_option, shown);
	if (options_config() != shown->config) {
		fail("config", "--config stands before the command: tactus config --config FILE %s", shown->command);
		exit(EXIT_USAGE);
	}
	if (command->tables && !shown->has_list)
		table_check(&options, command->usage->name, command->tables);
	return false;
}

/* Its lines, as they are. */
static void show_file(struct shown *shown)
{
	char from[DEFAULT_ORIGIN_SIZE];

	for (size_t i = 0; i < shown->defaults->len; i++) {
		const struct option_default *one = &shown->defaults->all[i];

		shown->command = one->command ? one->command : "every";
		print_origin(from, shown->path, one->line);
		add_option(shown, one->name, one->value, from);
	}
}

static int show_options(struct shown *shown, const struct command *command)
{
	if (!command && !shown->chosen.all && !shown->defaults->len && !shown->options.json) {
		printf("No option has a value of its own: %s %s.\n", shown->path,
		       access(shown->path, F_OK) ? "is not there" : "gives none");
		return 0;
	}
	shown->is_asked_for = command != NULL;
	table_open_for(&shown->table, &shown->options, "option", option_columns, OPTION_CELLS, ROWS_ALL, NULL);
	if (command)
		show_command(&shown, command);
	else
		command_search(show_command, &shown);
	if (!command && !shown->chosen.all)
		show_file(shown);
	return table_close(&shown->table) ? fail("config", "out of memory") : 0;
}

static void count_rule(void *data, const struct listed_rule *rule)
{
	struct shown *shown = data;

	shown->rules += rule->line || shown->chosen.all;
}

static void show_rule(void *data, const struct listed_rule *rule)
{
	struct shown *shown = data;
	char from[DEFAULT_ORIGIN_SIZE] = "built in", pattern[VALUE_SIZE];

	if (!rule->line && !shown->chosen.all)
		return;
	if (rule->line)
		print_origin(from, shown->path, rule->line);
	snprintf(pattern, sizeof(pattern), "%s%s", rule->pattern, rule->is_beginning ? "*" : "");
	table_row(&shown->table, (union cell[RULE_CELLS]){
					 [RULE_section] = { .text = rule->section },
					 [RULE_pattern] = { .text = pattern },
					 [RULE_value] = { .text = rule->value },
					 [RULE_from] = { .text = from },
				 });
}

static int show_rules(struct shown *shown)
{
	struct rules *rules = rules_new();
	int wrong, status;

	if (!rules)
		return fail("config", "out of memory");
	wrong = rules_read(rules, shown->path, options_config() != NULL);
	status = wrong < 0 ? EXIT_FAILURE : wrong > 0 ? EXIT_USAGE : 0;
	rules_list(rules, count_rule, shown);
	if (wrong >= 0 && shown->rules) {
		if (!shown->options.json)
			putchar('\n');
		table_open_for(&shown->table, &shown->options, "rule", rule_columns, RULE_CELLS, ROWS_ALL, NULL);
		rules_list(rules, show_rule, shown);
		if (table_close(&shown->table))
			status = fail("config", "out of memory");
	}
	rules_free(rules);
	return status;
}

/* "tasks" or "db list". */
static const struct command *named(struct shown *shown)
{
	const struct command *command = command_find(commands, shown->argv[0]);

	if (command && command->parts && shown->argc > 1) {
		shown->argv++;
		shown->argc--;
		command = command_find(command->parts, shown->argv[0]);
	}
	return command && command->usage && !command->is_hidden ? command : NULL;
}

int view_config(int argc, char **argv)
{
	struct shown shown = { 0 };
	const struct command *command = NULL;
	int status;

	options_parse(&shown.options, &config_usage, &shown.chosen, argc, argv);
	table_check(&shown.options, "config", config_tables);
	shown.config = options_config();
	shown.path = shown.config ? options_config() : CONFIG_FILE;
	status = config_defaults(options_config(), &shown.defaults);
	if (status)
		return status;
	shown.argv = shown.options.command;
	while (shown.argv && shown.argv[shown.argc])
		shown.argc++;
	if (shown.argv && !(command = named(&shown)))
		return fail("config", "'%s' is no command with options: try 'tactus --help'", shown.argv[0]),
		       EXIT_USAGE;
	status = show_options(&shown, command);
	return status || command ? status : show_rules(&shown);
}
