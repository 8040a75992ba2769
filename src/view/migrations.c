// SPDX-License-Identifier: GPL-2.0
/* tactus migrations: each move of a thread with its cause and how long it then took to run, as they happen; and at the
 * end how many there were by cause and by thread. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/say.h"
#include "../model/moves.h"
#include "../model/roles.h"
#include "../sensor/sensor.h"
#include "../sink/sheet.h"
#include "../sink/text.h"
#include "role_options.h"
#include "source.h"

enum { KEY_SUMMARY = 0x200, ROWS_DEFAULT = 20, NAME_SIZE = COMM_LEN * 4 + 16, TIME_SIZE = 16 };

static bool only_summary;

static const char *take_own(int key, const char *value)
{
	if (key != KEY_SUMMARY)
		return role_options_take(key, value);
	only_summary = true;
	return NULL;
}

static const struct argp_option own[] = {
	{ "summary", KEY_SUMMARY, 0, 0, "Only the sums at the end, not each move", 0 },
	ROLE_OPTIONS,
	{ 0 },
};

static const struct command_usage usage = {
	.name = "migrations",
	.text = "Shows each move of a thread to another CPU: when, whose, why, how far, and how long after the "
		"decision it ran.\v"
		"Causes: wakeup, it was woken and given another CPU for that; balance, it was taken to a CPU with less "
		"to do; affinity, it may not run any more where it was; exec, a new program begins where there is "
		"room; hotplug, its CPU went. What forces a move counts before the occasion: a thread whose CPUs "
		"changed while it slept is moved when it wakes, because of affinity. A sched_ext scheduler that takes "
		"threads from a common queue moves them by balance.\n"
		"RAN AFTER counts from the decision; for a thread that was moved in its sleep, from its wake-up.\n"
		"Distances: core, to a sibling of the same core; cache, to another core with the same last-level "
		"cache; node, to another cache; across, to another memory node.\n"
		"\n"
		"Examples:\n"
		"  tactus migrations -d 5              whoever moves\n"
		"  tactus migrations --summary -- ./game\n"
		"  tactus migrations -i file --json    of a recording, for a program to read",
	.takes = TAKES_EVENTS_OF_VIEW | TAKES_ROWS,
	.own = own,
	.take_own = take_own,
};

struct show {
	const struct options *options;
	struct source source;
	struct moves moves;
	struct sheet sheet; /* JSON: each move is printed at once */
	bool headed;
};

static const struct column move_columns[] = {
	{ "time_ns", NULL, CELL_NUMBER },  { "tid", NULL, CELL_NUMBER },       { "pid", NULL, CELL_NUMBER },
	{ "comm", NULL, CELL_TEXT },	   { "role", NULL, CELL_TEXT },	       { "cause", NULL, CELL_TEXT },
	{ "from_cpu", NULL, CELL_NUMBER }, { "to_cpu", NULL, CELL_NUMBER },    { "distance", NULL, CELL_TEXT },
	{ "by_tid", NULL, CELL_NUMBER },   { "to_run_ns", NULL, CELL_SIGNED }, { "moved_on", NULL, CELL_NUMBER },
	{ "asleep", NULL, CELL_NUMBER },
};
enum { MOVE_COLUMNS = sizeof(move_columns) / sizeof(move_columns[0]) };

static void print_json(struct show *show, const struct move *move)
{
	const struct thread *thread = threads_by_tid(&show->source.threads, move->tid);
	char comm[COMM_LEN + 1];

	threads_comm(comm, &show->source.threads, move->tid);
	union cell cells[] = {
		{ .number = move->at_ns },
		{ .number = move->tid },
		{ .number = thread ? thread->pid : 0 },
		{ .text = comm },
		{ .text = role_name(move->role) },
		{ .text = move_cause_name(move->cause) },
		{ .number = move->from_cpu },
		{ .number = move->to_cpu },
		{ .text = distance_name(move->distance) },
		{ .number = move->by_tid },
		{ .number = move->after == MOVE_RAN ? move->to_run_ns : CELL_NONE },
		{ .number = move->after == MOVE_MOVED_ON },
		{ .number = move->asleep },
	};
	_Static_assert(sizeof(cells) / sizeof(cells[0]) == MOVE_COLUMNS, "a cell a column");
	sheet_row(&show->sheet, cells);
}

static void print_move(struct show *show, const struct move *move)
{
	const struct threads *threads = &show->source.threads;
	char comm[COMM_LEN + 1], plain[COMM_LEN * 4 + 1], span[TIME_SIZE];

	if (!show->headed)
		printf("%12s  %-24s %-10s %-8s %4s -> %-4s %-8s %s\n", "TIME (ms)", "THREAD", "ROLE", "CAUSE", "FROM",
		       "TO", "DISTANCE", "RAN AFTER");
	show->headed = true;
	threads_comm(comm, threads, move->tid);
	format_plain(plain, COMM_LEN, comm);
	format_time(span, sizeof(span), move->to_run_ns);
	printf("%12.3f  %-15.15s [%6u] %-10s %-8s %4u -> %-4u %-8s %s%s\n",
	       (double)span_between(threads->first_ns, move->at_ns) / NSEC_PER_MSEC, plain, move->tid,
	       role_name(move->role), move_cause_name(move->cause), move->from_cpu, move->to_cpu,
	       distance_name(move->distance),
	       move->after == MOVE_RAN	      ? span
	       : move->after == MOVE_MOVED_ON ? "moved on"
					      : "not yet",
	       move->asleep ? ", asleep until then" : "");
}

static void tell(struct show *show, const struct move *move)
{
	if (only_summary)
		return;
	if (show->options->json)
		print_json(show, move);
	else
		print_move(show, move);
}

