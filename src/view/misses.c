// SPDX-License-Identifier: GPL-2.0
/* tactus misses: threads that work by a timer and did not run when they were due: each time as it happens, and at the
 * end one row per thread. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "../base/say.h"
#include "../model/misses.h"
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

enum { KEY_ALL = 0x200, KEY_OVER, ROWS_DEFAULT = 20, WORDS_SIZE = 128, TIME_SIZE = 16 };

struct chosen {
	bool of_all;
	u64 over_ns;
};

static const char *take_own(void *data, int key, const char *value)
{
	struct chosen *chosen = data;

	if (key == KEY_OVER)
		return parse_span(value, &chosen->over_ns);
	if (key != KEY_ALL)
		return role_options_take(key, value);
	chosen->of_all = true;
	return NULL;
}

static const struct argp_option own_options[] = {
	{ "all", KEY_ALL, 0, 0, "Report every thread with a steady period, whatever its role", 0 },
	{ "over", KEY_OVER, "DURATION", 0, "Report misses longer than this (default: a quarter of the thread's period)",
	  0 },
	ROLE_OPTIONS,
	{ 0 },
};

const struct command_usage misses_usage = {
	.name = "misses",
	.text = "Shows when threads that work by a timer, such as for sound, frames or input, ran later than they "
		"were due: how late, on which CPU, and who had the CPU meanwhile.\v"
		"tactus finds a thread's period in its wake-ups, after 16 regular ones. A thread is due when its "
		"timer or device wakes it; if it was still at work then, when its next period begins. LATE is the "
		"time from then until it ran. 'overran' means that the thread had a CPU but was still at work for "
		"an earlier period. A thread that is woken late does not count as late. Without --all, only "
		"threads that render, play sound, read input or compose count.\n"
		"\n"
		"Examples:\n"
		"  tactus misses -d 10               the whole machine, for ten seconds\n"
		"  tactus misses --over 2ms -- ./game\n"
		"  tactus misses -i file --all --json",
	.takes = TAKES_EVENTS_OF_VIEW | TAKES_ROWS | TAKES_TABLE | TAKES_INTERVAL,
	.own = own_options,
	.take_own = take_own,
	.own_size = sizeof(struct chosen),
};

struct show {
	const struct options *options;
	struct chosen chosen;
	struct capture capture;
	struct misses misses;
	struct table table; /* JSON: each miss is printed at once */
	bool headed;
	u64 shown; /* misses, as they happen; with -n so many at most */
};

#define MISS_TABLE(COLUMN, SHOWN)                    \
	COLUMN(MISS, expected_ns, NULL, CELL_MOMENT) \
	COLUMN(MISS, actual_ns, NULL, CELL_MOMENT)   \
	COLUMN(MISS, late_ns, NULL, CELL_NUMBER)     \
	COLUMN(MISS, period_ns, NULL, CELL_NUMBER)   \
	COLUMN(MISS, periods, NULL, CELL_NUMBER)     \
	COLUMN(MISS, kind, NULL, CELL_TEXT)          \
	COLUMN(MISS, tid, NULL, CELL_NUMBER)         \
	COLUMN(MISS, pid, NULL, CELL_NUMBER)         \
	COLUMN(MISS, comm, NULL, CELL_TEXT)          \
	COLUMN(MISS, role, NULL, CELL_TEXT)          \
	COLUMN(MISS, cpu, NULL, CELL_NUMBER)         \
	COLUMN(MISS, behind_tid, NULL, CELL_NUMBER)  \
	COLUMN(MISS, behind_comm, NULL, CELL_TEXT)
TABLE_OF(miss_columns, MISS);

static const char *kind_name(enum miss_kind kind)
{
	return kind == MISS_WAITED ? "waited" : "overran";
}

