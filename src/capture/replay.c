// SPDX-License-Identifier: GPL-2.0
/* Plays a recording to a view. What was before the part that is asked for makes known who runs, who waits and what
 * threads are for, and is counted nowhere; so does what a recording itself has from before its start. */
#include "replay.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../base/privileges.h"
#include "../model/event_filter.h"
#include "../stream/stream.h"
#include "capture_filter.h"
#include "excerpt_find.h"
#include "intervals.h"
#include "role_options.h"

/* Functions on a stack are found and named a little after the thread is back. */
enum { NAMED_WITHIN_NS = NSEC_PER_SEC };

struct replay {
	struct capture *capture;
	const struct options *options;
	struct stream *stream;
	struct event_filter *filter; /* NULL: none was given */
	u64 from_ns, to_ns;	     /* 0: from the first event on; ~0: to the last */
	u64 events;		     /* in between */
	bool ended;
};

/* The topology goes with the stream; the threads need it longer. */
static int keep_info(struct capture *capture, const struct recording_info *info)
{
	u32 len = info->cpus_len;

	capture->info = *info;
	capture->info.topology = calloc(len ? len : 1, sizeof(*info->topology));
	if (!capture->info.topology || threads_init(&capture->threads, capture->info.topology, len))
		return fail(capture->request.view, "out of memory");
	memcpy(capture->info.topology, info->topology, len * sizeof(*info->topology));
	capture->threads.first_ns = info->mono_start_ns;
	capture->threads.ended_most = capture_ended_most(&capture->request);
	return 0;
}

/* A thread that ended before is none of those that are shown. */
static void forget_roles_of_ended(struct threads *threads)
{
	for (size_t i = 0; i < threads->len; i++) {
		if (!threads->all[i]->ended)
			continue;
		free(threads->all[i]->role);
		threads->all[i]->role = NULL;
	}
}

static void begin_window(struct replay *replay, u64 now_ns)
{
	struct capture *capture = replay->capture;
	struct threads *threads = &capture->threads;
	u64 from_ns = replay->from_ns ? replay->from_ns : now_ns;

	if (!threads->first_ns)
		threads->first_ns = from_ns;
	threads_charge(threads, from_ns);
	threads_restart(threads);
	forget_roles_of_ended(threads);
	/* See give_before. */
	if (replay->from_ns > capture->info.mono_start_ns) {
		threads->lost = 0;
		memset(threads->lost_kinds, 0, sizeof(threads->lost_kinds));
	}
	threads->last_ns = from_ns;
	capture->before_window = false;
	capture->window_from_ns = from_ns;
	intervals_begin(capture);
	if (capture->request.on_window)
		capture->request.on_window(capture->request.data);
}

static void end_window(struct replay *replay)
{
	struct capture *capture = replay->capture;

	intervals_pass(capture, replay->to_ns);
	threads_charge(&capture->threads, replay->to_ns);
	capture->threads.last_ns = replay->to_ns;
	replay->ended = true;
	if (!capture->request.names_stacks)
		stream_stop_replay(replay->stream);
}

/* Behind the part that is asked for: only what names its stacks. */
static void give_behind(struct replay *replay, const struct event_header *event)
{
	const struct capture_request *request = &replay->capture->request;

	if (event->time_ns - replay->to_ns > NAMED_WITHIN_NS)
		stream_stop_replay(replay->stream);
	else if (event->kind == EVENT_STACK_FRAME && request->names_stacks)
		request->on_event(request->data, event, NULL);
}

static void give_before(struct replay *replay, const struct event_header *event)
{
	struct capture *capture = replay->capture;
	struct wait ended;
	bool waited;

	/* What was lost before a recording's first event is missing from all of it. */
	if (event->kind == EVENT_LOST && replay->from_ns <= capture->info.mono_start_ns) {
		capture->before_window = false;
		capture_give(capture, event);
		capture->before_window = true;
		return;
	}
	waited = threads_handle(&capture->threads, event, &ended);
	if (capture->request.wants_before && capture->request.on_event)
		capture->request.on_event(capture->request.data, event, waited ? &ended : NULL);
}

/* By the times of all events, of whomever. */
static void pass_time(struct replay *replay, u64 now_ns)
{
	struct capture *capture = replay->capture;

	if (capture->before_window && now_ns >= replay->from_ns)
		begin_window(replay, now_ns);
	if (capture->before_window || replay->ended)
		return;
	if (now_ns >= replay->to_ns)
		end_window(replay);
	else if (now_ns > capture->threads.last_ns)
		capture->threads.last_ns = now_ns;
}

static void on_recorded(void *data, const struct event_header *event)
{
	struct replay *replay = data;
	union any_event changed;

	if (replay->capture->stopped) {
		stream_stop_replay(replay->stream);
		return;
	}
	pass_time(replay, event->time_ns);
	if (replay->ended) {
		give_behind(replay, event);
		return;
	}
	if (replay->filter)
		event = event_filter_pass(replay->filter, event, &changed);
	if (!event)
		return;
	if (replay->capture->before_window) {
		give_before(replay, event);
		return;
	}
	replay->events++;
	capture_give(replay->capture, event);
}

