// SPDX-License-Identifier: GPL-2.0
/* tactus latency: how long threads that could run waited for a CPU: drawn, as percentiles, per thread or process,
 * and each long wait by itself with who was in the way. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "../base/say.h"
#include "../model/latency.h"
#include "../sensor/sensor.h"
#include "../sink/table.h"
#include "../sink/text.h"
#include "../capture/capture.h"
#include "../capture/intervals.h"
#include "every.h"
#include "stack_words.h"
#include "tables.h"
#include "thread_words.h"
#include "view.h"

enum {
	OPTION_OVER = 0x200, /* past the shared options' */
	OPTION_BY,
	ROWS_DEFAULT = 10,
	TIME_SIZE = 24,
	LINE_DEFAULT = 80,
	LINE_BESIDE_BAR = 44, /* what the other columns take of a line */
	BAR_LEAST = 10,
	BAR_MOST = 90,
};

struct chosen {
	u64 over_ns;
	bool by_process;
	enum stack_form stacks;
};

static const struct argp_option own_options[] = {
	{ "over", OPTION_OVER, "DURATION", 0, "Also list each wait longer than this (5ms, 200us)", 1 },
	{ "by", OPTION_BY, "thread|process", 0, "Sum up waits by thread (default) or by process", 1 },
	STACK_OPTIONS,
	{ 0 },
};

static const char *take_own(void *data, int key, const char *value)
{
	struct chosen *chosen = data;

	if (key == KEY_STACKS || key == KEY_FOLDED) {
		chosen->stacks = key == KEY_FOLDED ? STACKS_FOLDED : chosen->stacks ? chosen->stacks : STACKS_LISTED;
		return NULL;
	}
	if (key == OPTION_OVER)
		return parse_span(value, &chosen->over_ns);
	if (strcmp(value, "thread") != 0 && strcmp(value, "process") != 0)
		return "is neither thread nor process";
	chosen->by_process = strcmp(value, "process") == 0;
	return NULL;
}

static bool fits(const void *data, const struct options *options, const char *option)
{
	const struct chosen *chosen = data;

	return stacks_fit(chosen->stacks, options, option);
}

const struct command_usage latency_usage = {
	.name = "latency",
	.text = "Shows how long runnable threads waited for a CPU.\v"
		"A wait begins when a thread is woken or preempted, and ends when it runs. The table lists the "
		"threads with the longest waits.\n"
		"\n"
		"--over lists single waits in order of time (TIME: when the wait ended, in seconds since the "
		"start), or the 1000 longest if there are more. BEHIND is the thread, watched or not, that had, for "
		"most "
		"of the wait, the CPU on which the waiter then ran.\n"
		"--stacks adds where waits longer than --over began: the functions in which the thread left its CPU, "
		"and "
		"those in which it was woken. Functions of a program are seen as far as its code keeps frame "
		"pointers.\n"
		"\n"
		"Examples:\n"
		"  tactus latency -d 10                 the whole machine, for ten seconds\n"
		"  tactus latency --over 5ms -- ./game  a program's, and each wait over 5 ms\n"
		"  tactus latency --by process -n 20    the 20 processes that waited longest\n"
		"  tactus latency --over 1ms --folded -d 10 | flamegraph.pl >waits.svg\n"
		"  tactus latency --over 1ms --folded --report waits.folded -- ./game\n"
		"  tactus latency -i FILE --json        of a recording, for a program to read",
	.takes = TAKES_EVENTS_OF_VIEW | TAKES_ROWS | TAKES_TABLE | TAKES_INTERVAL,
	.own = own_options,
	.take_own = take_own,
	.own_size = sizeof(struct chosen),
	.fits = fits,
};

struct latency_view {
	struct chosen chosen;
	struct capture capture;
	struct latency latency;
	struct stacks stacks;
	struct options options;
	bool failed;
};

