// SPDX-License-Identifier: GPL-2.0
/* tactus roles: what each thread is for, at the end as a table, or with --follow each change as it happens.
 * Live or from a recording. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/say.h"
#include "../model/roles.h"
#include "../sensor/sensor.h"
#include "../sink/sheet.h"
#include "../sink/text.h"
#include "role_options.h"
#include "role_words.h"
#include "source.h"

enum { DEFAULT_ROWS = 30, KEY_FOLLOW = 0x200, KEY_LEARN };

static bool follow, learns;

static const char *take_own(int key, const char *value)
{
	if (key != KEY_FOLLOW && key != KEY_LEARN)
		return role_options_take(key, value);
	follow |= key == KEY_FOLLOW;
	learns |= key == KEY_LEARN;
	return NULL;
}

static const struct argp_option own[] = {
	{ "follow", KEY_FOLLOW, 0, 0, "Print each change as it happens, in place of the table at the end", 0 },
	{ "learn", KEY_LEARN, 0, 0, "Also remember what threads turn out to be, as 'tactus run' does", 0 },
	ROLE_OPTIONS,
	{ 0 },
};

static const struct command_usage usage = {
	.name = "roles",
	.text = "Shows what each thread is for: render, input, audio, network, compositor, background or cpu-bound; "
		"how "
		"sure that is, from 0 to 100, and why.\v"
		"Evidence from the strongest to the weakest: the user's word, a priority that Windows code asked for, "
		"submits to a GPU and frames presented, devices read and sockets served, how the thread runs, what was "
		"learned before, its name. Every sensor is optional; 'tactus doctor' tells which work here.\n"
		"TIER and BOOST are what a scheduler makes of it.\n"
		"\n"
		"Examples:\n"
		"  tactus roles -d 5\n"
		"  tactus roles --follow          each change as it happens\n"
		"  tactus roles -- ./game         just this command and its children\n"
		"  tactus roles -d 5 --without names,launch --json",
	.takes = TAKES_EVENTS_OF_VIEW | TAKES_ROWS,
	.own = own,
	.take_own = take_own,
};

static const struct column columns[] = {
	{ "time_ns", NULL, CELL_NUMBER },
	{ "tid", "TID", CELL_NUMBER },
	{ "pid", "PID", CELL_NUMBER },
	{ "comm", "COMM", CELL_TEXT },
	{ "was", NULL, CELL_TEXT },
	{ "role", "ROLE", CELL_TEXT },
	{ "confidence", "SURE", CELL_NUMBER },
	{ "tier", "TIER", CELL_TEXT },
	{ "boost", "BOOST", CELL_NUMBER },
	{ "evidence_kind", NULL, CELL_TEXT },
	{ "evidence", "EVIDENCE", CELL_TEXT },
	{ "process", "PROCESS", CELL_TEXT },
	{ "windows_priority", NULL, CELL_SIGNED },
	{ "linux_priority", NULL, CELL_TEXT },
	{ "gpu_submits", NULL, CELL_NUMBER },
	{ "presents", NULL, CELL_NUMBER },
	{ "input_reads", NULL, CELL_NUMBER },
	{ "audio_writes", NULL, CELL_NUMBER },
	{ "net_wakes", NULL, CELL_NUMBER },
	{ "frame_wakes", NULL, CELL_NUMBER },
	{ "wakeups", NULL, CELL_NUMBER },
	{ "wake_gap_ns", NULL, CELL_NUMBER },
	{ "cpu_ns", NULL, CELL_NUMBER },
	{ "age_ns", NULL, CELL_NUMBER },
};
enum { COLUMNS = sizeof(columns) / sizeof(columns[0]) };

static void add_row(struct sheet *sheet, const struct thread *thread, const struct event_role *event)
{
	char comm[COMM_LEN + 1] = "", words[ROLE_WORDS_SIZE], process[ROLE_WORDS_SIZE], prio[ROLE_WORDS_SIZE];

	memcpy(comm, thread->comm.text, COMM_LEN);
	role_words(words, event);
	process_words(process, event->process);
	prio_words(prio, event->prio);
	union cell cells[] = {
		{ .number = event->head.time_ns },
		{ .number = thread->tid },
		{ .number = thread->pid },
		{ .text = comm },
		{ .text = role_name(event->was_role) },
		{ .text = role_name(event->role) },
		{ .number = event->confidence },
		{ .text = tier_name(event->tier) },
		{ .number = event->boost },
		{ .text = evidence_name(event->evidence) },
		{ .text = words },
		{ .text = process },
		{ .number = event->has & HAS_WINE_PRIORITY ? (u64)(s64)event->wine_priority : CELL_NONE },
		{ .text = prio },
		{ .number = event->gpu_submits },
		{ .number = event->presents },
		{ .number = event->input_reads },
		{ .number = event->audio_writes },
		{ .number = event->net_wakes },
		{ .number = event->frame_wakes },
		{ .number = event->wakeups },
		{ .number = event->wake_gap_ns },
		{ .number = event->cpu_ns },
		{ .number = event->age_ns },
	};
	_Static_assert(sizeof(cells) / sizeof(cells[0]) == COLUMNS, "a cell a column");
	sheet_row(sheet, cells);
}

struct follower {
	struct source *source;
	bool json;
	bool headed;
	struct sheet sheet; /* JSON: each row is printed at once */
};

