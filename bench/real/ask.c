// SPDX-License-Identifier: GPL-2.0
/* A fixed load on a Redis server: ask SOCKET PERIOD_US VALUE_BYTES stores one value and asks for it each period. What
 * is stamped is the time from when the question was due until the whole answer is there, so that one late answer does
 * not hide others. */
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "stamp.h"

enum { BYTES_MOST = 1 << 20 };

static char buffer[BYTES_MOST + 64];

static int send_all(int fd, const char *bytes, size_t len)
{
	for (size_t done = 0; done < len;) {
		ssize_t wrote = write(fd, bytes + done, len - done);

		if (wrote <= 0)
			return -1;
		done += (size_t)wrote;
	}
	return 0;
}

static int read_all(int fd, size_t len)
{
	for (size_t done = 0; done < len;) {
		ssize_t got = read(fd, buffer, len - done < sizeof(buffer) ? len - done : sizeof(buffer));

		if (got <= 0)
			return -1;
		done += (size_t)got;
	}
	return 0;
}

static int store(int fd, size_t bytes)
{
	int head = snprintf(buffer, sizeof(buffer), "*3\r\n$3\r\nSET\r\n$1\r\nv\r\n$%zu\r\n", bytes);

	memset(buffer + head, 'x', bytes);
	memcpy(buffer + head + bytes, "\r\n", 2);
	return send_all(fd, buffer, (size_t)head + bytes + 2) || read_all(fd, strlen("+OK\r\n"));
}

int main(int argc, char **argv)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	size_t bytes = argc == 4 ? (size_t)atoll(argv[3]) : 0, answer;
	int64_t period_ns, due_ns;
	int fd;

	if (!bytes || bytes > BYTES_MOST || strlen(argv[1]) >= sizeof(address.sun_path)) {
		fprintf(stderr, "usage: ask SOCKET PERIOD_US VALUE_BYTES\n");
		return 2;
	}
	strcpy(address.sun_path, argv[1]);
	fd = socket(AF_UNIX, SOCK_STREAM, 0);
	if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address)) || store(fd, bytes)) {
		perror(argv[1]);
		return 1;
	}
	answer = (size_t)snprintf(buffer, sizeof(buffer), "$%zu\r\n", bytes) + bytes + 2;
	period_ns = atoll(argv[2]) * 1000;
	for (due_ns = stamp_now_ns() + period_ns;; due_ns += period_ns) {
		int64_t now_ns;

		stamp_sleep_until(due_ns);
		if (send_all(fd, "GET v\r\n", 7) || read_all(fd, answer))
			return 1;
		now_ns = stamp_now_ns();
		stamp_write(now_ns, now_ns - due_ns);
	}
}
