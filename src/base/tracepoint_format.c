// SPDX-License-Identifier: GPL-2.0
/* Lines such as "\tfield:__data_loc char[] name;\toffset:24;\tsize:4;\tsigned:0;".
 */
#include "tracepoint_format.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "system.h"

enum { PATH_SIZE = 160, LINE_SIZE = 256, OFFSET_MOST = 4096 };

bool tracepoint_line_has(const char *line, const char *field, u32 *offset)
{
	static const char mark[] = ";\toffset:";
	const char *end = strstr(line, mark), *name;
	size_t len = strlen(field);
	unsigned long value;

	if (!end || (size_t)(end - line) < len + 1)
		return false;
	name = end - len;
	if (memcmp(name, field, len) || (name[-1] != ' ' && name[-1] != '*'))
		return false;
	value = strtoul(end + sizeof(mark) - 1, NULL, 10);
	if (value > OFFSET_MOST)
		return false;
	*offset = (u32)value;
	return true;
}

int tracepoint_offset(const char *category, const char *name, const char *field, u32 *offset)
{
	char path[PATH_SIZE], line[LINE_SIZE];
	int tracefs_fd = tracefs_open(), fd, error = -ENOENT;
	FILE *format;

	if (tracefs_fd < 0)
		return tracefs_fd;
	snprintf(path, sizeof(path), "events/%s/%s/format", category, name);
	fd = openat(tracefs_fd, path, O_RDONLY | O_CLOEXEC);
	close(tracefs_fd);
	if (fd < 0)
		return -errno;
	format = fdopen(fd, "re");
	if (!format) {
		close(fd);
		return -ENOMEM;
	}
	while (error && fgets(line, sizeof(line), format))
		error = tracepoint_line_has(line, field, offset) ? 0 : -ENOENT;
	fclose(format);
	return error;
}

bool tracepoint_is_here(const char *category, const char *name)
{
	char path[PATH_SIZE];
	int fd = tracefs_open();
	bool found;

	if (fd < 0)
		return false;
	snprintf(path, sizeof(path), "events/%s/%s/id", category, name);
	found = !faccessat(fd, path, F_OK, 0);
	close(fd);
	return found;
}
