// SPDX-License-Identifier: GPL-2.0
/* Reading a recording, which may come from anyone and may change meanwhile: one block at a time is read and checked
 * whole, and its events are then given without a further look. The format is described in recording_format.h. */
#include "recording.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../core/event_info.h"
#include "recording_format.h"

struct recording_reader {
	int fd;
	int error; /* how it ended, if it has */
	int ended;
	int cut;
	u64 offset;		       /* of the block that is read next */
	u64 opened_bytes;	       /* the file's length when it was opened */
	const unsigned char *at, *end; /* what is left of the block */
	struct recording_info info;
	struct reason why;
	struct recording_image block;
};

/* Returns the bytes read, less than asked for only at the end of the file, or -errno. */
static ssize_t read_fully(int fd, void *into, size_t bytes)
{
	size_t had = 0;

	while (had < bytes) {
		ssize_t got = read(fd, (char *)into + had, bytes - had);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (got == 0)
			break;
		had += (size_t)got;
	}
	return (ssize_t)had;
}

static int refuse(struct reason *why, int error)
{
	reason_set(why, "%s", strerror(-error));
	return error;
}

static int damaged_header(struct reason *why)
{
	reason_set(why, "damaged header");
	return -EBADMSG;
}

static int read_topology(struct recording_reader *reader, const struct recording_header *header, struct reason *why)
{
	size_t bytes = header->cpus_len * sizeof(*reader->info.topology);
	ssize_t got;

	/* One more, so that no CPUs at all are no case of its own. */
	reader->info.topology = calloc(header->cpus_len + 1, sizeof(*reader->info.topology));
	if (!reader->info.topology)
		return refuse(why, -ENOMEM);
	got = read_fully(reader->fd, reader->info.topology, bytes);
	if (got < 0)
		return refuse(why, (int)got);
	if ((size_t)got < bytes || recording_header_crc(header, reader->info.topology) != header->crc)
		return damaged_header(why);
	return 0;
}

static int read_header(struct recording_reader *reader, struct reason *why)
{
	struct recording_header header = { 0 };
	ssize_t got = read_fully(reader->fd, &header, sizeof(header));
	size_t had = (size_t)got;

	if (got < 0)
		return refuse(why, (int)got);
	if (had == 0) {
		reason_set(why, "empty file");
		return -EBADMSG;
	}
	if (had < sizeof(header.magic) || memcmp(header.magic, RECORDING_MAGIC, sizeof(header.magic)) != 0) {
		reason_set(why, "not a tactus recording");
		return -EBADMSG;
	}
	if (had < offsetof(struct recording_header, header_bytes))
		return damaged_header(why);
	/* What follows the version may be anything in a version that is not ours. */
	if (header.version < 1 || header.version > RECORDING_VERSION) {
		reason_set(why, "format version %" PRIu32 ", this program reads versions 1 to %d", header.version,
			   RECORDING_VERSION);
		return -EBADMSG;
	}
	if (had < sizeof(header) || header.cpus_len > RECORDING_CPUS_MAX ||
	    header.header_bytes != sizeof(header) + header.cpus_len * sizeof(struct cpu_topology) ||
	    header.kernel[sizeof(header.kernel) - 1] != '\0')
		return damaged_header(why);
	reader->info.wall_start_ns = header.wall_start_ns;
	reader->info.mono_start_ns = header.mono_start_ns;
	reader->info.cpus_len = header.cpus_len;
	memcpy(reader->info.kernel, header.kernel, sizeof(header.kernel));
	if (header.short_kernel[RECORDING_SHORT_KERNEL - 1] == '\0') {
		reader->info.suspended_ns = header.suspended_ns;
		memset(reader->info.kernel + RECORDING_SHORT_KERNEL, 0, sizeof(header.suspended_ns));
	}
	reader->offset = header.header_bytes;
	return read_topology(reader, &header, why);
}

static int open_for_reading(struct recording_reader *reader, const char *path, struct reason *why)
{
	struct stat status;

	if (strcmp(path, "-") == 0) {
		reason_set(why, "a recording cannot come from standard input: name a file");
		return -EINVAL;
	}
	/* O_NONBLOCK: a pipe by that name is to be refused, not waited for. */
	reader->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (reader->fd < 0 || fstat(reader->fd, &status))
		return refuse(why, -errno);
	if (!S_ISREG(status.st_mode)) {
		reason_set(why, S_ISDIR(status.st_mode) ? "is a folder" : "not a regular file");
		return S_ISDIR(status.st_mode) ? -EISDIR : -EINVAL;
	}
	reader->opened_bytes = (u64)status.st_size;
	return read_header(reader, why);
}

