// SPDX-License-Identifier: GPL-2.0
/* Opens, locks, extends and replaces a journal. The lock says that its owner lives: whoever gets it may undo what the
 * file lists. */
#include "journal_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static int find_folder(char *folder, size_t size, struct reason *why)
{
	const char *runtime = getenv("XDG_RUNTIME_DIR");

	if (geteuid() == 0) {
		snprintf(folder, size, "/run/tactus");
		return 0;
	}
	if (!runtime || runtime[0] != '/' || strlen(runtime) > size - 64) {
		reason_set(why, "no place for the journal: XDG_RUNTIME_DIR is not set");
		return -ENOENT;
	}
	snprintf(folder, size, "%s/tactus", runtime);
	return 0;
}

/* Whether the path still leads to the file: who had the journal may have replaced it before it was locked. */
static int is_at(int fd, const char *path)
{
	struct stat opened, found;

	return !fstat(fd, &opened) && !stat(path, &found) && opened.st_ino == found.st_ino &&
	       opened.st_dev == found.st_dev;
}

static int refuse(struct reason *why, const char *what, int error)
{
	reason_set(why, "%.300s: %s", what, strerror(error));
	return -error;
}

int journal_file_open(struct journal_file *file, const char *name, int create, struct reason *why)
{
	char folder[448];
	int error;

	*file = (struct journal_file){ .fd = -1 };
	error = find_folder(folder, sizeof(folder), why);
	if (error)
		return error;
	snprintf(file->path, sizeof(file->path), "%s/%s", folder, name);
	if (create && mkdir(folder, 0700) < 0 && errno != EEXIST)
		return refuse(why, folder, errno);
	file->fd = open(file->path, O_RDWR | O_APPEND | O_NOFOLLOW | O_CLOEXEC | (create ? O_CREAT : 0), 0600);
	if (file->fd < 0)
		return refuse(why, file->path, errno);
	if (flock(file->fd, LOCK_EX | LOCK_NB) < 0 || !is_at(file->fd, file->path)) {
		reason_set(why, "another tactus gives hints now, and takes them back when it ends");
		journal_file_close(file, 0);
		return -EBUSY;
	}
	return 0;
}

FILE *journal_file_peek(const char *name)
{
	char folder[448], path[512];
	struct reason why;
	FILE *file = NULL;
	int fd;

	if (find_folder(folder, sizeof(folder), &why))
		return NULL;
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	if (fd >= 0)
		file = fdopen(fd, "r");
	if (fd >= 0 && !file)
		close(fd);
	return file;
}

int journal_file_append(struct journal_file *file, const char *line, size_t len)
{
	off_t end = lseek(file->fd, 0, SEEK_END);
	ssize_t wrote = write(file->fd, line, len);
	int error = wrote < 0 ? -errno : -ENOSPC;

	if (wrote == (ssize_t)len) {
		file->lines++;
		return 0;
	}
	/* A part of a line would spoil the next one. */
	if (wrote > 0 && end >= 0 && ftruncate(file->fd, end) < 0)
		return -errno;
	return error;
}

int journal_file_replace(struct journal_file *file, const char *lines, size_t len, size_t count)
{
	char fresh[sizeof(file->path) + 8];
	int fd, error;

	snprintf(fresh, sizeof(fresh), "%s.new", file->path);
	unlink(fresh);
	fd = open(fresh, O_RDWR | O_APPEND | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	errno = ENOSPC;
	if (flock(fd, LOCK_EX | LOCK_NB) < 0 || write(fd, lines, len) != (ssize_t)len ||
	    rename(fresh, file->path) < 0) {
		error = -errno;
		unlink(fresh);
		close(fd);
		return error;
	}
	close(file->fd);
	file->fd = fd;
	file->lines = count;
	return 0;
}

void journal_file_close(struct journal_file *file, int remove)
{
	if (file->fd < 0)
		return;
	if (remove)
		unlink(file->path);
	close(file->fd);
	file->fd = -1;
}
