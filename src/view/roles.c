// SPDX-License-Identifier: GPL-2.0
/* tactus roles: what each thread is for, at the end as a table, or with --follow each change as it happens.
 * Live or from a recording. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "../base/say.h"
#include "../model/roles.h"
#include "../sensor/sensor.h"
#include "../sink/table.h"
#include "../capture/role_options.h"
#include "role_words.h"
#include "../capture/capture.h"
#include "thread_words.h"
#include "view.h"

enum { DEFAULT_ROWS = 30, KEY_FOLLOW = 0x200, KEY_LEARN };

struct chosen {
	bool follow, learns;
};

static const char *take_own(void *data, int key, const char *value)
{
	struct chosen *chosen = data;

	if (key != KEY_FOLLOW && key != KEY_LEARN)
		return role_options_take(key, value);
	chosen->follow |= key == KEY_FOLLOW;
	chosen->learns |= key == KEY_LEARN;
	return NULL;
}

static const struct argp_option own_options[] = {
	{ "follow", KEY_FOLLOW, 0, 0, "Print each change as it happens, instead of the table at the end", 0 },
	{ "learn", KEY_LEARN, 0, OPTION_LIVE, "Also remember what threads turn out to be, as 'tactus run' does", 0 },
	ROLE_OPTIONS,
	{ 0 },
};

const struct command_usage roles_usage = {
	.name = "roles",
	.text = "Shows what each thread is for: render, input, audio, network, compositor, background or "
		"cpu-bound; the confidence from 0 to 100; and the evidence.\v"
		"Evidence, strongest first: the user's configuration; a priority that Windows code asked for; "
		"submits to a GPU and frames presented; devices read and sockets served; how the thread runs; what "
		"was learned in earlier runs; its name. Every sensor is optional; 'tactus doctor' shows which ones "
		"work here.\n"
		"TIER and BOOST are what a scheduler derives from the role.\n"
		"\n"
		"Examples:\n"
		"  tactus roles -d 5\n"
		"  tactus roles --follow          each change as it happens\n"
		"  tactus roles -- ./game         just this command and its children\n"
		"  tactus roles -d 5 --without names,launch --json",
	.takes = TAKES_EVENTS_OF_VIEW | TAKES_ROWS | TAKES_TABLE,
	.own = own_options,
	.take_own = take_own,
	.own_size = sizeof(struct chosen),
};

#define ROLE_TABLE(COLUMN, SHOWN)                         \
	COLUMN(ROLE, time_ns, NULL, CELL_MOMENT)          \
	COLUMN(ROLE, tid, "TID", CELL_NUMBER)             \
	COLUMN(ROLE, pid, "PID", CELL_NUMBER)             \
	COLUMN(ROLE, comm, "COMM", CELL_TEXT)             \
	COLUMN(ROLE, was, NULL, CELL_TEXT)                \
	COLUMN(ROLE, role, "ROLE", CELL_TEXT)             \
	COLUMN(ROLE, confidence, "SURE", CELL_NUMBER)     \
	COLUMN(ROLE, tier, "TIER", CELL_TEXT)             \
	COLUMN(ROLE, boost, "BOOST", CELL_NUMBER)         \
	COLUMN(ROLE, evidence_kind, NULL, CELL_TEXT)      \
	COLUMN(ROLE, evidence, "EVIDENCE", CELL_TEXT)     \
	COLUMN(ROLE, process, "PROCESS", CELL_TEXT)       \
	COLUMN(ROLE, windows_priority, NULL, CELL_SIGNED) \
	COLUMN(ROLE, windows_class, NULL, CELL_TEXT)      \
	COLUMN(ROLE, linux_priority, NULL, CELL_TEXT)     \
	COLUMN(ROLE, gpu_submits, NULL, CELL_NUMBER)      \
	COLUMN(ROLE, presents, NULL, CELL_NUMBER)         \
	COLUMN(ROLE, input_reads, NULL, CELL_NUMBER)      \
	COLUMN(ROLE, audio_writes, NULL, CELL_NUMBER)     \
	COLUMN(ROLE, net_wakes, NULL, CELL_NUMBER)        \
	COLUMN(ROLE, frame_wakes, NULL, CELL_NUMBER)      \
	COLUMN(ROLE, wakeups, NULL, CELL_NUMBER)          \
	COLUMN(ROLE, wake_gap_ns, NULL, CELL_NUMBER)      \
	COLUMN(ROLE, cpu_ns, NULL, CELL_NUMBER)           \
	COLUMN(ROLE, age_ns, NULL, CELL_NUMBER)
TABLE_OF(columns, ROLE);
const struct table_columns roles_tables[] = { { columns, ROLE_CELLS }, { 0 } };
static const struct table_look look = { .drops = "process,boost,pid,evidence" };

static void add_row(struct table *table, const struct thread *thread, const struct event_role *event)
{
	char comm[COMM_TEXT_SIZE], words[ROLE_WORDS_SIZE], process[ROLE_WORDS_SIZE], prio[ROLE_WORDS_SIZE];

	comm_text(comm, &thread->comm);
	role_words(words, event);
	process_words(process, event->process);
	prio_words(prio, event->prio);
	union cell cells[ROLE_CELLS] = {
		[ROLE_time_ns] = { .number = event->head.time_ns },
		[ROLE_tid] = { .number = thread->tid },
		[ROLE_pid] = { .number = thread->pid },
		[ROLE_comm] = { .text = comm },
		[ROLE_was] = { .text = role_name(event->was_role) },
		[ROLE_role] = { .text = role_name(event->role) },
		[ROLE_confidence] = { .number = event->confidence },
		[ROLE_tier] = { .text = tier_name(event->tier) },
		[ROLE_boost] = { .number = event->boost },
		[ROLE_evidence_kind] = { .text = evidence_name(event->evidence) },
		[ROLE_evidence] = { .text = words },
		[ROLE_process] = { .text = process },
		[ROLE_windows_priority] = { .number = event->has & HAS_WINE_PRIORITY ? (u64)(s64)event->wine_priority
										     : CELL_NONE },
		[ROLE_windows_class] = { .text = wine_class_name(event->wine_class) },
		[ROLE_linux_priority] = { .text = prio },
		[ROLE_gpu_submits] = { .number = event->gpu_submits },
		[ROLE_presents] = { .number = event->presents },
		[ROLE_input_reads] = { .number = event->input_reads },
		[ROLE_audio_writes] = { .number = event->audio_writes },
		[ROLE_net_wakes] = { .number = event->net_wakes },
		[ROLE_frame_wakes] = { .number = event->frame_wakes },
		[ROLE_wakeups] = { .number = event->wakeups },
		[ROLE_wake_gap_ns] = { .number = event->wake_gap_ns },
		[ROLE_cpu_ns] = { .number = event->cpu_ns },
		[ROLE_age_ns] = { .number = event->age_ns },
	};
	table_row(table, cells);
}

struct follower {
	struct chosen chosen;
	struct capture *capture;
	bool json;
	bool headed;
	struct table table; /* JSON: each row is printed at once */
};

