// SPDX-License-Identifier: GPL-2.0
/* tactus db forget, import, export: what changes the database, or makes a copy of it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../base/say.h"
#include "db.h"
#include "view.h"

enum { KEY_OLDER = KEY_DB_OWN, KEY_ALL, KEY_FORMAT, KEY_LIMIT, KEY_EXE, DAYS_MOST = 36500 };

enum format { FORMAT_OWN, FORMAT_PDDB2, FORMAT_JSON, FORMATS };
static const char *const format_names[FORMATS] = { "own", "pddb2", "json" };

static struct {
	u64 older_days;
	bool has_older, all;
	enum format format;
	const char *exe;
} chosen;

static const char *take_own(int key, const char *value)
{
	u64 number;

	switch (key) {
	case KEY_DB:
		db_settings.path = value;
		return NULL;
	case KEY_OLDER:
		if (parse_number(value, DAYS_MOST, &chosen.older_days))
			return "is not a number of days";
		chosen.has_older = true;
		return NULL;
	case KEY_ALL:
		chosen.all = true;
		return NULL;
	case KEY_EXE:
		chosen.exe = value;
		return NULL;
	case KEY_LIMIT:
		if (parse_number(value, PROCDB_LIMIT_MOST, &number) || !number)
			return "is not a number from 1 to 1000000";
		db_settings.limit = (size_t)number;
		return NULL;
	case KEY_FORMAT:
		for (chosen.format = 0; chosen.format < FORMATS; chosen.format++)
			if (!strcmp(value, format_names[chosen.format]))
				return NULL;
		return "is none of own, pddb2, json";
	default:
		return "is not known";
	}
}

static const struct argp_option forget_own[] = {
	{ "older", KEY_OLDER, "DAYS", 0, "What was not seen for so many days", 0 },
	{ "all", KEY_ALL, 0, 0, "Everything", 0 },
	{ "exe", KEY_EXE, "PATTERN", 0, "Only threads of this program (the end of its path, such as '*/cc1')", 0 },
	DB_OPTION,
	{ 0 },
};

static const struct command_usage forget_usage = {
	.name = "db forget",
	.text = "Takes kinds of threads out of the database. A tactus that runs takes notice within a second.",
	.takes = TAKES_WORD,
	.word = "NAME|--older DAYS|--all",
	.own = forget_own,
	.take_own = take_own,
};

static bool is_named(const void *data, const struct profile *profile)
{
	char comm[COMM_LEN + 1], exe[TAIL_LEN + 1];

	kind_comm(&profile->key, comm);
	kind_exe(&profile->key, exe);
	return db_matches(data, comm) && db_matches(chosen.exe, exe);
}

static long forget(struct procdb *db, void *name)
{
	if (chosen.has_older)
		return (long)procdb_forget_older(db, wall_clock_s(), chosen.older_days);
	return (long)procdb_remove(db, is_named, name);
}

int db_forget(int argc, char **argv)
{
	struct reason why = { "" };
	struct options options;
	long count;

	options_parse(&options, &forget_usage, argc, argv);
	if ((options.word != NULL) + chosen.has_older + chosen.all != 1) {
		fail("db forget", "forget what? One of NAME, --older DAYS, --all (see 'tactus db forget --help')");
		return EXIT_USAGE;
	}
	count = store_edit(&db_settings, forget, (void *)options.word, wall_clock_s(), &why);
	if (count < 0)
		return fail("db forget", "%s", why.text[0] ? why.text : strerror((int)-count));
	if (!count && options.word)
		return fail("db forget", "nothing is known of '%s'", options.word);
	printf("%ld kind%s forgotten\n", count, count == 1 ? "" : "s");
	return EXIT_SUCCESS;
}

static const struct argp_option import_own[] = {
	{ "limit", KEY_LIMIT, "N", 0, "Keep at most so many kinds (100000)", 0 },
	DB_OPTION,
	{ 0 },
};

static const struct command_usage import_usage = {
	.name = "db import",
	.text = "Adds the votes of another database: PDDB version 1 or 2, or one of tactus's own.\v"
		"PDDB tells no programs apart: what comes from there counts for threads of that name in any program of "
		"which nothing better is known.",
	.takes = TAKES_WORD,
	.word = "FILE",
	.own = import_own,
	.take_own = take_own,
};

static long add_all(struct procdb *db, void *data)
{
	const struct procdb *other = data;

	for (size_t i = 0; i < other->len; i++)
		if (procdb_add(db, &other->all[i]))
			return -ENOMEM;
	return (long)other->len;
}

int db_import(int argc, char **argv)
{
	struct procdb_report report = { 0 };
	struct reason why = { "" };
	struct options options;
	struct procdb other;
	int status = 0;
	long count;

	options_parse(&options, &import_usage, argc, argv);
	if (!options.word) {
		fail("db import", "import which file? (see 'tactus db import --help')");
		return EXIT_USAGE;
	}
	procdb_init(&other, 0);
	if (procdb_read_any(options.word, &other, &report, wall_clock_s(), &why))
		return fail("db import", "%s", why.text);
	if (report.faults)
		status = fail("db import", "%s: damaged %s; %zu profiles could be read", options.word,
			      report.first.text, other.len);
	count = other.len ? store_edit(&db_settings, add_all, &other, wall_clock_s(), &why) : 0;
	procdb_free(&other);
	if (count < 0)
		return fail("db import", "%s", why.text[0] ? why.text : strerror((int)-count));
	printf("%ld kind%s imported\n", count, count == 1 ? "" : "s");
	return status;
}

static const struct argp_option export_own[] = {
	{ "format", KEY_FORMAT, "FORMAT", 0, "own (everything), pddb2 (confident kinds by name alone), json", 0 },
	DB_OPTION,
	{ 0 },
};

static const struct command_usage export_usage = {
	.name = "db export",
	.text = "Writes the database to a file, '-' for standard output (json only). A file that is there is replaced.",
	.takes = TAKES_WORD,
	.word = "FILE",
	.own = export_own,
	.take_own = take_own,
};

static int export_json(const struct procdb *db, const char *path)
{
	bool to_stdout = !strcmp(path, "-");
	FILE *out = to_stdout ? stdout : fopen(path, "we");
	struct profile **order = db_by_name(db);
	int failed;

	if (!out || !order) {
		free(order);
		return fail("db export", "%s: %s", path, strerror(errno));
	}
	for (size_t i = 0; i < db->len; i++)
		db_print_json(out, order[i], true);
	free(order);
	if (to_stdout)
		return 0;
	failed = ferror(out);
	if (fclose(out) || failed)
		return fail("db export", "%s: %s", path, strerror(errno));
	return 0;
}

int db_export(int argc, char **argv)
{
	struct reason why = { "" };
	struct options options;
	struct procdb db;
	int status;
	long count;

	options_parse(&options, &export_usage, argc, argv);
	if (!options.word || (!strcmp(options.word, "-") && chosen.format != FORMAT_JSON)) {
		fail("db export", "export to which file? (see 'tactus db export --help')");
		return EXIT_USAGE;
	}
	status = db_load(&db, "db export");
	if (chosen.format == FORMAT_JSON) {
		if (export_json(&db, options.word))
			status = EXIT_FAILURE;
		procdb_free(&db);
		return status;
	}
	count = procdb_write_any(options.word, &db, chosen.format == FORMAT_PDDB2 ? PDDB_2 : PDDB_OWN, wall_clock_s(),
				 &why);
	if (count < 0)
		status = fail("db export", "%s", why.text);
	else
		printf("%ld of %zu kinds written\n", count, db.len);
	procdb_free(&db);
	return status;
}
