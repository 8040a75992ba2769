/* SPDX-License-Identifier: GPL-2.0 */
/* Rules on programs and threads by name: built in, from the config file, from options.
 * Decides what a process is from its paths, words and environment. No /proc here: that is handed in. */
#ifndef TACTUS_MODEL_RULES_H
#define TACTUS_MODEL_RULES_H

#include <stdbool.h>
#include <stddef.h>

#include "../../core/role.h"

struct rules;

/* With what is built in. NULL for want of memory. */
struct rules *rules_new(void);
void rules_free(struct rules *rules);

/* --game PID|COMM. Returns NULL or what is wrong with it. */
const char *rules_add_game(struct rules *rules, const char *pid_or_comm);

/* What is known of a process from outside. Texts may hold any bytes; NULL: could not be read. */
struct process_traits {
	u32 pid;
	const char *comm;
	const char *exe;   /* what /proc/PID/exe points to */
	const char *words; /* its command line, words ended by NULs */
	size_t words_len;
	const char *environ; /* likewise */
	size_t environ_len;
};

/* PROCESS_* bits, and in *why in a few words which rule said so. */
u32 rules_process(const struct rules *rules, const struct process_traits *traits, const char **why);

/* What a launcher gave all programs of one game: a number for its variable's value, or for the Wine prefix; 0: neither.
 * Where there are several variables, that counts which says most about which game it is. */
u64 rules_family(const struct process_traits *traits);

/* Whether a program of that name does nothing but compile shaders. */
bool rules_compiles(const char *comm);

/* Whether the user says that the process is no game. */
bool rules_deny_game(const struct rules *rules, const struct process_traits *traits);

/* What threads' names say: `name` is a prefix of them, or the whole name if it is exact; `by_user`: the config file
 * says so ([roles]), which outweighs everything; else it is a guess that everything outweighs. `compiles`: the thread
 * compiles shaders, which is believed until the game's first frame. Calls `each` for them all. */
struct name_rule {
	const char *name;
	bool exact;
	bool by_user;
	bool compiles;
	enum role role;
};
void rules_names(const struct rules *rules, void (*each)(void *data, const struct name_rule *rule), void *data);

/* Every rule that stands in a config file or could: the user's, then those that are built in. */
struct listed_rule {
	const char *section;
	const char *pattern;
	bool is_beginning; /* of a thread's name: all that begin so */
	const char *value;
	int line; /* of the config file; 0: built in */
};
void rules_list(const struct rules *rules, void (*each)(void *data, const struct listed_rule *rule), void *data);

/* Which programs are worth a look when they start, for whoever decides that before anything of them is read. A path is
 * the beginning of a program's path; the longest one that fits says whether programs there are looked at, and where
 * none fits they are. A name is the beginning of a program's name, or the whole of it: such a one is looked at wherever
 * it lies. Calls `each` for them all. */
struct launch_rule {
	const char *text; /* not ended by a NUL: `len` bytes of it count. No bytes: everything */
	size_t len;
	bool is_path;
	bool exact;
	bool look;
};
void rules_launches(const struct rules *rules, void (*each)(void *data, const struct launch_rule *rule), void *data);

#endif
