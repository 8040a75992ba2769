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

/* Takes the descriptor over. */
static int reopen(int found, struct stat *seen)
{
	char path[32];
	int fd = -1, error = 0;

	if (found < 0)
		return -errno;
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
	return reopen(open(path, O_PATH | O_CLOEXEC), seen);
}

int regular_open_below(int folder_fd, const char *path, struct stat *seen)
{
	struct open_how how = { .flags = O_PATH | O_CLOEXEC | O_NOFOLLOW,
				.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS };

	path += strspn(path, "/");
	return reopen((int)syscall(SYS_openat2, folder_fd, path, &how, sizeof(how)), seen);
}
