// SPDX-License-Identifier: GPL-2.0
/* tactus migrations: each move of a thread with its cause and how long it then took to run, as they happen; and at the
 * end how many there were by cause and by thread. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "../base/say.h"
#include "../model/moves.h"
#include "../model/roles.h"
#include "../sensor/sensor.h"
#include "../sink/table.h"
#include "../sink/text.h"
#include "../capture/role_options.h"
#include "../capture/capture.h"
#include "../capture/intervals.h"
#include "every.h"
#include "tables.h"
#include "thread_words.h"
#include "view.h"

enum { KEY_SUMMARY = 0x200, ROWS_DEFAULT = 20, TIME_SIZE = 16 };

struct chosen {
	bool only_summary;
};

static const char *take_own(void *data, int key, const char *value)
{
	struct chosen *chosen = data;

	if (key != KEY_SUMMARY)
		return role_options_take(key, value);
	chosen->only_summary = true;
	return NULL;
}

static const struct argp_option own_options[] = {
	{ "summary", KEY_SUMMARY, 0, 0, "Print only the sums at the end, not each move", 0 },
	ROLE_OPTIONS,
	{ 0 },
};

const struct command_usage migrations_usage = {
	.name = "migrations",
	.text = "Shows each move of a thread to another CPU: when, which thread, why, how far, and how long after "
		"the decision it ran.\v"
		"Causes: wakeup, the thread woke on another CPU; balance, the kernel took it to a less busy CPU; "
		"affinity, it may no longer run where it was; exec, a new program starts where there is room; "
		"hotplug, its CPU went offline. What forces a move outweighs the occasion: a thread whose CPUs "
		"changed while it slept moves when it wakes, because of affinity. A sched_ext scheduler that takes "
		"threads from a common queue moves them by balance.\n"
		"RAN AFTER counts from the decision; if the thread was asleep, from its wake-up.\n"
		"Distances: core, to a sibling of the same core; cache, to another core with the same last-level "
		"cache; node, to another cache; across, to another memory node.\n"
		"\n"
		"Examples:\n"
		"  tactus migrations -d 5              whoever moves\n"
		"  tactus migrations --summary -- ./game\n"
		"  tactus migrations -i file --json    of a recording, for a program to read",
	.takes = TAKES_EVENTS_OF_VIEW | TAKES_ROWS | TAKES_TABLE | TAKES_INTERVAL,
	.own = own_options,
	.take_own = take_own,
	.own_size = sizeof(struct chosen),
};

struct show {
	const struct options *options;
	struct chosen chosen;
	struct capture capture;
	struct moves moves;
	struct table table; /* JSON: each move is printed at once */
	bool headed, failed;
	u64 shown; /* moves, as they happen; with -n so many at most */
};

#define MOVE_TABLE(COLUMN, SHOWN)                  \
	COLUMN(MOVE, time_ns, NULL, CELL_MOMENT)   \
	COLUMN(MOVE, tid, NULL, CELL_NUMBER)       \
	COLUMN(MOVE, pid, NULL, CELL_NUMBER)       \
	COLUMN(MOVE, comm, NULL, CELL_TEXT)        \
	COLUMN(MOVE, role, NULL, CELL_TEXT)        \
	COLUMN(MOVE, cause, NULL, CELL_TEXT)       \
	COLUMN(MOVE, from_cpu, NULL, CELL_NUMBER)  \
	COLUMN(MOVE, to_cpu, NULL, CELL_NUMBER)    \
	COLUMN(MOVE, distance, NULL, CELL_TEXT)    \
	COLUMN(MOVE, by_tid, NULL, CELL_NUMBER)    \
	COLUMN(MOVE, to_run_ns, NULL, CELL_SIGNED) \
	COLUMN(MOVE, moved_on, NULL, CELL_NUMBER)  \
	COLUMN(MOVE, asleep, NULL, CELL_NUMBER)
TABLE_OF(move_columns, MOVE);

static void print_json(struct show *show, const struct move *move)
{
	const struct thread *thread = threads_by_tid(&show->capture.threads, move->tid);
	char comm[COMM_TEXT_SIZE];

	threads_comm(comm, &show->capture.threads, move->tid);
	union cell cells[MOVE_CELLS] = {
		[MOVE_time_ns] = { .number = move->at_ns },
		[MOVE_tid] = { .number = move->tid },
		[MOVE_pid] = { .number = thread ? thread->pid : 0 },
		[MOVE_comm] = { .text = comm },
		[MOVE_role] = { .text = role_name(move->role) },
		[MOVE_cause] = { .text = move_cause_name(move->cause) },
		[MOVE_from_cpu] = { .number = move->from_cpu },
		[MOVE_to_cpu] = { .number = move->to_cpu },
		[MOVE_distance] = { .text = distance_name(move->distance) },
		[MOVE_by_tid] = { .number = move->by_tid },
		[MOVE_to_run_ns] = { .number = move->after == MOVE_RAN ? move->to_run_ns : CELL_NONE },
		[MOVE_moved_on] = { .number = move->after == MOVE_MOVED_ON },
		[MOVE_asleep] = { .number = move->asleep },
	};
	table_row(&show->table, cells);
}

