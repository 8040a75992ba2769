// SPDX-License-Identifier: GPL-2.0
/* tactus db list, show, check: what is known, and whether the file is whole. They change nothing.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../base/privileges.h"
#include "../base/sort.h"
#include "../model/roles.h"
#include "../sink/json.h"
#include "../sink/table.h"
#include "../sink/text.h"
#include "db.h"
#include "view.h"

enum { DEFAULT_ROWS = 50, KEY_TIER = KEY_DB_OWN, KEY_EXE, KEY_CONFIDENT, FAULTS_SHOWN = 20 };

struct chosen {
	struct procdb_settings db;
	u32 tier; /* TIERS: any */
	const char *exe;
	bool confident;
};

static const char *take_own(void *data, int key, const char *value)
{
	struct chosen *chosen = data;

	switch (key) {
	case KEY_DB:
		chosen->db.path = value;
		return NULL;
	case KEY_TIER:
		for (chosen->tier = 0; chosen->tier < TIERS; chosen->tier++)
			if (!strcmp(value, tier_name(chosen->tier)))
				return NULL;
		return "is none of batch, interactive, latency-critical";
	case KEY_EXE:
		chosen->exe = value;
		return NULL;
	case KEY_CONFIDENT:
		chosen->confident = true;
		return NULL;
	default:
		return "is not known";
	}
}

static const struct argp_option list_own[] = {
	{ "tier", KEY_TIER, "batch|interactive|latency-critical", 0, "Only kinds of this tier", 0 },
	{ "exe", KEY_EXE, "PATTERN", 0, "Only threads of this program (the end of its path, such as '*/cc1')", 0 },
	{ "confident", KEY_CONFIDENT, 0, 0, "Only kinds that predict the tier of new threads", 0 },
	DB_OPTION,
	{ 0 },
};

const struct command_usage db_list_usage = {
	.name = "db list",
	.text = "Lists what is known about each kind of thread.\v"
		"SURE is the share of votes for the tier. PREDICTS is that share, reduced where runs differ much; "
		"a prediction needs 60 % and three observations. WAKES/S and SWITCHES/S are for one thread.\n"
		"\n"
		"Examples:\n"
		"  tactus db list --tier batch\n"
		"  tactus db list 'cc*' --sort observed --columns comm,tier,observed",
	.takes = TAKES_JSON | TAKES_ROWS | TAKES_WORD | TAKES_TABLE,
	.word = "[NAME]",
	.own = list_own,
	.take_own = take_own,
	.own_size = sizeof(struct chosen),
};

#define PROFILE_TABLE(COLUMN, SHOWN)                         \
	COLUMN(PROFILE, comm, "COMM", CELL_TEXT)             \
	COLUMN(PROFILE, tier, "TIER", CELL_TEXT)             \
	COLUMN(PROFILE, sure, "SURE", CELL_PERCENT)          \
	COLUMN(PROFILE, predicts, "PREDICTS", CELL_PERCENT)  \
	COLUMN(PROFILE, role, "ROLE", CELL_TEXT)             \
	COLUMN(PROFILE, observed, "OBSERVED", CELL_NUMBER)   \
	COLUMN(PROFILE, avg_run, "AVG RUN", CELL_TIME)       \
	COLUMN(PROFILE, deviation, "DEVIATION", CELL_TIME)   \
	COLUMN(PROFILE, wakes, "WAKES/S", CELL_NUMBER)       \
	COLUMN(PROFILE, switches, "SWITCHES/S", CELL_NUMBER) \
	COLUMN(PROFILE, last_seen, "LAST SEEN", CELL_TEXT)   \
	COLUMN(PROFILE, program, "PROGRAM", CELL_TEXT)
TABLE_OF(columns, PROFILE);
const struct table_columns db_list_tables[] = { { columns, PROFILE_CELLS }, { 0 } };
static const struct table_look look = { .drops = "switches,wakes,deviation,last_seen,role" };

static void format_day(char *into, size_t size, u64 at_s, const char *format)
{
	time_t at = (time_t)at_s;
	struct tm local;

	if (!at_s || !localtime_r(&at, &local) || !strftime(into, size, format, &local))
		snprintf(into, size, "?");
}

static const char *role_word(const struct profile *profile)
{
	return role_name(votes_sum(profile->role_votes, ROLES) ? profile_role(profile) : ROLE_UNKNOWN);
}

