// SPDX-License-Identifier: GPL-2.0
/* How rows of frames go: all at the end, and, for who watches for days, those of whom nothing comes any more. */
#include <stdlib.h>

#include "frames.h"

static void free_stream(struct frame_stream *stream)
{
	free(stream->records);
	free(stream);
}

static void free_process(struct frame_process *process)
{
	while (process->streams) {
		struct frame_stream *stream = process->streams;

		process->streams = stream->next;
		free_stream(stream);
	}
	for (u32 part = 0; part < FRAME_PARTS; part++)
		free(process->parts[part].ns);
	free(process->intervals_ns);
	free(process->server_ns);
	free(process);
}

void frames_free(struct frames *frames)
{
	while (frames->processes) {
		struct frame_process *process = frames->processes;

		frames->processes = process->next;
		free_process(process);
	}
	while (frames->servers) {
		struct frame_server *server = frames->servers;

		frames->servers = server->next;
		free(server);
	}
	history_free(&frames->history);
	free(frames->runs.cpus);
}

static u64 last_of(const struct frame_stream *stream)
{
	return stream->pace.last_ns > stream->shown_at_ns ? stream->pace.last_ns : stream->shown_at_ns;
}

static void forget_streams(struct frames *frames, struct frame_process *process, const struct threads *threads,
			   u64 since_ns)
{
	struct frame_stream **at = &process->streams;

	while (*at) {
		struct frame_stream *stream = *at;

		if (!threads_has_ended(threads, stream->tid) && last_of(stream) >= since_ns) {
			at = &stream->next;
			continue;
		}
		*at = stream->next;
		free_stream(stream);
		frames->rows_len--;
	}
}

static size_t times_of(const struct frame_process *process)
{
	size_t len = process->len + process->server_len;

	for (u32 part = 0; part < FRAME_PARTS; part++)
		len += process->parts[part].len;
	return len;
}

void frames_forget(struct frames *frames, const struct threads *threads, u64 since_ns)
{
	struct frame_process **at = &frames->processes;
	struct frame_server **server_at = &frames->servers;

	while (*at) {
		struct frame_process *process = *at;

		forget_streams(frames, process, threads, since_ns);
		if (process->streams) {
			at = &process->next;
			continue;
		}
		*at = process->next;
		frames->times_len -= times_of(process);
		free_process(process);
		frames->rows_len--;
	}
	while (*server_at) {
		struct frame_server *server = *server_at;

		/* It is told once, however long the client stays. */
		if (frames_process(frames, server->pid) || server->at_ns >= since_ns) {
			server_at = &server->next;
			continue;
		}
		*server_at = server->next;
		free(server);
		frames->rows_len--;
	}
}
