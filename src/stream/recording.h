/* SPDX-License-Identifier: GPL-2.0 */
/* The stream of events in a file: written block by block, read up to the last whole block.
 * The format is described in recording_format.h. */
#ifndef TACTUS_STREAM_RECORDING_H
#define TACTUS_STREAM_RECORDING_H

#include <stdbool.h>

#include "../../core/event.h"
#include "../../core/place.h"
#include "../base/say.h"

/* What a recording says of the machine it was made on. */
struct recording_info {
	char kernel[64];
	u64 wall_start_ns; /* CLOCK_REALTIME at mono_start_ns */
	u64 mono_start_ns; /* CLOCK_MONOTONIC, the clock of the events */
	u64 suspended_ns;  /* by which CLOCK_BOOTTIME was ahead of it */
	u32 cpus_len;
	struct cpu_topology *topology; /* one a CPU; the reader's is freed by recording_close_reader */
	bool replaces_any;	       /* for the writer: --force */
	bool only_new;		       /* for the writer: -EEXIST where there is a file, whatever it is */
	bool only_whole;	       /* for the writer: on an error no file is left, and what was there stays */
};

struct recording_writer;
struct recording_reader;

/* Returns 0, or -errno with the reason in words. An existing file is replaced only if it is a recording or empty,
 * or with replaces_any. */
int recording_create(struct recording_writer **writer, const char *path, const struct recording_info *info,
		     struct reason *why);

/* Whether it could be made, by a file of that name or beside what is there. Returns 0, or -errno with the reason. */
int recording_check(const char *path, struct reason *why);
/* What its name alone tells, without touching anything: a folder that is not there, a file that is no recording. */
int recording_check_name(const char *path, bool force, struct reason *why);

/* Adds an event. Returns 0, or -errno if the disk did not take a block; the file then ends with its last whole block,
 * nothing more is written to it, and every later call gives the same error. -EINVAL: an unknown kind, left out. */
int recording_write(struct recording_writer *writer, const struct event_header *event);

/* Writes out what is buffered as a block of its own. */
int recording_flush(struct recording_writer *writer);

/* Bytes and events so far, what is still buffered included; after an error what the file really holds. */
u64 recording_bytes(const struct recording_writer *writer);
u64 recording_events(const struct recording_writer *writer);

/* Flushes and closes. Returns 0 or -errno, also for an error that was returned before; -ENOENT: the file has been
 * removed meanwhile, and nothing is left. NULL is none. */
int recording_close_writer(struct recording_writer *writer);

/* With only_whole: closes and leaves everything as it was. NULL is none. */
void recording_drop_writer(struct recording_writer *writer);

/* With only_whole: the folder in which its file gets its name as it is closed, a descriptor; -1: none is needed. */
int recording_folder(const struct recording_writer *writer);

/* Opens and checks the header. Returns 0, or -errno with the reason in words. */
int recording_open(struct recording_reader **reader, const char *path, struct reason *why);
const struct recording_info *recording_reader_info(const struct recording_reader *reader);

/* The next event, valid until the next call. Returns 1; 0 at the end; -errno with the reason if the rest cannot be
 * read: everything before it has been given and is right. An event's kind is known and it is all there; what its fields
 * say is as the file has it: CPUs past cpus_len, times that go back, names without a NUL. */
int recording_next(struct recording_reader *reader, const struct event_header **event, struct reason *why);

/* How many bytes have been read, of how many that the file had when it was opened. */
u64 recording_reader_bytes(const struct recording_reader *reader, u64 *whole);

/* Begins anew with the first event. Returns 0, or -errno with the reason in words. */
int recording_rewind(struct recording_reader *reader, struct reason *why);

/* True if the file ends in the middle of a block, as after a crash: said once at the end, not an error. */
int recording_was_cut(const struct recording_reader *reader);

void recording_close_reader(struct recording_reader *reader);

#endif
