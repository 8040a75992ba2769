// SPDX-License-Identifier: GPL-2.0
/* tactus db list, show, check: what is known, and whether the file is whole. They change nothing.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../model/roles.h"
#include "../sink/sheet.h"
#include "../sink/text.h"
#include "db.h"
#include "view.h"

enum { DEFAULT_ROWS = 50, KEY_TIER = KEY_DB_OWN, KEY_EXE, KEY_SORT, KEY_CONFIDENT, FAULTS_SHOWN = 20 };

enum order { BY_NAME, BY_CONFIDENCE, BY_OBSERVATIONS, BY_SEEN, BY_RUNTIME, ORDERS };
static const char *const order_names[ORDERS] = { "name", "confidence", "observations", "seen", "runtime" };

static struct {
	u32 tier; /* TIERS: any */
	const char *exe;
	enum order order;
	bool confident;
} chosen = { .tier = TIERS };

static const char *take_own(int key, const char *value)
{
	switch (key) {
	case KEY_DB:
		db_settings.path = value;
		return NULL;
	case KEY_TIER:
		for (chosen.tier = 0; chosen.tier < TIERS; chosen.tier++)
			if (!strcmp(value, tier_name(chosen.tier)))
				return NULL;
		return "is none of batch, interactive, latency-critical";
	case KEY_EXE:
		chosen.exe = value;
		return NULL;
	case KEY_SORT:
		for (chosen.order = 0; chosen.order < ORDERS; chosen.order++)
			if (!strcmp(value, order_names[chosen.order]))
				return NULL;
		return "is none of name, confidence, observations, seen, runtime";
	case KEY_CONFIDENT:
		chosen.confident = true;
		return NULL;
	default:
		return "is not known";
	}
}

static const struct argp_option list_own[] = {
	{ "tier", KEY_TIER, "TIER", 0, "Only what is batch, interactive or latency-critical", 0 },
	{ "exe", KEY_EXE, "PATTERN", 0, "Only threads of this program (the end of its path, such as '*/cc1')", 0 },
	{ "confident", KEY_CONFIDENT, 0, 0, "Only what new threads are predicted by", 0 },
	{ "sort", KEY_SORT, "ORDER", 0, "name, confidence, observations, seen or runtime", 0 },
	DB_OPTION,
	{ 0 },
};

static const struct command_usage list_usage = {
	.name = "db list",
	.text = "Lists what is known of each kind of thread.\v"
		"SURE is the share of votes for the tier; PREDICTS what is left of it when runs differ much: 60 % and "
		"three observations make a prediction. WAKES/S and SWITCHES/S are a thread's.",
	.takes = TAKES_JSON | TAKES_ROWS | TAKES_WORD,
	.word = "[NAME]",
	.own = list_own,
	.take_own = take_own,
};

static const struct column columns[] = {
	{ NULL, "COMM", CELL_TEXT },	     { NULL, "TIER", CELL_TEXT },      { NULL, "SURE", CELL_PERCENT },
	{ NULL, "PREDICTS", CELL_PERCENT },  { NULL, "ROLE", CELL_TEXT },      { NULL, "OBSERVED", CELL_NUMBER },
	{ NULL, "AVG RUN", CELL_TIME },	     { NULL, "DEVIATION", CELL_TIME }, { NULL, "WAKES/S", CELL_NUMBER },
	{ NULL, "SWITCHES/S", CELL_NUMBER }, { NULL, "LAST SEEN", CELL_TEXT }, { NULL, "PROGRAM", CELL_TEXT },
};
enum { COLUMNS = sizeof(columns) / sizeof(columns[0]) };

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

static void add_row(struct sheet *sheet, const struct profile *profile)
{
	char comm[COMM_LEN + 1], exe[TAIL_LEN + 1], seen[32];

	kind_comm(&profile->key, comm);
	kind_exe(&profile->key, exe);
	format_day(seen, sizeof(seen), profile->last_seen_s, "%Y-%m-%d %H:%M");
	union cell cells[] = {
		{ .text = comm },
		{ .text = tier_name(profile_tier(profile)) },
		{ .number = profile_confidence_ppm(profile) / 100 },
		{ .number = profile_tier_ppm(profile) / 100 },
		{ .text = role_word(profile) },
		{ .number = profile->observations },
		{ .number = profile->figures.avg_runtime_ns },
		{ .number = profile->figures.runtime_dev_ns },
		{ .number = profile->figures.wakeup_freq },
		{ .number = profile->figures.csw_rate },
		{ .text = seen },
		{ .text = exe },
	};
	_Static_assert(sizeof(cells) / sizeof(cells[0]) == COLUMNS, "a cell a column");
	sheet_row(sheet, cells);
}

static bool is_wanted(const struct profile *profile, const char *name)
{
	char comm[COMM_LEN + 1], exe[TAIL_LEN + 1];

	kind_comm(&profile->key, comm);
	kind_exe(&profile->key, exe);
	return db_matches(name, comm) && db_matches(chosen.exe, exe) &&
	       (chosen.tier == TIERS || profile_tier(profile) == chosen.tier) &&
	       (!chosen.confident || profile_is_confident(profile));
}