#define SUMMARY_OF(OF, COLUMN)                  \
	COLUMN(OF, waits, "WAITS", CELL_NUMBER) \
	COLUMN(OF, wait_ns, NULL, CELL_TIME)    \
	COLUMN(OF, p50_ns, "P50", CELL_TIME)    \
	COLUMN(OF, p90_ns, "P90", CELL_TIME)    \
	COLUMN(OF, p95_ns, "P95", CELL_TIME)    \
	COLUMN(OF, p99_ns, "P99", CELL_TIME)    \
	COLUMN(OF, p999_ns, "P99.9", CELL_TIME) \
	COLUMN(OF, max_ns, "MAX", CELL_TIME)
enum { SUMMARY_OF(SUMMARY, COLUMN_CELL) };

static void fill_summary(union cell *cells, const struct latency_summary *summary)
{
	cells[SUMMARY_waits].number = summary->waits;
	cells[SUMMARY_wait_ns].number = summary->wait_ns;
	cells[SUMMARY_p50_ns].number = summary->p50_ns;
	cells[SUMMARY_p90_ns].number = summary->p90_ns;
	cells[SUMMARY_p95_ns].number = summary->p95_ns;
	cells[SUMMARY_p99_ns].number = summary->p99_ns;
	cells[SUMMARY_p999_ns].number = summary->p999_ns;
	cells[SUMMARY_max_ns].number = summary->max_ns;
}

static int line_width(void)
{
	const char *columns = getenv("COLUMNS");
	struct winsize size;

	if (columns && atoi(columns) > 0)
		return atoi(columns);
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
		return size.ws_col;
	return LINE_DEFAULT;
}

static int bar_width(void)
{
	int width = line_width() - LINE_BESIDE_BAR;

	if (width < BAR_LEAST)
		return BAR_LEAST;
	return width < BAR_MOST ? width : BAR_MOST;
}

/* The waits of one power of two, which is a row. */
static u64 octave_count(const struct hist *hist, u32 octave)
{
	u64 count = 0;

	for (u32 slot = octave * HIST_SUBS; slot < (octave + 1) * HIST_SUBS; slot++)
		count += hist->counts[slot];
	return count;
}

#define OCTAVE_TABLE(COLUMN, SHOWN)                 \
	SHOWN(OCTAVE, waited, "WAITED", CELL_TEXT)  \
	SHOWN(OCTAVE, waits, "WAITS", CELL_NUMBER)  \
	SHOWN(OCTAVE, share, "SHARE", CELL_PERCENT) \
	SHOWN(OCTAVE, distribution, "DISTRIBUTION", CELL_TEXT)
TABLE_OF(octave_columns, OCTAVE);

static int print_histogram(const struct hist *hist)
{
	u32 octaves = HIST_SLOTS / HIST_SUBS, first = octaves, last = 0;
	u64 largest = 0;
	struct table table;

	for (u32 octave = 0; octave < octaves; octave++) {
		u64 count = octave_count(hist, octave);

		if (count && first == octaves)
			first = octave;
		last = count ? octave : last;
		largest = count > largest ? count : largest;
	}
	table_open(&table, stdout, false, "", octave_columns, OCTAVE_CELLS);
	for (u32 octave = first; octave <= last && octave < octaves; octave++) {
		char label[2 * TIME_SIZE + 8], low[TIME_SIZE], high[TIME_SIZE], bar[BAR_MOST + 1];
		u64 count = octave_count(hist, octave);
		size_t length = (size_t)((double)count * bar_width() / (double)largest + 0.5);
		union cell cells[OCTAVE_CELLS] = {
			[OCTAVE_waited] = { .text = label },
			[OCTAVE_waits] = { .number = count },
			[OCTAVE_share] = { .number = (u64)((double)count * 10000 / (double)hist->total + 0.5) },
			[OCTAVE_distribution] = { .text = bar },
		};

		format_time(low, sizeof(low), hist_slot_low(octave * HIST_SUBS));
		format_time(high, sizeof(high), hist_slot_high(octave * HIST_SUBS + HIST_SUBS - 1) + 1);
		snprintf(label, sizeof(label), "%7s - %7s", low, high);
		/* Few among many are still there to be seen. */
		length = count && !length ? 1 : length;
		memset(bar, '#', length);
		bar[length] = '\0';
		table_row(&table, cells);
	}
	return table_close(&table);
}