static void print_change(const struct follower *follower, const struct thread *thread, const struct event_role *event)
{
	char who[THREAD_WORDS_SIZE], words[ROLE_WORDS_SIZE];

	comm_words(who, &thread->comm, thread->tid, THREAD_IN_COLUMN);
	role_words(words, event);
	printf("%10.3f s  %s  %-10s -> %-10s %3u  %s\n",
	       (double)(event->head.time_ns - follower->capture->threads.first_ns) / NSEC_PER_SEC, who,
	       role_name(event->was_role), role_name(event->role), event->confidence, words);
}

static void on_event(void *data, const struct event_header *header, const struct wait *ended)
{
	const struct event_role *event = (const struct event_role *)header;
	struct follower *follower = data;
	const struct thread *thread;

	(void)ended;
	if (!follower->chosen.follow || header->kind != EVENT_ROLE || (header->flags & EVENT_FLAG_CLOSING))
		return;
	thread = threads_by_tid(&follower->capture->threads, header->tid);
	if (!thread || thread->bystander)
		return;
	if (follower->json)
		add_row(&follower->table, thread, event);
	else
		print_change(follower, thread, event);
}

static bool on_tick(void *data)
{
	(void)data;
	/* A reader that went away ends it. */
	return fflush(stdout) == 0;
}

static int print_rows(const struct capture *capture, const struct options *options)
{
	struct role_rows rows;
	struct table table;
	size_t row;

	if (role_rows_from(&rows, &capture->threads))
		return fail("roles", "out of memory");
	table_open_for(&table, options, "role", columns, ROLE_CELLS, DEFAULT_ROWS, &look);
	for (row = 0; row < rows.len; row++)
		add_row(&table, rows.all[row], rows.all[row]->role);
	if (table_close(&table))
		return fail("roles", "out of memory");
	role_rows_free(&rows);
	return 0;
}

int view_roles(int argc, char **argv)
{
	struct capture capture = {
		.request = { .view = "roles", .groups = EVENTS_ROLES, .on_event = on_event, .on_tick = on_tick }
	};
	struct follower follower = { .capture = &capture };
	struct options options;
	int status;

	options_parse(&options, &roles_usage, &follower.chosen, argc, argv);
	if (options.input && follower.chosen.learns) {
		fail("roles", "--learn is for what is watched now: nothing is learned from a recording");
		return EXIT_USAGE;
	}
	capture.request.learns = follower.chosen.learns;
	capture.request.forgets_ended = follower.chosen.follow;
	follower.json = options.json;
	capture.request.data = &follower;
	table_check(&options, "roles", roles_tables);
	table_open(&follower.table, NULL, true, "role", columns, ROLE_CELLS);
	status = capture_run(&capture, &options);
	table_close(&follower.table);
	if (capture.threads.last_ns && !follower.chosen.follow && print_rows(&capture, &options) && !status)
		status = EXIT_FAILURE;
	capture_print_losses(&capture);
	capture_free(&capture);
	return status;
}
