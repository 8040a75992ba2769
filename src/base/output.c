// SPDX-License-Identifier: GPL-2.0
/* O_PATH finds what is there without opening it; that very thing is then opened by its descriptor. Text goes through a
 * stream of our own, which waits for a reader for so long and no longer. */
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "output_whole.h"
#include "privileges.h"
#include "way.h"

enum { PATIENCE_MS = 5000, MODE_TEXT = 0666 };

static int refuse(struct reason *why, int error, const char *words)
{
	reason_set(why, "%s", words);
	return error;
}

bool output_is_stdout(const char *path)
{
	return path && !strcmp(path, "-");
}

static bool is_number_after(const char *path, const char *start)
{
	const char *number = path + strlen(start);

	return !strncmp(path, start, strlen(start)) && *number && !number[strspn(number, "0123456789")];
}

/* Links of the kernel's and of root's own folders, to what this process has open. */
static bool is_stream_name(const char *path)
{
	return !strcmp(path, "/dev/stdout") || !strcmp(path, "/dev/stderr") || is_number_after(path, "/dev/fd/") ||
	       is_number_after(path, "/proc/self/fd/");
}

/* In the folder of devices itself, which is root's, not in those of others that lie in it. */
static bool is_device_name(const char *path)
{
	return !strncmp(path, "/dev/", 5) && !strchr(path + 5, '/');
}

/* In a folder that others write to, a file or a pipe may lie in wait: who owns it would read along. Whose a stream is
 * that was handed to this process was decided by who did; a device is as it was named. */
static bool is_anothers(const struct stat *seen, const char *path)
{
	if (is_trusted_user(seen->st_uid))
		return false;
	if (S_ISREG(seen->st_mode))
		return true;
	return !is_stream_name(path) && !(S_ISCHR(seen->st_mode) && !strncmp(path, "/dev/", 5));
}

static int check_kind(const struct stat *seen, bool is_text, struct reason *why)
{
	if (S_ISLNK(seen->st_mode))
		return refuse(why, -ELOOP, "is a link: name the file itself");
	if (S_ISDIR(seen->st_mode))
		return refuse(why, -EISDIR, "is a folder");
	if (!S_ISREG(seen->st_mode) && !(is_text && (S_ISFIFO(seen->st_mode) || S_ISCHR(seen->st_mode))))
		return refuse(why, -EINVAL, "not a regular file");
	return 0;
}

static int check(const struct stat *seen, const char *path, bool is_text, struct reason *why)
{
	int error = check_kind(seen, is_text, why);

	if (error)
		return error;
	if (is_anothers(seen, path))
		return refuse(why, -EPERM, "belongs to another user: remove it or name another file");
	return 0;
}

static int refuse_errno(struct reason *why)
{
	int error = -errno;

	if (error == -ENXIO)
		return refuse(why, error, "is a pipe that nobody reads: start its reader first");
	if (error == -ENOENT)
		return refuse(why, error, "its folder does not exist");
	return refuse(why, error, strerror(-error));
}