/* Returns 0, or after a message the status to end with. */
static int choose_window(struct replay *replay)
{
	struct excerpt part = replay->options->excerpt;
	u64 start_ns = replay->capture->info.mono_start_ns;
	struct reason why;

	replay->capture->is_excerpt = !excerpt_is_empty(&part) || replay->filter;
	if (part.around && excerpt_find_frame(&part, replay->options, &why))
		return fail(replay->options->input, "%s", why.text);
	replay->from_ns = start_ns + part.from_ns;
	replay->to_ns = part.has_to ? start_ns + part.to_ns : ~0ULL;
	replay->capture->before_window = true;
	return 0;
}

/* Returns 0, or after a message the status to end with. */
static int check_window(struct replay *replay)
{
	struct capture *capture = replay->capture;
	double length_s = (double)span_between(capture->threads.first_ns, capture->threads.last_ns) / NSEC_PER_SEC;

	if (capture->before_window && replay->options->excerpt.has_from) {
		/* There is nothing to print. */
		capture->threads.last_ns = 0;
		return fail(replay->options->input, "is %.3f s long: nothing lies after --from", length_s);
	}
	if (!replay->events && capture->is_excerpt && !capture->before_window)
		note("%s: no event lies in that part of it", replay->options->input);
	if (!replay->events && capture->before_window)
		note("%s: has no events", replay->options->input);
	return 0;
}

static int replay_all(struct replay *replay)
{
	struct capture *capture = replay->capture;
	const char *path = replay->options->input;
	struct reason why = { "" };
	int status = 0, got;
	/* Lines that are printed as they come show how far it is. */
	bool shows_progress = !capture->request.on_tick || !isatty(STDOUT_FILENO);

	got = stream_replay(replay->stream, shows_progress, &why);
	intervals_pass(capture, capture->threads.last_ns);

	if (got < 0)
		status = fail(path, "%s; what came before is shown", why.text);
	else if (got)
		note("%s: ends in the middle of a block: everything before it is shown", path);
	capture->losses.events = capture->threads.lost;
	memcpy(capture->losses.of_kind, capture->threads.lost_kinds, sizeof(capture->losses.of_kind));
	capture->losses.threads = capture->threads.refused;
	return status ? status : check_window(replay);
}

static int open_filter(struct replay *replay)
{
	const struct filter *filter = &replay->options->filter;
	int status = capture_check_cpus(replay->capture, filter);

	if (status || filter_is_empty(filter))
		return status;
	replay->filter = event_filter_open(filter, !replay->capture->request.only_matching);
	return replay->filter ? 0 : fail(replay->capture->request.view, "out of memory");
}

static void say_of_filter(const struct replay *replay, int status)
{
	char words[FILTER_WORDS_SIZE];

	filter_words(&replay->options->filter, words);
	if (!status && !event_filter_matched(replay->filter))
		note("no thread in the recording matched %s", words);
	if (event_filter_failed(replay->filter))
		note("there was no memory for all threads: some that match may be missing");
}

static int play(struct replay *replay, const struct recording_info *info)
{
	struct capture *capture = replay->capture;
	int status = keep_info(capture, info);

	if (!status)
		status = open_filter(replay);
	if (!status)
		status = choose_window(replay);
	if (!status)
		status = replay_all(replay);
	if (replay->filter)
		say_of_filter(replay, status);
	event_filter_close(replay->filter);
	return status;
}

static int read_one(struct capture *capture, const struct options *options)
{
	struct replay replay = { .capture = capture, .options = options };
	const struct recording_info *info;
	struct reason why = { "" };
	int status;

	if (stream_open(&replay.stream, on_recorded, &replay)) {
		recording_close_reader(capture->request.opened);
		return fail(capture->request.view, "out of memory");
	}
	if (capture->request.opened)
		info = stream_take_recording(replay.stream, capture->request.opened);
	else if (stream_open_recording(replay.stream, options->input, &info, &why)) {
		stream_close(replay.stream);
		return fail(options->input, "%s", why.text);
	}
	capture->replay = true;
	status = capture_open_outputs(&capture->request, options);
	if (!capture->request.opened)
		privileges_give_up_but_folder(capture->folder ? capture->folder : -1);
	if (!status)
		status = play(&replay, info);
	stream_close(replay.stream);
	return status;
}

int capture_replay(struct capture *capture, const struct options *options)
{
	struct options of_one;

	if (role_options_given()) {
		fail(capture->request.view, "--%s is for what is watched now: a recording has its roles",
		     role_options_given());
		return EXIT_USAGE;
	}
	if (options->inputs.len <= 1)
		return read_one(capture, options);
	of_one = *options;
	of_one.input = several_each(&options->inputs, !options->json);
	return read_one(capture, &of_one);
}
