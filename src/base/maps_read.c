// SPDX-License-Identifier: GPL-2.0
/* Reads /proc/PID/maps, line by line. A process may end meanwhile: then there is no more to read.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "maps.h"
#include "proc_apart.h"

enum { MAPS_BUFFER = 65536 }; /* the longest path of the kernel's is 4096, each byte of it four if escaped */

struct reading {
	int (*take)(void *data, const struct mapping *mapping);
	void *data;
	u32 lines;
	int result;
};

/* Hands out the whole lines of a buffer and returns how many of its bytes that were. */
static size_t take_lines(struct reading *reading, char *buffer, size_t len)
{
	size_t used = 0;
	char *newline;

	while (!reading->result && (newline = memchr(buffer + used, '\n', len - used))) {
		struct mapping mapping;
		char *line = buffer + used;

		*newline = '\0';
		used = (size_t)(newline - buffer) + 1;
		if (reading->lines++ == MAPPINGS_MAX)
			reading->result = -E2BIG;
		else if (mapping_parse(line, &mapping))
			reading->result = reading->take(reading->data, &mapping);
	}
	return used;
}

int maps_read(u32 pid, int (*take)(void *data, const struct mapping *mapping), void *data)
{
	struct reading reading = { .take = take, .data = data };
	struct proc_file file;
	size_t len = 0;
	ssize_t got = 0;
	char *buffer;
	int error = proc_file_open(&file, pid, "maps");

	if (error)
		return error;
	buffer = malloc(MAPS_BUFFER);
	if (!buffer) {
		proc_file_close(&file);
		return -ENOMEM;
	}
	while (!reading.result && (got = proc_file_read(&file, buffer + len, MAPS_BUFFER - len)) > 0) {
		size_t used;

		len += (size_t)got;
		used = take_lines(&reading, buffer, len);
		/* A line that fills the whole buffer is none of the kernel's. */
		if (!used && len == MAPS_BUFFER)
			used = len;
		len -= used;
		memmove(buffer, buffer + used, len);
	}
	if (!reading.result && got < 0)
		reading.result = (int)got;
	free(buffer);
	proc_file_close(&file);
	return reading.result;
}
