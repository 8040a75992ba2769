// SPDX-License-Identifier: GPL-2.0
/* tactus db summary: how much is known, how much of it predicts, and how well a run that is at work predicts.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "../base/say.h"
#include "../model/roles.h"
#include "../sink/json.h"
#include "../sink/text.h"
#include "db.h"
#include "status_hear.h"
#include "view.h"

const struct command_usage db_summary_usage = {
	.name = "db summary",
	.text = "Counts the kinds of threads that are known, those that predict the tier of a new thread, and, while a "
		"'tactus run' is at work, how its threads turned out.\v"
		"Examples:\n"
		"  tactus db summary\n"
		"  tactus db summary --json",
	.takes = TAKES_JSON,
	DB_TAKES_PATH,
};

static void print_json(const char *path, const struct procdb *db, const struct run_status *run)
{
	struct procdb_summary summary = procdb_summary(db);
	struct json json = { .out = stdout };

	json_record(&json, "db_summary", false);
	json_string(&json, "path", path);
	json_u64(&json, "profiles", summary.profiles);
	json_u64(&json, "confident", summary.confident);
	json_object(&json, "profiles_by_tier");
	for (u32 tier = 0; tier < TIERS; tier++)
		json_u64(&json, tier_name(tier), summary.by_tier[tier]);
	json_object_end(&json);
	json_u64(&json, "observations", summary.observations);
	json_u64(&json, "use_days", db->use_days);
	if (!run) {
		json_null(&json, "run");
	} else {
		json_object(&json, "run");
		json_u64(&json, "profiles", run->learned_profiles);
		json_u64(&json, "confident", run->learned_confident);
		json_u64(&json, "hits", run->learned_hits);
		json_u64(&json, "misses", run->learned_misses);
		json_object_end(&json);
	}
	json_object_end(&json);
	json_line_end(&json);
}

static void print_words(const char *path, const struct procdb *db, const struct run_status *run)
{
	struct procdb_summary summary = procdb_summary(db);
	char words[LEARNED_WORDS_SIZE];
	const char *gap = "";

	print_plain(stdout, path);
	printf(": %" PRIu64 " kinds of threads, %" PRIu64 " of them predict; %" PRIu64
	       " threads observed on %u days of use\n",
	       summary.profiles, summary.confident, summary.observations, db->use_days);
	for (u32 tier = 0; tier < TIERS; tier++, gap = ", ")
		printf("%s%s %" PRIu64, gap, tier_name(tier), summary.by_tier[tier]);
	puts("");
	if (!run)
		return;
	learned_words(words, run);
	printf("the run at work: %s\n", words);
}

int db_summary(int argc, char **argv)
{
	struct procdb_settings settings = { 0 };
	char path[PROCDB_PATH_SIZE];
	struct reason why = { "" };
	struct run_status run;
	struct options options;
	struct procdb db;
	bool has_run;
	int status;

	options_parse(&options, &db_summary_usage, &settings, argc, argv);
	if (!settings.path && procdb_default_path(path, &why))
		return fail("db summary", "%s", why.text);
	status = db_load(&db, &settings, "db summary");
	if (status && !db.len) {
		procdb_free(&db);
		return status;
	}
	/* Of another file no run at work says anything. */
	has_run = !settings.path && status_ask(&run);
	if (options.json)
		print_json(settings.path ? settings.path : path, &db, has_run ? &run : NULL);
	else
		print_words(settings.path ? settings.path : path, &db, has_run ? &run : NULL);
	procdb_free(&db);
	return status;
}