static void print_move(struct show *show, const struct move *move)
{
	const struct threads *threads = &show->capture.threads;
	char who[THREAD_WORDS_SIZE], span[TIME_SIZE];

	if (!show->headed)
		printf("%12s  %-24s %-10s %-8s %4s -> %-4s %-8s %s\n", "TIME (ms)", "THREAD", "ROLE", "CAUSE", "FROM",
		       "TO", "DISTANCE", "RAN AFTER");
	show->headed = true;
	comm_words(who, thread_comm(threads, move->tid), move->tid, THREAD_IN_COLUMN);
	format_time(span, sizeof(span), move->to_run_ns);
	printf("%12.3f  %s %-10s %-8s %4u -> %-4u %-8s %s%s\n",
	       (double)span_between(threads->first_ns, move->at_ns) / NSEC_PER_MSEC, who, role_name(move->role),
	       move_cause_name(move->cause), move->from_cpu, move->to_cpu, distance_name(move->distance),
	       move->after == MOVE_RAN	      ? span
	       : move->after == MOVE_MOVED_ON ? "moved on"
					      : "not yet",
	       move->asleep ? ", asleep until then" : "");
}

static void show_move(struct show *show, const struct move *move)
{
	/* Tables have them all. */
	if (show->capture.before_window || show->chosen.only_summary || show->capture.request.interval_ns ||
	    show->shown++ >= options_rows(show->options, ROWS_ALL))
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
	if (moves_handle(&show->moves, &show->capture.threads, event, &done))
		show_move(show, &done);
}

static bool on_tick(void *data)
{
	(void)data;
	/* A reader that went away ends it. */
	return fflush(stdout) == 0;
}

#define SUMS_OF(OF, COLUMN)                               \
	COLUMN(OF, moves, "MOVES", CELL_NUMBER)           \
	COLUMN(OF, core, "SIBLING", CELL_NUMBER)          \
	COLUMN(OF, cache, "CACHE", CELL_NUMBER)           \
	COLUMN(OF, node, "NODE", CELL_NUMBER)             \
	COLUMN(OF, across, "ACROSS", CELL_NUMBER)         \
	COLUMN(OF, to_run_avg_ns, "RAN AFTER", CELL_TIME) \
	COLUMN(OF, to_run_max_ns, "LONGEST", CELL_TIME)
enum { SUMS_OF(SUMS, COLUMN_CELL) };

static void fill_sums(union cell *cells, const struct move_sums *sums)
{
	cells[SUMS_moves].number = sums->moves;
	for (int i = 0; i < DISTANCES; i++)
		cells[SUMS_core + i].number = sums->distances[i];
	cells[SUMS_to_run_avg_ns].number = sums->runs ? sums->to_run_ns / sums->runs : 0;
	cells[SUMS_to_run_max_ns].number = sums->to_run_max_ns;
}

#define CAUSE_TABLE(COLUMN, SHOWN)               \
	COLUMN(CAUSE, cause, "CAUSE", CELL_TEXT) \
	SUMS_OF(CAUSE, COLUMN)
TABLE_OF(cause_columns, CAUSE);

int moves_print_causes(const struct moves *moves, const struct options *options)
{
	union cell cells[CAUSE_CELLS];
	struct table table;

	table_open_for(&table, options, "migration_cause", cause_columns, CAUSE_CELLS, ROWS_ALL, NULL);
	for (int cause = 0; cause < MOVE_CAUSES; cause++) {
		if (!moves->causes[cause].moves)
			continue;
		cells[CAUSE_cause].text = move_cause_name((enum move_cause)cause);
		fill_sums(&cells[CAUSE_moves], &moves->causes[cause]);
		table_row(&table, cells);
	}
	return table_close(&table);
}