int recording_open(struct recording_reader **reader, const char *path, struct reason *why)
{
	struct recording_reader *made = calloc(1, sizeof(*made));
	int error;

	*reader = NULL;
	if (!made)
		return refuse(why, -ENOMEM);
	made->fd = -1;
	error = open_for_reading(made, path, why);
	if (error) {
		recording_close_reader(made);
		return error;
	}
	*reader = made;
	return 0;
}

const struct recording_info *recording_reader_info(const struct recording_reader *reader)
{
	return &reader->info;
}

static int damaged_block(struct recording_reader *reader, const char *what)
{
	reason_set(&reader->why, "damaged block at byte %" PRIu64 ": %s", reader->offset, what);
	return -EBADMSG;
}

static int unreadable_block(struct recording_reader *reader, int error)
{
	reason_set(&reader->why, "block at byte %" PRIu64 ": %s", reader->offset, strerror(-error));
	return error;
}

static int check_block(struct recording_reader *reader)
{
	struct recording_image *block = &reader->block;
	struct recording_block said = block->head;
	u32 known_bytes;

	if (recording_block_crc(block) != said.crc)
		return damaged_block(reader, "wrong checksum");
	known_bytes = recording_summarise(block);
	if (known_bytes != said.payload_bytes) {
		reason_set(&reader->why, "damaged block at byte %" PRIu64 ": no known event at byte %" PRIu64,
			   reader->offset, reader->offset + sizeof(said) + known_bytes);
		return -EBADMSG;
	}
	if (memcmp(&said, &block->head, sizeof(said)) != 0)
		return damaged_block(reader, "its counts or times are not those of its events");
	return 0;
}

/* Returns 1, 0 at the end, or -errno with reader->why set. */
static int load_block(struct recording_reader *reader)
{
	struct recording_block *head = &reader->block.head;
	ssize_t got = read_fully(reader->fd, head, sizeof(*head));
	int error;

	if (got < 0)
		return unreadable_block(reader, (int)got);
	if ((size_t)got < sizeof(*head)) {
		/* A file that was longer at first has shrunk, maybe to the very end of a block. */
		reader->cut = got > 0 || reader->offset < reader->opened_bytes;
		return 0;
	}
	if (head->magic != RECORDING_BLOCK_MAGIC)
		return damaged_block(reader, "no block begins here");
	if (head->payload_bytes == 0 || head->payload_bytes > sizeof(reader->block.payload))
		return damaged_block(reader, "a length that no block has");
	got = read_fully(reader->fd, reader->block.payload, head->payload_bytes);
	if (got < 0)
		return unreadable_block(reader, (int)got);
	if ((size_t)got < head->payload_bytes) {
		reader->cut = 1;
		return 0;
	}
	error = check_block(reader);
	if (error)
		return error;
	reader->offset += sizeof(*head) + head->payload_bytes;
	reader->at = reader->block.payload;
	reader->end = reader->at + head->payload_bytes;
	return 1;
}

static int next_block(struct recording_reader *reader, struct reason *why)
{
	if (!reader->ended) {
		int got = load_block(reader);

		if (got > 0)
			return got;
		reader->ended = 1;
		reader->error = got;
	}
	if (reader->error)
		*why = reader->why;
	return reader->error;
}

int recording_next(struct recording_reader *reader, const struct event_header **event, struct reason *why)
{
	if (reader->at == reader->end) {
		int got = next_block(reader, why);

		if (got <= 0)
			return got;
	}
	*event = (const struct event_header *)reader->at;
	reader->at += event_infos[(*event)->kind].bytes;
	return 1;
}

u64 recording_reader_bytes(const struct recording_reader *reader, u64 *whole)
{
	*whole = reader->opened_bytes;
	return reader->offset;
}

int recording_rewind(struct recording_reader *reader, struct reason *why)
{
	u64 begin = sizeof(struct recording_header) + reader->info.cpus_len * sizeof(struct cpu_topology);

	if (lseek(reader->fd, (off_t)begin, SEEK_SET) < 0)
		return refuse(why, -errno);
	reader->offset = begin;
	reader->at = reader->end = NULL;
	reader->ended = reader->error = reader->cut = 0;
	return 0;
}

int recording_was_cut(const struct recording_reader *reader)
{
	return reader->cut;
}

void recording_close_reader(struct recording_reader *reader)
{
	if (!reader)
		return;
	if (reader->fd >= 0)
		close(reader->fd);
	free(reader->info.topology);
	free(reader);
}
