// SPDX-License-Identifier: GPL-2.0
/* Walks a path part by part, so that each is checked as it is opened. Who makes or removes folders in one holds its
 * lock: none is removed between its making and its locking. */
#include "own_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <unistd.h>

enum { NAME_WORDS = 2, OPEN_FOLDER = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC };

/* Parts of a path need not be readable. */
static int check(int fd)
{
	struct stat seen;

	if (fd < 0)
		return -errno;
	if (!fstat(fd, &seen) && S_ISDIR(seen.st_mode) && !(seen.st_mode & (S_IWGRP | S_IWOTH)) &&
	    (!seen.st_uid || seen.st_uid == geteuid()))
		return fd;
	close(fd);
	return -EPERM;
}

static int open_part(int in, const char *name, mode_t mode)
{
	int fd = openat(in, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0 && errno == ENOENT && (!mkdirat(in, name, mode) || errno == EEXIST))
		fd = openat(in, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return check(fd);
}

int own_folder_open(const char *path, mode_t mode)
{
	char name[NAME_MAX + 1];
	int fd, next;

	if (path[0] != '/')
		return -EINVAL;
	fd = check(open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
	for (path += strspn(path, "/"); fd >= 0 && *path; path += strspn(path, "/")) {
		size_t len = strcspn(path, "/");

		next = -ENAMETOOLONG;
		if (len < sizeof(name)) {
			memcpy(name, path, len);
			name[len] = '\0';
			next = open_part(fd, name, mode);
		}
		close(fd);
		fd = next;
		path += len;
	}
	if (fd < 0)
		return fd;
	/* For its names and its lock. */
	next = openat(fd, ".", OPEN_FOLDER);
	if (next < 0)
		next = -errno;
	close(fd);
	return next;
}

static bool is_name(const struct dirent *entry)
{
	return strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
}

/* A stream of its own: where the names end depends on who has read them before. */
static DIR *list(int fd)
{
	int again = openat(fd, ".", OPEN_FOLDER);
	DIR *dir = again < 0 ? NULL : fdopendir(again);

	if (!dir && again >= 0)
		close(again);
	return dir;
}

static void remove_files(int fd)
{
	struct dirent *entry;
	DIR *dir = list(fd);

	while (dir && (entry = readdir(dir)))
		if (is_name(entry))
			unlinkat(fd, entry->d_name, 0);
	if (dir)
		closedir(dir);
}

/* Whoever is killed leaves one behind. */
static void remove_unlocked(int in)
{
	struct dirent *entry;
	DIR *dir = list(in);

	while (dir && (entry = readdir(dir))) {
		int fd = is_name(entry) ? openat(in, entry->d_name, OPEN_FOLDER) : -1;

		if (fd >= 0 && !flock(fd, LOCK_EX | LOCK_NB)) {
			remove_files(fd);
			unlinkat(in, entry->d_name, AT_REMOVEDIR);
		}
		if (fd >= 0)
			close(fd);
	}
	if (dir)
		closedir(dir);
}

static int make_locked(int in, const char *name)
{
	int fd = mkdirat(in, name, 0700) ? -1 : openat(in, name, OPEN_FOLDER), error;

	if (fd >= 0 && !flock(fd, LOCK_EX | LOCK_NB))
		return fd;
	error = -errno;
	if (fd >= 0) {
		close(fd);
		unlinkat(in, name, AT_REMOVEDIR);
	}
	return error;
}

int own_folder_make(int in, char *path, size_t path_bytes)
{
	unsigned long long random[NAME_WORDS];
	size_t len = strlen(path);
	int fd;

	if (getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random))
		return -EIO;
	if (snprintf(path + len, path_bytes - len, "/%016llx%016llx", random[0], random[1]) >= (int)(path_bytes - len))
		return -ENAMETOOLONG;
	if (flock(in, LOCK_EX))
		return -errno;
	remove_unlocked(in);
	fd = make_locked(in, path + len + 1);
	flock(in, LOCK_UN);
	return fd;
}

void own_folder_remove(int fd, const char *path)
{
	remove_files(fd);
	rmdir(path);
}