static void print_json(struct show *show, const struct miss *miss)
{
	const struct thread *thread = threads_by_tid(&show->capture.threads, miss->tid);
	char comm[COMM_TEXT_SIZE], behind[COMM_TEXT_SIZE];

	threads_comm(comm, &show->capture.threads, miss->tid);
	threads_comm(behind, &show->capture.threads, miss->behind_tid);
	union cell cells[MISS_CELLS] = {
		[MISS_expected_ns] = { .number = miss->verdict.expected_ns },
		[MISS_actual_ns] = { .number = miss->verdict.actual_ns },
		[MISS_late_ns] = { .number = miss->verdict.late_ns },
		[MISS_period_ns] = { .number = miss->verdict.period_ns },
		[MISS_periods] = { .number = miss->verdict.periods },
		[MISS_kind] = { .text = kind_name(miss->verdict.kind) },
		[MISS_tid] = { .number = miss->tid },
		[MISS_pid] = { .number = thread ? thread->pid : 0 },
		[MISS_comm] = { .text = comm },
		[MISS_role] = { .text = role_name(miss->role) },
		[MISS_cpu] = { .number = miss->cpu },
		[MISS_behind_tid] = { .number = miss->behind_tid },
		[MISS_behind_comm] = { .text = behind },
	};
	table_row(&show->table, cells);
}

static void print_miss(struct show *show, const struct miss *miss)
{
	const struct threads *threads = &show->capture.threads;
	char who[THREAD_WORDS_SIZE], behind[THREAD_WORDS_SIZE], late[TIME_SIZE], period[TIME_SIZE];
	char words[WORDS_SIZE] = "nobody knows behind whom";

	if (!show->headed)
		printf("%12s  %-24s %-10s %8s %8s %3s  WHY\n", "DUE AT (ms)", "THREAD", "ROLE", "PERIOD", "LATE",
		       "CPU");
	show->headed = true;
	comm_words(behind, thread_comm(threads, miss->behind_tid), miss->behind_tid, THREAD_TIGHT);
	comm_words(who, thread_comm(threads, miss->tid), miss->tid, THREAD_IN_COLUMN);
	format_time(late, sizeof(late), miss->verdict.late_ns);
	format_time(period, sizeof(period), miss->verdict.period_ns);
	if (miss->culprit == CULPRIT_IDLE)
		snprintf(words, sizeof(words), "the CPU was idle");
	else if (miss->culprit == CULPRIT_THREAD && miss->behind_tid == miss->tid)
		snprintf(words, sizeof(words), "it ran itself");
	else if (miss->culprit == CULPRIT_THREAD)
		snprintf(words, sizeof(words), "behind %s", behind);
	printf("%12.3f  %s %-10s %8s %8s %3u  %s, %s",
	       (double)span_between(threads->first_ns, miss->verdict.expected_ns) / NSEC_PER_MSEC, who,
	       role_name(miss->role), period, late, miss->cpu, kind_name(miss->verdict.kind), words);
	if (miss->verdict.periods > 1)
		printf("; %" PRIu64 " periods passed", miss->verdict.periods);
	putchar('\n');
}

static void on_event(void *data, const struct event_header *event, const struct wait *ended)
{
	struct show *show = data;
	struct miss found[MISSES_AT_ONCE];
	u32 len = misses_handle(&show->misses, &show->capture.threads, event, found);

	(void)ended;
	for (u32 i = 0; i < len; i++) {
		/* Tables have them all. */
		if (show->capture.before_window || show->capture.request.interval_ns ||
		    show->shown++ >= options_rows(show->options, ROWS_ALL))
			continue;
		if (show->options->json)
			print_json(show, &found[i]);
		else
			print_miss(show, &found[i]);
	}
}

static bool on_tick(void *data)
{
	(void)data;
	/* A reader that went away ends it. */
	return fflush(stdout) == 0;
}

#define THREAD_TABLE(COLUMN, SHOWN)                                   \
	COLUMN(THREAD, tid, "TID", CELL_NUMBER)                       \
	COLUMN(THREAD, pid, "PID", CELL_NUMBER)                       \
	COLUMN(THREAD, comm, "COMM", CELL_TEXT)                       \
	COLUMN(THREAD, role, "ROLE", CELL_TEXT)                       \
	COLUMN(THREAD, period_ns, "PERIOD", CELL_TIME)                \
	COLUMN(THREAD, periods, "PERIODS", CELL_NUMBER)               \
	COLUMN(THREAD, misses, "MISSES", CELL_NUMBER)                 \
	COLUMN(THREAD, missed_periods, "MISSED PERIODS", CELL_NUMBER) \
	COLUMN(THREAD, late_avg_ns, "LATE", CELL_TIME)                \
	COLUMN(THREAD, late_max_ns, "LATEST", CELL_TIME)
