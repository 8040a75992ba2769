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
#include "../sink/sheet.h"
#include "../sink/text.h"
#include "source.h"

enum {
	OPTION_OVER = 0x200, /* past the shared options' */
	OPTION_BY,
	ROWS_DEFAULT = 10,
	NAME_SIZE = COMM_LEN + 16, /* "comm [tid]" */
	TIME_SIZE = 24,
	LINE_DEFAULT = 80,
	LINE_BESIDE_BAR = 44, /* what the other columns take of a line */
	BAR_LEAST = 10,
	BAR_MOST = 90,
};

static u64 over_ns;
static bool by_process;

static const struct argp_option own_options[] = {
	{ "over", OPTION_OVER, "DURATION", 0, "Also list each single wait longer than this (5ms, 200us)", 1 },
	{ "by", OPTION_BY, "thread|process", 0, "Whose waits the table sums up: thread (default) or process", 1 },
	{ 0 },
};

static const char *take_own(int key, const char *value)
{
	if (key == OPTION_OVER)
		return parse_duration(value, &over_ns) ? "is not a span of time such as 5ms" : NULL;
	if (strcmp(value, "thread") != 0 && strcmp(value, "process") != 0)
		return "is neither thread nor process";
	by_process = strcmp(value, "process") == 0;
	return NULL;
}

static const struct command_usage usage = {
	.name = "latency",
	.text = "Shows how long threads that could run waited for a CPU.\v"
		"A wait begins when a thread is woken, or pushed off its CPU, and ends when it runs. "
		"The table has the threads with the longest waits.\n"
		"\n"
		"--over lists single waits in order of time (TIME: when it ended, in seconds since the start), "
		"the 1000 longest if there are more. BEHIND is who had, for most of the wait, the CPU that the "
		"thread then got, be it watched or not.\n"
		"\n"
		"Examples:\n"
		"  tactus latency -d 10                 the whole machine, for ten seconds\n"
		"  tactus latency --over 5ms -- ./game  a program's, and each wait over 5 ms\n"
		"  tactus latency --by process -n 20    the 20 processes that waited longest\n"
		"  tactus latency -i FILE --json        of a recording, for a program to read",
	.takes = TAKES_EVENTS_OF_VIEW | TAKES_ROWS,
	.own = own_options,
	.take_own = take_own,
};

struct latency_view {
	struct source source;
	struct latency latency;
};

/* clang-format off */
#define SUMMARY_COLUMNS                            \
	{ "waits", "WAITS", CELL_NUMBER },         \
	{ "wait_ns", NULL, CELL_TIME },            \
	{ "p50_ns", "P50", CELL_TIME },            \
	{ "p90_ns", "P90", CELL_TIME },            \
	{ "p95_ns", "P95", CELL_TIME },            \
	{ "p99_ns", "P99", CELL_TIME },            \
	{ "p999_ns", "P99.9", CELL_TIME },         \
	{ "max_ns", "MAX", CELL_TIME }
/* clang-format on */
enum { SUMMARY_CELLS = 8 };

