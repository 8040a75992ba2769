// SPDX-License-Identifier: GPL-2.0
/* tactus inversions: who waited for a CPU while a thread of lower priority ran there.
 * One row for each two threads. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "../base/say.h"
#include "../model/inversions.h"
#include "../sensor/sensor.h"
#include "../sink/sheet.h"
#include "source.h"

enum {
	OPTION_OVER = 0x200, /* past the shared options' */
	ROWS_DEFAULT = 20,
	NAME_SIZE = COMM_LEN + 16, /* "comm [tid]" */
	PRIO_SIZE = 24,
	TIME_SIZE = 24,
	PRIO_RT_ZERO = 100, /* real-time priority 0, as event.h counts */
	PRIO_NICE_ZERO = 121,
};

static u64 over_ns = NSEC_PER_MSEC;
static const char *over_text = "1 ms";

static const struct argp_option own_options[] = {
	{ "over", OPTION_OVER, "DURATION", 0, "Count what lasts at least this long (default 1ms)", 1 },
	{ 0 },
};

static const char *take_own(int key, const char *value)
{
	(void)key;
	over_text = value;
	return parse_duration(value, &over_ns) ? "is not a span of time such as 1ms" : NULL;
}

static const struct command_usage usage = {
	.name = "inversions",
	.text = "Shows threads that waited for a CPU while one of lower priority ran there.\v"
		"A row tells of two threads: how many TIMES the runner was in the waiter's way, for how long in TOTAL, "
		"and the LONGEST time, which ended AT so many seconds after the start.\n"
		"\n"
		"CLASS is the waiter's. To deadline and realtime threads the kernel promises that this does not happen "
		"(save for the 5 % of a second that it keeps for others). To threads that differ in nice it promises "
		"shares only: the lower one has its turns too, slices of some ms.\n"
		"\n"
		"Filters choose the waiters; a runner is told of whoever it is.\n"
		"\n"
		"Examples:\n"
		"  tactus inversions -d 10              the whole machine, for ten seconds\n"
		"  tactus inversions --over 5ms         only what lasts longer than a slice\n"
		"  tactus inversions -i FILE --json     of a recording, for a program to read",
	.takes = TAKES_EVENTS_OF_VIEW | TAKES_ROWS,
	.own = own_options,
	.take_own = take_own,
};

struct inversions_view {
	struct source source;
	struct inversions inversions;
	bool failed;
};

static void format_thread(char *into, const struct thread *thread)
{
	snprintf(into, NAME_SIZE, "%.*s [%" PRIu32 "]", COMM_LEN - 1, thread->comm.text, thread->tid);
}

static void format_prio(char *into, u32 prio)
{
	switch (prio_class(prio)) {
	case PRIO_DEADLINE:
		snprintf(into, PRIO_SIZE, "deadline");
		break;
	case PRIO_REALTIME:
		snprintf(into, PRIO_SIZE, "rt %d", PRIO_RT_ZERO - (int)prio);
		break;
	case PRIO_NICE:
		snprintf(into, PRIO_SIZE, "nice %d", (int)prio - PRIO_NICE_ZERO);
		break;
	}
}

static void print_inversion(struct sheet *sheet, const struct inversion *inversion, u64 start_ns)
{
	static const char *const classes[] = {
		[PRIO_DEADLINE] = "deadline",
		[PRIO_REALTIME] = "realtime",
		[PRIO_NICE] = "nice",
	};
	char waiter[NAME_SIZE], runner[NAME_SIZE], waiter_prio[PRIO_SIZE], runner_prio[PRIO_SIZE], at[TIME_SIZE];

	format_thread(waiter, inversion->waiter);
	format_thread(runner, inversion->runner);
	format_prio(waiter_prio, inversion->waiter_prio);
	format_prio(runner_prio, inversion->runner_prio);
	snprintf(at, sizeof(at), "%.6f", (double)span_between(start_ns, inversion->longest_at_ns) / NSEC_PER_SEC);
	sheet_row(sheet, (union cell[]){
				 { .number = inversion->waiter->tid },
				 { .text = inversion->waiter->comm.text },
				 { .number = inversion->waiter_prio },
				 { .text = waiter },
				 { .text = waiter_prio },
				 { .number = inversion->runner->tid },
				 { .text = inversion->runner->comm.text },
				 { .number = inversion->runner_prio },
				 { .text = runner },
				 { .text = runner_prio },
				 { .text = classes[prio_class(inversion->waiter_prio)] },
				 { .number = inversion->times },
				 { .number = inversion->total_ns },
				 { .number = inversion->longest_ns },
				 { .number = inversion->longest_at_ns },
				 { .text = at },
			 });
}

