// SPDX-License-Identifier: GPL-2.0
/* Takes the stream, asks the models what it means, and hands what comes of it to a trace: late frames and why, long
 * waits, missed deadlines, moves. */
#include "export_trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void exporter_open(struct exporter *exporter, const struct trace_form *form, void *sink, struct threads *threads,
		   u64 over_ns, u64 base)
{
	*exporter = (struct exporter){
		.form = form, .sink = sink, .threads = threads, .over_ns = over_ns, .last_id = base, .last_flow = base
	};
	frames_init(&exporter->frames, true);
	cuda_init(&exporter->cuda);
	steps_init(&exporter->steps, NULL);
}

void exporter_close(struct exporter *exporter)
{
	for (size_t i = 0; i < exporter->places_len; i++)
		free(exporter->places[i]);
	for (size_t i = 0; i < WORDED_KERNELS; i++)
		free(exporter->worded[i].words);
	free(exporter->places);
	map_free(&exporter->by_place);
	frames_free(&exporter->frames);
	misses_free(&exporter->misses);
	cuda_free(&exporter->cuda);
	steps_free(&exporter->steps);
	inputs_free(&exporter->inputs);
	stacks_free(&exporter->stacks);
	free(exporter->away);
}

void exporter_begin(struct exporter *exporter, u64 now_ns)
{
	struct threads *threads = exporter->threads;

	exporter->from_ns = exporter->second_ns = exporter->queues_ns = now_ns;
	for (size_t i = 0; i < threads->len; i++) {
		struct thread *thread = threads->all[i];

		if (thread->ended)
			continue;
		export_thread_known(exporter, thread, now_ns, 0);
		if (thread->role)
			export_role(exporter, thread, thread->role, now_ns);
	}
	export_running(exporter, now_ns);
}

/* Once a second: how often it happened since. */
static void write_rates(struct exporter *exporter, u64 now_ns)
{
	u64 span_ns = now_ns - exporter->second_ns;

	for (size_t i = 0; i < exporter->places_len; i++) {
		struct place *place = exporter->places[i];
		bool of_frames = place->kind == PLACE_FRAMES;
		u64 rate = (place->count * NSEC_PER_SEC + span_ns / 2) / span_ns;

		if ((!of_frames && place->kind != PLACE_LAUNCHES) || (place->is_written && rate == place->written))
			continue;
		exporter->form->count(exporter->sink,
				      export_counter(exporter, place, (u32)place->key,
						     of_frames ? "frames a second" : "CUDA launches a second", "1/s"),
				      exporter->second_ns, rate);
		place->written = rate;
		place->is_written = true;
	}
	for (size_t i = 0; i < exporter->places_len; i++)
		if (exporter->places[i]->kind == PLACE_FRAMES || exporter->places[i]->kind == PLACE_LAUNCHES)
			exporter->places[i]->count = 0;
	exporter->second_ns = now_ns;
	/* Times of frames are not needed any more. */
	frames_turn_over_for_good(&exporter->frames);
}

static void count_rate(struct exporter *exporter, enum place_kind kind, u32 tid)
{
	const struct thread *thread = threads_by_tid(exporter->threads, tid);
	struct place *place = thread && thread->pid ? export_place(exporter, kind, thread->pid) : NULL;

	if (place)
		place->count++;
}

/* Names come once, some after what they name. */
static void take_names(struct exporter *exporter, const struct event_header *event)
{
	if (event->kind == EVENT_CUDA_NAME)
		cuda_handle(&exporter->cuda, exporter->threads, event);
	if (event->kind == EVENT_DEVICE)
		inputs_handle(&exporter->inputs, exporter->threads, event);
	if (event->kind == EVENT_STACK_FRAME)
		stacks_handle(&exporter->stacks, event);
}

static void take_verdicts(struct exporter *exporter, const struct event_header *event, const struct wait *ended,
			  bool is_before)
{
	const struct frame_process *process = NULL;
	struct late_frame frame = { 0 };
	struct miss missed[MISSES_AT_ONCE];
	struct move moved;
	bool is_late = frames_handle(&exporter->frames, exporter->threads, event, &frame, &process);
	u32 misses = misses_handle(&exporter->misses, exporter->threads, event, missed);
	bool has_moved = moves_handle(&exporter->moves, exporter->threads, event, &moved);

	if (is_before)
		return;
	export_sched(exporter, event, ended);
	if (event->kind == EVENT_FRAME && process) {
		count_rate(exporter, PLACE_FRAMES, event->tid);
		export_frame(exporter, (const struct event_frame *)event, &frame, process, is_late);
	}
	for (u32 i = 0; i < misses; i++)
		export_miss(exporter, &missed[i]);
	if (has_moved && moved.at_ns >= exporter->from_ns)
		export_move(exporter, &moved);
}

/* Who launches nothing takes no steps. */
static void take_steps(struct exporter *exporter, const struct event_header *event, bool is_before)
{
	const struct step_process *process;
	struct step step;

	if (!exporter->steps.processes && event->kind != EVENT_CUDA_LAUNCH && event->kind != EVENT_CUDA_CALL)
		return;
	if (steps_handle(&exporter->steps, exporter->threads, &exporter->cuda, event, &step, &process) && !is_before)
		export_step(exporter, &step);
}

void exporter_take(struct exporter *exporter, const struct event_header *event, const struct wait *ended,
		   bool is_before)
{
	take_names(exporter, event);
	/* Of no thread and of no time: it may come from behind the part. */
	if (event->kind == EVENT_STACK_FRAME)
		return;
	if (!is_before && !exporter->from_ns)
		exporter_begin(exporter, event->time_ns);
	if (!is_before && event->time_ns > exporter->second_ns && event->time_ns - exporter->second_ns >= NSEC_PER_SEC)
		write_rates(exporter, event->time_ns);
	take_verdicts(exporter, event, ended, is_before);
	take_steps(exporter, event, is_before);
	if (is_before)
		return;
	exporter->events++;
	if (event->kind == EVENT_CUDA_LAUNCH)
		count_rate(exporter, PLACE_LAUNCHES, event->tid);
	if (event->kind == EVENT_STACK)
		export_stacks(exporter, (const struct event_stack *)event, false);
	export_other(exporter, event);
}

/* What has begun and not ended ends with the trace, and the trace ends where nothing more is known. */
void exporter_end(struct exporter *exporter, u64 now_ns)
{
	struct threads *threads = exporter->threads;
	struct trace_mark last = { .from_ns = now_ns, .is_instant = true, .name = "end", .category = "tactus" };
	struct place *place = export_place(exporter, PLACE_END, 0);
	size_t at = 0;
	struct move move;

	export_stacks(exporter, NULL, true);
	if (exporter->from_ns && now_ns > exporter->second_ns)
		write_rates(exporter, now_ns);
	export_queues(exporter);
	for (size_t i = 0; i < threads->len; i++)
		export_role_ends(exporter, threads->all[i], now_ns);
	while (moves_left(&exporter->moves, threads, &at, &move))
		if (move.at_ns >= exporter->from_ns)
			export_move(exporter, &move);
	last.track = export_place_lane(exporter, place, "recording", ~0ULL, 0);
	if (last.track)
		exporter->form->mark(exporter->sink, &last);
	exporter->form->end(exporter->sink, now_ns);
	exporter->failed |= exporter->frames.failed || exporter->misses.failed || exporter->moves.failed ||
			    exporter->steps.failed;
}
