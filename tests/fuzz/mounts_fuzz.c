// SPDX-License-Identifier: GPL-2.0
/* Fuzzing the parser of /proc/PID/mountinfo, where a user's own mounts stand under names of his choice: any bytes as
 * one line. What it takes must make sense. */
#include <stdlib.h>
#include <string.h>

#include "../../src/base/mounts.h"

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	char *line = malloc(size + 1), type[8], least[1];
	u32 major = 0, minor = 0;
	u64 mount;

	memcpy(line, data, size);
	line[size] = '\0';
	if (mount_line_device(line, &mount, &major, &minor)) {
		/* A type is a word of the line; another device's line has none. */
		if (mount_line_type(line, major, minor, type, sizeof(type)) &&
		    (strlen(type) >= sizeof(type) || strpbrk(type, " \n") || !strstr(line, type)))
			abort();
		if (mount_line_type(line, major, minor, least, sizeof(least)) && least[0])
			abort();
		if (mount_line_type(line, major + 1, minor, type, sizeof(type)) ||
		    mount_line_type(line, major, minor + 1, type, sizeof(type)))
			abort();
	}
	free(line);
	return 0;
}
