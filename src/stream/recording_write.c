// SPDX-License-Identifier: GPL-2.0
/* Writing a recording: events gather in a block, and a block reaches the file whole or not at all.
 * The format is described in recording_format.h. */
#include "recording.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../core/event_info.h"
#include "../base/output.h"
#include "../base/output_whole.h"
#include "../base/privileges.h"
#include "recording_format.h"

struct recording_writer {
	int fd;
	int error;	  /* what the disk said first; nothing is written after it */
	u64 file_bytes;	  /* up to the end of the last whole block */
	u64 file_events;  /* in whole blocks */
	u32 block_events; /* in the block that is being filled */
	struct output_whole whole;
	struct recording_image block;
};

static int write_at(int fd, const void *data, size_t bytes, u64 offset)
{
	const char *from = data;

	while (bytes) {
		ssize_t written = pwrite(fd, from, bytes, (off_t)offset);

		if (written < 0 && errno == EINTR)
			continue;
		if (written <= 0)
			return written < 0 ? -errno : -EIO;
		from += written;
		offset += (u64)written;
		bytes -= (size_t)written;
	}
	return 0;
}

static void take_off_after(int fd, u64 bytes)
{
	if (ftruncate(fd, (off_t)bytes)) {
		/* The file then ends within a block, and a reader takes it for cut. */
	}
}

static int refuse(struct reason *why, int error)
{
	if (error == -ENOENT)
		reason_set(why, "its folder does not exist");
	else if (error == -EISDIR)
		reason_set(why, "is a folder");
	else
		reason_set(why, "%s", strerror(-error));
	return error;
}

static int check_beginning(int fd, struct reason *why)
{
	char magic[sizeof(((struct recording_header *)0)->magic)];

	if (pread(fd, magic, sizeof(magic), 0) == sizeof(magic) && !memcmp(magic, RECORDING_MAGIC, sizeof(magic)))
		return 0;
	reason_set(why, OUTPUT_NOT_OURS, "a recording");
	return -EEXIST;
}

