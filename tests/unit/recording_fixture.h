/* SPDX-License-Identifier: GPL-2.0 */
/* What the tests of recordings share: known events, files of them, a folder of the test's own, and reading to the end.
 */
#ifndef TACTUS_TESTS_RECORDING_FIXTURE_H
#define TACTUS_TESTS_RECORDING_FIXTURE_H

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../core/event_info.h"
#include "../../src/stream/recording.h"
#include "../../src/stream/recording_format.h"
#include "scratch.h"
#include "tap.h"

enum { KINDS = EVENT_KINDS - 1, SMALL_BLOCKS = 3, SMALL_EVENTS = SMALL_BLOCKS * KINDS };

static char folder[4096], path[4200];

static struct cpu_topology topology[] = { { 0, 0, 0, 1 }, { 0, 0, 0, 1 }, { 2, 1, 1, 1 } };
static const struct recording_info info = { .kernel = "6.12.0-test",
					    .wall_start_ns = 1700000000123456789,
					    .mono_start_ns = 4711,
					    .suspended_ns = 3600123456789,
					    .cpus_len = 3,
					    .topology = topology };

union any_event {
	struct event_header head;
	struct event_lost lost;
	unsigned char bytes[256];
};

/* The n-th event of every test: kinds take turns, every byte depends on n. */
static inline union any_event event_number(u64 n)
{
	union any_event event = { 0 };

	for (size_t i = 0; i < sizeof(event.bytes); i++)
		event.bytes[i] = (unsigned char)(n * 31 + i * 7);
	event.head.time_ns = 1000 + n;
	event.head.kind = (u8)(1 + n % KINDS);
	return event;
}

static inline int is_event_number(const struct event_header *event, u64 n)
{
	const unsigned char *bytes = (const unsigned char *)event;
	union any_event want = event_number(n);
	size_t same = 0;

	if (event->kind != want.head.kind)
		return 0;
	while (same < event_info(event->kind)->bytes && bytes[same] == want.bytes[same])
		same++;
	return same == event_info(event->kind)->bytes;
}

static inline struct recording_writer *create(const char *at)
{
	struct recording_writer *writer = NULL;
	struct reason why = { "" };

	if (recording_create(&writer, at, &info, &why)) {
		printf("Bail out! %s: %s\n", at, why.text);
		exit(1);
	}
	return writer;
}

static inline int write_events(struct recording_writer *writer, u64 from, u64 to)
{
	int error = 0;

	for (u64 n = from; n < to && !error; n++) {
		union any_event event = event_number(n);

		error = recording_write(writer, &event.head);
	}
	return error;
}

/* What came of reading a file to its end. */
struct reading {
	u64 events; /* the first so many are right */
	int wrong;  /* an event came that is not the one that was written */
	int opened; /* 0 or -errno */
	int end;    /* 0 or -errno */
	int cut;
	struct reason why;
};

static inline void read_on(struct recording_reader *reader, struct reading *seen)
{
	const struct event_header *event;

	while ((seen->end = recording_next(reader, &event, &seen->why)) > 0) {
		if (!is_event_number(event, seen->events))
			seen->wrong = 1;
		seen->events++;
	}
	if (recording_next(reader, &event, &seen->why) != seen->end)
		seen->wrong = 1;
	seen->cut = recording_was_cut(reader);
}

static inline struct reading read_all(const char *at)
{
	struct reading seen = { 0 };
	struct recording_reader *reader = NULL;

	seen.opened = recording_open(&reader, at, &seen.why);
	if (!seen.opened)
		read_on(reader, &seen);
	recording_close_reader(reader);
	return seen;
}

static inline void put_file(const char *at, const void *bytes, size_t size)
{
	int fd = open(at, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (fd < 0 || write(fd, bytes, size) != (ssize_t)size) {
		printf("Bail out! cannot write %s\n", at);
		exit(1);
	}
	close(fd);
}

static inline u64 file_bytes(const char *at)
{
	struct stat status;

	return stat(at, &status) ? 0 : (u64)status.st_size;
}

/* A file of three blocks with one event of each kind in each, in memory. */
struct small {
	_Alignas(8) unsigned char bytes[8192];
	size_t size;
	u64 ends[1 + SMALL_BLOCKS]; /* where the header ends and each block */
};

static inline struct small make_small(void)
{
	struct small small = { 0 };
	struct recording_writer *writer = create(path);
	int fd;

	small.ends[0] = recording_bytes(writer);
	for (u64 block = 0; block < SMALL_BLOCKS; block++) {
		write_events(writer, block * KINDS, (block + 1) * KINDS);
		recording_flush(writer);
		small.ends[block + 1] = recording_bytes(writer);
	}
	recording_close_writer(writer);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	small.size = (size_t)read(fd, small.bytes, sizeof(small.bytes));
	close(fd);
	return small;
}

static inline void make_folder(void)
{
	make_scratch(folder, sizeof(folder), "recording");
	snprintf(path, sizeof(path), "%s/file", folder);
}

static inline void remove_folder(void)
{
	static const char *const names[] = { "file", "other", "pipe" };
	char at[4300];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(at, sizeof(at), "%s/%s", folder, names[i]);
		unlink(at);
	}
	is(rmdir(folder), 0, "no other file was left behind");
}

#endif
