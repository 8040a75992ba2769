// SPDX-License-Identifier: GPL-2.0
/* tactus inversions: who waited for a CPU while a thread of lower priority ran there.
 * One row for each two threads. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/loop.h"
#include "../base/say.h"
#include "../model/inversions.h"
#include "../sensor/sensor.h"
#include "../sink/json.h"
#include "../sink/table.h"
#include "../sink/text.h"
#include "../capture/capture.h"
#include "../capture/intervals.h"
#include "every.h"
#include "thread_words.h"
#include "view.h"

enum {
	OPTION_OVER = 0x200, /* past the shared options' */
	OPTION_ALERT,
	ROWS_DEFAULT = 20,
	LOOK_NS = 10 * NSEC_PER_MSEC,	 /* at what goes on, in the stream's time */
	BEHIND_NS = 100 * NSEC_PER_MSEC, /* live: what is younger may not have been read */
	PRIO_SIZE = 24,
	TIME_SIZE = 24,
	PRIO_RT_ZERO = 100, /* real-time priority 0, as event.h counts */
	PRIO_NICE_ZERO = 121,
};

struct chosen {
	u64 alert_ns; /* 0: none */
	u64 over_ns;
	const char *over_text;
};

static const struct argp_option own_options[] = {
	{ "over", OPTION_OVER, "DURATION", 0, "Count inversions of at least this length (default 1ms)", 1 },
	{ "alert", OPTION_ALERT, "DURATION", 0,
	  "Print a line as soon as an inversion has lasted this long (default 100ms), or 'none'", 1 },
	{ 0 },
};

static const char *take_own(void *data, int key, const char *value)
{
	struct chosen *chosen = data;

	if (key == OPTION_ALERT) {
		chosen->alert_ns = 0;
		return strcmp(value, "none") ? parse_span(value, &chosen->alert_ns) : NULL;
	}
	chosen->over_text = value;
	return parse_span(value, &chosen->over_ns);
}

const struct command_usage inversions_usage = {
	.name = "inversions",
	.text = "Shows threads that waited for a CPU while one of lower priority ran there.\v"
		"Each row is a pair of threads: how many TIMES the runner was in the waiter's way, for how long in "
		"TOTAL, the LONGEST time, and AT how many seconds after the start that one ended.\n"
		"\n"
		"CLASS is the waiter's. The kernel promises deadline and realtime threads that this does not "
		"happen (except for the 5 % of a second that it keeps for others). It promises threads that differ "
		"in nice only shares: the lower one runs too, for slices of some ms.\n"
		"\n"
		"An inversion that lasts is reported while it lasts, each once (--alert).\n"
		"\n"
		"Filters choose the waiters; the runner can be any thread.\n"
		"\n"
		"Examples:\n"
		"  tactus inversions -d 10              the whole machine, for ten seconds\n"
		"  tactus inversions --over 5ms         only what lasts longer than a slice\n"
		"  tactus inversions -i FILE --json     of a recording, for a program to read",
	.takes = TAKES_EVENTS_OF_VIEW | TAKES_ROWS | TAKES_TABLE | TAKES_INTERVAL,
	.own = own_options,
	.take_own = take_own,
	.own_size = sizeof(struct chosen),
};

struct inversions_view {
	struct chosen chosen;
	struct capture capture;
	struct inversions inversions;
	const struct options *options;
	u64 looked_ns, alerts;
	bool failed;
};

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

#define INVERSION_TABLE(COLUMN, SHOWN)                         \
	COLUMN(INVERSION, waiter_tid, NULL, CELL_NUMBER)       \
	COLUMN(INVERSION, waiter_comm, NULL, CELL_TEXT)        \
	COLUMN(INVERSION, waiter_prio, NULL, CELL_SIGNED)      \
	SHOWN(INVERSION, waiter, "WAITER", CELL_TEXT)          \
	SHOWN(INVERSION, waiter_prio_words, "PRIO", CELL_TEXT) \
	COLUMN(INVERSION, runner_tid, NULL, CELL_NUMBER)       \
	COLUMN(INVERSION, runner_comm, NULL, CELL_TEXT)        \
	COLUMN(INVERSION, runner_prio, NULL, CELL_SIGNED)      \
	SHOWN(INVERSION, runner, "RUNNER", CELL_TEXT)          \
	SHOWN(INVERSION, runner_prio_words, "PRIO", CELL_TEXT) \
	COLUMN(INVERSION, class, "CLASS", CELL_TEXT)           \
	COLUMN(INVERSION, times, "TIMES", CELL_NUMBER)         \
	COLUMN(INVERSION, total_ns, "TOTAL", CELL_TIME)        \
	COLUMN(INVERSION, longest_ns, "LONGEST", CELL_TIME)    \
	COLUMN(INVERSION, longest_at_ns, NULL, CELL_MOMENT)    \
	SHOWN(INVERSION, at, "AT", CELL_TEXT)