/* Only a file that may be replaced passes. Nothing of it has been changed yet. */
static int check_replaceable(int fd, bool force, struct reason *why)
{
	struct stat status;

	if (fstat(fd, &status))
		return refuse(why, -errno);
	/* Where there are no locks, two writers on one file are the user's own business. */
	if (flock(fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK) {
		reason_set(why, "another process is recording to it");
		return -EBUSY;
	}
	return status.st_size == 0 || force ? 0 : check_beginning(fd, why);
}

static int write_header(struct recording_writer *writer, const struct recording_info *info)
{
	size_t topology_bytes = info->cpus_len * sizeof(*info->topology);
	struct recording_header header = {
		.version = RECORDING_VERSION,
		.header_bytes = (u32)(sizeof(header) + topology_bytes),
		.wall_start_ns = info->wall_start_ns,
		.mono_start_ns = info->mono_start_ns,
		.cpus_len = info->cpus_len,
	};
	int error;

	memcpy(header.magic, RECORDING_MAGIC, sizeof(header.magic));
	memcpy(header.kernel, info->kernel, strnlen(info->kernel, sizeof(header.kernel) - 1));
	if (strlen(header.kernel) < RECORDING_SHORT_KERNEL && info->suspended_ns < RECORDING_SUSPENDED_MOST)
		header.suspended_ns = info->suspended_ns;
	header.crc = recording_header_crc(&header, info->topology);
	if (ftruncate(writer->fd, 0))
		return -errno;
	error = write_at(writer->fd, &header, sizeof(header), 0);
	if (!error)
		error = write_at(writer->fd, info->topology, topology_bytes, sizeof(header));
	if (error)
		take_off_after(writer->fd, 0);
	writer->file_bytes = header.header_bytes;
	return error;
}

static int refuse_stream(struct reason *why)
{
	reason_set(why, "a recording cannot go to standard output: name a file");
	return -EINVAL;
}

int recording_check(const char *path, struct reason *why)
{
	return strcmp(path, "-") == 0 ? refuse_stream(why) : output_check(path, why);
}

int recording_check_name(const char *path, bool force, struct reason *why)
{
	char name[WAY_NAME_SIZE];
	struct stat seen;
	int folder, fd, error = 0;

	if (strcmp(path, "-") == 0)
		return refuse_stream(why);
	folder = way_open(path, name, why);
	if (folder < 0)
		return folder;
	if (!force && !fstatat(folder, name, &seen, AT_SYMLINK_NOFOLLOW) && S_ISREG(seen.st_mode) && seen.st_size) {
		fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
		error = fd < 0 ? 0 : check_beginning(fd, why);
		if (fd >= 0)
			close(fd);
	}
	close(folder);
	return error;
}

static int open_for_writing(const char *path, const struct recording_info *info, struct output_whole *whole,
			    struct reason *why)
{
	bool is_new;
	int fd, error;
	uid_t uid;
	gid_t gid;

	if (strcmp(path, "-") == 0)
		return refuse_stream(why);
	/* A recording tells who does what when: it is for who made it, as its caller and not as root where there is
	 * one. */
	fd = output_file(path, 0600, &is_new, why);
	if (fd < 0)
		return fd;
	if (is_new && sudo_caller(&uid, &gid) && fchown(fd, uid, gid)) {
		/* On a file system without owners it is whose the file system is. */
	}
	error = check_replaceable(fd, info->replaces_any, why);
	if (!error && info->only_new && !is_new)
		error = refuse(why, -EEXIST);
	if (error) {
		close(fd);
		return error;
	}
	return info->only_whole ? output_whole_begin(whole, path, fd, is_new, why) : fd;
}

int recording_create(struct recording_writer **writer, const char *path, const struct recording_info *info,
		     struct reason *why)
{
	struct recording_writer *made;
	int error;

	*writer = NULL;
	if (info->cpus_len > RECORDING_CPUS_MAX) {
		reason_set(why, "a recording has room for %d CPUs, not for %u", RECORDING_CPUS_MAX, info->cpus_len);
		return -EINVAL;
	}
	made = calloc(1, sizeof(*made));
	if (!made)
		return refuse(why, -ENOMEM);
	made->fd = open_for_writing(path, info, &made->whole, why);
	if (made->fd < 0) {
		error = made->fd;
		free(made);
		return error;
	}
	error = write_header(made, info);
	if (error) {
		close(made->fd);
		output_whole_end(&made->whole, false);
		free(made);
		return refuse(why, error);
	}
	*writer = made;
	return 0;
}

int recording_flush(struct recording_writer *writer)
{
	struct recording_block *head = &writer->block.head;
	size_t bytes = sizeof(*head) + head->payload_bytes;

	/* After an error nothing is buffered any more. */
	if (!head->payload_bytes)
		return writer->error;
	head->magic = RECORDING_BLOCK_MAGIC;
	recording_summarise(&writer->block);
	head->crc = recording_block_crc(&writer->block);
	writer->error = write_at(writer->fd, &writer->block, bytes, writer->file_bytes);
	if (writer->error) {
		take_off_after(writer->fd, writer->file_bytes);
	} else {
		writer->file_bytes += bytes;
		writer->file_events += writer->block_events;
	}
	head->payload_bytes = 0;
	writer->block_events = 0;
	return writer->error;
}

int recording_write(struct recording_writer *writer, const struct event_header *event)
{
	const struct event_info *info = event_info(event->kind);
	struct recording_image *block = &writer->block;

	if (!info)
		return -EINVAL;
	if (block->head.payload_bytes + info->bytes > sizeof(block->payload))
		recording_flush(writer);
	if (writer->error)
		return writer->error;
	memcpy(block->payload + block->head.payload_bytes, event, info->bytes);
	block->head.payload_bytes += info->bytes;
	writer->block_events++;
	return 0;
}

u64 recording_bytes(const struct recording_writer *writer)
{
	u32 payload_bytes = writer->block.head.payload_bytes;

	return writer->file_bytes + (payload_bytes ? sizeof(writer->block.head) + payload_bytes : 0);
}

u64 recording_events(const struct recording_writer *writer)
{
	return writer->file_events + writer->block_events;
}

int recording_close_writer(struct recording_writer *writer)
{
	struct stat file;
	int error, named;

	if (!writer)
		return 0;
	error = recording_flush(writer);
	if (!error && !writer->whole.begun && !fstat(writer->fd, &file) && !file.st_nlink)
		error = -ENOENT;
	if (close(writer->fd) && errno != EINTR && !error)
		error = -errno;
	named = output_whole_end(&writer->whole, !error);
	free(writer);
	return error ? error : named;
}

void recording_drop_writer(struct recording_writer *writer)
{
	if (!writer)
		return;
	writer->block.head.payload_bytes = 0;
	writer->error = -ECANCELED;
	recording_close_writer(writer);
}

int recording_folder(const struct recording_writer *writer)
{
	return writer->whole.begun ? writer->whole.folder : -1;
}
