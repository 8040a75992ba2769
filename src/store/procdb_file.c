// SPDX-License-Identifier: GPL-2.0
/* Everything goes through a descriptor of the folder, so that nobody can put another in its place meanwhile.
 * The lock is a file of its own, since saving puts a new file in the place of the old. */
#include "procdb_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "../base/way.h"

enum { LOCK_TRIES = 500, LOCK_PAUSE_NS = 10 * NSEC_PER_MSEC, ASIDE_TRIES = 100, SUFFIX_SIZE = 40 };

/* Joins up to three texts. False if they do not fit. */
static bool join(char *into, size_t size, const char *a, const char *b, const char *c)
{
	size_t a_len = strlen(a), b_len = strlen(b), c_len = strlen(c);

	if (a_len + b_len + c_len >= size)
		return false;
	memmove(into, a, a_len);
	memcpy(into + a_len, b, b_len);
	memcpy(into + a_len + b_len, c, c_len + 1);
	return true;
}

int procdb_default_path(char into[PROCDB_PATH_SIZE], struct reason *why)
{
	const char *chosen = getenv("TACTUS_DB"), *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
	bool fits;

	if (chosen && chosen[0])
		fits = join(into, PROCDB_PATH_SIZE, chosen, "", "");
	else if (geteuid() == 0)
		fits = join(into, PROCDB_PATH_SIZE, "/var/lib/tactus/procdb.bin", "", "");
	else if (state && state[0] == '/')
		fits = join(into, PROCDB_PATH_SIZE, state, "/tactus/procdb.bin", "");
	else if (home && home[0] == '/')
		fits = join(into, PROCDB_PATH_SIZE, home, "/.local/state", "/tactus/procdb.bin");
	else {
		reason_set(why, "no place for the database: neither XDG_STATE_HOME nor HOME is set");
		return -ENOENT;
	}
	if (!fits)
		reason_set(why, "the database's path is too long");
	return fits ? 0 : -ENAMETOOLONG;
}

static int refuse(struct reason *why, int error, const char *path, const char *text)
{
	reason_set(why, "%.200s: %s", path, text);
	return error;
}

static int system_says(struct reason *why, const char *path)
{
	int error = -errno;

	reason_set(why, "%.200s: %s", path, strerror(-error));
	return error;
}

/* The folder and those above it that are missing. */
static void make_folders(char *folder)
{
	for (char *at = strchr(folder + 1, '/'); at; at = strchr(at + 1, '/')) {
		*at = '\0';
		mkdir(folder, 0755);
		*at = '/';
	}
	mkdir(folder, 0700);
}

static const char *wrong_with(const struct stat *info)
{
	if (info->st_uid != geteuid() && info->st_uid != 0)
		return "belongs to somebody else: refused";
	if (info->st_mode & (S_IWGRP | S_IWOTH))
		return "others may write it: refused";
	return NULL;
}

/* Not through another's links on the way, and none itself. Returns a descriptor, or -errno with a reason. */
static int enter(const char *folder, struct reason *why)
{
	char name[WAY_NAME_SIZE];
	struct reason on_way;
	int way = way_open(folder, name, &on_way), fd;

	if (way < 0)
		return refuse(why, way, folder, way == -ENOENT ? strerror(ENOENT) : on_way.text);
	fd = openat(way, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 && (errno == ENOTDIR || errno == ELOOP))
		fd = refuse(why, -ENOTDIR, folder, "a link, or no folder: refused");
	else if (fd < 0)
		fd = system_says(why, folder);
	close(way);
	return fd;
}

/* `trusted`: others must not be able to put something in the file's place. */
static int open_folder(struct procdb_file *file, const char *path, bool create, bool trusted, struct reason *why)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path, *wrong;
	char folder[PROCDB_PATH_SIZE] = ".";
	struct stat info;

	*file = (struct procdb_file){ .folder_fd = -1, .lock_fd = -1 };
	if (!name[0] || !strcmp(name, ".") || !strcmp(name, ".."))
		return refuse(why, -EINVAL, path, "names no file");
	if (strlen(name) + SUFFIX_SIZE > sizeof(file->name) || !join(file->path, sizeof(file->path), path, "", ""))
		return refuse(why, -ENAMETOOLONG, path, "too long");
	join(file->name, sizeof(file->name), name, "", "");
	if (slash) {
		join(folder, sizeof(folder), path, "", "");
		folder[slash == path ? 1 : slash - path] = '\0';
	}
	file->folder_fd = enter(folder, why);
	if (file->folder_fd == -ENOENT && create) {
		make_folders(folder);
		file->folder_fd = enter(folder, why);
	}
	if (file->folder_fd < 0)
		return file->folder_fd;
	if (fstat(file->folder_fd, &info) < 0)
		return system_says(why, folder);
	/* In a folder such as /tmp others cannot touch what is ours. */
	wrong = !trusted || (info.st_mode & S_ISVTX) ? NULL : wrong_with(&info);
	if (!wrong)
		return 0;
	procdb_file_close(file);
	return refuse(why, -EPERM, folder, wrong);
}

