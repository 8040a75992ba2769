// SPDX-License-Identifier: GPL-2.0
/* tactus db forget, import, export: what changes the database, or makes a copy of it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../base/output.h"
#include "../base/progress.h"
#include "../base/say.h"
#include "../store/procdb_merge.h"
#include "db.h"
#include "view.h"

enum { KEY_OLDER = KEY_DB_OWN, KEY_ALL, KEY_FORMAT, KEY_LIMIT, KEY_EXE, KEY_JSON, DAYS_MOST = 36500 };

enum format { FORMAT_OWN, FORMAT_PDDB2, FORMAT_JSON, FORMATS };
static const char *const format_names[FORMATS] = { "own", "pddb2", "json" };

struct chosen {
	struct procdb_settings db;
	u64 older_days;
	bool has_older, all;
	enum format format;
	const char *exe;
};

static const char *take_own(void *data, int key, const char *value)
{
	struct chosen *chosen = data;
	u64 number;

	switch (key) {
	case KEY_DB:
		chosen->db.path = value;
		return NULL;
	case KEY_OLDER:
		if (parse_number(value, DAYS_MOST, &chosen->older_days))
			return "is not a number of days";
		chosen->has_older = true;
		return NULL;
	case KEY_ALL:
		chosen->all = true;
		return NULL;
	case KEY_EXE:
		chosen->exe = value;
		return NULL;
	case KEY_LIMIT:
		if (parse_number(value, PROCDB_LIMIT_MOST, &number) || !number)
			return "is not a number from 1 to 1000000";
		chosen->db.limit = (size_t)number;
		return NULL;
	case KEY_JSON:
		chosen->format = FORMAT_JSON;
		return NULL;
	case KEY_FORMAT:
		for (chosen->format = 0; chosen->format < FORMATS; chosen->format++)
			if (!strcmp(value, format_names[chosen->format]))
				return NULL;
		return "is none of own, pddb2, json";
	default:
		return "is not known";
	}
}

static const struct argp_option forget_own[] = {
	{ "older", KEY_OLDER, "DAYS", 0, "Kinds that were not seen for this many days", 0 },
	{ "all", KEY_ALL, 0, 0, "All kinds", 0 },
	{ "exe", KEY_EXE, "PATTERN", 0, "Only threads of this program (the end of its path, such as '*/cc1')", 0 },
	DB_OPTION,
	{ 0 },
};

/* To forget everything is asked for each time. */
static bool forget_fits(const void *data, const struct options *options, const char *option)
{
	const struct chosen *chosen = data;

	return strcmp(option, "all") != 0 && (strcmp(option, "older") != 0 || (!options->word && !chosen->all));
}

const struct command_usage db_forget_usage = {
	.name = "db forget",
	.text = "Removes kinds of threads from the database. A running tactus notices within a second.\v"
		"Examples:\n"
		"  tactus db forget cc1\n"
		"  tactus db forget --older 30",
	.takes = TAKES_WORD,
	.word = "NAME|--older DAYS|--all",
	.own = forget_own,
	.take_own = take_own,
	.own_size = sizeof(struct chosen),
	.fits = forget_fits,
};

struct forgetting {
	struct chosen chosen;
	const char *name;
};

static bool is_named(const void *data, const struct profile *profile)
{
	const struct forgetting *forgetting = data;
	char comm[COMM_LEN + 1], exe[TAIL_LEN + 1];

	kind_comm(&profile->key, comm);
	kind_exe(&profile->key, exe);
	return db_matches(forgetting->name, comm) && db_matches(forgetting->chosen.exe, exe);
}

static long forget(struct procdb *db, void *data)
{
	const struct forgetting *forgetting = data;

	if (forgetting->chosen.has_older)
		return (long)procdb_forget_older(db, wall_clock_s(), forgetting->chosen.older_days);
	return (long)procdb_remove(db, is_named, forgetting);
}

int db_forget(int argc, char **argv)
{
	struct forgetting forgetting = { 0 };
	struct reason why = { "" };
	struct options options;
	long count;

	options_parse(&options, &db_forget_usage, &forgetting.chosen, argc, argv);
	if ((options.word != NULL) + forgetting.chosen.has_older + forgetting.chosen.all != 1) {
		fail("db forget", "forget what? One of NAME, --older DAYS, --all (see 'tactus db forget --help')");
		return EXIT_USAGE;
	}
	forgetting.name = options.word;
	count = store_edit(&forgetting.chosen.db, forget, &forgetting, wall_clock_s(), &why);
	if (count < 0)
		return fail("db forget", "%s", why.text[0] ? why.text : strerror((int)-count));
	if (!count && options.word)
		return fail("db forget", "nothing is known of '%s'", options.word);
	if (forgetting.chosen.all)
		store_forget_merged(&forgetting.chosen.db);
	printf("%ld kind%s forgotten\n", count, count == 1 ? "" : "s");
	return EXIT_SUCCESS;
}

static const struct argp_option import_own[] = {
	{ "limit", KEY_LIMIT, "N", 0, "Keep at most N kinds (default 100000)", 0 },
	DB_OPTION,
	{ 0 },
};