#define CAUSE_TABLE(COLUMN, SHOWN)              \
	COLUMN(CAUSE, row, NULL, CELL_TEXT)     \
	SHOWN(CAUSE, after, "AFTER", CELL_TEXT) \
	SUMMARY_OF(CAUSE, COLUMN)
TABLE_OF(cause_columns, CAUSE);

/* Its three rows are all there, however few of the others are asked for. */
int latency_print_summaries(const struct latency *latency, const struct options *options)
{
	struct hist all = latency->woken;
	const struct {
		const char *row, *label;
		const struct hist *hist;
	} kinds[] = {
		{ "all", "anything", &all },
		{ "wakeup", "a wake-up", &latency->woken },
		{ "preempt", "a preemption", &latency->preempted },
	};
	struct options whole = *options;
	struct table table;

	hist_merge(&all, &latency->preempted);
	whole.rows = 0;
	table_open_for(&table, &whole, "latency", cause_columns, CAUSE_CELLS, ROWS_ALL, NULL);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		struct latency_summary summary = latency_summary(kinds[i].hist);
		union cell cells[CAUSE_CELLS] = {
			[CAUSE_row] = { .text = kinds[i].row },
			[CAUSE_after] = { .text = kinds[i].label },
		};

		fill_summary(&cells[CAUSE_waits], &summary);
		table_row(&table, cells);
	}
	return table_close(&table);
}

#define WHO_TABLE(COLUMN, SHOWN)             \
	COLUMN(WHO, row, NULL, CELL_TEXT)    \
	COLUMN(WHO, tid, "TID", CELL_NUMBER) \
	COLUMN(WHO, pid, "PID", CELL_NUMBER) \
	COLUMN(WHO, comm, "COMM", CELL_TEXT) \
	SUMMARY_OF(WHO, COLUMN)
TABLE_OF(who_columns, WHO);
static const struct table_look who_look = { .drops = "pid,p90,p95,p999_ns" };

static int print_rows(const struct latency_view *view, const struct options *options)
{
	bool by_process = view->chosen.by_process;
	struct column columns[WHO_CELLS];
	size_t len;
	struct latency_row *rows = latency_rows(&view->latency, &view->capture.threads, by_process, &len);
	struct table table;
	int error;

	if (!rows && len)
		return -1;
	memcpy(columns, who_columns, sizeof(columns));
	if (by_process)
		columns[WHO_tid].title = NULL;
	table_open_for(&table, options, "latency_task", columns, WHO_CELLS, ROWS_DEFAULT, &who_look);
	for (size_t i = 0; rows && i < len; i++) {
		char comm[COMM_TEXT_SIZE];
		union cell cells[WHO_CELLS] = {
			[WHO_row] = { .text = by_process ? "process" : "thread" },
			[WHO_tid] = { .number = rows[i].tid },
			[WHO_pid] = { .number = rows[i].pid },
			[WHO_comm] = { .text = comm },
		};

		comm_text(comm, &rows[i].comm);
		fill_summary(&cells[WHO_waits], &rows[i].summary);
		table_row(&table, cells);
	}
	error = table_close(&table);
	free(rows);
	return error;
}

#define WAIT_TABLE(COLUMN, SHOWN)                    \
	COLUMN(WAIT, row, NULL, CELL_TEXT)           \
	COLUMN(WAIT, time_ns, NULL, CELL_MOMENT)     \
	SHOWN(WAIT, time, "TIME", CELL_TEXT)         \
	COLUMN(WAIT, wait_ns, "WAITED", CELL_TIME)   \
	COLUMN(WAIT, tid, NULL, CELL_NUMBER)         \
	COLUMN(WAIT, pid, NULL, CELL_NUMBER)         \
	COLUMN(WAIT, comm, NULL, CELL_TEXT)          \
	SHOWN(WAIT, thread, "THREAD", CELL_TEXT)     \
	COLUMN(WAIT, cpu, "CPU", CELL_NUMBER)        \
	COLUMN(WAIT, behind_tid, NULL, CELL_NUMBER)  \
	COLUMN(WAIT, behind_comm, NULL, CELL_TEXT)   \
	SHOWN(WAIT, behind, "BEHIND", CELL_TEXT)     \
	COLUMN(WAIT, waker_tid, NULL, CELL_NUMBER)   \
	COLUMN(WAIT, waker_comm, NULL, CELL_TEXT)    \
	SHOWN(WAIT, woken_by, "WOKEN BY", CELL_TEXT) \
	COLUMN(WAIT, kind, NULL, CELL_TEXT)          \
	SHOWN(WAIT, after, "AFTER", CELL_TEXT)