struct row {
	char comm[COMM_LEN + 1], exe[TAIL_LEN + 1], seen[32];
	union cell cells[PROFILE_CELLS];
};

static void fill_row(struct row *row, const struct profile *profile)
{
	kind_comm(&profile->key, row->comm);
	kind_exe(&profile->key, row->exe);
	format_day(row->seen, sizeof(row->seen), profile->last_seen_s, "%Y-%m-%d %H:%M");
	union cell cells[PROFILE_CELLS] = {
		[PROFILE_comm] = { .text = row->comm },
		[PROFILE_tier] = { .text = tier_name(profile_tier(profile)) },
		[PROFILE_sure] = { .number = profile_confidence_ppm(profile) / 100 },
		[PROFILE_predicts] = { .number = profile_tier_ppm(profile) / 100 },
		[PROFILE_role] = { .text = role_word(profile) },
		[PROFILE_observed] = { .number = profile->observations },
		[PROFILE_avg_run] = { .number = profile->figures.avg_runtime_ns },
		[PROFILE_deviation] = { .number = profile->figures.runtime_dev_ns },
		[PROFILE_wakes] = { .number = profile->figures.wakeup_freq },
		[PROFILE_switches] = { .number = profile->figures.csw_rate },
		[PROFILE_last_seen] = { .text = row->seen },
		[PROFILE_program] = { .text = row->exe },
	};
	memcpy(row->cells, cells, sizeof(cells));
}

static bool is_wanted(const struct profile *profile, const struct chosen *chosen, const char *name)
{
	char comm[COMM_LEN + 1], exe[TAIL_LEN + 1];

	kind_comm(&profile->key, comm);
	kind_exe(&profile->key, exe);
	return db_matches(name, comm) && db_matches(chosen->exe, exe) &&
	       (chosen->tier == TIERS || profile_tier(profile) == chosen->tier) &&
	       (!chosen->confident || profile_is_confident(profile));
}

/* JSON has another shape than the table, so rows are sorted here for both. The most first, texts by the alphabet, what
 * was seen last first; equal ones by name. */
static int in_order(const void *a, const void *b, void *data)
{
	const struct profile *x = *(const struct profile *const *)a, *y = *(const struct profile *const *)b;
	int column = *(const int *)data, order = 0;
	struct row x_row, y_row;

	if (column >= 0) {
		fill_row(&x_row, x);
		fill_row(&y_row, y);
		if (column == PROFILE_last_seen)
			order = x->last_seen_s > y->last_seen_s ? -1 : x->last_seen_s < y->last_seen_s;
		else if (columns[column].kind == CELL_TEXT)
			order = strcmp(x_row.cells[column].text, y_row.cells[column].text);
		else
			order = x_row.cells[column].number > y_row.cells[column].number
					? -1
					: x_row.cells[column].number < y_row.cells[column].number;
	}
	return order ? order : memcmp(&x->key, &y->key, sizeof(x->key));
}

static void sort_profiles(struct profile **list, size_t len, const struct options *options)
{
	int column = options->sort ? table_column(columns, PROFILE_CELLS, options->sort, strlen(options->sort)) : -1;

	sort_rows_by(list, len, sizeof(struct profile *), in_order, &column);
	for (size_t i = 0; options->reverse && i < len / 2; i++) {
		struct profile *first = list[i];

		list[i] = list[len - 1 - i];
		list[len - 1 - i] = first;
	}
}

/* What columns were called here before they had names. */
static const char *column_word(const char *sort)
{
	static const char *const words[][2] = { { "name", "comm" },
						{ "confidence", "predicts" },
						{ "observations", "observed" },
						{ "seen", "last_seen" },
						{ "runtime", "avg_run" } };

	for (size_t i = 0; sort && i < sizeof(words) / sizeof(words[0]); i++)
		if (!strcmp(sort, words[i][0]))
			return words[i][1];
	return sort;
}

static void print_json_list(struct profile **list, size_t len, const struct chosen *chosen,
			    const struct options *options)
{
	size_t left = options_rows(options, DEFAULT_ROWS);

	for (size_t i = 0; i < len && left; i++)
		if (is_wanted(list[i], chosen, options->word)) {
			db_print_json(stdout, list[i], false);
			left--;
		}
}

