// SPDX-License-Identifier: GPL-2.0
/* Finds a frame by its number, which is the one that 'tactus frames' gives it. Processes count their frames each for
 * itself.
 */
#include "excerpt_find.h"

#include <inttypes.h>

#include "../model/event_filter.h"
#include "../model/frames.h"
#include "../stream/recording.h"

/* What is looked for, and what was found so far. */
struct search {
	u64 number;
	struct threads threads;
	struct frames frames;
	struct event_filter *filter;
	u64 from_ns, to_ns; /* of the frame */
	u32 pid;	    /* whose it is; 0: none has been found */
	u32 other_pid;	    /* who else has one of that number; 0: nobody */
};

static void look_at(struct search *search, const struct event_header *event)
{
	const struct frame_process *process = NULL;
	const struct event_frame *frame = (const struct event_frame *)event;
	union any_event changed;
	struct late_frame late;
	struct wait ended;

	if (search->filter)
		event = event_filter_pass(search->filter, event, &changed);
	if (!event)
		return;
	threads_handle(&search->threads, event, &ended);
	frames_handle(&search->frames, &search->threads, event, &late, &process);
	if (event->kind != EVENT_FRAME || !process || process->frames != search->number)
		return;
	if (search->pid) {
		search->other_pid = process->pid;
		return;
	}
	search->pid = process->pid;
	search->to_ns = event->time_ns;
	search->from_ns = frame->interval_ns <= PACE_PAUSE_NS ? span_between(frame->interval_ns, event->time_ns)
							      : event->time_ns;
}

static int not_found(const struct search *search, struct reason *why)
{
	u64 most = 0;

	if (search->other_pid) {
		reason_set(why, "processes %u and %u each have a frame %" PRIu64 ": choose one with -p", search->pid,
			   search->other_pid, search->number);
		return -1;
	}
	for (const struct frame_process *process = search->frames.processes; process; process = process->next)
		if (process->frames > most)
			most = process->frames;
	if (most)
		reason_set(why, "there is no frame %" PRIu64 ": the last one is %" PRIu64, search->number, most);
	else
		reason_set(why, "there is no frame %" PRIu64 ": none was presented", search->number);
	return -1;
}

static int look_through(struct search *search, const char *path, struct excerpt *part, struct reason *why)
{
	const struct recording_info *info;
	const struct event_header *event;
	struct recording_reader *reader;
	u64 start_ns;

	if (recording_open(&reader, path, why))
		return -1;
	info = recording_reader_info(reader);
	start_ns = info->mono_start_ns;
	if (threads_init(&search->threads, info->topology, info->cpus_len)) {
		recording_close_reader(reader);
		reason_set(why, "out of memory");
		return -1;
	}
	/* What can't be read is said by who plays it. */
	while (recording_next(reader, &event, why) > 0)
		look_at(search, event);
	recording_close_reader(reader);
	if (!search->pid || search->other_pid)
		return not_found(search, why);
	part->from_ns = span_between(start_ns + part->margin_ns, search->from_ns);
	part->to_ns = span_between(start_ns, search->to_ns) + part->margin_ns + 1;
	part->has_from = part->has_to = true;
	return 0;
}

int excerpt_find_frame(struct excerpt *part, const struct options *options, struct reason *why)
{
	struct search search = { .number = part->around };
	int error = -1;

	frames_init(&search.frames, false);
	if (!filter_is_empty(&options->filter))
		search.filter = event_filter_open(&options->filter, false);
	if (!filter_is_empty(&options->filter) && !search.filter)
		reason_set(why, "out of memory");
	else
		error = look_through(&search, options->input, part, why);
	event_filter_close(search.filter);
	frames_free(&search.frames);
	threads_free(&search.threads);
	return error;
}
