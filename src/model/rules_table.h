/* SPDX-License-Identifier: GPL-2.0 */
/* What rules.c, rules_builtin.c and store/rules_file.c share: how rules are kept.
 * Nobody else includes this. */
#ifndef TACTUS_MODEL_RULES_TABLE_H
#define TACTUS_MODEL_RULES_TABLE_H

#include "rules.h"

enum rule_kind { RULE_GAME, RULE_COMPOSITOR, RULE_SOUND, RULE_HELPER, RULE_KINDS };

/* A shell pattern that a process's name, its program's name or its program's path may match. */
struct rule {
	enum rule_kind kind;
	char *pattern;
	char *why;
	bool yes;
	int line; /* of the config file; 0: from an option */
};

/* The user's; the last that matches counts. */
struct rules {
	struct rule *all;
	size_t len;
	struct name_rule *names;
	int *name_lines;
	size_t names_len;
	u32 *game_pids;
	size_t game_pids_len;
};

struct builtin_rule {
	enum rule_kind kind;
	const char *pattern;
};

struct builtin_folder {
	const char *path;
	bool look;
};

/* All of these end with an entry that has no text. */
extern const struct builtin_rule builtin_rules[];
extern const char *const builtin_game_paths[];	   /* parts of paths */
extern const char *const builtin_helper_paths[];   /* likewise, and stronger */
extern const char *const builtin_game_variables[]; /* "NAME=" and how its value begins; 0 is no value */
extern const char *const builtin_wine_loaders[];   /* patterns of names */
extern const char *const builtin_wine_services[];  /* likewise: Windows programs that are part of Wine */
extern const char *const builtin_wine_variables[]; /* beginnings, as above */
extern const char *const builtin_interpreters[];   /* that run scripts, tools, other programs: never the game itself */
extern const struct name_rule builtin_names[];	   /* of threads */
extern const struct builtin_folder builtin_folders[]; /* that games are not in, and exceptions */

/* Both copy their texts. Return 0 or -ENOMEM. */
int rules_add(struct rules *rules, enum rule_kind kind, const char *pattern, bool yes, int line);
int rules_add_name(struct rules *rules, const char *name, bool exact, enum role role, int line);

#endif