static void print_change(const struct follower *follower, const struct thread *thread, const struct event_role *event)
{
	char comm[COMM_LEN + 1] = "", plain[COMM_LEN * 4 + 1], words[ROLE_WORDS_SIZE];

	memcpy(comm, thread->comm.text, COMM_LEN);
	format_plain(plain, COMM_LEN, comm);
	role_words(words, event);
	printf("%10.3f s  %-15.15s [%6u]  %-10s -> %-10s %3u  %s\n",
	       (double)(event->head.time_ns - follower->source->threads.first_ns) / NSEC_PER_SEC, plain, thread->tid,
	       role_name(event->was_role), role_name(event->role), event->confidence, words);
}

static void on_event(void *data, const struct event_header *header, const struct wait *ended)
{
	const struct event_role *event = (const struct event_role *)header;
	struct follower *follower = data;
	const struct thread *thread;

	(void)ended;
	if (!follow || header->kind != EVENT_ROLE || (header->flags & EVENT_FLAG_CLOSING))
		return;
	thread = threads_by_tid(&follower->source->threads, header->tid);
	if (!thread || thread->bystander)
		return;
	if (follower->json)
		add_row(&follower->sheet, thread, event);
	else
		print_change(follower, thread, event);
}

static bool on_tick(void *data)
{
	(void)data;
	/* A reader that went away ends it. */
	return fflush(stdout) == 0;
}

static int print_rows(const struct source *source, const struct options *options)
{
	u32 most = options->rows ? options->rows : DEFAULT_ROWS;
	struct role_rows rows;
	struct sheet sheet;
	size_t row;

	if (role_rows_from(&rows, &source->threads))
		return fail("roles", "out of memory");
	sheet_open(&sheet, stdout, options->json, columns, COLUMNS);
	for (row = 0; row < rows.len && row < most; row++)
		add_row(&sheet, rows.all[row], rows.all[row]->role);
	if (sheet_close(&sheet))
		return fail("roles", "out of memory");
	if (!options->json && row < rows.len)
		printf("and %zu more (-n all shows them)\n", rows.len - row);
	role_rows_free(&rows);
	return 0;
}

int view_roles(int argc, char **argv)
{
	struct source source = { .view = "roles", .roles = true, .on_event = on_event, .on_tick = on_tick };
	struct follower follower = { .source = &source };
	struct options options;
	int status;

	options_parse(&options, &usage, argc, argv);
	sensor_set_verbose(options.verbose);
	source.learns = learns;
	source.forgets_ended = follow;
	follower.json = options.json;
	source.data = &follower;
	sheet_open(&follower.sheet, stdout, true, columns, COLUMNS);
	status = source_play(&source, &options);
	sheet_close(&follower.sheet);
	if (source.threads.last_ns && !follow && print_rows(&source, &options) && !status)
		status = EXIT_FAILURE;
	source_print_losses(&source);
	source_free(&source);
	return status;
}
