// SPDX-License-Identifier: GPL-2.0
/* Finds the command that is asked for in the table of view/commands.c, and runs it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/report.h"
#include "base/say.h"
#include "base/suggest.h"
#include "view/view.h"

enum { HELP_WORDS = 4 };

static int print_help(void)
{
	printf("tactus: see why it stuttered, then schedule it away.\n\nUsage: tactus COMMAND [OPTION...] [-- CMD "
	       "ARGS...]\n\n");
	for (const struct command *command = commands; command->name; command++)
		if (!command->is_hidden)
			printf("  %-10s %s\n", command->name, command->summary);
	printf("\nExamples:\n"
	       "  tactus doctor               can it work here?\n"
	       "  tactus tasks -d 5           who runs, who waits?\n"
	       "  tactus latency --over 5ms -- ./game\n"
	       "                              which waits were longer than 5 ms, and behind whom?\n"
	       "  tactus cpus -d 5            what did the CPUs do in the next five seconds?\n"
	       "  tactus run                  schedule and watch until Ctrl-C\n"
	       "\n'tactus help COMMAND' or 'tactus COMMAND --help' lists a command's options; 'tactus version' prints "
	       "the version.\n"
	       "Most commands need root. See also: man tactus\n");
	return EXIT_SUCCESS;
}

static int run_command(const char *word, int argc, char **argv)
{
	const struct command *found = command_find(commands, word);
	struct suggestion meant = { .word = word, .len = strlen(word) };

	if (found)
		return report_close(found->run(argc, argv));
	for (const struct command *command = commands; command->name; command++)
		if (!command->is_hidden)
			suggest(&meant, command->name);
	if (meant.nearest)
		fail(word, "no such command: did you mean 'tactus %s'?", meant.nearest);
	else
		fail(word, "no such command: try 'tactus --help'");
	return EXIT_USAGE;
}

/* 'tactus help tasks' is 'tactus tasks --help', and 'help db list' 'db list --help'. */
static int help_of(int argc, char **argv)
{
	char *words[HELP_WORDS + 1] = { 0 };
	int len = 0;

	while (len < argc && len < HELP_WORDS - 1) {
		words[len] = argv[len];
		len++;
	}
	words[len++] = (char *)"--help";
	return run_command(words[0], len, words);
}

int main(int argc, char **argv)
{
	const char *word = argc > 1 ? argv[1] : NULL;

	defaults_read_by(config_defaults);
	if (!word)
		return fail("no command", "try 'tactus --help'"), EXIT_USAGE;
	if (!strcmp(word, "help") && argc > 2)
		return help_of(argc - 2, argv + 2);
	if (!strcmp(word, "--help") || !strcmp(word, "-h") || !strcmp(word, "-?") || !strcmp(word, "help"))
		return finish_output(print_help());
	if (!strcmp(word, "--version") || !strcmp(word, "-V") || !strcmp(word, "version"))
		return printf("tactus %s\n", TACTUS_VERSION), finish_output(EXIT_SUCCESS);
	return run_command(word, argc - 1, argv + 1);
}
