/* SPDX-License-Identifier: GPL-2.0 */
/* The parts of tactus db, each a command of its own, and what they share.
 */
#ifndef TACTUS_VIEW_DB_H
#define TACTUS_VIEW_DB_H

#include <argp.h>
#include <stdio.h>

#include "../store/procdb_store.h"

enum { KEY_DB = 0x200, KEY_DB_OWN };

#define DB_OPTION                                                                                                  \
	{                                                                                                          \
		"db", KEY_DB, "FILE", 0,                                                                           \
			"The database (default: /var/lib/tactus/procdb.bin, a user's in ~/.local/state/tactus)", 0 \
	}

/* For a command that takes that option alone; its own struct is a procdb_settings. */
extern const struct argp_option db_own_options[];
const char *db_take_own(void *settings, int key, const char *value);
#define DB_TAKES_PATH .own = db_own_options, .take_own = db_take_own, .own_size = sizeof(struct procdb_settings)

u64 wall_clock_s(void);

/* Whether a pattern such as cc* fits a name; no pattern fits all. */
bool db_matches(const char *pattern, const char *text);

/* Loads the database for looking at. Returns 0, or the status to end with after a message: with a damaged file what can
 * be read of it is there all the same. */
int db_load(struct procdb *db, const struct procdb_settings *settings, const char *command);

/* And what was added to it of others, as its parts. */
int db_load_parts(struct procdb *db, const struct procdb_settings *settings, const char *command);
/* Before a file from elsewhere is read: nothing is left but to write to the database's folder, which is made if need
 * be. Returns 0, or the status to end with after a message. */
int db_give_up_but(const struct procdb_settings *settings, const char *command);

/* One object and a newline. `whole`: with history and votes by role. */
void db_print_json(FILE *out, const struct profile *profile, bool whole);

/* Profiles by name, then by program. Returns an array of db->len pointers, or NULL. */
struct profile **db_by_name(const struct procdb *db);

int db_list(int argc, char **argv);
int db_show(int argc, char **argv);
int db_forget(int argc, char **argv);
int db_import(int argc, char **argv);
int db_export(int argc, char **argv);
int db_check(int argc, char **argv);
int db_summary(int argc, char **argv);
int db_merge(int argc, char **argv);

#endif
