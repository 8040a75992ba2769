// SPDX-License-Identifier: GPL-2.0
/* A bounded queue of texts before a descriptor. O_NONBLOCK belongs to the open file and not to the descriptor, and a
 * shell has the same one: so pipes and terminals are opened once more. */
#include "lines.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "loop.h"

enum { KEPT_BYTES = 64 << 10 };

struct lines {
	int fd;
	bool is_socket, is_gone;
	size_t len;
	u64 dropped;
	char kept[KEPT_BYTES];
};

int never_wait(int fd)
{
	struct stat found;
	char path[32];
	int own;

	if (fstat(fd, &found) < 0)
		return -errno;
	/* A file never waits for a reader; a socket is asked at each sending. */
	if (!S_ISFIFO(found.st_mode) && !S_ISCHR(found.st_mode))
		return 0;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	own = open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (own < 0)
		return -errno;
	if (dup2(own, fd) < 0) {
		int error = -errno;

		close(own);
		return error;
	}
	close(own);
	return 0;
}

struct lines *lines_open(int fd)
{
	struct lines *lines = malloc(sizeof(*lines));
	struct stat found;

	if (!lines)
		return NULL;
	lines->fd = fd;
	lines->is_socket = !fstat(fd, &found) && S_ISSOCK(found.st_mode);
	lines->is_gone = false;
	lines->len = 0;
	lines->dropped = 0;
	return lines;
}

/* As much as there is room for; -1 if the reader has gone. A descriptor that could not be made one that never waits is
 * asked first. */
static ssize_t write_some(struct lines *lines, const char *text, size_t len)
{
	struct pollfd room = { lines->fd, POLLOUT, 0 };
	size_t most = len < PIPE_BUF ? len : PIPE_BUF;
	ssize_t wrote;

	if (poll(&room, 1, 0) <= 0)
		return 0;
	wrote = lines->is_socket ? send(lines->fd, text, most, MSG_DONTWAIT | MSG_NOSIGNAL)
				 : write(lines->fd, text, most);
	if (wrote >= 0)
		return wrote;
	return errno == EAGAIN || errno == EINTR ? 0 : -1;
}

bool lines_flush(struct lines *lines)
{
	size_t at = 0;
	ssize_t wrote = 1;

	while (at < lines->len && wrote > 0 && !lines->is_gone) {
		wrote = write_some(lines, lines->kept + at, lines->len - at);
		lines->is_gone = wrote < 0;
		at += wrote > 0 ? (size_t)wrote : 0;
	}
	memmove(lines->kept, lines->kept + at, lines->len - at);
	lines->len -= at;
	return !lines->is_gone;
}

bool lines_put(struct lines *lines, const char *text, size_t len)
{
	if (!lines_flush(lines))
		return false;
	if (len > KEPT_BYTES - lines->len) {
		lines->dropped++;
		return true;
	}
	memcpy(lines->kept + lines->len, text, len);
	lines->len += len;
	return lines_flush(lines);
}

u64 lines_close(struct lines *lines, u64 patience_ns)
{
	u64 until_ns = clock_now_ns() + patience_ns, dropped;

	if (!lines)
		return 0;
	while (lines_flush(lines) && lines->len && clock_now_ns() < until_ns) {
		struct pollfd room = { lines->fd, POLLOUT, 0 };

		poll(&room, 1, 10);
	}
	for (size_t i = 0; i < lines->len && !lines->is_gone; i++)
		lines->dropped += lines->kept[i] == '\n';
	dropped = lines->dropped;
	free(lines);
	return dropped;
}