const struct command_usage db_import_usage = {
	.name = "db import",
	.text = "Adds the votes of another database: PDDB version 1 or 2, or one of tactus.\v"
		"PDDB does not distinguish programs. Its votes apply to threads of that name in any program about "
		"which nothing better is known.\n"
		"\n"
		"Examples:\n"
		"  tactus db import kinds.pddb\n"
		"  tactus db import kinds.pddb --db other.bin",
	.takes = TAKES_WORD,
	.word = "FILE",
	.own = import_own,
	.take_own = take_own,
	.own_size = sizeof(struct chosen),
};

static long add_all(struct procdb *db, void *data)
{
	const struct procdb *other = data;
	struct progress progress;
	long added = (long)other->len;

	progress_begin(&progress, "importing", "kinds");
	for (size_t i = 0; i < other->len && added > 0; i++) {
		if (procdb_add(db, &other->all[i]))
			added = -ENOMEM;
		progress_at(&progress, i, i, other->len);
	}
	progress_end(&progress);
	return added;
}

int db_import(int argc, char **argv)
{
	struct procdb_report report = { 0 };
	struct reason why = { "" };
	struct options options;
	struct chosen chosen = { 0 };
	struct procdb other;
	int status = 0, fd;
	long count;

	options_parse(&options, &db_import_usage, &chosen, argc, argv);
	if (!options.word) {
		fail("db import", "import which file? (see 'tactus db import --help')");
		return EXIT_USAGE;
	}
	procdb_init(&other, 0);
	fd = procdb_open_any(options.word, &why);
	if (fd < 0)
		return fail("db import", "%s", why.text);
	if (db_give_up_but(&chosen.db, "db import"))
		return EXIT_FAILURE;
	if (procdb_read_any(fd, options.word, &other, &report, wall_clock_s(), &why))
		return fail("db import", "%s", why.text);
	if (report.faults)
		status = fail("db import", "%s: damaged %s; %zu profiles could be read", options.word,
			      report.first.text, other.len);
	count = other.len ? store_edit(&chosen.db, add_all, &other, wall_clock_s(), &why) : 0;
	procdb_free(&other);
	if (count < 0)
		return fail("db import", "%s", why.text[0] ? why.text : strerror((int)-count));
	printf("%ld kind%s imported\n", count, count == 1 ? "" : "s");
	return status;
}

static const struct argp_option export_own[] = {
	{ "format", KEY_FORMAT, "own|pddb2|json", 0, "own has everything, pddb2 confident kinds by name alone", 0 },
	{ "json", KEY_JSON, 0, 0, "As --format json", 0 },
	DB_OPTION,
	{ 0 },
};

const struct command_usage db_export_usage = {
	.name = "db export",
	.text = "Writes the database to a file, or to standard output with '-' or, as JSON, without a file. "
		"Replaces an earlier export of the same format, and with --force any file.\v"
		"Examples:\n"
		"  tactus db export kinds.pddb\n"
		"  tactus db export --json",
	.takes = TAKES_WORD | TAKES_FORCE,
	.word = "[FILE]",
	.own = export_own,
	.take_own = take_own,
	.own_size = sizeof(struct chosen),
};

static int export_json(const struct procdb *db, const char *path, bool force)
{
	struct output_rule rule = { .beginning = "{\"record\":\"profile\"", .force = force };
	struct profile **order = db_by_name(db);
	bool to_stdout = !strcmp(path, "-");
	struct reason why;
	int folder;
	FILE *out;

	reason_set(&why, "out of memory");
	out = !order ? NULL : to_stdout ? stdout : output_page(path, &rule, &folder, &why);
	if (!out) {
		free(order);
		return fail("db export", "%s: cannot write: %s", path, why.text);
	}
	for (size_t i = 0; i < db->len; i++)
		db_print_json(out, order[i], true);
	free(order);
	return to_stdout || output_close(out) ? 0 : EXIT_FAILURE;
}

int db_export(int argc, char **argv)
{
	struct reason why = { "" };
	struct options options;
	struct chosen chosen = { 0 };
	struct procdb db;
	int status;
	long count;

	options_parse(&options, &db_export_usage, &chosen, argc, argv);
	if (!options.word && chosen.format == FORMAT_JSON)
		options.word = "-";
	if (!options.word || (!strcmp(options.word, "-") && chosen.format != FORMAT_JSON)) {
		fail("db export", "export to which file? (see 'tactus db export --help')");
		return EXIT_USAGE;
	}
	status = db_load(&db, &chosen.db, "db export");
	/* An earlier export is worth more than nothing. */
	if (status && !db.len) {
		procdb_free(&db);
		return status;
	}
	if (chosen.format == FORMAT_JSON) {
		if (export_json(&db, options.word, options.force))
			status = EXIT_FAILURE;
		procdb_free(&db);
		return status;
	}
	if (!output_may_replace(options.word, &(struct output_rule){ .beginning = "PDDB", .force = options.force },
				&why)) {
		procdb_free(&db);
		return fail("db export", "%s: %s", options.word, why.text);
	}
	/* With what others learned apart, so that nobody adds it twice. */
	if (chosen.format == FORMAT_OWN && db_load_parts(&db, &chosen.db, "db export")) {
		procdb_free(&db);
		return EXIT_FAILURE;
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
