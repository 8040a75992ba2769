// SPDX-License-Identifier: GPL-2.0
/* tactus misses: threads that work by a clock and did not run when they were due: each time as it happens, and at the
 * end a row a thread. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/say.h"
#include "../model/misses.h"
#include "../model/roles.h"
#include "../sensor/sensor.h"
#include "../sink/sheet.h"
#include "../sink/text.h"
#include "role_options.h"
#include "source.h"

enum { KEY_ALL = 0x200, KEY_OVER, ROWS_DEFAULT = 20, NAME_SIZE = COMM_LEN * 4 + 1, WORDS_SIZE = 128, TIME_SIZE = 16 };

static bool of_all;
static u64 over_ns;

static const char *take_own(int key, const char *value)
{
	if (key == KEY_OVER)
		return parse_duration(value, &over_ns) ? "is not a span of time such as 1ms" : NULL;
	if (key != KEY_ALL)
		return role_options_take(key, value);
	of_all = true;
	return NULL;
}

static const struct argp_option own[] = {
	{ "all", KEY_ALL, 0, 0, "Of every thread with a steady clock, whatever it is for", 0 },
	{ "over", KEY_OVER, "DURATION", 0, "Later than this (default: a quarter of the thread's period)", 0 },
	ROLE_OPTIONS,
	{ 0 },
};

static const struct command_usage usage = {
	.name = "misses",
	.text = "Shows when threads that work by a clock, such as for sound, pictures or input, ran later than they "
		"were due: by how much, where, and who had the CPU meanwhile.\v"
		"The clock is heard in a thread's wake-ups, after 16 of them that are regular. A thread is due when "
		"its timer or device wakes it; or, if it still had work then, when its next beat was to come. LATE is "
		"the time from then until it ran. 'overran' means that it had a CPU and was still at work for an "
		"earlier beat. A thread that is woken late was not late itself. Without --all only threads count that "
		"render, play sound, read input or compose.\n"
		"\n"
		"Examples:\n"
		"  tactus misses -d 10               the whole machine, for ten seconds\n"
		"  tactus misses --over 2ms -- ./game\n"
		"  tactus misses -i file --all --json",
	.takes = TAKES_EVENTS_OF_VIEW | TAKES_ROWS,
	.own = own,
	.take_own = take_own,
};

struct show {
	const struct options *options;
	struct source source;
	struct misses misses;
	struct sheet sheet; /* JSON: each miss is printed at once */
	bool headed;
};

static const struct column miss_columns[] = {
	{ "expected_ns", NULL, CELL_NUMBER }, { "actual_ns", NULL, CELL_NUMBER }, { "late_ns", NULL, CELL_NUMBER },
	{ "period_ns", NULL, CELL_NUMBER },   { "beats", NULL, CELL_NUMBER },	  { "kind", NULL, CELL_TEXT },
	{ "tid", NULL, CELL_NUMBER },	      { "pid", NULL, CELL_NUMBER },	  { "comm", NULL, CELL_TEXT },
	{ "role", NULL, CELL_TEXT },	      { "cpu", NULL, CELL_NUMBER },	  { "behind_tid", NULL, CELL_NUMBER },
	{ "behind_comm", NULL, CELL_TEXT },
};
enum { MISS_COLUMNS = sizeof(miss_columns) / sizeof(miss_columns[0]) };

static const char *kind_name(enum miss_kind kind)
{
	return kind == MISS_WAITED ? "waited" : "overran";
}

static void print_json(struct show *show, const struct miss *miss)
{
	const struct thread *thread = threads_by_tid(&show->source.threads, miss->tid);
	char comm[COMM_LEN + 1], behind[COMM_LEN + 1];

	threads_comm(comm, &show->source.threads, miss->tid);
	threads_comm(behind, &show->source.threads, miss->behind_tid);
	union cell cells[] = {
		{ .number = miss->verdict.expected_ns },
		{ .number = miss->verdict.actual_ns },
		{ .number = miss->verdict.late_ns },
		{ .number = miss->verdict.period_ns },
		{ .number = miss->verdict.beats },
		{ .text = kind_name(miss->verdict.kind) },
		{ .number = miss->tid },
		{ .number = thread ? thread->pid : 0 },
		{ .text = comm },
		{ .text = role_name(miss->role) },
		{ .number = miss->cpu },
		{ .number = miss->behind_tid },
		{ .text = behind },
	};
	_Static_assert(sizeof(cells) / sizeof(cells[0]) == MISS_COLUMNS, "a cell a column");
	sheet_row(&show->sheet, cells);
}