static int print_list(struct profile **list, size_t len, const struct chosen *chosen, const struct options *options)
{
	struct options sorted = *options;
	struct table table;
	struct row row;

	sorted.sort = NULL;
	sorted.reverse = false;
	table_open_for(&table, &sorted, "profile", columns, PROFILE_CELLS, DEFAULT_ROWS, &look);
	for (size_t i = 0; i < len; i++)
		if (is_wanted(list[i], chosen, options->word)) {
			fill_row(&row, list[i]);
			table_row(&table, row.cells);
		}
	return table_close(&table);
}

int db_list(int argc, char **argv)
{
	struct chosen chosen = { .tier = TIERS };
	struct profile **list;
	struct options options;
	struct procdb db;
	int status;

	options_parse(&options, &db_list_usage, &chosen, argc, argv);
	options.sort = column_word(options.sort);
	table_check(&options, "db list", db_list_tables);
	status = db_load(&db, &chosen.db, "db list");
	if (status && !db.len) {
		procdb_free(&db);
		return status;
	}
	list = db_by_name(&db);
	if (!list)
		return fail("db list", "out of memory");
	sort_profiles(list, db.len, &options);
	if (options.json)
		print_json_list(list, db.len, &chosen, &options);
	else if (print_list(list, db.len, &chosen, &options))
		status = fail("db list", "out of memory");
	free(list);
	procdb_free(&db);
	return status;
}

static const struct argp_option show_own[] = { DB_OPTION, { 0 } };

const struct command_usage db_show_usage = {
	.name = "db show",
	.text = "Shows everything that is known about the kinds of threads with this name.\v"
		"Examples:\n"
		"  tactus db show cc1\n"
		"  tactus db show '*' --json",
	.takes = TAKES_JSON | TAKES_WORD,
	.word = "NAME",
	.own = show_own,
	.take_own = take_own,
	.own_size = sizeof(struct chosen),
};

static void show_votes(const char *label, const u32 *votes, u32 len, const char *(*word)(u32))
{
	const char *gap = "";

	printf("  %-12s", label);
	for (u32 i = 0; i < len; i++) {
		/* Of roles there are many, and most of them have none. */
		if (!votes[i] && len > TIERS)
			continue;
		printf("%s%s %u", gap, word(i), votes[i]);
		gap = ", ";
	}
	puts(*gap ? "" : "none");
}

static void show(const struct profile *profile)
{
	char comm[COMM_LEN + 1], exe[TAIL_LEN + 1], plain[TAIL_LEN * 4 + 1], average[32], deviation[32], first[32],
		last[32];

	kind_comm(&profile->key, comm);
	kind_exe(&profile->key, exe);
	format_plain(plain, sizeof(plain), comm);
	printf("%s", plain);
	format_plain(plain, sizeof(plain), exe);
	printf("  %s%s\n", plain[0] ? "in " : "in any program", plain);
	format_time(average, sizeof(average), profile->figures.avg_runtime_ns);
	format_time(deviation, sizeof(deviation), profile->figures.runtime_dev_ns);
	format_day(first, sizeof(first), profile->first_seen_s, "%Y-%m-%d %H:%M");
	format_day(last, sizeof(last), profile->last_seen_s, "%Y-%m-%d %H:%M");
	printf("  tier        %s\n", tier_name(profile_tier(profile)));
	show_votes("votes", profile->tier_votes, TIERS, tier_name);
	printf("  confidence  %.2f, with how alike its runs are %.2f\n",
	       (double)profile_confidence_ppm(profile) / PROCDB_PPM, (double)profile_tier_ppm(profile) / PROCDB_PPM);
	printf("  predicts    %s\n", profile_is_confident(profile)			 ? "yes"
				     : profile->observations < PROCDB_LEAST_OBSERVATIONS ? "no: needs 3 observations"
											 : "no: needs 0.60");
	printf("  role        %s\n", role_word(profile));
	show_votes("role votes", profile->role_votes, ROLES, role_name);
	printf("  runs        %s on average, deviation %s\n", average, deviation);
	printf("  a second    %" PRIu64 " wake-ups, %" PRIu64 " switches\n", profile->figures.wakeup_freq,
	       profile->figures.csw_rate);
	printf("  observed    %u threads, first %s, last %s\n", profile->observations, first, last);
	for (int i = 0; i < PROCDB_DAYS && profile->days[i].day; i++) {
		u32 votes[TIERS];

		for (int k = 0; k < TIERS; k++)
			votes[k] = profile->days[i].tier_votes[k];
		/* Days are by UTC; noon is on that day nearly everywhere. */
		format_day(first, sizeof(first), profile->days[i].day * (u64)DAY_S + DAY_S / 2, "%Y-%m-%d");
		show_votes(first, votes, TIERS, tier_name);
	}
}

