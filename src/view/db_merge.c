// SPDX-License-Identifier: GPL-2.0
/* tactus db merge: what other machines learned, added once however often it is asked for.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "../base/descriptors.h"
#include "../base/say.h"
#include "../sink/json.h"
#include "../sink/text.h"
#include "../store/procdb_merge.h"
#include "db.h"
#include "view.h"

const struct command_usage db_merge_usage = {
	.name = "db merge",
	.text = "Adds what other machines learned: votes of copies of their databases ('tactus db export FILE' there). "
		"Of "
		"one that was added before, only what it learned since counts: to merge a file twice changes nothing.\v"
		"'tactus db forget --all' forgets that too. A file also has what its machine merged from others, by "
		"machine: each counts once, by whatever way it comes, also in a circle.\n"
		"\n"
		"Examples:\n"
		"  tactus db merge kinds.pddb\n"
		"  tactus db merge --db all.bin kinds.pddb kinds.pddb",
	.takes = TAKES_JSON | TAKES_REST,
	.word = "FILE...",
	DB_TAKES_PATH,
};

static void print_merged(const char *path, const struct procdb_merged *merged, bool json_wanted)
{
	struct json json = { .out = stdout };

	if (json_wanted) {
		json_record(&json, "merged", false);
		json_string(&json, "path", path);
		json_u64(&json, "kinds", merged->kinds);
		json_u64(&json, "votes", merged->votes);
		json_object_end(&json);
		json_line_end(&json);
		return;
	}
	print_plain(stdout, path);
	if (merged->is_same)
		printf(": a copy of this database: nothing to add\n");
	else if (!merged->kinds)
		printf(": nothing that was not added before\n");
	else
		printf(": %" PRIu64 " votes of %" PRIu64 " kind%s added%s\n", merged->votes, merged->kinds,
		       merged->kinds == 1 ? "" : "s",
		       merged->has_origin
			       ? ""
			       : "; it does not say which database it is, so a later one counts whole again");
}

static int merge_file(const struct procdb_settings *settings, int fd, const char *path, bool json)
{
	struct procdb_report report = { 0 };
	struct procdb_merged merged;
	struct reason why = { "" };
	struct procdb other;
	int status = 0;

	procdb_init(&other, 0);
	if (procdb_read_any(fd, path, &other, &report, wall_clock_s(), &why))
		status = fail("db merge", "%s", why.text);
	/* A part of a file would count as all that there was of it. */
	else if (report.faults)
		status = fail("db merge", "%s: damaged %s: nothing was added ('tactus db import' takes what is whole)",
			      path, report.first.text);
	/* A database in use has it in files beside it. */
	else if (!other.parts_len && store_read_parts(path, &other, wall_clock_s(), &why))
		status = fail("db merge", "%s", why.text);
	else if (store_merge(settings, &other, wall_clock_s(), &merged, &why))
		status = fail("db merge", "%s: %s", path, why.text);
	else
		print_merged(path, &merged, json);
	procdb_free(&other);
	return status;
}

/* All are opened before the first is read: with what is in one nothing else can be opened. */
static int merge_files(const struct procdb_settings *settings, char **paths, bool json)
{
	struct reason why = { "" };
	int status = 0, len = 0, *fds;

	while (paths[len])
		len++;
	fds = calloc((size_t)len, sizeof(*fds));
	if (!fds)
		return fail("db merge", "out of memory");
	descriptors_allow();
	for (int i = 0; i < len; i++) {
		fds[i] = procdb_open_any(paths[i], &why);
		if (fds[i] < 0)
			status = fail("db merge", "%s", why.text);
	}
	if (db_give_up_but(settings, "db merge"))
		status = EXIT_FAILURE;
	else
		for (int i = 0; i < len; i++)
			if (fds[i] >= 0 && merge_file(settings, fds[i], paths[i], json))
				status = EXIT_FAILURE;
	free(fds);
	return status;
}

/* All words from the first file on are files: options behind one are put before it. */
static char **options_first(int argc, char **argv)
{
	char **sorted = calloc((size_t)argc + 1, sizeof(char *));
	int len = 0;

	for (int pass = 0; sorted && pass < 2; pass++)
		for (int i = 0; i < argc; i++) {
			bool is_option = !i || (argv[i][0] == '-' && argv[i][1]),
			     is_value = i > 1 && (!strcmp(argv[i - 1], "--db") || !strcmp(argv[i - 1], "--config"));

			if ((is_option || is_value) == !pass)
				sorted[len++] = argv[i];
		}
	return sorted;
}

int db_merge(int argc, char **argv)
{
	char **sorted = options_first(argc, argv);
	struct procdb_settings settings = { 0 };
	struct options options;
	int status = 0;

	if (!sorted)
		return fail("db merge", "out of memory");
	options_parse(&options, &db_merge_usage, &settings, argc, sorted);
	if (!options.command) {
		fail("db merge", "merge which files? (see 'tactus db merge --help')");
		free(sorted);
		return EXIT_USAGE;
	}
	status = merge_files(&settings, options.command, options.json);
	free(sorted);
	return status;
}
