/* SPDX-License-Identifier: GPL-2.0 */
/* What a process has mapped: /proc/PID/maps, line by line. Whatever bytes a path has, it is one line; a line that is
 * none is passed over. */
#ifndef TACTUS_BASE_MAPS_H
#define TACTUS_BASE_MAPS_H

#include <stdbool.h>

#include "../../core/types.h"

struct mapping {
	u64 start, end;
	u64 offset; /* of its first byte in the file */
	u64 inode;  /* 0: no file */
	u32 major, minor;
	bool executable;
	bool deleted;	  /* the file has no name any more */
	const char *path; /* without " (deleted)"; empty if it has none. Lies in the line. */
};

/* Takes one line apart, without its newline, changing it. False: it is no such line. */
bool mapping_parse(char *line, struct mapping *mapping);

/* Cuts " (deleted)" off, which the kernel puts behind the path of a file that has no name any more. */
bool path_was_deleted(char *path);

/* The part of a path behind its last slash. */
const char *path_base(const char *path);

/* A process may have as many as its user likes. So many lines are read, and no more. */
enum { MAPPINGS_MAX = 16384 };

/* Calls `take` for each mapping of a process until it returns other than 0, and returns that, or -errno; -E2BIG: there
 * are more than MAPPINGS_MAX. */
int maps_read(u32 pid, int (*take)(void *data, const struct mapping *mapping), void *data);

#endif