static int print_inversions(const struct inversions_view *view, const struct options *options)
{
	static const struct column columns[] = {
		{ "waiter_tid", NULL, CELL_NUMBER },
		{ "waiter_comm", NULL, CELL_TEXT },
		{ "waiter_prio", NULL, CELL_NUMBER },
		{ NULL, "WAITER", CELL_TEXT },
		{ NULL, "PRIO", CELL_TEXT },
		{ "runner_tid", NULL, CELL_NUMBER },
		{ "runner_comm", NULL, CELL_TEXT },
		{ "runner_prio", NULL, CELL_NUMBER },
		{ NULL, "RUNNER", CELL_TEXT },
		{ NULL, "PRIO", CELL_TEXT },
		{ "class", "CLASS", CELL_TEXT },
		{ "times", "TIMES", CELL_NUMBER },
		{ "total_ns", "TOTAL", CELL_TIME },
		{ "longest_ns", "LONGEST", CELL_TIME },
		{ "longest_at_ns", NULL, CELL_NUMBER },
		{ NULL, "AT", CELL_TEXT },
	};
	const struct inversions *inversions = &view->inversions;
	const struct inversion **list;
	size_t shown = options->rows ? options->rows : ROWS_DEFAULT;
	struct sheet sheet;
	int error;

	if (!inversions->pairs_len) {
		if (!options->json)
			printf("no inversion longer than %s seen\n", over_text);
		return 0;
	}
	list = inversions_sorted(inversions);
	if (!list)
		return -1;
	sheet_open(&sheet, stdout, options->json, columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; i < inversions->pairs_len && i < shown; i++)
		print_inversion(&sheet, list[i], view->source.threads.first_ns);
	error = sheet_close(&sheet);
	free(list);
	if (!options->json && inversions->pairs_len > shown)
		printf("and %zu more (-n all shows them)\n", inversions->pairs_len - shown);
	if (inversions->not_kept)
		note("%" PRIu64 " more inversions are not in the table: too many pairs of threads",
		     inversions->not_kept);
	return error;
}

static void take_event(void *data, const struct event_header *event, const struct wait *ended)
{
	struct inversions_view *view = data;
	struct inversions *inversions = &view->inversions;

	(void)ended;
	/* How many CPUs there are is known once the source plays. */
	if (!inversions->cpus && inversions_init(inversions, view->source.threads.cpus_len, over_ns)) {
		view->failed = true;
		return;
	}
	inversions_take(inversions, &view->source.threads, event);
}

int view_inversions(int argc, char **argv)
{
	struct inversions_view view = {
		.source = { .view = "inversions", .events = true, .on_event = take_event, .data = &view },
	};
	struct options options;
	int status;

	options_parse(&options, &usage, argc, argv);
	sensor_set_verbose(options.verbose);
	status = source_play(&view.source, &options);
	if (view.source.threads.last_ns) {
		inversions_end(&view.inversions, &view.source.threads);
		if (print_inversions(&view, &options) || view.inversions.failed || view.failed) {
			fail("inversions", "out of memory: not all inversions are shown");
			status = status ? status : EXIT_FAILURE;
		}
		source_print_losses(&view.source);
	}
	inversions_free(&view.inversions);
	source_free(&view.source);
	return status;
}
