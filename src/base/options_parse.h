/* SPDX-License-Identifier: GPL-2.0 */
/* What options.c, options_take.c and options_file.c share: a command line that is being parsed.
 * Nobody else includes this. */
#ifndef TACTUS_BASE_OPTIONS_PARSE_H
#define TACTUS_BASE_OPTIONS_PARSE_H

#include "options.h"

enum { OPTION_KEYS = 0x800 };

struct parse {
	struct options *options;
	const struct command_usage *usage;
	void *own_data;
	const struct argp *argp;
	bool has_count;		     /* of INTERVAL COUNT */
	int next;		     /* the word after the last one that was understood */
	u64 given[OPTION_KEYS / 64]; /* keys of options on the command line, as bits */
	const struct option_defaults *defaults;
	const struct option_default *applied; /* the line of a file that is taken now; NULL: it is the command line */
	const struct option_default *excerpt; /* the last line of a file that chose a part of a recording, or NULL */
	const struct option_default *format;  /* that chose what is written */
};

enum {
	KEY_CGROUP = 0x100,
	KEY_RING,
	KEY_USER,
	KEY_REPORT,
	KEY_FORCE,
	KEY_FORMAT,
	KEY_SORT_BY,
	KEY_COLUMNS,
	KEY_COLOUR,
	KEY_INTERVAL,
	KEY_CONFIG_FILE
};

void __attribute__((format(printf, 2, 3), noreturn)) bad_usage(const struct parse *parse, const char *format, ...);

/* Of a word that argp did not understand. */
void __attribute__((noreturn))
wrong_option(const struct parse *parse, const struct argp_option *list, const char *word, int error);

/* Each false: it is another option. */
bool options_keep_value(struct parse *parse, int key, char *arg);
bool options_take_value(struct parse *parse, int key, const char *arg);

void options_take_own(struct parse *parse, int key, const char *value);
void options_take_word(struct parse *parse, struct argp_state *state, char *word);
void options_choose_format(struct parse *parse);
void options_check_together(struct parse *parse);

static inline void options_note_key(struct parse *parse, int key)
{
	if (key > 0 && key < OPTION_KEYS)
		parse->given[key / 64] |= 1ull << (key % 64);
}

/* For a word that argp may not understand: where it was. */
static inline void options_note_next(struct parse *parse, int key, const struct argp_state *state)
{
	if (key >= 0 && key < ARGP_KEY_END && state->next > parse->next)
		parse->next = state->next;
}

/* "/etc/tactus.conf:7" */
void default_origin(char into[DEFAULT_ORIGIN_SIZE], const struct option_defaults *defaults,
		    const struct option_default *one);

/* Gives options that the command line did not give the values that the file has for them. */
void options_apply_defaults(struct parse *parse, const struct argp_option *list);

#endif
