/* SPDX-License-Identifier: GPL-2.0 */
/* Every source of events as one stream in the order of time: the kernel's rings, rings that traced programs fill, what
 * the program itself adds, or a recording. One tap writes the stream to a file as it passes. */
#ifndef TACTUS_STREAM_STREAM_H
#define TACTUS_STREAM_STREAM_H

#include <stdbool.h>

#include "../../core/event.h"
#include "../../core/sched_config.h"
#include "recording.h"

typedef void (*event_handler)(void *data, const struct event_header *event);

/* A source besides the rings. Its events are in the order of time. */
struct stream_source {
	/* Reads what is new; `last`: nothing comes after that. */
	void (*read)(void *data, bool last);
	/* The oldest event that was read and not dropped, if it is older than that, valid until it is dropped; NULL:
	 * there is none. `until_ns` never goes back. */
	const struct event_header *(*first)(void *data, u64 until_ns);
	void (*drop)(void *data);
	void *data;
};

struct stream;

/* `handle` gets every event. Returns 0 or -errno. */
int stream_open(struct stream **stream, event_handler handle, void *data);
void stream_close(struct stream *stream);

/* Sources; each returns 0 or -errno. `cpus` are the kernel half's counters, which say what the rings had no room for.
 */
int stream_add_rings(struct stream *stream, const int *ring_fds, const struct sched_cpu *cpus, u32 len);
int stream_add_source(struct stream *stream, const struct stream_source *source);

/* A recording, instead of all others. `info` gets what it says of its machine, valid until stream_close. Returns 0, or
 * -errno with the reason. */
int stream_open_recording(struct stream *stream, const char *path, const struct recording_info **info,
			  struct reason *why);
/* The same of one that was opened before, which is the stream's from here on. */
const struct recording_info *stream_take_recording(struct stream *stream, struct recording_reader *recording);
/* Hands over all of it, in the order in which it was written. Returns 1 where it ends in the middle of a block, 0, or
 * -errno with the reason. How far it is is shown where that takes long. */
int stream_replay(struct stream *stream, bool shows_progress, struct reason *why);
/* By who gets the events: no more of them are wanted, and the replay ends with 0. */
void stream_stop_replay(struct stream *stream);

/* Nothing that is later than this is handed over from any source but the rings: the window ends there. */
void stream_ends_at(struct stream *stream, u64 time_ns);

/* From here on the stream is also written to this file. Returns 0, or -errno with the reason. */
int stream_record(struct stream *stream, const char *path, const struct recording_info *info, struct reason *why);
/* Writes out what is buffered. */
void stream_flush_record(struct stream *stream);
u64 stream_recorded_bytes(const struct stream *stream);
u64 stream_recorded_events(const struct stream *stream);
/* Why the recording ended early: 0 or -errno. */
int stream_record_error(const struct stream *stream);
/* Returns 0 or -errno, also for an error that was there before. */
int stream_end_record(struct stream *stream);

/* What the program itself adds: handed over at once if all that is older has been, else in its turn. */
void stream_put(void *stream, const struct event_header *event);

/* Reads all sources and hands over what is older than `until_ns`, always in the order of time: an event that is read
 * after a later one was handed over counts as of that time. Losses of the rings are events of their own. `last`:
 * nothing comes after that. Returns 0 or -errno. */
int stream_drain(struct stream *stream, u64 until_ns, bool last);

/* Readable when a ring has much to read; -1: there are no rings. */
int stream_fd(const struct stream *stream);
/* Events read so far from one CPU's ring. */
u64 stream_ring_count(const struct stream *stream, u32 cpu);

#endif
