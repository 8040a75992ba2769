// SPDX-License-Identifier: GPL-2.0
/* Asks /proc/PID/status, not who owns the folder: that is root for a process that will not be traced. */
#include "owner.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/nsfs.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proc.h"

enum { NESTED_MAX = 64 }; /* twice as deep as the kernel allows */

static int open_of(u32 pid, const char *name)
{
	char path[48];

	snprintf(path, sizeof(path), "/proc/%u/%s", pid, name);
	return open(path, O_RDONLY | O_CLOEXEC);
}

static int real_user(u32 pid, u32 *uid)
{
	char text[4096] = "";
	int fd = open_of(pid, "status");
	ssize_t got = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	int error = got < 0 ? -errno : 0;

	if (fd >= 0)
		close(fd);
	if (error)
		return error;
	text[got] = '\0';
	return status_real_uid(text, uid) ? -ESRCH : 0;
}

/* Whether two descriptors are of the same namespace. */
static bool is_same(int fd, const struct stat *ours)
{
	struct stat seen;

	return !fstat(fd, &seen) && seen.st_dev == ours->st_dev && seen.st_ino == ours->st_ino;
}

int process_charged_to(u32 pid, u32 *uid)
{
	int error = real_user(pid, uid), fd = error ? -1 : open_of(pid, "ns/user");
	struct stat ours;

	if (fd < 0 || stat("/proc/self/ns/user", &ours)) {
		if (fd >= 0)
			close(fd);
		return error;
	}
	for (int i = 0; i < NESTED_MAX && !is_same(fd, &ours); i++) {
		int parent = ioctl(fd, NS_GET_PARENT);

		/* None of ours above it, as where this process is in a namespace itself. */
		if (parent < 0)
			break;
		if (is_same(parent, &ours))
			ioctl(fd, NS_GET_OWNER_UID, uid);
		close(fd);
		fd = parent;
	}
	close(fd);
	return 0;
}