TABLE_OF(columns, INVERSION);
const struct table_columns inversions_tables[] = { { columns, INVERSION_CELLS }, { 0 } };
static const struct table_look look = { .drops = "at,class,total" };

static void print_inversion(struct table *table, const struct inversion *inversion, u64 start_ns)
{
	static const char *const classes[] = {
		[PRIO_DEADLINE] = "deadline",
		[PRIO_REALTIME] = "realtime",
		[PRIO_NICE] = "nice",
	};
	char waiter_comm[COMM_TEXT_SIZE], runner_comm[COMM_TEXT_SIZE];
	char waiter[THREAD_WORDS_SIZE], runner[THREAD_WORDS_SIZE], waiter_prio[PRIO_SIZE], runner_prio[PRIO_SIZE],
		at[TIME_SIZE];

	comm_text(waiter_comm, &inversion->waiter->comm);
	comm_text(runner_comm, &inversion->runner->comm);
	comm_words(waiter, &inversion->waiter->comm, inversion->waiter->tid, THREAD_TIGHT);
	comm_words(runner, &inversion->runner->comm, inversion->runner->tid, THREAD_TIGHT);
	format_prio(waiter_prio, inversion->waiter_prio);
	format_prio(runner_prio, inversion->runner_prio);
	snprintf(at, sizeof(at), "%.6f", (double)span_between(start_ns, inversion->longest_at_ns) / NSEC_PER_SEC);
	table_row(table, (union cell[INVERSION_CELLS]){
				 [INVERSION_waiter_tid] = { .number = inversion->waiter->tid },
				 [INVERSION_waiter_comm] = { .text = waiter_comm },
				 [INVERSION_waiter_prio] = { .number = (u64)(s64)prio_printed(inversion->waiter_prio) },
				 [INVERSION_waiter] = { .text = waiter },
				 [INVERSION_waiter_prio_words] = { .text = waiter_prio },
				 [INVERSION_runner_tid] = { .number = inversion->runner->tid },
				 [INVERSION_runner_comm] = { .text = runner_comm },
				 [INVERSION_runner_prio] = { .number = (u64)(s64)prio_printed(inversion->runner_prio) },
				 [INVERSION_runner] = { .text = runner },
				 [INVERSION_runner_prio_words] = { .text = runner_prio },
				 [INVERSION_class] = { .text = classes[prio_class(inversion->waiter_prio)] },
				 [INVERSION_times] = { .number = inversion->times },
				 [INVERSION_total_ns] = { .number = inversion->total_ns },
				 [INVERSION_longest_ns] = { .number = inversion->longest_ns },
				 [INVERSION_longest_at_ns] = { .number = inversion->longest_at_ns },
				 [INVERSION_at] = { .text = at },
			 });
}

static int print_inversions(const struct inversions_view *view, const struct options *options)
{
	const struct inversions *inversions = &view->inversions;
	const struct inversion **list;
	struct table table;
	int error;

	if (!inversions->pairs_len) {
		if (!options->json)
			printf("no inversion longer than %s seen\n", view->chosen.over_text);
		return 0;
	}
	list = inversions_sorted(inversions);
	if (!list)
		return -1;
	table_open_for(&table, options, "inversion", columns, INVERSION_CELLS, ROWS_DEFAULT, &look);
	for (size_t i = 0; i < inversions->pairs_len; i++)
		print_inversion(&table, list[i], view->capture.threads.first_ns);
	error = table_close(&table);
	free(list);
	if (inversions->not_kept)
		note("%" PRIu64 " more inversions are not in the table: too many pairs of threads",
		     inversions->not_kept);
	return error;
}

static void print_alert_json(const struct inversion_now *now)
{
	struct json json = { .out = stdout };
	char waiter[COMM_TEXT_SIZE], runner[COMM_TEXT_SIZE];

	comm_text(waiter, &now->waiter->comm);
	comm_text(runner, &now->runner->comm);
	json_record(&json, "inversion_alert", true);
	json_u64(&json, "time_ns", now->from_ns + now->lasted_ns);
	json_u64(&json, "waiter_tid", now->waiter->tid);
	json_string(&json, "waiter_comm", waiter);
	json_s64(&json, "waiter_prio", prio_printed(now->waiter_prio));
	json_u64(&json, "runner_tid", now->runner->tid);
	json_string(&json, "runner_comm", runner);
	json_s64(&json, "runner_prio", prio_printed(now->runner_prio));
	json_u64(&json, "cpu", now->cpu);
	json_u64(&json, "lasted_ns", now->lasted_ns);
	json_object_end(&json);
	json_line_end(&json);
}

