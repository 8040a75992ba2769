// SPDX-License-Identifier: GPL-2.0
/* Fuzzing what views make of a stream: any bytes, as events of any kind in any order, go through every model at once.
 * The first byte says how: bit 0 mends times so that they grow, bit 1 few tids, bit 2 ended threads are forgotten,
 * bit 3 what is compared, which has frames and misses of its own, takes their place. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../core/event_info.h"
#include "../../src/model/collectives.h"
#include "../../src/model/compare_take.h"
#include "../../src/model/cuda.h"
#include "../../src/model/driver_memory.h"
#include "../../src/model/driver_work.h"
#include "../../src/model/event_filter.h"
#include "../../src/model/frames.h"
#include "../../src/model/inputs.h"
#include "../../src/model/inversions.h"
#include "../../src/model/latency.h"
#include "../../src/model/lead_in.h"
#include "../../src/model/misses.h"
#include "../../src/model/moves.h"
#include "../../src/model/report.h"
#include "../../src/model/roles.h"
#include "../../src/model/stacks.h"
#include "../../src/model/steps.h"
#include "../../src/model/submits.h"
#include "../../src/model/tasks.h"
#include "../../src/model/threads.h"
#include "../../src/model/to_frame.h"
#include "../../src/sink/event.h"

enum { GROWING_TIMES = 1, FEW_TIDS = 2, FORGETS = 4, COMPARES = 8, CPUS = 4, PIECE_EVENTS = 16, EVENT_BYTES_MAX = 512 };

static void require(bool held, const char *what)
{
	if (held)
		return;
	fprintf(stderr, "does not hold: %s\n", what);
	abort();
}

static struct {
	struct threads threads;
	struct frames frames;
	struct latency latency;
	struct report *report;
	struct stacks stacks;
	struct inversions inversions;
	struct misses misses;
	struct moves moves;
	struct submits submits;
	struct inputs inputs;
	struct to_frames to_frames;
	struct cuda cuda;
	struct steps steps;
	struct collectives collectives;
	struct driver_memory driver_memory;
	struct driver_work driver_work;
	struct event_filter *filter;
	struct lead_in *lead_in;
	struct compare_take compare;
	struct blocks blocks;
	u64 piece_from_ns, piece_events;
	bool keeps_threads; /* so that models which hold on to them may take part */
} all;
static FILE *nowhere;

static void take_stacks(const struct event_header *event)
{
	static const struct comm comm = { "who" };
	const struct event_stack *stack = (const struct event_stack *)event;

	stacks_handle(&all.stacks, event);
	if (event->kind != EVENT_STACK)
		return;
	stacks_add(&all.stacks, stack, 1, &comm, &comm, stack->off_ns);
	require(stacks_longest(&all.stacks, event->tid, 0, ~0ull) || !event->time_ns,
		"a return that was just seen is known");
}

static void print_again(void *data, const struct event_header *event)
{
	(void)data;
	require(event_info(event->kind), "what is kept is an event");
	print_event_json(nowhere, event);
}

static void filter_and_keep(const struct event_header *event)
{
	union any_event changed;
	const struct event_header *passed = event_filter_pass(all.filter, event, &changed);

	require(!passed || passed->kind == event->kind, "what passes is of the same kind");
	if (passed)
		lead_in_take(all.lead_in, passed);
}

/* Pieces of time end now and then, whatever the clock says. */
static void take_compared(const struct event_header *event, const struct wait *ended)
{
	compare_take_event(&all.compare, &all.threads, event, ended);
	if (++all.piece_events % PIECE_EVENTS)
		return;
	compare_take_piece_ends(&all.compare, &all.threads, all.piece_from_ns, event->time_ns);
	all.piece_from_ns = event->time_ns;
	require(all.blocks.len <= BLOCKS_MOST && all.blocks.programs_len <= BLOCKS_PROGRAMS, "blocks are few");
}

static void take_frames_and_misses(const struct event_header *event, const struct wait *ended)
{
	const struct frame_process *process = NULL;
	struct miss found[MISSES_AT_ONCE];
	struct frame_record record;
	struct late_frame late;

	require(misses_handle(&all.misses, &all.threads, event, found) <= MISSES_AT_ONCE, "misses have room");
	if (frames_handle(&all.frames, &all.threads, event, &late, &process))
		require(process && late.interval_ns, "a late frame has a process and took time");
	report_handle(all.report, &all.threads, &all.frames, event, ended, process ? &late : NULL, process);
	require(all.report->bins <= REPORT_BINS, "a report's bins have an end");
	if (frames_next_record(&all.frames, event->time_ns, &record, &process))
		require(process && record.frame.parts_len <= LATE_PARTS,
			"a record has a process and its parts have room");
}

static void take(const struct event_header *event)
{
	const struct step_process *step_process;
	struct to_frame answer;
	struct stall stall;
	struct wait ended;
	struct step step;
	struct move done;
	bool waited = threads_handle(&all.threads, event, &ended);

	require(!waited || ended.thread, "a wait that ended has a thread");
	moves_handle(&all.moves, &all.threads, event, &done);
	if (all.compare.blocks)
		take_compared(event, waited ? &ended : NULL);
	else
		take_frames_and_misses(event, waited ? &ended : NULL);
	submits_handle(&all.submits, &all.threads, event, &stall);
	inputs_handle(&all.inputs, &all.threads, event);
	to_frames_handle(&all.to_frames, &all.threads, event);
	if (to_frames_next(&all.to_frames, &all.threads, event->time_ns, &answer))
		require(all.to_frames.rows_len <= TO_FRAME_ROWS, "frames that answer input have room");
	cuda_handle(&all.cuda, &all.threads, event);
	collectives_handle(&all.collectives, &all.cuda, event);
	driver_memory_handle(&all.driver_memory, event);
	driver_work_handle(&all.driver_work, event);
	require(!steps_handle(&all.steps, &all.threads, &all.cuda, event, &step, &step_process) ||
			step.part < STEP_PARTS,
		"a step has a cause");
	if (all.keeps_threads) {
		take_stacks(event);
		latency_handle(&all.latency, &all.threads, event, waited ? &ended : NULL);
		inversions_handle(&all.inversions, &all.threads, event);
	}
	print_event_json(nowhere, event);
	print_event_words(nowhere, event);
	filter_and_keep(event);
}

