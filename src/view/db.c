// SPDX-License-Identifier: GPL-2.0
/* tactus db: finds the part that is asked for; what the parts share.
 */
#include "db.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../model/roles.h"
#include "../sink/text.h"
#include "view.h"

struct procdb_settings db_settings;

static const struct {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *usage;
	const char *summary;
} parts[] = {
	{ "list", db_list, "list [NAME]", "what is known, a line a kind of thread" },
	{ "show", db_show, "show NAME", "everything that is known of a kind: votes, confidence, history" },
	{ "forget", db_forget, "forget NAME|--older DAYS|--all", "take kinds out" },
	{ "import", db_import, "import FILE", "add another database's votes (PDDB 1, PDDB 2, or tactus's own)" },
	{ "export", db_export, "export FILE", "write a copy (--format own, pddb2 or json)" },
	{ "check", db_check, "check [FILE]", "what is wrong with a file, and where" },
};
enum { PARTS = sizeof(parts) / sizeof(parts[0]) };

static int print_help(void)
{
	printf("Usage: tactus db COMMAND [OPTION...]\n"
	       "What was learned of threads in earlier runs of 'tactus run'. A kind of thread is known by its name "
	       "and\n"
	       "its program.\n\n");
	for (int i = 0; i < PARTS; i++)
		printf("  %-31s %s\n", parts[i].usage, parts[i].summary);
	printf("\nNAME can be a pattern such as 'cc*'. All work while tactus runs, and when it does not.\n"
	       "'tactus db COMMAND --help' tells a command's options.\n"
	       "\nExamples:\n"
	       "  tactus db list --tier batch\n"
	       "  tactus db show cc1\n"
	       "  tactus db forget --older 30\n");
	return EXIT_SUCCESS;
}

int view_db(int argc, char **argv)
{
	const char *word = argc > 1 ? argv[1] : NULL;

	if (word && (!strcmp(word, "--help") || !strcmp(word, "-h")))
		return print_help();
	for (int i = 0; word && i < PARTS; i++)
		if (!strcmp(word, parts[i].name))
			return parts[i].run(argc - 1, argv + 1);
	fail("db", "%s%s%s (see 'tactus db --help')", word ? "no such command: '" : "list, show, forget, ",
	     word ? word : "import, export or check", word ? "'" : "?");
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

int db_load(struct procdb *db, const char *command)
{
	char path[PROCDB_PATH_SIZE];
	struct procdb_report report = { 0 };
	struct procdb_file file;
	struct reason why = { "" };
	int error = 0, status = 0;

	procdb_init(db, db_settings.limit);
	if (!db_settings.path)
		error = procdb_default_path(path, &why);
	if (!error)
		error = procdb_file_open(&file, db_settings.path ? db_settings.path : path, false, &why);
	if (error == -ENOENT && !db_settings.path)
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
		qsort(order, db->len, sizeof(*order), by_name);
	return order;
}

static void print_ppm(FILE *out, const char *name, u64 ppm)
{
	fprintf(out, ",\"%s\":%" PRIu64 ".%06" PRIu64, name, ppm / PROCDB_PPM, ppm % PROCDB_PPM);
}

static void print_votes(FILE *out, const char *name, const u32 *votes, u32 len, const char *(*word)(u32))
{
	fprintf(out, ",\"%s\":{", name);
	for (u32 i = 0; i < len; i++)
		fprintf(out, "%s\"%s\":%u", i ? "," : "", word(i), votes[i]);
	fputc('}', out);
}

static void print_history(FILE *out, const struct profile *profile)
{
	const char *before = "";

	fputs(",\"history\":[", out);
	for (int i = 0; i < PROCDB_DAYS && profile->days[i].day; i++) {
		u32 votes[TIERS];

		for (int k = 0; k < TIERS; k++)
			votes[k] = profile->days[i].tier_votes[k];
		fprintf(out, "%s{\"day_s\":%" PRIu64, before, profile->days[i].day * (u64)DAY_S);
		print_votes(out, "votes", votes, TIERS, tier_name);
		fputc('}', out);
		before = ",";
	}
	fputc(']', out);
}

void db_print_json(FILE *out, const struct profile *profile, bool whole)
{
	char comm[COMM_LEN + 1], exe[TAIL_LEN + 1];

	kind_comm(&profile->key, comm);
	kind_exe(&profile->key, exe);
	fputs("{\"comm\":", out);
	print_json_string(out, comm);
	fputs(",\"exe\":", out);
	print_json_string(out, exe);
	fprintf(out, ",\"tier\":\"%s\"", tier_name(profile_tier(profile)));
	print_ppm(out, "confidence", profile_confidence_ppm(profile));
	fprintf(out,
		",\"avg_runtime_ns\":%" PRIu64 ",\"runtime_dev_ns\":%" PRIu64 ",\"wakeup_freq\":%" PRIu64
		",\"csw_rate\":%" PRIu64 ",\"observations\":%u",
		profile->figures.avg_runtime_ns, profile->figures.runtime_dev_ns, profile->figures.wakeup_freq,
		profile->figures.csw_rate, profile->observations);
	print_votes(out, "votes", profile->tier_votes, TIERS, tier_name);
	print_ppm(out, "behavioural_confidence", profile_tier_ppm(profile));
	fprintf(out, ",\"predicts\":%s,\"role\":\"%s\"", profile_is_confident(profile) ? "true" : "false",
		role_name(votes_sum(profile->role_votes, ROLES) ? profile_role(profile) : ROLE_UNKNOWN));
	print_ppm(out, "role_confidence", votes_share_ppm(profile->role_votes, ROLES));
	fprintf(out, ",\"first_seen_s\":%" PRIu64 ",\"last_seen_s\":%" PRIu64, profile->first_seen_s,
		profile->last_seen_s);
	if (whole) {
		print_votes(out, "role_votes", profile->role_votes, ROLES, role_name);
		print_history(out, profile);
	}
	fputs("}\n", out);
}
