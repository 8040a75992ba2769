/* SPDX-License-Identifier: GPL-2.0 */
/* The options of every command that finds out what threads are for: roles, record, run.
 * A command lists them as, or among, its own. */
#ifndef TACTUS_VIEW_ROLE_OPTIONS_H
#define TACTUS_VIEW_ROLE_OPTIONS_H

#include <argp.h>

#include "../model/procdb_store.h"
#include "../model/rules.h"

struct role_options {
	const char *without; /* kinds of evidence to leave out, or NULL */
	const char *config;  /* NULL: /etc/tactus.conf, if it is there */
	u32 wakeups;
	struct procdb_settings db;
};

enum { KEY_WITHOUT = 0x300, KEY_CONFIG, KEY_AFTER_WAKEUPS, KEY_GAME, KEY_DB_FILE, KEY_DB_LIMIT, KEY_DB_DAYS };

#define ROLE_OPTIONS                                                                                                     \
	{ "without",                                                                                                     \
	  KEY_WITHOUT,                                                                                                   \
	  "KIND,...",                                                                                                    \
	  0,                                                                                                             \
	  "Leave out evidence: launch, gpu, wine, input, frame, socket, sound, learned, display, names, runtime, or "    \
	  "all",                                                                                                         \
	  0 },                                                                                                           \
		{ "config", KEY_CONFIG, "FILE", 0, "What programs and threads are (default: /etc/tactus.conf)", 0 },     \
		{ "db", KEY_DB_FILE, "FILE", 0, "What was learned (default: as 'tactus db' has it)", 0 },                \
		{ "db-limit", KEY_DB_LIMIT, "N", 0, "Remember at most so many kinds of threads (100000)", 0 },           \
		{ "db-days", KEY_DB_DAYS, "DAYS", 0, "Forget kinds that were not seen for so long (90)", 0 },            \
		{ "game", KEY_GAME, "PID|COMM", 0, "This process, or all of this name, are games. Can be repeated", 0 }, \
	{                                                                                                                \
		"after-wakeups", KEY_AFTER_WAKEUPS, "N", 0, "Judge a thread's behaviour every N wake-ups (100)", 0       \
	}

/* For take_own. */
const char *role_options_take(int key, const char *value);

const struct role_options *role_options(void);

/* How many wake-ups the kernel half is to wait for, whatever was left out. */
u32 role_options_wakeups(void);

/* Built-in rules, the config file's and --game's. Returns 0, or after a message the status to end with. */
int role_options_rules(struct rules **out);

#endif
