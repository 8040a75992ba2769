/* SPDX-License-Identifier: GPL-2.0 */
/* The options of every command that finds out what threads are for: roles, record, run.
 * A command lists them as, or among, its own. */
#ifndef TACTUS_CAPTURE_ROLE_OPTIONS_H
#define TACTUS_CAPTURE_ROLE_OPTIONS_H

#include <argp.h>

#include "../base/options.h"
#include "../model/rules.h"
#include "../store/procdb_store.h"

struct role_options {
	const char *without; /* kinds of evidence to leave out, or NULL */
	u32 wakeups;
	struct procdb_settings db;
};

enum { KEY_WITHOUT = 0x300, KEY_AFTER_WAKEUPS, KEY_GAME, KEY_DB_FILE, KEY_DB_LIMIT, KEY_DB_DAYS };

#define ROLE_OPTIONS                                                                                                        \
	{ "without",                                                                                                        \
	  KEY_WITHOUT,                                                                                                      \
	  "KIND,...",                                                                                                       \
	  OPTION_LIVE,                                                                                                      \
	  "Ignore evidence: launch, gpu, feed, wine, input, frame, socket, sound, learned, display, names, runtime, "       \
	  "or "                                                                                                             \
	  "all",                                                                                                            \
	  0 },                                                                                                              \
		{ "db", KEY_DB_FILE, "FILE", OPTION_LIVE, "Use this database (default: as for 'tactus db')", 0 },           \
		{ "db-limit",                                                                                               \
		  KEY_DB_LIMIT,                                                                                             \
		  "N",                                                                                                      \
		  OPTION_HIDDEN | OPTION_LIVE,                                                                              \
		  "Remember at most N kinds of threads (default 100000)",                                                   \
		  0 },                                                                                                      \
		{ "db-days",                                                                                                \
		  KEY_DB_DAYS,                                                                                              \
		  "DAYS",                                                                                                   \
		  OPTION_HIDDEN | OPTION_LIVE,                                                                              \
		  "Forget kinds that were not seen for DAYS days of use (default 90)",                                      \
		  0 },                                                                                                      \
		{ "game", KEY_GAME, "PID|COMM", OPTION_LIVE, "Treat this process or this name as a game (repeatable)", 0 }, \
	{                                                                                                                   \
		"after-wakeups", KEY_AFTER_WAKEUPS, "N", OPTION_HIDDEN | OPTION_LIVE,                                       \
			"Judge a thread's behaviour every N wake-ups (default 100)", 0                                      \
	}

/* For take_own. */
const char *role_options_take(int key, const char *value);

/* As before the first: the options are about to be taken again. */
void role_options_forget(void);

const struct role_options *role_options(void);

/* The name of the first of them that was given, or NULL. A recording has the roles that were found when it was made. */
const char *role_options_given(void);

/* How many wake-ups the kernel half is to wait for, whatever was left out. */
u32 role_options_wakeups(void);

/* As a run starts: games that were named by their pid are there. Later they may have ended. */
int role_options_check_games(void);

/* Built-in rules, the config file's and --game's. Returns 0, or after a message the status to end with. */
int role_options_rules(struct rules **out);

#endif