TABLE_OF(wait_columns, WAIT);
static const struct table_look wait_look = { .drops = "after,woken by" };
const struct table_columns latency_tables[] = {
	{ who_columns, WHO_CELLS }, { wait_columns, WAIT_CELLS }, { cause_columns, CAUSE_CELLS }, { 0 }
};

static void print_wait(struct table *table, const struct long_wait *wait, u64 start_ns)
{
	bool woken = wait->kind == WAIT_WOKEN, by_interrupt = woken && !wait->waker_tid;
	char comm[COMM_TEXT_SIZE], behind_comm[COMM_TEXT_SIZE], waker_comm[COMM_TEXT_SIZE];
	char thread[THREAD_WORDS_SIZE], behind[THREAD_WORDS_SIZE], waker[THREAD_WORDS_SIZE], at[TIME_SIZE];

	snprintf(at, sizeof(at), "%.6f", (double)span_between(start_ns, wait->to_ns) / NSEC_PER_SEC);
	comm_text(comm, &wait->comm);
	comm_text(behind_comm, &wait->behind_comm);
	comm_text(waker_comm, &wait->waker_comm);
	comm_words(thread, &wait->comm, wait->tid, THREAD_TIGHT);
	comm_words(behind, &wait->behind_comm, wait->behind_tid, THREAD_TIGHT);
	if (wait->culprit != CULPRIT_THREAD)
		snprintf(behind, sizeof(behind), "%s", wait->culprit == CULPRIT_IDLE ? "idle" : "not known");
	comm_words(waker, &wait->waker_comm, wait->waker_tid, THREAD_TIGHT);
	if (!woken || by_interrupt)
		snprintf(waker, sizeof(waker), "%s", woken ? "an interrupt" : "-");
	table_row(table, (union cell[WAIT_CELLS]){
				 [WAIT_row] = { .text = "wait" },
				 [WAIT_time_ns] = { .number = wait->to_ns },
				 [WAIT_time] = { .text = at },
				 [WAIT_wait_ns] = { .number = wait->wait_ns },
				 [WAIT_tid] = { .number = wait->tid },
				 [WAIT_pid] = { .number = wait->pid },
				 [WAIT_comm] = { .text = comm },
				 [WAIT_thread] = { .text = thread },
				 [WAIT_cpu] = { .number = wait->cpu },
				 [WAIT_behind_tid] = { .number = wait->behind_tid },
				 [WAIT_behind_comm] = { .text = wait->culprit == CULPRIT_IDLE ? "idle" : behind_comm },
				 [WAIT_behind] = { .text = behind },
				 [WAIT_waker_tid] = { .number = wait->waker_tid },
				 [WAIT_waker_comm] = { .text = by_interrupt ? "idle" : waker_comm },
				 [WAIT_woken_by] = { .text = waker },
				 [WAIT_kind] = { .text = woken ? "wakeup" : "preempt" },
				 [WAIT_after] = { .text = woken ? "wake-up" : "preemption" },
			 });
}

static int print_waits(struct latency_view *view, const struct options *options)
{
	struct latency *latency = &view->latency;
	struct table table;

	latency_order_waits(latency);
	table_open_for(&table, options, "wait", wait_columns, WAIT_CELLS, ROWS_ALL, &wait_look);
	for (u32 i = 0; i < latency->longest_len; i++)
		print_wait(&table, &latency->longest[i], view->capture.threads.first_ns);
	return table_close(&table);
}

static void print_gap(bool json)
{
	if (!json)
		putchar('\n');
}