int procdb_file_open(struct procdb_file *file, const char *path, bool create, struct reason *why)
{
	return open_folder(file, path, create, true, why);
}

void procdb_file_close(struct procdb_file *file)
{
	procdb_file_unlock(file);
	if (file->folder_fd >= 0)
		close(file->folder_fd);
	file->folder_fd = -1;
}

int procdb_file_lock(struct procdb_file *file, struct reason *why)
{
	struct timespec pause = { .tv_nsec = LOCK_PAUSE_NS };
	char name[PROCDB_NAME_SIZE];
	struct stat info;
	int error = 0;

	join(name, sizeof(name), file->name, ".lock", "");
	file->lock_fd = openat(file->folder_fd, name, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
	if (file->lock_fd < 0 || fstat(file->lock_fd, &info) < 0)
		error = system_says(why, file->path);
	else if (!S_ISREG(info.st_mode) || wrong_with(&info))
		error = refuse(why, -EPERM, file->path, "its lock file is not ours: refused");
	for (int tries = 0; !error && flock(file->lock_fd, LOCK_EX | LOCK_NB) < 0; tries++) {
		if (errno != EWOULDBLOCK && errno != EINTR)
			error = system_says(why, file->path);
		else if (tries == LOCK_TRIES)
			error = refuse(why, -EBUSY, file->path, "another tactus holds its lock");
		else
			nanosleep(&pause, NULL);
	}
	if (error)
		procdb_file_unlock(file);
	return error;
}

void procdb_file_unlock(struct procdb_file *file)
{
	/* The lock goes with its descriptor. The file stays: to remove it would let two hold two locks. */
	if (file->lock_fd >= 0)
		close(file->lock_fd);
	file->lock_fd = -1;
}

static struct procdb_stamp stamp_of(const struct stat *info)
{
	struct procdb_stamp stamp = { .inode = info->st_ino,
				      .size = (u64)info->st_size,
				      .changed_ns = (u64)info->st_mtim.tv_sec * NSEC_PER_SEC +
						    (u64)info->st_mtim.tv_nsec };

	return stamp;
}

bool procdb_file_changed(const struct procdb_file *file)
{
	struct procdb_stamp now = { 0 };
	struct stat info;

	if (fstatat(file->folder_fd, file->name, &info, AT_SYMLINK_NOFOLLOW) == 0)
		now = stamp_of(&info);
	return now.inode != file->stamp.inode || now.size != file->stamp.size ||
	       now.changed_ns != file->stamp.changed_ns;
}

static long read_fd(void *data, void *into, size_t most)
{
	ssize_t got;

	do
		got = read(*(int *)data, into, most);
	while (got < 0 && errno == EINTR);
	return got < 0 ? -errno : got;
}

static int decode_fd(int fd, const struct stat *info, struct procdb *db, struct procdb_report *report, u64 now_s)
{
	struct procdb_bytes bytes = { .read = read_fd, .data = &fd, .size = (u64)info->st_size };

	return procdb_decode(db, &bytes, report, now_s);
}

int procdb_file_load(struct procdb_file *file, struct procdb *db, struct procdb_report *report, u64 now_s,
		     struct reason *why)
{
	int fd = openat(file->folder_fd, file->name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC), error = 0;
	struct stat info;

	file->stamp = (struct procdb_stamp){ 0 };
	if (fd < 0 && errno == ENOENT)
		return 0;
	if (fd < 0 && errno == ELOOP)
		return refuse(why, -ELOOP, file->path, "a link: refused");
	if (fd < 0 || fstat(fd, &info) < 0)
		error = system_says(why, file->path);
	else if (!S_ISREG(info.st_mode))
		error = refuse(why, -EINVAL, file->path, "not a file: refused");
	else if (wrong_with(&info))
		error = refuse(why, -EPERM, file->path, wrong_with(&info));
	if (!error) {
		file->stamp = stamp_of(&info);
		error = decode_fd(fd, &info, db, report, now_s);
		if (error)
			reason_set(why, "%.200s: %s", file->path, strerror(-error));
	}
	if (fd >= 0)
		close(fd);
	return error;
}

static int write_fd(void *data, const void *bytes, size_t len)
{
	const char *at = bytes;
	ssize_t wrote;

	while (len) {
		wrote = write(*(int *)data, at, len);
		if (wrote < 0 && errno == EINTR)
			continue;
		if (wrote <= 0)
			return wrote < 0 ? -errno : -ENOSPC;
		at += wrote;
		len -= (size_t)wrote;
	}
	return 0;
}

/* Temporary file, fsync, rename, fsync of the folder. */
static long replace(struct procdb_file *file, const struct procdb *db, u32 version, mode_t mode, u64 now_s,
		    struct reason *why)
{
	char name[PROCDB_NAME_SIZE];
	struct stat info;
	long count = 0;
	int fd;

	join(name, sizeof(name), file->name, ".new", "");
	/* One that a killed process left. */
	unlinkat(file->folder_fd, name, 0);
	fd = openat(file->folder_fd, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
	if (fd < 0)
		return system_says(why, file->path);
	count = procdb_encode(db, version, now_s, write_fd, &fd);
	if (count >= 0 && (fsync(fd) < 0 || fstat(fd, &info) < 0))
		count = -errno;
	close(fd);
	if (count >= 0 && syscall(SYS_renameat2, file->folder_fd, name, file->folder_fd, file->name, 0) < 0)
		count = -errno;
	if (count < 0) {
		unlinkat(file->folder_fd, name, 0);
		reason_set(why, "%.200s: %s", file->path, strerror((int)-count));
		return count;
	}
	file->stamp = stamp_of(&info);
	/* What a folder's own writing fails with, the file can do nothing about. */
	fsync(file->folder_fd);
	return count;
}

int procdb_file_save(struct procdb_file *file, const struct procdb *db, u64 now_s, struct reason *why)
{
	long count = replace(file, db, PDDB_OWN, 0600, now_s, why);

	return count < 0 ? (int)count : 0;
}

int procdb_file_set_aside(struct procdb_file *file, u64 now_s, struct reason *why)
{
	char name[PROCDB_NAME_SIZE], stamp[SUFFIX_SIZE];
	struct tm utc;
	time_t at = (time_t)now_s;

	for (int tries = 0; tries < ASIDE_TRIES; tries++, at++) {
		/* A name that is taken already: the next second's. */
		if (!gmtime_r(&at, &utc) || !strftime(stamp, sizeof(stamp), ".damaged-%Y%m%dT%H%M%SZ", &utc))
			return refuse(why, -EINVAL, file->path, "the clock is wrong");
		join(name, sizeof(name), file->name, stamp, "");
		if (linkat(file->folder_fd, file->name, file->folder_fd, name, 0) == 0) {
			unlinkat(file->folder_fd, file->name, 0);
			file->stamp = (struct procdb_stamp){ 0 };
			reason_set(why, "%s", name);
			return 0;
		}
		if (errno != EEXIST)
			return system_says(why, file->path);
	}
	return refuse(why, -EEXIST, file->path, "too many damaged ones are kept beside it");
}

int procdb_open_any(const char *path, struct reason *why)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC), error = 0;
	struct stat info;

	if (fd < 0 || fstat(fd, &info) < 0)
		error = system_says(why, path);
	else if (!S_ISREG(info.st_mode))
		error = refuse(why, -EINVAL, path, "not a file");
	if (error && fd >= 0)
		close(fd);
	return error ? error : fd;
}

int procdb_read_any(int fd, const char *path, struct procdb *db, struct procdb_report *report, u64 now_s,
		    struct reason *why)
{
	struct stat info;
	int error = fstat(fd, &info) ? -errno : decode_fd(fd, &info, db, report, now_s);

	close(fd);
	if (error)
		reason_set(why, "%.200s: %s", path, strerror(-error));
	return error;
}

long procdb_write_any(const char *path, const struct procdb *db, u32 version, u64 now_s, struct reason *why)
{
	struct procdb_file file;
	int error = open_folder(&file, path, false, false, why);
	struct stat info;
	long count;

	if (error)
		return error;
	/* By its name, which is what is replaced. */
	if (!fstatat(file.folder_fd, file.name, &info, AT_SYMLINK_NOFOLLOW) && !S_ISREG(info.st_mode))
		count = refuse(why, -EINVAL, path,
			       S_ISLNK(info.st_mode) ? "a link: name the file itself" : "not a regular file");
	else
		count = replace(&file, db, version, 0644, now_s, why);
	procdb_file_close(&file);
	return count;
}