static void print_miss(struct show *show, const struct miss *miss)
{
	char comm[COMM_LEN + 1], name[NAME_SIZE], behind[NAME_SIZE], late[TIME_SIZE], period[TIME_SIZE];
	char words[WORDS_SIZE] = "nobody knows behind whom";

	if (!show->headed)
		printf("%12s  %-24s %-10s %8s %8s %3s  WHY\n", "DUE AT (ms)", "THREAD", "ROLE", "PERIOD", "LATE",
		       "CPU");
	show->headed = true;
	threads_comm(comm, &show->source.threads, miss->behind_tid);
	format_plain(behind, COMM_LEN, comm);
	threads_comm(comm, &show->source.threads, miss->tid);
	format_plain(name, COMM_LEN, comm);
	format_time(late, sizeof(late), miss->verdict.late_ns);
	format_time(period, sizeof(period), miss->verdict.period_ns);
	if (miss->culprit == CULPRIT_IDLE)
		snprintf(words, sizeof(words), "the CPU was idle");
	else if (miss->culprit == CULPRIT_THREAD && miss->behind_tid == miss->tid)
		snprintf(words, sizeof(words), "it ran itself");
	else if (miss->culprit == CULPRIT_THREAD)
		snprintf(words, sizeof(words), "behind %s [%u]", behind, miss->behind_tid);
	printf("%12.3f  %-15.15s [%6u] %-10s %8s %8s %3u  %s, %s",
	       (double)span_between(show->source.threads.first_ns, miss->verdict.expected_ns) / NSEC_PER_MSEC, name,
	       miss->tid, role_name(miss->role), period, late, miss->cpu, kind_name(miss->verdict.kind), words);
	if (miss->verdict.beats > 1)
		printf("; %" PRIu64 " beats passed", miss->verdict.beats);
	putchar('\n');
}

static void on_event(void *data, const struct event_header *event, const struct wait *ended)
{
	struct show *show = data;
	struct miss found[MISSES_AT_ONCE];
	u32 len = misses_take(&show->misses, &show->source.threads, event, found);

	(void)ended;
	for (u32 i = 0; i < len; i++) {
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

static const struct column thread_columns[] = {
	{ "tid", "TID", CELL_NUMBER },	      { "pid", "PID", CELL_NUMBER },
	{ "comm", "COMM", CELL_TEXT },	      { "role", "ROLE", CELL_TEXT },
	{ "period_ns", "PERIOD", CELL_TIME }, { "beats", "BEATS", CELL_NUMBER },
	{ "misses", "MISSES", CELL_NUMBER },  { "missed_beats", "MISSED BEATS", CELL_NUMBER },
	{ "late_avg_ns", "LATE", CELL_TIME }, { "late_max_ns", "LATEST", CELL_TIME },
};
enum { THREAD_COLUMNS = sizeof(thread_columns) / sizeof(thread_columns[0]) };

static int print_threads(const struct show *show)
{
	u32 most = show->options->rows ? show->options->rows : ROWS_DEFAULT;
	struct sheet sheet;
	size_t len, row;
	const struct thread **list = misses_sorted(&show->misses, &show->source.threads, &len);
	int error;

	if (!list || !len) {
		free(list);
		if (!show->options->json)
			puts("no thread works by a clock");
		return 0;
	}
	sheet_open(&sheet, stdout, show->options->json, thread_columns, THREAD_COLUMNS);
	for (row = 0; row < len && row < most; row++) {
		const struct thread *thread = list[row];
		const struct thread_clock *clock = thread->clock;
		char comm[COMM_LEN + 1] = "";

		memcpy(comm, thread->comm.text, COMM_LEN);
		sheet_row(&sheet, (union cell[THREAD_COLUMNS]){
					  { .number = thread->tid },
					  { .number = thread->pid },
					  { .text = comm },
					  { .text = role_name(thread->role ? thread->role->role : 0) },
					  { .number = clock->watch.beat.gap_ns },
					  { .number = clock->beats },
					  { .number = clock->misses },
					  { .number = clock->missed_beats },
					  { .number = clock->misses ? clock->late_ns / clock->misses : 0 },
					  { .number = clock->late_max_ns },
				  });
	}
	error = sheet_close(&sheet);
	free(list);
	if (!show->options->json && row < len)
		printf("and %zu more (-n all shows them)\n", len - row);
	return error;
}

int view_misses(int argc, char **argv)
{
	struct options options;
	struct show show = { .options = &options };
	int status;

	options_parse(&options, &usage, argc, argv);
	sensor_set_verbose(options.verbose);
	show.misses = (struct misses){ .slack_ns = over_ns, .of_all = of_all };
	show.source = (struct source){
		.view = "misses", .events = true, .roles = true, .on_event = on_event, .on_tick = on_tick, .data = &show
	};
	sheet_open(&show.sheet, stdout, true, miss_columns, MISS_COLUMNS);
	status = source_play(&show.source, &options);
	if (show.headed)
		putchar('\n');
	if (show.source.threads.last_ns && (print_threads(&show) || show.misses.failed)) {
		fail("misses", "out of memory: not all of them are shown");
		status = status ? status : EXIT_FAILURE;
	}
	sheet_close(&show.sheet);
	source_print_losses(&show.source);
	misses_free(&show.misses);
	source_free(&show.source);
	return status;
}
