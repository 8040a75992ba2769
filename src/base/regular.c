// SPDX-License-Identifier: GPL-2.0
/* O_PATH finds a file without opening it; what was found is then opened by its descriptor, so that nothing can be put
 * in its place between. */
#include "regular.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef RESOLVE_CACHED
#define RESOLVE_CACHED 0x20 /* Linux 5.12 */
#endif

enum { TRIES = 3 };

int regular_take(int found, struct stat *seen)
{
	char path[32];
	int fd = -1, error = 0;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", found);
	if (fstat(found, seen))
		error = -errno;
	else if (!S_ISREG(seen->st_mode))
		error = -EINVAL;
	else if ((fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)) < 0)
		error = -errno;
	close(found);
	return error ? error : fd;
}

int regular_open(const char *path, struct stat *seen)
{
	int found = open(path, O_PATH | O_CLOEXEC);

	return found < 0 ? -errno : regular_take(found, seen);
}

int regular_find_below(int folder_fd, const char *path)
{
	struct open_how how = { .flags = O_PATH | O_CLOEXEC | O_NOFOLLOW,
				.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS |
					   RESOLVE_CACHED };
	int found = -1;

	path += strspn(path, "/");
	/* A rename elsewhere may be in the way of one try. */
	for (int i = 0; i < TRIES && found < 0; i++) {
		found = (int)syscall(SYS_openat2, folder_fd, path, &how, sizeof(how));
		if (found < 0 && errno != EAGAIN)
			return -errno;
	}
	return found < 0 ? -EREMOTEIO : found;
}
