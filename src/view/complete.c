// SPDX-License-Identifier: GPL-2.0
/* tactus complete: what can follow on a command line. Shells ask it (completions/), so that their answers are those of
 * the tables by which the line is parsed. A line per word, with a tab before what it means; ":files" stands for names
 * of files, ":command N" for another program's command line that begins with word N. */
#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../core/event_info.h"
#include "../base/say.h"
#include "../sensor/sensor.h"
#include "../sink/text.h"
#include "view.h"

const struct command_usage complete_usage = {
	.name = "complete",
	.text = "Prints what the last of these words of a command line can be, for the completion of shells.\v"
		"Examples:\n"
		"  tactus complete -- events --only fr\n"
		"  tactus complete -- tasks --",
	.takes = TAKES_COMMAND | TAKES_NO_CONFIG,
};

enum { WORD_SIZE = 4096, PID_SIZE = 16 };

/* What is asked for. */
struct asking {
	char **words; /* after "tactus"; the last one is looked for */
	int len, at;
	const struct command *command;
	struct argp_option options[OPTIONS_MAX];
	const char *kept; /* what of the last word stays before each answer */
	int kept_len;
	const char *begun; /* what an answer begins with */
};

static void offer(const struct asking *asking, const char *word, const char *meaning)
{
	if (strncmp(word, asking->begun, strlen(asking->begun)) != 0)
		return;
	printf("%.*s%s%s", asking->kept_len, asking->kept, word, meaning ? "\t" : "");
	if (meaning)
		print_plain(stdout, meaning);
	putchar('\n');
}

static void offer_commands(const struct asking *asking, const struct command *list)
{
	for (; list->name; list++)
		if (!list->is_hidden)
			offer(asking, list->name, list->summary);
}

/* What can stand where a command does. */
static void offer_instead(const struct asking *asking)
{
	offer(asking, "help", "A command's options");
	offer(asking, "version", "The version of tactus");
	if (asking->begun[0] != '-')
		return;
	offer(asking, "--help", "The commands");
	offer(asking, "--version", "The version of tactus");
}

static void offer_options(const struct asking *asking)
{
	char word[WORD_SIZE];

	for (const struct argp_option *option = asking->options; option->name; option++) {
		snprintf(word, sizeof(word), "--%s", option->name);
		offer(asking, word, option->doc);
	}
	if (asking->command->usage->takes & TAKES_COMMAND)
		offer(asking, "--", "The command to watch follows");
}

static void offer_files(const struct asking *asking)
{
	(void)asking;
	printf(":files\n");
}

static void offer_events(const struct asking *asking)
{
	for (u32 kind = EVENT_NONE + 1; kind < EVENT_KINDS; kind++)
		offer(asking, event_info(kind)->name, NULL);
	offer(asking, "help", "List the kinds and their fields");
}

static void offer_evidence(const struct asking *asking)
{
	for (int i = 0; i < sensor_kinds_len; i++)
		if (sensor_kinds[i]->groups & EVENTS_ROLES)
			offer(asking, sensor_kinds[i]->name, NULL);
	offer(asking, "names", NULL);
	offer(asking, "runtime", NULL);
	offer(asking, "all", NULL);
}

static void offer_causes(const struct asking *asking)
{
	offer(asking, "late-frame", "A frame came late");
	offer(asking, "xid", "NVIDIA's driver reported an error");
}

/* One that an earlier table has is not offered again. */
static bool is_offered(const struct table_columns *tables, const struct table_columns *table, int column)
{
	const char *name = table->columns[column].name;

	for (; tables < table; tables++)
		for (int i = 0; i < tables->len; i++)
			if (tables->columns[i].name && !strcmp(tables->columns[i].name, name))
				return true;
	return false;
}

static void offer_columns(const struct asking *asking)
{
	const struct table_columns *tables = asking->command->tables;

	for (const struct table_columns *table = tables; table && table->columns; table++)
		for (int i = 0; i < table->len; i++)
			if (table->columns[i].name && !is_offered(tables, table, i))
				offer(asking, table->columns[i].name, table->columns[i].title);
}

static void offer_processes(const struct asking *asking)
{
	DIR *processes = opendir("/proc");

	for (const struct dirent *entry; processes && (entry = readdir(processes));) {
		char path[sizeof("/proc//comm") + PID_SIZE], comm[32] = "";
		FILE *file;

		if (!isdigit((unsigned char)entry->d_name[0]) || strlen(entry->d_name) >= PID_SIZE)
			continue;
		snprintf(path, sizeof(path), "/proc/%.*s/comm", PID_SIZE - 1, entry->d_name);
		file = fopen(path, "re");
		if (file && fgets(comm, sizeof(comm), file))
			comm[strcspn(comm, "\n")] = '\0';
		if (file)
			fclose(file);
		offer(asking, entry->d_name, comm);
	}
	if (processes)
		closedir(processes);
}

/* "thread|process": what is in capitals stands for something else. */
static void offer_choices(const struct asking *asking, const char *choices)
{
	char word[WORD_SIZE];

	for (size_t len; *choices; choices += len + (choices[len] == '|')) {
		len = strcspn(choices, "|");
		snprintf(word, sizeof(word), "%.*s", (int)len, choices);
		if (!isupper((unsigned char)word[0]))
			offer(asking, word, NULL);
	}
}