#define THREAD_TABLE(COLUMN, SHOWN)                       \
	COLUMN(THREAD, tid, "TID", CELL_NUMBER)           \
	COLUMN(THREAD, pid, "PID", CELL_NUMBER)           \
	COLUMN(THREAD, comm, "COMM", CELL_TEXT)           \
	COLUMN(THREAD, role, "ROLE", CELL_TEXT)           \
	COLUMN(THREAD, unknown, NULL, CELL_NUMBER)        \
	COLUMN(THREAD, wakeup, "WAKEUP", CELL_NUMBER)     \
	COLUMN(THREAD, balance, "BALANCE", CELL_NUMBER)   \
	COLUMN(THREAD, affinity, "AFFINITY", CELL_NUMBER) \
	COLUMN(THREAD, exec, "EXEC", CELL_NUMBER)         \
	COLUMN(THREAD, hotplug, "HOTPLUG", CELL_NUMBER)   \
	SUMS_OF(THREAD, COLUMN)
TABLE_OF(thread_columns, THREAD);
const struct table_columns migrations_tables[] = { { thread_columns, THREAD_CELLS },
						   { cause_columns, CAUSE_CELLS },
						   { 0 } };
static const struct table_look thread_look = { .drops = "pid,hotplug,exec,across,node,affinity,core,cache" };
_Static_assert(THREAD_moves - THREAD_unknown == MOVE_CAUSES, "a column a cause");

int moves_print_threads(const struct threads *threads, const struct options *options)
{
	union cell cells[THREAD_CELLS];
	struct table table;
	size_t len, row;
	const struct thread **list = moves_sorted(threads, &len);
	int error;

	if (!list)
		return -1;
	table_open_for(&table, options, "migration_thread", thread_columns, THREAD_CELLS, ROWS_DEFAULT, &thread_look);
	for (row = 0; row < len; row++) {
		const struct thread *thread = list[row];
		char comm[COMM_TEXT_SIZE];

		comm_text(comm, &thread->comm);
		cells[THREAD_tid].number = thread->tid;
		cells[THREAD_pid].number = thread->pid;
		cells[THREAD_comm].text = comm;
		cells[THREAD_role].text = role_name(thread->role ? thread->role->role : 0);
		for (int cause = 0; cause < MOVE_CAUSES; cause++)
			cells[THREAD_unknown + cause].number = thread->moves->sums.causes[cause];
		fill_sums(&cells[THREAD_moves], &thread->moves->sums);
		table_row(&table, cells);
	}
	error = table_close(&table);
	free(list);
	return error;
}

static int print_tables(const struct show *show)
{
	int error = moves_print_causes(&show->moves, show->options);

	if (!show->options->json)
		putchar('\n');
	return moves_print_threads(&show->capture.threads, show->options) || error ? -1 : 0;
}

static int print_end(struct show *show)
{
	struct move left;
	size_t at = 0;

	while (moves_left(&show->moves, &show->capture.threads, &at, &left))
		show_move(show, &left);
	if (!intervals_have_rest(&show->capture))
		return 0;
	if (!show->moves.all.moves) {
		if (!show->options->json)
			puts("no thread was moved");
		return 0;
	}
	if (show->headed && show->shown > options_rows(show->options, ROWS_ALL))
		printf("and %" PRIu64 " more (-n all shows them)\n",
		       show->shown - options_rows(show->options, ROWS_ALL));
	if (show->headed)
		putchar('\n');
	if (print_tables(show) || show->failed || show->moves.failed)
		return fail("migrations", "out of memory: not all moves are shown");
	return 0;
}

static void on_interval(void *data, u64 from_ns, u64 to_ns)
{
	struct show *show = data;

	every_begin(show->options, show->capture.threads.first_ns, from_ns, to_ns);
	if (show->moves.all.moves)
		show->failed |= print_tables(show) != 0;
	every_end();
	moves_restart(&show->moves, &show->capture.threads);
}

static void on_window(void *data)
{
	struct show *show = data;

	moves_restart(&show->moves, &show->capture.threads);
}

int view_migrations(int argc, char **argv)
{
	struct options options;
	struct show show = { .options = &options };
	int status;

	options_parse(&options, &migrations_usage, &show.chosen, argc, argv);
	show.capture = (struct capture){ .request = { .view = "migrations",
						      .groups = EVENTS_SCHED | EVENTS_ROLES,
						      .interval_ns = every_ns(&options),
						      .on_interval = on_interval,
						      .wants_before = true,
						      .on_window = on_window,
						      .on_event = on_event,
						      .on_tick = on_tick,
						      .data = &show } };
	table_check(&options, "migrations", migrations_tables);
	table_open(&show.table, NULL, true, "migration", move_columns, MOVE_CELLS);
	status = capture_run(&show.capture, &options);
	if (show.capture.threads.last_ns && print_end(&show) && !status)
		status = EXIT_FAILURE;
	table_close(&show.table);
	capture_print_losses(&show.capture);
	capture_free(&show.capture);
	return status;
}