static u64 worth(const struct profile *profile)
{
	switch (chosen.order) {
	case BY_CONFIDENCE:
		return profile_tier_ppm(profile);
	case BY_OBSERVATIONS:
		return profile->observations;
	case BY_SEEN:
		return profile->last_seen_s;
	case BY_RUNTIME:
		return profile->figures.avg_runtime_ns;
	default:
		return 0;
	}
}

/* The most first; equal ones by name. */
static int most_first(const void *a, const void *b)
{
	const struct profile *x = *(const struct profile *const *)a, *y = *(const struct profile *const *)b;
	u64 x_worth = worth(x), y_worth = worth(y);

	return x_worth > y_worth ? -1 : x_worth < y_worth ? 1 : memcmp(&x->key, &y->key, sizeof(x->key));
}

int db_list(int argc, char **argv)
{
	struct profile **order;
	struct options options;
	size_t shown = 0, more = 0, most;
	struct sheet sheet;
	struct procdb db;
	int status;

	options_parse(&options, &list_usage, argc, argv);
	most = options.rows ? options.rows : options.json ? ROWS_ALL : DEFAULT_ROWS;
	status = db_load(&db, "db list");
	order = db_by_name(&db);
	if (!order)
		return fail("db list", "out of memory");
	qsort(order, db.len, sizeof(*order), most_first);
	sheet_open(&sheet, stdout, false, columns, COLUMNS);
	for (size_t i = 0; i < db.len; i++) {
		if (!is_wanted(order[i], options.word))
			continue;
		if (shown == most) {
			more++;
			continue;
		}
		shown++;
		if (options.json)
			db_print_json(stdout, order[i], false);
		else
			add_row(&sheet, order[i]);
	}
	if (!options.json && sheet_close(&sheet))
		status = fail("db list", "out of memory");
	if (!options.json && more)
		printf("and %zu more (-n all shows them)\n", more);
	free(order);
	procdb_free(&db);
	return status;
}

static const struct argp_option show_own[] = { DB_OPTION, { 0 } };

static const struct command_usage show_usage = {
	.name = "db show",
	.text = "Shows everything that is known of the kinds of threads of this name.",
	.takes = TAKES_JSON | TAKES_WORD,
	.word = "NAME",
	.own = show_own,
	.take_own = take_own,
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
	struct profile **order;
	struct options options;
	char comm[COMM_LEN + 1];
	struct procdb db;
	size_t shown = 0;
	int status;

	options_parse(&options, &show_usage, argc, argv);
	if (!options.word) {
		fail("db show", "show what? Give a thread's name (see 'tactus db show --help')");
		return EXIT_USAGE;
	}
	status = db_load(&db, "db show");
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

static const struct command_usage check_usage = {
	.name = "db check",
	.text = "Reads a database to its end and tells what is wrong with it, and at which byte. Without a file: the "
		"database in use.\v"
		"Exit status 1 if anything is.",
	.takes = TAKES_JSON | TAKES_WORD,
	.word = "[FILE]",
	.own = check_own,
	.take_own = take_own,
};

struct checking {
	const char *path;
	bool json;
	u64 told;
};

static void print_fault(void *data, u64 offset, const char *what)
{
	struct checking *checking = data;

	if (checking->json)
		printf("{\"offset\":%" PRIu64 ",\"fault\":\"%s\"}\n", offset, what);
	else if (checking->told++ < FAULTS_SHOWN) {
		print_plain(stdout, checking->path);
		printf(": at byte %" PRIu64 ": %s\n", offset, what);
	}
}

int db_check(int argc, char **argv)
{
	struct checking checking = { 0 };
	struct procdb_report report = { .fault = print_fault, .data = &checking };
	char path[PROCDB_PATH_SIZE];
	struct reason why = { "" };
	struct options options;
	struct procdb db;
	int error = 0;

	options_parse(&options, &check_usage, argc, argv);
	checking.json = options.json;
	checking.path = options.word ? options.word : db_settings.path;
	if (!checking.path) {
		error = procdb_default_path(path, &why);
		checking.path = path;
	}
	procdb_init(&db, 0);
	if (!error)
		error = procdb_read_any(checking.path, &db, &report, wall_clock_s(), &why);
	if (error)
		return fail("db check", "%s", why.text);
	if (!options.json && checking.told > FAULTS_SHOWN)
		printf("and %" PRIu64 " faults more\n", checking.told - FAULTS_SHOWN);
	if (!options.json) {
		print_plain(stdout, checking.path);
		printf(": %s %u, %" PRIu64 " entries, %zu of them whole: %s\n",
		       report.version == PDDB_OWN ? "tactus's own version" : "PDDB version", report.version,
		       report.announced, db.len, report.faults ? "damaged" : "in order");
	}
	procdb_free(&db);
	return report.faults ? EXIT_FAILURE : EXIT_SUCCESS;
}