TABLE_OF(thread_columns, THREAD);
const struct table_columns misses_tables[] = { { thread_columns, THREAD_CELLS }, { 0 } };
static const struct table_look thread_look = { .drops = "pid,missed_periods", .alarms = "misses,missed_periods" };

int misses_print_threads(const struct misses *misses, const struct threads *threads, const struct options *options)
{
	struct table table;
	size_t len, row;
	const struct thread **list = misses_sorted(misses, threads, &len);
	int error;

	if (!list)
		return 1;
	if (!len) {
		free(list);
		if (!options->json)
			puts("no thread works by a timer");
		return 0;
	}
	table_open_for(&table, options, "miss_thread", thread_columns, THREAD_CELLS, ROWS_DEFAULT, &thread_look);
	for (row = 0; row < len; row++) {
		const struct thread *thread = list[row];
		const struct thread_clock *clock = thread->clock;
		char comm[COMM_TEXT_SIZE];

		comm_text(comm, &thread->comm);
		table_row(
			&table,
			(union cell[THREAD_CELLS]){
				[THREAD_tid] = { .number = thread->tid },
				[THREAD_pid] = { .number = thread->pid },
				[THREAD_comm] = { .text = comm },
				[THREAD_role] = { .text = role_name(thread->role ? thread->role->role : 0) },
				[THREAD_period_ns] = { .number = clock->watch.timer.gap_ns },
				[THREAD_periods] = { .number = clock->periods },
				[THREAD_misses] = { .number = clock->misses },
				[THREAD_missed_periods] = { .number = clock->missed_periods },
				[THREAD_late_avg_ns] = { .number = clock->misses ? clock->late_ns / clock->misses : 0 },
				[THREAD_late_max_ns] = { .number = clock->late_max_ns },
			});
	}
	error = table_close(&table);
	free(list);
	return error;
}

static void on_interval(void *data, u64 from_ns, u64 to_ns)
{
	struct show *show = data;

	every_begin(show->options, show->capture.threads.first_ns, from_ns, to_ns);
	show->misses.failed |= misses_print_threads(&show->misses, &show->capture.threads, show->options) != 0;
	every_end();
	misses_restart(&show->misses, &show->capture.threads);
}

static void on_window(void *data)
{
	struct show *show = data;

	misses_restart(&show->misses, &show->capture.threads);
}

int view_misses(int argc, char **argv)
{
	struct options options;
	struct show show = { .options = &options };
	int status;

	options_parse(&options, &misses_usage, &show.chosen, argc, argv);
	show.misses = (struct misses){ .slack_ns = show.chosen.over_ns, .of_all = show.chosen.of_all };
	show.capture = (struct capture){ .request = { .view = "misses",
						      .groups = EVENTS_SCHED | EVENTS_ROLES,
						      .interval_ns = every_ns(&options),
						      .on_interval = on_interval,
						      .wants_before = true,
						      .on_window = on_window,
						      .on_event = on_event,
						      .on_tick = on_tick,
						      .soon = true,
						      .data = &show } };
	table_check(&options, "misses", misses_tables);
	table_open(&show.table, NULL, true, "miss", miss_columns, MISS_CELLS);
	status = capture_run(&show.capture, &options);
	if (show.headed && show.shown > options_rows(&options, ROWS_ALL))
		printf("and %" PRIu64 " more (-n all shows them)\n", show.shown - options_rows(&options, ROWS_ALL));
	if (show.headed)
		putchar('\n');
	if (show.capture.threads.last_ns && ((intervals_have_rest(&show.capture) &&
					      misses_print_threads(&show.misses, &show.capture.threads, &options)) ||
					     show.misses.failed)) {
		fail("misses", "out of memory: not all of them are shown");
		status = status ? status : EXIT_FAILURE;
	}
	table_close(&show.table);
	capture_print_losses(&show.capture);
	misses_free(&show.misses);
	capture_free(&show.capture);
	return status;
}