static void on_event(void *data, const struct event_header *event, const struct wait *ended)
{
	struct show *show = data;
	struct move done;

	(void)ended;
	if (moves_take(&show->moves, &show->source.threads, event, &done))
		tell(show, &done);
}

static bool on_tick(void *data)
{
	(void)data;
	/* A reader that went away ends it. */
	return fflush(stdout) == 0;
}

#define COLUMNS_OF_SUMS                                                                                           \
	{ "moves", "MOVES", CELL_NUMBER }, { "core", "SIBLING", CELL_NUMBER }, { "cache", "CACHE", CELL_NUMBER }, \
		{ "node", "NODE", CELL_NUMBER }, { "across", "ACROSS", CELL_NUMBER },                             \
		{ "to_run_avg_ns", "RAN AFTER", CELL_TIME },                                                      \
	{                                                                                                         \
		"to_run_max_ns", "LONGEST", CELL_TIME                                                             \
	}
enum { SUM_CELLS = 7 };

static void fill_sums(union cell *cells, const struct move_sums *sums)
{
	cells[0].number = sums->moves;
	for (int i = 0; i < DISTANCES; i++)
		cells[1 + i].number = sums->distances[i];
	cells[5].number = sums->runs ? sums->to_run_ns / sums->runs : 0;
	cells[6].number = sums->to_run_max_ns;
}

static int print_causes(const struct show *show)
{
	static const struct column columns[] = { { "cause", "CAUSE", CELL_TEXT }, COLUMNS_OF_SUMS };
	union cell cells[1 + SUM_CELLS];
	struct sheet sheet;

	sheet_open(&sheet, stdout, show->options->json, columns, 1 + SUM_CELLS);
	for (int cause = 0; cause < MOVE_CAUSES; cause++) {
		if (!show->moves.causes[cause].moves)
			continue;
		cells[0].text = move_cause_name((enum move_cause)cause);
		fill_sums(&cells[1], &show->moves.causes[cause]);
		sheet_row(&sheet, cells);
	}
	return sheet_close(&sheet);
}

static const struct column thread_columns[] = {
	{ "tid", "TID", CELL_NUMBER },
	{ "pid", "PID", CELL_NUMBER },
	{ "comm", "COMM", CELL_TEXT },
	{ "role", "ROLE", CELL_TEXT },
	{ "unknown", NULL, CELL_NUMBER },
	{ "wakeup", "WAKEUP", CELL_NUMBER },
	{ "balance", "BALANCE", CELL_NUMBER },
	{ "affinity", "AFFINITY", CELL_NUMBER },
	{ "exec", "EXEC", CELL_NUMBER },
	{ "hotplug", "HOTPLUG", CELL_NUMBER },
	COLUMNS_OF_SUMS,
};
enum { WHO_CELLS = 4, THREAD_COLUMNS = sizeof(thread_columns) / sizeof(thread_columns[0]) };
_Static_assert(THREAD_COLUMNS == WHO_CELLS + MOVE_CAUSES + SUM_CELLS, "a column a cell");

static int print_threads(const struct show *show)
{
	u32 most = show->options->rows ? show->options->rows : ROWS_DEFAULT;
	union cell cells[THREAD_COLUMNS];
	struct sheet sheet;
	size_t len, row;
	const struct thread **list = moves_sorted(&show->source.threads, &len);
	int error;

	if (!list)
		return -1;
	sheet_open(&sheet, stdout, show->options->json, thread_columns, THREAD_COLUMNS);
	for (row = 0; row < len && row < most; row++) {
		const struct thread *thread = list[row];
		char comm[COMM_LEN + 1] = "";

		memcpy(comm, thread->comm.text, COMM_LEN);
		cells[0].number = thread->tid;
		cells[1].number = thread->pid;
		cells[2].text = comm;
		cells[3].text = role_name(thread->role ? thread->role->role : 0);
		for (int cause = 0; cause < MOVE_CAUSES; cause++)
			cells[WHO_CELLS + cause].number = thread->moves->sums.causes[cause];
		fill_sums(&cells[WHO_CELLS + MOVE_CAUSES], &thread->moves->sums);
		sheet_row(&sheet, cells);
	}
	error = sheet_close(&sheet);
	free(list);
	if (!show->options->json && row < len)
		printf("and %zu more (-n all shows them)\n", len - row);
	return error;
}

static int print_end(struct show *show)
{
	struct move left;
	size_t at = 0;
	int error;

	while (moves_left(&show->moves, &show->source.threads, &at, &left))
		tell(show, &left);
	if (!show->moves.all.moves) {
		if (!show->options->json)
			puts("no thread was moved");
		return 0;
	}
	if (show->headed)
		putchar('\n');
	error = print_causes(show);
	if (!show->options->json)
		putchar('\n');
	if (print_threads(show) || error || show->moves.failed)
		return fail("migrations", "out of memory: not all moves are shown");
	return 0;
}

int view_migrations(int argc, char **argv)
{
	struct options options;
	struct show show = { .options = &options };
	int status;

	options_parse(&options, &usage, argc, argv);
	sensor_set_verbose(options.verbose);
	show.source = (struct source){ .view = "migrations",
				       .events = true,
				       .roles = true,
				       .on_event = on_event,
				       .on_tick = on_tick,
				       .data = &show };
	sheet_open(&show.sheet, stdout, true, move_columns, MOVE_COLUMNS);
	status = source_play(&show.source, &options);
	if (show.source.threads.last_ns && print_end(&show) && !status)
		status = EXIT_FAILURE;
	sheet_close(&show.sheet);
	source_print_losses(&show.source);
	source_free(&show.source);
	return status;
}