/* A value is of the kind that the option's table names. */
static const struct {
	const char *arg;
	void (*offer)(const struct asking *asking);
	bool is_list;
} values[] = {
	{ "FILE", offer_files, false },	       { "KINDS", offer_events, true },
	{ "KIND,...", offer_evidence, true },  { "COLUMN", offer_columns, false },
	{ "COLUMN,...", offer_columns, true }, { "PID,...", offer_processes, true },
	{ "CAUSE,...", offer_causes, true },
};

static void offer_values(struct asking *asking, const struct argp_option *option)
{
	if (strchr(option->arg, '|')) {
		offer_choices(asking, option->arg);
		return;
	}
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		const char *comma = strrchr(asking->begun, ',');

		if (strcmp(option->arg, values[i].arg) != 0)
			continue;
		if (values[i].is_list && comma) {
			asking->kept_len += (int)(comma + 1 - asking->begun);
			asking->begun = comma + 1;
		}
		values[i].offer(asking);
		return;
	}
}

static const struct argp_option *option_named(const struct asking *asking, const char *name, size_t len)
{
	for (const struct argp_option *option = asking->options; option->name; option++)
		if (!strncmp(option->name, name, len) && !option->name[len])
			return option;
	return NULL;
}

/* The option whose value the next word is, or NULL. */
static const struct argp_option *option_that_waits(const struct asking *asking, const char *word)
{
	const struct argp_option *option = NULL;

	if (!strncmp(word, "--", 2)) {
		option = strchr(word, '=') ? NULL : option_named(asking, word + 2, strlen(word + 2));
	} else if (word[0] == '-' && word[1]) {
		/* Of "-rn" the n, of "-n5" none. */
		for (const char *letter = word + 1; *letter; letter++) {
			option = asking->options;
			while (option->name && option->key != *letter)
				option++;
			if (!option->name || option->arg) {
				option = option->name && !letter[1] ? option : NULL;
				break;
			}
		}
	}
	return option && option->arg ? option : NULL;
}

static void offer_last(struct asking *asking, const struct argp_option *waits)
{
	const char *last = asking->begun, *equals = strchr(last, '=');
	const char *word = asking->command->usage->word;

	if (waits) {
		offer_values(asking, waits);
	} else if (!strncmp(last, "--", 2) && equals) {
		waits = option_named(asking, last + 2, (size_t)(equals - last - 2));
		asking->kept_len = (int)(equals + 1 - last);
		asking->begun = equals + 1;
		if (waits && waits->arg)
			offer_values(asking, waits);
	} else if (last[0] == '-') {
		offer_options(asking);
	} else if (asking->command->usage->takes & TAKES_REST) {
		offer_commands(asking, commands);
	} else if (word && strstr(word, "FILE")) {
		offer_files(asking);
	} else if (!last[0]) {
		offer_options(asking);
	}
}

/* The words between the command and the last one. True: from here on they are another command's. */
static bool look_at_options(struct asking *asking)
{
	const struct argp_option *waits = NULL;

	options_list(asking->options, asking->command->usage);
	for (; asking->at < asking->len - 1; asking->at++) {
		const char *word = asking->words[asking->at];

		/* Some shells take "--sort=cpu" for three words. */
		if (waits && !strcmp(word, "="))
			continue;
		if (waits) {
			waits = NULL;
		} else if (!strcmp(word, "--")) {
			printf(":command %d\n", asking->at + 2);
			return false;
		} else if (word[0] != '-' && (asking->command->usage->takes & TAKES_REST)) {
			return true;
		} else {
			waits = option_that_waits(asking, word);
		}
	}
	if (waits && !strcmp(asking->begun, "="))
		asking->kept = asking->begun = "";
	offer_last(asking, waits);
	return false;
}

/* False: the last word is to be a command, or there is no such command. */
static bool find_command(struct asking *asking)
{
	for (const struct command *list = commands; list; list = asking->command->parts) {
		if (asking->at == asking->len - 1) {
			offer_commands(asking, list);
			if (!asking->at)
				offer_instead(asking);
			return false;
		}
		asking->command = command_find(list, asking->words[asking->at++]);
		if (!asking->command)
			return false;
	}
	return true;
}

static void look_at_command(struct asking *asking)
{
	bool asks_help = asking->len > 1 && !strcmp(asking->words[0], "help");

	asking->at = asks_help;
	while (find_command(asking) && !asks_help && look_at_options(asking))
		;
}

int view_complete(int argc, char **argv)
{
	struct asking asking = { 0 };
	struct options options;

	options_parse(&options, &complete_usage, NULL, argc, argv);
	if (!options.command)
		return fail("complete", "no words after '--'"), EXIT_USAGE;
	asking.words = options.command;
	while (asking.words[asking.len])
		asking.len++;
	asking.kept = asking.begun = asking.words[asking.len - 1];
	look_at_command(&asking);
	return finish_output(EXIT_SUCCESS);
}
