/* SPDX-License-Identifier: GPL-2.0 */
/* A folder for a test's files, in memory where there is room in it: tens of thousands of small files are written by
 * some tests, and a disk takes minutes for them where packages have just been unpacked on it. */
#ifndef TACTUS_TESTS_SCRATCH_H
#define TACTUS_TESTS_SCRATCH_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum { SCRATCH_LEAST_BYTES = 64 << 20 };

static inline const char *scratch_top(void)
{
	const char *asked = getenv("TMPDIR");
	struct statvfs room;

	if (asked && *asked)
		return asked;
	if (!access("/dev/shm", W_OK | X_OK) && !statvfs("/dev/shm", &room) &&
	    (unsigned long long)room.f_bavail * room.f_frsize >= SCRATCH_LEAST_BYTES)
		return "/dev/shm";
	return "/tmp";
}

static inline void make_scratch(char *folder, size_t size, const char *name)
{
	snprintf(folder, size, "%s/tactus-%s.XXXXXX", scratch_top(), name);
	if (!mkdtemp(folder)) {
		printf("Bail out! no folder for the test: %s\n", strerror(errno));
		exit(1);
	}
}

#endif