static void print_alert(void *data, const struct inversion_now *now)
{
	struct inversions_view *view = data;
	char waiter[THREAD_WORDS_SIZE], runner[THREAD_WORDS_SIZE], lasted[TIME_SIZE], waiter_prio[PRIO_SIZE],
		runner_prio[PRIO_SIZE];

	view->alerts++;
	if (view->options->json) {
		print_alert_json(now);
		return;
	}
	comm_words(waiter, &now->waiter->comm, now->waiter->tid, THREAD_TIGHT);
	comm_words(runner, &now->runner->comm, now->runner->tid, THREAD_TIGHT);
	format_prio(waiter_prio, now->waiter_prio);
	format_prio(runner_prio, now->runner_prio);
	format_time(lasted, sizeof(lasted), now->lasted_ns);
	printf("%10.3f s  %s (%s) has waited %s for CPU %u, where %s (%s) runs\n",
	       (double)span_between(view->capture.threads.first_ns, now->from_ns + now->lasted_ns) / NSEC_PER_SEC,
	       waiter, waiter_prio, lasted, now->cpu, runner, runner_prio);
}

/* What goes on now; not at every event, of which most change nothing about it. */
static void look_for_alerts(struct inversions_view *view, u64 now_ns)
{
	if (view->capture.before_window || !view->chosen.alert_ns || now_ns < view->looked_ns + LOOK_NS)
		return;
	view->looked_ns = now_ns;
	inversions_ongoing(&view->inversions, &view->capture.threads, now_ns);
}

/* Where one thread has all CPUs for itself, no event comes. */
static bool on_tick(void *data)
{
	struct inversions_view *view = data;

	look_for_alerts(view, clock_now_ns() - BEHIND_NS);
	/* A reader that went away ends it. */
	return fflush(stdout) == 0;
}

static void handle_event(void *data, const struct event_header *event, const struct wait *ended)
{
	struct inversions_view *view = data;
	struct inversions *inversions = &view->inversions;

	(void)ended;
	/* How many CPUs there are is known once the capture plays. */
	if (!inversions->cpus && inversions_init(inversions, view->capture.threads.cpus_len, view->chosen.over_ns)) {
		view->failed = true;
		return;
	}
	inversions->alert = (struct inversion_alert){ view->capture.before_window ? 0 : view->chosen.alert_ns,
						      print_alert, view };
	/* What ends with this event, and by whom it was, is known after it. */
	inversions_handle(inversions, &view->capture.threads, event);
	look_for_alerts(view, event->time_ns);
}

static void on_interval(void *data, u64 from_ns, u64 to_ns)
{
	struct inversions_view *view = data;

	every_begin(view->options, view->capture.threads.first_ns, from_ns, to_ns);
	view->failed |= print_inversions(view, view->options) != 0;
	every_end();
	inversions_restart(&view->inversions);
}

static void on_window(void *data)
{
	struct inversions_view *view = data;

	if (view->inversions.cpus)
		inversions_restart(&view->inversions);
}

int view_inversions(int argc, char **argv)
{
	struct inversions_view view = {
		.chosen = { .over_ns = NSEC_PER_MSEC, .over_text = "1 ms", .alert_ns = 100 * NSEC_PER_MSEC },
		.capture.request = { .view = "inversions",
				     .groups = EVENTS_SCHED,
				     .on_interval = on_interval,
				     .wants_before = true,
				     .on_window = on_window,
				     .on_event = handle_event,
				     .on_tick = on_tick,
				     .data = &view },
	};
	struct options options;
	int status;

	options_parse(&options, &inversions_usage, &view.chosen, argc, argv);
	table_check(&options, "inversions", inversions_tables);
	view.options = &options;
	view.capture.request.interval_ns = every_ns(&options);
	status = capture_run(&view.capture, &options);
	if (view.alerts && !options.json)
		putchar('\n');
	if (view.capture.threads.last_ns) {
		inversions_end(&view.inversions, &view.capture.threads);
		if ((intervals_have_rest(&view.capture) && print_inversions(&view, &options)) ||
		    view.inversions.failed || view.failed) {
			fail("inversions", "out of memory: not all inversions are shown");
			status = status ? status : EXIT_FAILURE;
		}
		capture_print_losses(&view.capture);
	}
	inversions_free(&view.inversions);
	capture_free(&view.capture);
	return status;
}