static int print_latency(struct latency_view *view, const struct options *options)
{
	const struct latency *latency = &view->latency;
	struct hist all = latency->woken;
	int error = 0;

	if (view->chosen.stacks == STACKS_FOLDED) {
		stacks_print(&view->stacks, options, STACKS_FOLDED, "waited", ROWS_ALL);
		return 0;
	}
	hist_merge(&all, &latency->preempted);
	if (!options->json && all.total) {
		error |= print_histogram(&all);
		print_gap(options->json);
	}
	error |= latency_print_summaries(latency, options);
	if (options->json || all.total) {
		print_gap(options->json);
		error |= print_rows(view, options);
	}
	if (view->chosen.over_ns && (options->json || latency->longest_len)) {
		print_gap(options->json);
		error |= print_waits(view, options);
	}
	if (view->chosen.stacks)
		stacks_print(&view->stacks, options, STACKS_LISTED, "waited", ROWS_DEFAULT);
	if (latency->not_listed)
		note("%" PRIu64 " more waits were that long: the %d longest are listed", latency->not_listed,
		     LATENCY_WAITS_KEPT);
	return error || latency->failed ? fail("latency", "out of memory: not all waits are shown") : 0;
}

static void handle_event(void *data, const struct event_header *event, const struct wait *ended)
{
	struct latency_view *view = data;
	const struct event_stack *stack = (const struct event_stack *)event;

	if (view->chosen.stacks)
		stacks_handle(&view->stacks, event);
	if (view->chosen.stacks && event->kind == EVENT_STACK && stack->wait_ns > view->chosen.over_ns &&
	    !view->capture.before_window)
		stacks_count(&view->stacks, &view->capture.threads, stack, stack->wait_ns);
	latency_handle(&view->latency, &view->capture.threads, event, ended);
}

static void on_interval(void *data, u64 from_ns, u64 to_ns)
{
	struct latency_view *view = data;

	every_begin(&view->options, view->capture.threads.first_ns, from_ns, to_ns);
	view->failed |= print_latency(view, &view->options) != 0;
	every_end();
	latency_restart(&view->latency);
	stacks_restart(&view->stacks);
}

static void on_window(void *data)
{
	struct latency_view *view = data;

	latency_restart(&view->latency);
}

static bool on_tick(void *data)
{
	(void)data;
	/* A reader that went away ends it. */
	return fflush(stdout) == 0;
}

int view_latency(int argc, char **argv)
{
	struct latency_view view = {
		.capture.request = { .view = "latency",
				     .groups = EVENTS_SCHED,
				     .on_interval = on_interval,
				     .wants_before = true,
				     .on_window = on_window,
				     .on_event = handle_event,
				     .data = &view },
	};
	const char *conflict;
	int status;

	options_parse(&view.options, &latency_usage, &view.chosen, argc, argv);
	table_check(&view.options, "latency", latency_tables);
	conflict = stacks_conflict(&view.options, view.chosen.stacks);
	if (conflict)
		return fail("latency", "%s", conflict), EXIT_USAGE;
	if (view.chosen.stacks)
		view.capture.request.groups |= EVENTS_STACKS;
	view.capture.request.names_stacks = view.chosen.stacks;
	view.capture.request.stacks_over_ns = view.chosen.over_ns;
	latency_init(&view.latency, view.chosen.over_ns);
	/* Folded lines are one file, on a terminal too. */
	if (view.chosen.stacks != STACKS_FOLDED)
		view.capture.request.interval_ns = every_ns(&view.options);
	view.capture.request.on_tick = view.capture.request.interval_ns ? on_tick : NULL;
	status = capture_run(&view.capture, &view.options);
	if (view.capture.threads.last_ns) {
		if (intervals_have_rest(&view.capture) && print_latency(&view, &view.options))
			view.failed = true;
		if (view.failed && !status)
			status = EXIT_FAILURE;
		capture_print_losses(&view.capture);
	}
	latency_free(&view.latency);
	stacks_free(&view.stacks);
	capture_free(&view.capture);
	return status;
}
