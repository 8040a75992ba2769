// SPDX-License-Identifier: GPL-2.0
/* Merges the sources by time, and hands each event first to the recorder, then to whoever reads the stream. */
#include "stream.h"

#include <errno.h>
#include <stdlib.h>

#include "../base/progress.h"
#include "event_queue.h"
#include "rings.h"

enum { SOURCES_MAX = 4 };

struct stream {
	event_handler handle;
	void *data;
	struct rings *rings;
	struct stream_source sources[SOURCES_MAX];
	int sources_len;
	struct event_queue added;
	struct recording_reader *recording;
	bool stopped; /* the recording is wanted no further */
	struct recording_writer *recorder;
	int record_error;
	u64 handed_ns;	/* the time of the last event that was handed over */
	u64 drained_ns; /* what is older has been handed over */
	u64 end_ns;	/* of the window; 0: it is not known yet */
};

int stream_open(struct stream **out, event_handler handle, void *data)
{
	*out = calloc(1, sizeof(**out));
	if (!*out)
		return -ENOMEM;
	(*out)->handle = handle;
	(*out)->data = data;
	return 0;
}

void stream_close(struct stream *stream)
{
	if (!stream)
		return;
	rings_close(stream->rings);
	event_queue_free(&stream->added);
	recording_close_writer(stream->recorder);
	recording_close_reader(stream->recording);
	free(stream);
}

int stream_add_rings(struct stream *stream, const int *ring_fds, const struct sched_cpu *cpus, u32 len)
{
	return rings_open(&stream->rings, ring_fds, cpus, len);
}

int stream_add_source(struct stream *stream, const struct stream_source *source)
{
	if (stream->sources_len == SOURCES_MAX)
		return -ENOSPC;
	stream->sources[stream->sources_len++] = *source;
	return 0;
}

int stream_open_recording(struct stream *stream, const char *path, const struct recording_info **info,
			  struct reason *why)
{
	int error = recording_open(&stream->recording, path, why);

	if (error)
		stream->recording = NULL;
	else
		*info = recording_reader_info(stream->recording);
	return error;
}

const struct recording_info *stream_take_recording(struct stream *stream, struct recording_reader *recording)
{
	stream->recording = recording;
	return recording_reader_info(recording);
}

/* Events between two looks at it. */
enum { LOOK_AT_CLOCK = 8192 };

int stream_replay(struct stream *stream, bool shows_progress, struct reason *why)
{
	const struct event_header *event;
	struct progress progress = { 0 };
	u64 done = 0, whole;
	int got = 0;

	if (shows_progress)
		progress_begin(&progress, "reading the recording", "events");
	while (!stream->stopped && (got = recording_next(stream->recording, &event, why)) > 0) {
		stream->handle(stream->data, event);
		if (++done % LOOK_AT_CLOCK == 0)
			progress_at(&progress, done, recording_reader_bytes(stream->recording, &whole), whole);
	}
	progress_end(&progress);
	if (stream->stopped)
		return 0;
	return got < 0 ? got : recording_was_cut(stream->recording);
}

void stream_stop_replay(struct stream *stream)
{
	stream->stopped = true;
}

void stream_ends_at(struct stream *stream, u64 time_ns)
{
	stream->end_ns = time_ns;
}

int stream_record(struct stream *stream, const char *path, const struct recording_info *info, struct reason *why)
{
	return recording_create(&stream->recorder, path, info, why);
}

void stream_flush_record(struct stream *stream)
{
	if (stream->recorder)
		recording_flush(stream->recorder);
}

u64 stream_recorded_bytes(const struct stream *stream)
{
	return stream->recorder ? recording_bytes(stream->recorder) : 0;
}

u64 stream_recorded_events(const struct stream *stream)
{
	return stream->recorder ? recording_events(stream->recorder) : 0;
}

int stream_record_error(const struct stream *stream)
{
	return stream->record_error;
}

int stream_end_record(struct stream *stream)
{
	int error = recording_close_writer(stream->recorder);

	stream->recorder = NULL;
	return error;
}

static void hand_over(void *data, const struct event_header *event)
{
	struct stream *stream = data;

	if (event->time_ns > stream->handed_ns)
		stream->handed_ns = event->time_ns;
	if (stream->recorder && !stream->record_error)
		stream->record_error = recording_write(stream->recorder, event);
	stream->handle(stream->data, event);
}

void stream_put(void *data, const struct event_header *event)
{
	struct stream *stream = data;

	if (event->time_ns <= stream->drained_ns || !event_queue_add(&stream->added, event, event_bytes(event)))
		hand_over(stream, event);
}

/* The source, of those besides the rings, whose first event is older than until_ns and the oldest; -1: none, or
 * sources_len for what the program added. */
static int oldest_source(struct stream *stream, u64 until_ns, const struct event_header **event)
{
	const struct event_header *added = event_queue_first(&stream->added);
	int oldest = -1;

	if (added && added->time_ns < until_ns) {
		*event = added;
		oldest = stream->sources_len;
		until_ns = added->time_ns;
	}
	if (stream->end_ns && until_ns > stream->end_ns)
		until_ns = stream->end_ns;
	for (int i = 0; i < stream->sources_len; i++) {
		const struct stream_source *source = &stream->sources[i];
		const struct event_header *first = source->first(source->data, until_ns);

		if (!first)
			continue;
		*event = first;
		oldest = i;
		until_ns = first->time_ns;
	}
	return oldest;
}

/* Hands over all that is older than that and not in the rings. */
static void drain_sources(struct stream *stream, u64 until_ns)
{
	const struct event_header *event;
	int oldest;

	while ((oldest = oldest_source(stream, until_ns, &event)) >= 0) {
		hand_over(stream, event);
		if (oldest == stream->sources_len)
			event_queue_drop(&stream->added);
		else
			stream->sources[oldest].drop(stream->sources[oldest].data);
	}
}

int stream_drain(struct stream *stream, u64 until_ns, bool last)
{
	struct event_header *event;
	int error = stream->rings ? rings_read(stream->rings) : 0;

	if (error)
		return error;
	for (int i = 0; i < stream->sources_len; i++)
		stream->sources[i].read(stream->sources[i].data, last);
	while (stream->rings && (event = rings_first(stream->rings, until_ns))) {
		drain_sources(stream, event->time_ns);
		/* A reader that has gone on to later events can't go back. */
		if (event->time_ns < stream->handed_ns)
			event->time_ns = stream->handed_ns;
		hand_over(stream, event);
		rings_drop(stream->rings);
	}
	drain_sources(stream, until_ns);
	if (until_ns > stream->drained_ns)
		stream->drained_ns = until_ns;
	if (!stream->rings)
		return 0;
	rings_losses(stream->rings, stream->handed_ns, hand_over, stream);
	return rings_error(stream->rings);
}

int stream_fd(const struct stream *stream)
{
	return stream->rings ? rings_fd(stream->rings) : -1;
}

u64 stream_ring_count(const struct stream *stream, u32 cpu)
{
	return stream->rings ? rings_count(stream->rings, cpu) : 0;
}
