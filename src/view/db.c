// SPDX-License-Identifier: GPL-2.0
/* tactus db: finds the part that is asked for; what the parts share.
 */
#include "db.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../base/privileges.h"
#include "../base/sort.h"
#include "../base/suggest.h"
#include "../model/roles.h"
#include "../sink/json.h"
#include "../store/procdb_merge.h"
#include "view.h"

const struct command db_parts[] = {
	{ "list", db_list, "what is known, one line per kind of thread", .usage = &db_list_usage,
	  .tables = db_list_tables, .synopsis = "list [NAME]" },
	{ "summary", db_summary, "how many kinds are known and predict, and how well a run predicts",
	  .usage = &db_summary_usage, .synopsis = "summary" },
	{ "show", db_show, "everything that is known about a kind: votes, confidence, history", .usage = &db_show_usage,
	  .synopsis = "show NAME" },
	{ "forget", db_forget, "remove kinds", .usage = &db_forget_usage,
	  .synopsis = "forget NAME|--older DAYS|--all" },
	{ "import", db_import, "add the votes of another database (PDDB 1, PDDB 2, or one of tactus)",
	  .usage = &db_import_usage, .synopsis = "import FILE" },
	{ "merge", db_merge, "add what other machines learned, once however often", .usage = &db_merge_usage,
	  .synopsis = "merge FILE..." },
	{ "export", db_export, "write a copy (--format own, pddb2 or json)", .usage = &db_export_usage,
	  .synopsis = "export [FILE]" },
	{ "check", db_check, "what is wrong with a file, and where", .usage = &db_check_usage,
	  .synopsis = "check [FILE]" },
	{ 0 },
};

const struct argp_option db_own_options[] = { DB_OPTION, { 0 } };

const char *db_take_own(void *settings, int key, const char *value)
{
	if (key != KEY_DB)
		return "is not known";
	((struct procdb_settings *)settings)->path = value;
	return NULL;
}

static int print_help(void)
{
	printf("Usage: tactus db COMMAND [OPTION...]\n"
	       "Shows and changes what 'tactus run' learned about threads.\n"
	       "A thread's name and its program identify its kind.\n\n");
	for (const struct command *part = db_parts; part->name; part++)
		printf("  %-31s %s\n", part->synopsis, part->summary);
	printf("\nNAME can be a pattern such as 'cc*'. All commands work whether tactus runs or not.\n"
	       "'tactus db COMMAND --help' lists a command's options.\n"
	       "\nExamples:\n"
	       "  tactus db list --tier batch\n"
	       "  tactus db show cc1\n"
	       "  tactus db forget --older 30\n");
	return EXIT_SUCCESS;
}

static void no_such_part(const char *word)
{
	struct suggestion meant = { .word = word, .len = strlen(word) };

	for (const struct command *part = db_parts; part->name; part++)
		suggest(&meant, part->name);
	if (meant.nearest)
		fail("db", "no such command: '%s': did you mean 'tactus db %s'?", word, meant.nearest);
	else
		fail("db", "no such command: '%s' (see 'tactus db --help')", word);
}

int view_db(int argc, char **argv)
{
	const char *word = argc > 1 ? argv[1] : NULL;
	const struct command *part = word ? command_find(db_parts, word) : NULL;

	if (word && (!strcmp(word, "--help") || !strcmp(word, "-h")))
		return print_help();
	if (part)
		return part->run(argc - 1, argv + 1);
	if (word)
		no_such_part(word);
	else
		fail("db", "list, summary, show, forget, import, merge, export or check? (see 'tactus db --help')");
	return EXIT_USAGE;
}

u64 wall_clock_s(void)
{
	return (u64)time(NULL);
}

bool db_matches(const char *pattern, const char *text)
{
	return !pattern || !strcmp(pattern, text) || fnmatch(pattern, text, 0) == 0;
}

int db_load(struct procdb *db, const struct procdb_settings *settings, const char *command)
{
	char path[PROCDB_PATH_SIZE];
	struct procdb_report report = { 0 };
	struct procdb_file file;
	struct reason why = { "" };
	int error = 0, status = 0;

	procdb_init(db, settings->limit);
	if (!settings->path)
		error = procdb_default_path(path, &why);
	if (!error)
		error = procdb_file_open(&file, settings->path ? settings->path : path, false, &why);
	if (error == -ENOENT && !settings->path)
		return 0;
	if (error)
		return fail(command, "%s", why.text);
	error = procdb_file_load(&file, db, &report, wall_clock_s(), &why);
	if (error)
		status = fail(command, "%s", why.text);
	else if (report.faults)
		status = fail(command, "%s: damaged %s; %zu profiles could be read", file.path, report.first.text,
			      db->len);
	procdb_file_close(&file);
	return status;
}