int db_show(int argc, char **argv)
{
	struct chosen chosen = { .tier = TIERS };
	struct profile **order;
	struct options options;
	char comm[COMM_LEN + 1];
	struct procdb db;
	size_t shown = 0;
	int status;

	options_parse(&options, &db_show_usage, &chosen, argc, argv);
	if (!options.word) {
		fail("db show", "show what? Give a thread's name (see 'tactus db show --help')");
		return EXIT_USAGE;
	}
	status = db_load(&db, &chosen.db, "db show");
	order = db_by_name(&db);
	if (!order)
		return fail("db show", "out of memory");
	for (size_t i = 0; i < db.len; i++) {
		kind_comm(&order[i]->key, comm);
		if (!db_matches(options.word, comm))
			continue;
		if (options.json)
			db_print_json(stdout, order[i], true);
		else
			show(order[i]);
		shown++;
	}
	free(order);
	procdb_free(&db);
	if (!shown && !status)
		status = fail("db show", "nothing is known of '%s' (see 'tactus db list')", options.word);
	return status;
}

static const struct argp_option check_own[] = { DB_OPTION, { 0 } };

const struct command_usage db_check_usage = {
	.name = "db check",
	.text = "Reads a database to its end and prints what is wrong with it, and at which byte. Without a file, "
		"checks the database in use.\v"
		"The exit status is 1 if anything is wrong.\n"
		"\n"
		"Examples:\n"
		"  tactus db check\n"
		"  tactus db check kinds.pddb",
	.takes = TAKES_JSON | TAKES_WORD,
	.word = "[FILE]",
	.own = check_own,
	.take_own = take_own,
	.own_size = sizeof(struct chosen),
};

struct checking {
	const char *path;
	bool json;
	u64 reported;
};

static void print_fault(void *data, u64 offset, const char *what)
{
	struct checking *checking = data;

	if (checking->json) {
		struct json json = { .out = stdout };

		json_record(&json, "fault", false);
		json_u64(&json, "offset", offset);
		json_string(&json, "fault", what);
		json_object_end(&json);
		json_line_end(&json);
	} else if (checking->reported++ < FAULTS_SHOWN) {
		print_plain(stdout, checking->path);
		printf(": at byte %" PRIu64 ": %s\n", offset, what);
	}
}

int db_check(int argc, char **argv)
{
	struct chosen chosen = { .tier = TIERS };
	struct checking checking = { 0 };
	struct procdb_report report = { .fault = print_fault, .data = &checking };
	char path[PROCDB_PATH_SIZE];
	struct reason why = { "" };
	struct options options;
	struct procdb db;
	int error = 0, fd;

	options_parse(&options, &db_check_usage, &chosen, argc, argv);
	checking.json = options.json;
	checking.path = options.word ? options.word : chosen.db.path;
	if (!checking.path) {
		error = procdb_default_path(path, &why);
		checking.path = path;
	}
	procdb_init(&db, 0);
	if (error || (fd = procdb_open_any(checking.path, &why)) < 0)
		return fail("db check", "%s", why.text);
	privileges_give_up_all();
	error = procdb_read_any(fd, checking.path, &db, &report, wall_clock_s(), &why);
	if (error)
		return fail("db check", "%s", why.text);
	if (!options.json && checking.reported > FAULTS_SHOWN)
		printf("and %" PRIu64 " faults more\n", checking.reported - FAULTS_SHOWN);
	if (!options.json) {
		print_plain(stdout, checking.path);
		printf(": %s %u, %" PRIu64 " entries, %zu of them whole: %s\n",
		       report.version == PDDB_OWN ? "tactus's own version" : "PDDB version", report.version,
		       report.announced, db.len, report.faults ? "damaged" : "in order");
	}
	procdb_free(&db);
	return report.faults ? EXIT_FAILURE : EXIT_SUCCESS;
}
