// SPDX-License-Identifier: GPL-2.0
/* Takes apart lines of /proc/PID/maps. Paths in them are any bytes that some process chose, so nothing is taken for
 * granted. */
#include "maps.h"

#include <string.h>

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