static void fill_summary(union cell *cells, const struct latency_summary *summary)
{
	cells[0].number = summary->waits;
	cells[1].number = summary->wait_ns;
	cells[2].number = summary->p50_ns;
	cells[3].number = summary->p90_ns;
	cells[4].number = summary->p95_ns;
	cells[5].number = summary->p99_ns;
	cells[6].number = summary->p999_ns;
	cells[7].number = summary->max_ns;
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

static int print_histogram(const struct hist *hist)
{
	static const struct column columns[] = {
		{ NULL, "WAITED", CELL_TEXT },
		{ NULL, "WAITS", CELL_NUMBER },
		{ NULL, "SHARE", CELL_PERCENT },
		{ NULL, "DISTRIBUTION", CELL_TEXT },
	};
	u32 octaves = HIST_SLOTS / HIST_SUBS, first = octaves, last = 0;
	u64 largest = 0;
	struct sheet sheet;

	for (u32 octave = 0; octave < octaves; octave++) {
		u64 count = octave_count(hist, octave);

		if (count && first == octaves)
			first = octave;
		last = count ? octave : last;
		largest = count > largest ? count : largest;
	}
	sheet_open(&sheet, stdout, false, columns, sizeof(columns) / sizeof(columns[0]));
	for (u32 octave = first; octave <= last && octave < octaves; octave++) {
		char label[2 * TIME_SIZE + 8], low[TIME_SIZE], high[TIME_SIZE], bar[BAR_MOST + 1];
		u64 count = octave_count(hist, octave);
		size_t length = (size_t)((double)count * bar_width() / (double)largest + 0.5);

		format_time(low, sizeof(low), hist_slot_low(octave * HIST_SUBS));
		format_time(high, sizeof(high), hist_slot_high(octave * HIST_SUBS + HIST_SUBS - 1) + 1);
		snprintf(label, sizeof(label), "%7s - %7s", low, high);
		/* Few among many are still there to be seen. */
		length = count && !length ? 1 : length;
		memset(bar, '#', length);
		bar[length] = '\0';
		sheet_row(&sheet,
			  (union cell[]){ { .text = label },
					  { .number = count },
					  { .number = (u64)((double)count * 10000 / (double)hist->total + 0.5) },
					  { .text = bar } });
	}
	return sheet_close(&sheet);
}

static int print_summaries(const struct latency *latency, const struct hist *all, bool json)
{
	static const struct column columns[] = { { "row", NULL, CELL_TEXT },
						 { NULL, "AFTER", CELL_TEXT },
						 SUMMARY_COLUMNS };
	const struct {
		const char *row, *label;
		const struct hist *hist;
	} kinds[] = {
		{ "all", "anything", all },
		{ "wakeup", "a wake-up", &latency->woken },
		{ "preempt", "a preemption", &latency->preempted },
	};
	struct sheet sheet;

	sheet_open(&sheet, stdout, json, columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		struct latency_summary summary = latency_summary(kinds[i].hist);
		union cell cells[2 + SUMMARY_CELLS] = { { .text = kinds[i].row }, { .text = kinds[i].label } };

		fill_summary(cells + 2, &summary);
		sheet_row(&sheet, cells);
	}
	return sheet_close(&sheet);
}

static int print_rows(const struct latency_view *view, const struct options *options)
{
	struct column columns[] = { { "row", NULL, CELL_TEXT },
				    { "tid", by_process ? NULL : "TID", CELL_NUMBER },
				    { "pid", "PID", CELL_NUMBER },
				    { "comm", "COMM", CELL_TEXT },
				    SUMMARY_COLUMNS };
	size_t len, shown = options->rows ? options->rows : ROWS_DEFAULT;
	struct latency_row *rows = latency_rows(&view->latency, &view->source.threads, by_process, &len);
	struct sheet sheet;
	int error;

	if (!rows && len)
		return -1;
	sheet_open(&sheet, stdout, options->json, columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; rows && i < len && i < shown; i++) {
		union cell cells[4 + SUMMARY_CELLS] = {
			{ .text = by_process ? "process" : "thread" },
			{ .number = rows[i].tid },
			{ .number = rows[i].pid },
			{ .text = rows[i].comm.text },
		};

		fill_summary(cells + 4, &rows[i].summary);
		sheet_row(&sheet, cells);
	}
	error = sheet_close(&sheet);
	if (!options->json && len > shown)
		printf("and %zu more (-n all shows them)\n", len - shown);
	free(rows);
	return error;
}

static void format_thread(char *into, const struct comm *comm, u32 tid)
{
	snprintf(into, NAME_SIZE, "%.*s [%" PRIu32 "]", COMM_LEN - 1, comm->text, tid);
}

static void print_wait(struct sheet *sheet, const struct long_wait *wait, u64 start_ns)
{
	bool woken = wait->kind == WAIT_WOKEN, by_interrupt = woken && !wait->waker_tid;
	const char *behind_comm = wait->culprit == CULPRIT_IDLE ? "idle" : wait->behind_comm.text;
	const char *waker_comm = by_interrupt ? "idle" : wait->waker_comm.text;
	char thread[NAME_SIZE], behind[NAME_SIZE], waker[NAME_SIZE], at[TIME_SIZE];

	snprintf(at, sizeof(at), "%.6f", (double)span_between(start_ns, wait->to_ns) / NSEC_PER_SEC);
	format_thread(thread, &wait->comm, wait->tid);
	format_thread(behind, &wait->behind_comm, wait->behind_tid);
	if (wait->culprit != CULPRIT_THREAD)
		snprintf(behind, sizeof(behind), "%s", wait->culprit == CULPRIT_IDLE ? "idle" : "not known");
	format_thread(waker, &wait->waker_comm, wait->waker_tid);
	if (!woken || by_interrupt)
		snprintf(waker, sizeof(waker), "%s", woken ? "an interrupt" : "-");
	sheet_row(sheet, (union cell[]){
				 { .text = "wait" },
				 { .number = wait->to_ns },
				 { .text = at },
				 { .number = wait->wait_ns },
				 { .number = wait->tid },
				 { .number = wait->pid },
				 { .text = wait->comm.text },
				 { .text = thread },
				 { .number = wait->cpu },
				 { .number = wait->behind_tid },
				 { .text = behind_comm },
				 { .text = behind },
				 { .number = wait->waker_tid },
				 { .text = waker_comm },
				 { .text = waker },
				 { .text = woken ? "wakeup" : "preempt" },
				 { .text = woken ? "wake-up" : "preemption" },
			 });
}

static int print_waits(struct latency_view *view, bool json)
{
	static const struct column columns[] = {
		{ "row", NULL, CELL_TEXT },	    { "time_ns", NULL, CELL_NUMBER },
		{ NULL, "TIME", CELL_TEXT },	    { "wait_ns", "WAITED", CELL_TIME },
		{ "tid", NULL, CELL_NUMBER },	    { "pid", NULL, CELL_NUMBER },
		{ "comm", NULL, CELL_TEXT },	    { NULL, "THREAD", CELL_TEXT },
		{ "cpu", "CPU", CELL_NUMBER },	    { "behind_tid", NULL, CELL_NUMBER },
		{ "behind_comm", NULL, CELL_TEXT }, { NULL, "BEHIND", CELL_TEXT },
		{ "waker_tid", NULL, CELL_NUMBER }, { "waker_comm", NULL, CELL_TEXT },
		{ NULL, "WOKEN BY", CELL_TEXT },    { "kind", NULL, CELL_TEXT },
		{ NULL, "AFTER", CELL_TEXT },
	};
	struct latency *latency = &view->latency;
	struct sheet sheet;

	latency_order_waits(latency);
	sheet_open(&sheet, stdout, json, columns, sizeof(columns) / sizeof(columns[0]));
	for (u32 i = 0; i < latency->longest_len; i++)
		print_wait(&sheet, &latency->longest[i], view->source.threads.first_ns);
	return sheet_close(&sheet);
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

	hist_merge(&all, &latency->preempted);
	if (!options->json && all.total) {
		error |= print_histogram(&all);
		print_gap(options->json);
	}
	error |= print_summaries(latency, &all, options->json);
	if (options->json || all.total) {
		print_gap(options->json);
		error |= print_rows(view, options);
	}
	if (over_ns && (options->json || latency->longest_len)) {
		print_gap(options->json);
		error |= print_waits(view, options->json);
	}
	if (latency->not_listed)
		note("%" PRIu64 " more waits were that long: the %d longest are listed", latency->not_listed,
		     LATENCY_WAITS_KEPT);
	return error || latency->failed ? fail("latency", "out of memory: not all waits are shown") : 0;
}

static void take_event(void *data, const struct event_header *event, const struct wait *ended)
{
	struct latency_view *view = data;

	latency_take(&view->latency, &view->source.threads, event, ended);
}

int view_latency(int argc, char **argv)
{
	struct latency_view view = {
		.source = { .view = "latency", .events = true, .on_event = take_event, .data = &view },
	};
	struct options options;
	int status;

	options_parse(&options, &usage, argc, argv);
	sensor_set_verbose(options.verbose);
	latency_init(&view.latency, over_ns);
	status = source_play(&view.source, &options);
	if (view.source.threads.last_ns) {
		if (print_latency(&view, &options) && !status)
			status = EXIT_FAILURE;
		source_print_losses(&view.source);
	}
	latency_free(&view.latency);
	source_free(&view.source);
	return status;
}
