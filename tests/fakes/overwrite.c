// SPDX-License-Identifier: GPL-2.0
/* A library to preload: somebody writes to a file in the very moment before it is watched for writes for the first
 * time. What is in the file OVERWRITE_BY goes into the one that OVERWRITE names. */
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static void overwrite(const char *path, const char *by)
{
	char bytes[65536];
	int from = open(by, O_RDONLY), to = open(path, O_WRONLY | O_TRUNC);
	ssize_t got = read(from, bytes, sizeof(bytes));

	if (got <= 0 || write(to, bytes, (size_t)got) != got)
		abort();
	close(from);
	close(to);
}

int inotify_add_watch(int fd, const char *path, uint32_t mask)
{
	static int is_done;
	const char *name = getenv("OVERWRITE"), *by = getenv("OVERWRITE_BY");
	struct stat watched, named;

	if (!is_done && name && by && !stat(path, &watched) && !stat(name, &named) && watched.st_ino == named.st_ino) {
		is_done = 1;
		overwrite(name, by);
	}
	return (int)syscall(SYS_inotify_add_watch, fd, path, mask);
}
