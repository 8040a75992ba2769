// SPDX-License-Identifier: GPL-2.0
/* Reads /proc/PID/maps. Paths in it are any bytes that some process chose, so nothing is taken for granted.
 * A process may end meanwhile: then there is no more to read. */
#include "maps.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "proc_apart.h"

enum { MAPS_BUFFER = 65536 }; /* the longest path of the kernel's is 4096, each byte of it four if escaped */

static int digit_of(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* A number in the given base that ends with `end`, which is passed over. NULL: it is not that, or too large. */
static const char *take_number(const char *at, u32 base, char end, u64 *number)
{
	const char *from = at;
	int digit;

	for (*number = 0; (digit = digit_of(*at)) >= 0 && (u32)digit < base; at++) {
		if (*number > (~0ULL - (u32)digit) / base)
			return NULL;
		*number = *number * base + (u32)digit;
	}
	return at > from && *at == end ? at + 1 : NULL;
}

/* "r-xp ": each place has its own letters. */
static const char *take_flags(const char *at, bool *executable)
{
	static const char *const letters[] = { "r-", "w-", "x-", "ps" };

	for (int i = 0; i < 4; i++)
		if (!at[i] || !strchr(letters[i], at[i]))
			return NULL;
	*executable = at[2] == 'x';
	return at[4] == ' ' ? at + 5 : NULL;
}

/* The kernel escapes newlines, and nothing else. */
static void unescape(char *path)
{
	char *to = path;

	for (const char *from = path; *from; to++) {
		bool newline = !strncmp(from, "\\012", 4);

		*to = newline ? '\n' : *from;
		from += newline ? 4 : 1;
	}
	*to = '\0';
}

bool path_was_deleted(char *path)
{
	static const char tail[] = " (deleted)";
	size_t len = strlen(path), tail_len = sizeof(tail) - 1;

	if (len <= tail_len || strcmp(path + len - tail_len, tail) != 0)
		return false;
	path[len - tail_len] = '\0';
	return true;
}

const char *path_base(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

bool mapping_parse(char *line, struct mapping *mapping)
{
	const char *at = line;
	u64 major = 0, minor = 0;
	char *path;

	if (!(at = take_number(at, 16, '-', &mapping->start)) || !(at = take_number(at, 16, ' ', &mapping->end)) ||
	    !(at = take_flags(at, &mapping->executable)) || !(at = take_number(at, 16, ' ', &mapping->offset)) ||
	    !(at = take_number(at, 16, ':', &major)) || !(at = take_number(at, 16, ' ', &minor)))
		return false;
	path = line + (at - line) + strcspn(at, " ");
	/* Without a path some kernels end the line with the inode, others with a space. */
	if (*path) {
		*path++ = '\0';
		path += strspn(path, " ");
	}
	if (!take_number(at, 10, '\0', &mapping->inode) || mapping->end <= mapping->start || major > ~0u || minor > ~0u)
		return false;
	mapping->major = (u32)major;
	mapping->minor = (u32)minor;
	unescape(path);
	mapping->deleted = path_was_deleted(path);
	mapping->path = path;
	return true;
}

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