int db_load_parts(struct procdb *db, const struct procdb_settings *settings, const char *command)
{
	char path[PROCDB_PATH_SIZE];
	struct reason why = { "" };

	if (!settings->path && procdb_default_path(path, &why))
		return 0;
	if (store_read_parts(settings->path ? settings->path : path, db, wall_clock_s(), &why))
		return fail(command, "%s", why.text);
	return 0;
}

int db_give_up_but(const struct procdb_settings *settings, const char *command)
{
	struct procdb_file file = { .folder_fd = -1, .lock_fd = -1 };
	char path[PROCDB_PATH_SIZE];
	struct reason why = { "" };
	int error = settings->path ? 0 : procdb_default_path(path, &why);

	/* A user may have no folder for it. */
	if (error == -ENOENT) {
		privileges_give_up_all();
		return 0;
	}
	if (!error)
		error = procdb_file_open(&file, settings->path ? settings->path : path, true, &why);
	if (error)
		return fail(command, "%s", why.text);
	privileges_give_up_but_writing(file.folder_fd);
	procdb_file_close(&file);
	return 0;
}

static int by_name(const void *a, const void *b)
{
	const struct profile *x = *(const struct profile *const *)a, *y = *(const struct profile *const *)b;

	return memcmp(&x->key, &y->key, sizeof(x->key));
}

struct profile **db_by_name(const struct procdb *db)
{
	struct profile **order = malloc((db->len ? db->len : 1) * sizeof(struct profile *));

	for (size_t i = 0; order && i < db->len; i++)
		order[i] = &db->all[i];
	if (order)
		sort_rows(order, db->len, sizeof(*order), by_name);
	return order;
}

static void print_votes(struct json *json, const char *name, const u32 *votes, u32 len, const char *(*word)(u32))
{
	json_object(json, name);
	for (u32 i = 0; i < len; i++)
		json_u64(json, word(i), votes[i]);
	json_object_end(json);
}

static void print_history(struct json *json, const struct profile *profile)
{
	json_array(json, "history");
	for (int i = 0; i < PROCDB_DAYS && profile->days[i].day; i++) {
		u32 votes[TIERS];

		for (int k = 0; k < TIERS; k++)
			votes[k] = profile->days[i].tier_votes[k];
		json_object(json, NULL);
		json_u64(json, "day_s", profile->days[i].day * (u64)DAY_S);
		print_votes(json, "votes", votes, TIERS, tier_name);
		json_object_end(json);
	}
	json_array_end(json);
}

void db_print_json(FILE *out, const struct profile *profile, bool whole)
{
	enum { PPM_DECIMALS = 6 };
	char comm[COMM_LEN + 1], exe[TAIL_LEN + 1];
	struct json json = { .out = out };

	kind_comm(&profile->key, comm);
	kind_exe(&profile->key, exe);
	json_record(&json, "profile", false);
	json_string(&json, "comm", comm);
	json_string(&json, "exe", exe);
	json_string(&json, "tier", tier_name(profile_tier(profile)));
	json_decimal(&json, "confidence", profile_confidence_ppm(profile), PPM_DECIMALS);
	json_u64(&json, "avg_runtime_ns", profile->figures.avg_runtime_ns);
	json_u64(&json, "runtime_dev_ns", profile->figures.runtime_dev_ns);
	json_u64(&json, "wakeups_per_s", profile->figures.wakeup_freq);
	json_u64(&json, "switches_per_s", profile->figures.csw_rate);
	json_u64(&json, "observations", profile->observations);
	print_votes(&json, "votes", profile->tier_votes, TIERS, tier_name);
	json_decimal(&json, "behavioural_confidence", profile_tier_ppm(profile), PPM_DECIMALS);
	json_bool(&json, "predicts", profile_is_confident(profile));
	json_string(&json, "role",
		    role_name(votes_sum(profile->role_votes, ROLES) ? profile_role(profile) : ROLE_UNKNOWN));
	json_decimal(&json, "role_confidence", votes_share_ppm(profile->role_votes, ROLES), PPM_DECIMALS);
	json_u64(&json, "first_seen_s", profile->first_seen_s);
	json_u64(&json, "last_seen_s", profile->last_seen_s);
	if (whole) {
		print_votes(&json, "role_votes", profile->role_votes, ROLES, role_name);
		print_history(&json, profile);
	}
	json_object_end(&json);
	json_line_end(&json);
}
