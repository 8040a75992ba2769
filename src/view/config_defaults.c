// SPDX-License-Identifier: GPL-2.0
/* What a config file says of options, held against the tables of options: each line that names none is said, with its
 * number and what was probably meant. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "../base/say.h"
#include "../base/suggest.h"
#include "../store/rules_file.h"
#include "view.h"

/* A line, and what was found of it so far. */
struct checked {
	const struct option_default *line;
	struct suggestion *meant;
	bool *is_option; /* some command takes the option, if not with this value */
};

static bool has_command_name(const void *data, const struct command *command)
{
	const struct checked *checked = data;

	suggest(checked->meant, command->usage->name);
	return !strcmp(command->usage->name, checked->line->command);
}

static bool takes_value(const struct argp_option *option, const char *value)
{
	if (option->arg)
		return choices_have(option->arg, value);
	return !strcasecmp(value, "yes") || !strcasecmp(value, "no");
}

static bool takes_line(const void *data, const struct command *command)
{
	const struct checked *checked = data;
	struct argp_option list[OPTIONS_MAX];

	if (command->is_hidden || (command->usage->takes & TAKES_NO_CONFIG))
		return false;
	options_list(list, command->usage);
	for (const struct argp_option *option = list; option->name; option++) {
		suggest(checked->meant, option->name);
		if (strcmp(option->name, checked->line->name) != 0)
			continue;
		*checked->is_option = true;
		return takes_value(option, checked->line->value);
	}
	return false;
}

static void __attribute__((format(printf, 3, 4)))
report(const struct option_defaults *defaults, const struct option_default *line, const char *format, ...)
{
	struct reason why;
	va_list args;

	va_start(args, format);
	vsnprintf(why.text, sizeof(why.text), format, args);
	va_end(args);
	note("%s:%d: %s", defaults->path, line->line, why.text);
}

static void hint(char *into, size_t size, const struct suggestion *meant)
{
	snprintf(into, size, "%s%s%s", meant->nearest ? ": did you mean '" : "", meant->nearest ? meant->nearest : "",
		 meant->nearest ? "'?" : "");
}

/* False: it is wrong, which has been said. */
static bool check_line(const struct option_defaults *defaults, const struct option_default *line)
{
	struct suggestion meant = { .word = line->command, .len = line->command ? strlen(line->command) : 0 };
	bool is_option = false;
	struct checked checked = { .line = line, .meant = &meant, .is_option = &is_option };
	const struct command *command = line->command ? command_search(has_command_name, &checked) : NULL;
	char words[96];

	hint(words, sizeof(words), &meant);
	if (line->command && !command) {
		report(defaults, line, "no command '%s'%s", line->command, words);
		return false;
	}
	if (option_is_for_one_call(line->name)) {
		report(defaults, line, "'%s' is given on the command line only", line->name);
		return false;
	}
	if (!command && (!strcmp(line->name, "sort") || !strcmp(line->name, "columns"))) {
		report(defaults, line, "columns differ: '%s' belongs in a section [options COMMAND]", line->name);
		return false;
	}
	meant = (struct suggestion){ .word = line->name, .len = strlen(line->name) };
	if (command ? takes_line(&checked, command) : !!command_search(takes_line, &checked))
		return true;
	hint(words, sizeof(words), &meant);
	if (is_option)
		report(defaults, line, "'%s' is no value of the option '%s'", line->value, line->name);
	else if (command)
		report(defaults, line, "'tactus %s' has no option '%s'%s", line->command, line->name, words);
	else
		report(defaults, line, "no command has an option '%s'%s", line->name, words);
	return false;
}

static struct option_defaults defaults;

void config_defaults_forget(void)
{
	static bool has_forgotten;

	/* Values of the first reading are in use for as long as the program runs. */
	if (has_forgotten)
		defaults_free(&defaults);
	has_forgotten = true;
	defaults = (struct option_defaults){ 0 };
}

int config_defaults(const char *config, const struct option_defaults **out)
{
	const char *path = config ? config : CONFIG_FILE;
	int wrong;

	*out = &defaults;
	if (defaults.path)
		return 0;
	defaults.path = strdup(path);
	if (!defaults.path)
		return fail("options", "out of memory");
	wrong = defaults_read_file(&defaults, path, config != NULL);
	if (wrong < 0)
		return EXIT_FAILURE;
	for (size_t i = 0; i < defaults.len; i++)
		wrong += !check_line(&defaults, &defaults.all[i]);
	if (!wrong)
		return 0;
	fail(path, "correct that, or go on without the file: --config /dev/null");
	return EXIT_USAGE;
}