static void look_at_rows(void)
{
	struct role_rows roles;
	struct tasks tasks;
	struct move left;
	size_t len, at = 0;

	for (int by_process = 0; by_process < 2; by_process++) {
		free(latency_rows(&all.latency, &all.threads, by_process, &len));
		if (!tasks_from_threads(&tasks, &all.threads, by_process)) {
			tasks_sort(&tasks, TASKS_BY_WAIT);
			tasks_free(&tasks);
		}
	}
	latency_order_waits(&all.latency);
	stacks_order(&all.stacks);
	while (moves_left(&all.moves, &all.threads, &at, &left))
		;
	free(moves_sorted(&all.threads, &len));
	free(misses_sorted(&all.misses, &all.threads, &len));
	report_end(all.report, &all.threads, all.threads.last_ns);
	for (u32 i = 0; i < all.report->frames.late_len; i++)
		require(all.report->frames.late[i]->steps_len <= REPORT_STEPS, "a late frame's path has an end");
	inversions_end(&all.inversions, &all.threads);
	free(inversions_sorted(&all.inversions));
	if (!role_rows_from(&roles, &all.threads))
		role_rows_free(&roles);
	for (const struct frame_process *process = all.frames.processes; process; process = process->next) {
		frame_times(process, 0);
		frame_server_times(process);
		frame_part_times(process, FRAME_ANIMATION_ERROR);
	}
	frames_turn_over(&all.frames);
	frames_restart(&all.frames);
	lead_in_give(all.lead_in, print_again, NULL);
	lead_in_give_closing(all.lead_in, 1, print_again, NULL);
	cuda_end(&all.cuda);
}

static void begin(unsigned char how)
{
	static struct cpu_topology topology[CPUS] = { { 0, 0, 0, 1 }, { 0, 0, 0, 1 }, { 2, 0, 0, 1 }, { 3, 3, 1, 1 } };

	static const struct filter wanted = { .pids = { 1 }, .pids_len = 1, .cpus = { 3 }, .has_cpus = true };

	memset(&all, 0, sizeof(all));
	all.filter = event_filter_open(&wanted, how & FEW_TIDS);
	all.lead_in = lead_in_open(4);
	all.report = report_new(CPUS, NULL);
	require(all.filter && all.lead_in && all.report, "there is memory");
	all.keeps_threads = !(how & FORGETS);
	all.misses.of_all = true;
	require(!threads_init(&all.threads, topology, CPUS) && !inversions_init(&all.inversions, CPUS, 1000),
		"there is memory");
	all.threads.ended_most = how & FORGETS ? 4 : 0;
	latency_init(&all.latency, 1000);
	frames_init(&all.frames, true);
	compare_take_init(&all.compare);
	all.compare.blocks = how & COMPARES ? &all.blocks : NULL;
	all.frames.keeps_records = !(how & FORGETS);
	cuda_init(&all.cuda);
	steps_init(&all.steps, NULL);
	if (!nowhere)
		nowhere = fopen("/dev/null", "we");
}

static void end(void)
{
	event_filter_close(all.filter);
	lead_in_close(all.lead_in);
	blocks_end(&all.blocks);
	blocks_free(&all.blocks);
	compare_take_free(&all.compare);
	steps_free(&all.steps);
	collectives_free(&all.collectives);
	driver_memory_free(&all.driver_memory);
	cuda_free(&all.cuda);
	inputs_free(&all.inputs);
	submits_free(&all.submits);
	misses_free(&all.misses);
	inversions_free(&all.inversions);
	latency_free(&all.latency);
	report_free(all.report);
	stacks_free(&all.stacks);
	frames_free(&all.frames);
	threads_free(&all.threads);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	_Alignas(8) unsigned char bytes[EVENT_BYTES_MAX];
	struct event_header *event = (struct event_header *)bytes;
	unsigned char how = size ? *data++ : 0;
	u64 now_ns = 1;

	begin(how);
	for (size_t left = size ? size - 1 : 0; left >= sizeof(*event);) {
		const struct event_info *info;
		size_t len;

		memcpy(event, data, sizeof(*event));
		event->kind = (u8)(1 + event->kind % (EVENT_KINDS - 1));
		info = event_info(event->kind);
		require(info->bytes <= sizeof(bytes), "an event fits");
		len = info->bytes < left ? info->bytes : left;
		memset(bytes + sizeof(*event), 0, info->bytes - sizeof(*event));
		memcpy(bytes + sizeof(*event), data + sizeof(*event), len - sizeof(*event));
		data += len;
		left -= len;
		if (how & GROWING_TIMES)
			event->time_ns = now_ns += event->time_ns % 20000000;
		if (how & FEW_TIDS)
			event->tid %= 8;
		take(event);
	}
	look_at_rows();
	end();
	return 0;
}