/* What is made is new, never what a link leads to. */
static int open_in(int folder, const char *name, const char *path, int flags, unsigned int mode, bool is_text,
		   bool *is_new, struct reason *why)
{
	bool follows = is_text && (is_stream_name(path) || is_device_name(path));
	int found = openat(folder, name, O_PATH | O_CLOEXEC | (follows ? 0 : O_NOFOLLOW)), fd, error;
	struct stat seen;
	char again[32];

	*is_new = found < 0 && errno == ENOENT;
	if (*is_new) {
		fd = openat(folder, name, flags | O_CREAT | O_EXCL | O_CLOEXEC | O_NOCTTY, mode);
		return fd < 0 ? refuse_errno(why) : fd;
	}
	if (found < 0 || fstat(found, &seen))
		error = refuse_errno(why);
	else
		error = check(&seen, path, is_text, why);
	snprintf(again, sizeof(again), "/proc/self/fd/%d", found);
	fd = error ? error : open(again, flags | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (!error && fd < 0)
		fd = refuse_errno(why);
	if (found >= 0)
		close(found);
	return fd;
}

static int open_any(const char *path, int flags, unsigned int mode, bool is_text, bool *is_new, struct reason *why)
{
	char name[WAY_NAME_SIZE];
	int folder = way_open(path, name, why), fd;

	*is_new = false;
	if (folder < 0)
		return folder;
	fd = open_in(folder, name, path, flags, mode, is_text, is_new, why);
	close(folder);
	return fd;
}

int output_file(const char *path, unsigned int mode, bool *is_new, struct reason *why)
{
	return open_any(path, O_RDWR, mode, false, is_new, why);
}

int output_temporary(int folder, char made[WAY_NAME_SIZE])
{
	unsigned long long number;
	int fd;

	if (getrandom(&number, sizeof(number), 0) != (ssize_t)sizeof(number))
		return -EAGAIN;
	snprintf(made, WAY_NAME_SIZE, ".tactus-%016llx.part", number);
	fd = openat(folder, made, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	return fd < 0 ? -errno : fd;
}

/* What a folder takes is known by trying: root may write to /proc, which has no files of others. */
static int check_folder(int folder, struct reason *why)
{
	char made[WAY_NAME_SIZE];
	int fd = output_temporary(folder, made);

	if (fd == -ENOENT)
		return refuse(why, fd, "no file can be made in its folder");
	if (fd < 0)
		return refuse(why, fd, strerror(-fd));
	close(fd);
	return unlinkat(folder, made, 0) ? refuse_errno(why) : 0;
}

int output_check(const char *path, struct reason *why)
{
	char name[WAY_NAME_SIZE];
	int folder = way_open(path, name, why), error = 0;
	struct stat seen;

	if (folder < 0)
		return folder;
	if (!fstatat(folder, name, &seen, AT_SYMLINK_NOFOLLOW))
		error = check_kind(&seen, false, why);
	else if (errno != ENOENT)
		error = refuse_errno(why);
	if (!error)
		error = check_folder(folder, why);
	close(folder);
	return error;
}

struct text {
	int fd;
	bool has_failed;
	bool has_lines;	      /* a regular file that was empty: where it ends early, it ends with a line */
	off_t len, lines_len; /* written, and of that up to the last end of a line */
	struct output_whole whole;
	FILE *file;	   /* of a page */
	struct text *next; /* of those that are open */
	char path[];	   /* for what is said */
};

static struct text *pages;

static void forget_page(const struct text *text)
{
	for (struct text **at = &pages; *at; at = &(*at)->next)
		if (*at == text) {
			*at = text->next;
			return;
		}
}

static bool wait_for_room(int fd)
{
	struct pollfd room = { .fd = fd, .events = POLLOUT };

	return poll(&room, 1, PATIENCE_MS) != 0;
}

/* What follows the last line is a part of one. */
static void note_lines(struct text *text, const char *from, size_t bytes)
{
	const char *end = memrchr(from, '\n', bytes);

	if (end)
		text->lines_len = text->len + (end + 1 - from);
	text->len += (off_t)bytes;
}

static void end_with_line(const struct text *text)
{
	if (text->has_lines && ftruncate(text->fd, text->lines_len)) {
		/* It then ends within one, as after a kill. */
	}
}

static ssize_t write_text(void *data, const char *from, size_t bytes)
{
	struct text *text = data;
	size_t done = 0;

	while (done < bytes && !text->has_failed) {
		ssize_t wrote = write(text->fd, from + done, bytes - done);

		if (wrote >= 0) {
			note_lines(text, from + done, (size_t)wrote);
			done += (size_t)wrote;
		} else if (errno == EAGAIN && !wait_for_room(text->fd)) {
			fail(text->path, "cannot write: its reader reads nothing: nothing more is written to it");
			text->has_failed = true;
		} else if (errno != EAGAIN && errno != EINTR) {
			fail(text->path, "cannot write: %s%s", errno == EPIPE ? "its reader is gone" : strerror(errno),
			     !text->whole.begun	      ? ""
			     : text->whole.old_fd < 0 ? ": nothing is left of it"
						      : ": the old one stays");
			text->has_failed = true;
		}
	}
	if (text->has_failed)
		end_with_line(text);
	/* None: it failed. */
	return text->has_failed ? 0 : (ssize_t)done;
}

static int close_text(void *data)
{
	struct text *text = data;
	int error = close(text->fd);

	/* Some file systems tell only now that the disk is full. */
	if (error && !text->has_failed)
		fail(text->path, "cannot write: %s", strerror(errno));
	error |= text->has_failed;
	if (output_whole_end(&text->whole, !error) && !error) {
		fail(text->path, "cannot write: %s", strerror(errno));
		error = -1;
	}
	forget_page(text);
	free(text);
	return error ? EOF : 0;
}

static bool begins_with(int fd, const char *beginning)
{
	size_t len = strlen(beginning);
	char found[128];

	return len <= sizeof(found) && pread(fd, found, len, 0) == (ssize_t)len && !memcmp(found, beginning, len);
}

static bool may_replace(const char *path, int flags, const struct output_rule *rule, struct reason *why)
{
	int fd = rule->force ? -1 : open(path, flags | O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	struct stat seen;
	bool may;

	/* What can't be read now is met again when it is written to. */
	if (fd < 0)
		return true;
	may = fstat(fd, &seen) || !S_ISREG(seen.st_mode) || !seen.st_size ||
	      (rule->beginning && begins_with(fd, rule->beginning));
	close(fd);
	if (!may)
		reason_set(why, OUTPUT_NOT_OURS, "an earlier output of this kind");
	return may;
}

bool output_may_replace(const char *path, const struct output_rule *rule, struct reason *why)
{
	return may_replace(path, O_NOFOLLOW, rule, why);
}

/* Nothing of the file has been changed until here. */
static int make_empty(int fd, const struct output_rule *rule, struct reason *why)
{
	struct stat seen;
	char again[32];

	if (fstat(fd, &seen))
		return refuse_errno(why);
	if (!S_ISREG(seen.st_mode))
		return 0;
	/* By another descriptor: this one can only write. */
	snprintf(again, sizeof(again), "/proc/self/fd/%d", fd);
	if (!may_replace(again, 0, rule, why))
		return -EEXIST;
	return ftruncate(fd, 0) ? refuse_errno(why) : 0;
}

/* What was written there before stays. A pipe is opened anew, so that its reader is waited for as any other. */
static int open_stdout(struct reason *why)
{
	struct stat seen;
	bool is_new;
	int fd = -1;

	if (!fstat(STDOUT_FILENO, &seen) && S_ISFIFO(seen.st_mode))
		fd = open_any("/dev/stdout", O_WRONLY, MODE_TEXT, true, &is_new, why);
	if (fd < 0)
		fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
	return fd < 0 ? refuse_errno(why) : fd;
}

static struct text *new_text(const char *path, struct reason *why)
{
	struct text *text = calloc(1, sizeof(*text) + strlen(path) + 1);

	if (text)
		strcpy(text->path, path);
	else
		refuse(why, -ENOMEM, strerror(ENOMEM));
	return text;
}

static const cookie_io_functions_t text_functions = { .write = write_text, .close = close_text };

FILE *output_text(const char *path, const struct output_rule *rule, struct reason *why)
{
	struct text *text = new_text(path, why);
	struct stat seen;
	FILE *file = NULL;
	bool is_new;

	if (!text)
		return NULL;
	if (output_is_stdout(path))
		text->fd = open_stdout(why);
	else
		text->fd = open_any(path, O_WRONLY, MODE_TEXT, true, &is_new, why);
	if (text->fd >= 0 && (output_is_stdout(path) || !make_empty(text->fd, rule, why)) &&
	    !(file = fopencookie(text, "w", text_functions)))
		refuse_errno(why);
	text->has_lines = file && !output_is_stdout(path) && !fstat(text->fd, &seen) && S_ISREG(seen.st_mode);
	if (file)
		return file;
	if (text->fd >= 0)
		close(text->fd);
	free(text);
	return NULL;
}

static bool is_or_becomes_file(const char *path)
{
	struct stat seen;

	return !output_is_stdout(path) && (lstat(path, &seen) ? errno == ENOENT : S_ISREG(seen.st_mode));
}

static int open_whole(struct text *text, const struct output_rule *rule, struct reason *why)
{
	bool is_new;
	int fd = output_file(text->path, MODE_TEXT, &is_new, why);

	if (fd < 0)
		return fd;
	if (!is_new && !output_may_replace(text->path, rule, why)) {
		close(fd);
		return -EEXIST;
	}
	fd = output_whole_begin(&text->whole, text->path, fd, is_new, why);
	if (fd >= 0 && ftruncate(fd, 0)) {
		int error = refuse_errno(why);

		close(fd);
		output_whole_end(&text->whole, false);
		return error;
	}
	return fd;
}

FILE *output_page(const char *path, const struct output_rule *rule, int *folder, struct reason *why)
{
	struct text *text;
	FILE *file = NULL;

	*folder = 0;
	if (!is_or_becomes_file(path))
		return output_text(path, rule, why);
	text = new_text(path, why);
	if (!text)
		return NULL;
	text->fd = open_whole(text, rule, why);
	if (text->fd >= 0) {
		file = fopencookie(text, "w", text_functions);
		*folder = text->whole.begun ? text->whole.folder : 0;
	}
	if (file) {
		text->file = file;
		text->next = pages;
		pages = text;
	}
	if (text->fd >= 0 && !file) {
		refuse_errno(why);
		close(text->fd);
		output_whole_end(&text->whole, false);
	}
	if (!file)
		free(text);
	return file;
}

void output_drop(FILE *file)
{
	for (struct text *text = pages; text; text = text->next)
		text->has_failed |= text->file == file;
	fclose(file);
}

bool output_is_input(const char *path, const char *input)
{
	struct stat one, other;

	return path && !output_is_stdout(path) && input && !stat(path, &one) && !stat(input, &other) &&
	       S_ISREG(one.st_mode) && one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

bool output_close(FILE *file)
{
	return !fclose(file);
}
