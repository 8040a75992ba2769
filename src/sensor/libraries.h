/* SPDX-License-Identifier: GPL-2.0 */
/* Which libraries processes really map, told the moment they map them: the kernel's own records of executable mappings
 * (perf's), and /proc/PID/maps for what was mapped before. No path is assumed; a file is told of once. */
#ifndef TACTUS_SENSOR_LIBRARIES_H
#define TACTUS_SENSOR_LIBRARIES_H

#include "../base/say.h"
#include "../../core/types.h"

struct library {
	u32 pid;	  /* a process that maps it */
	const char *name; /* the file's base name */
	const char *path; /* as that process calls it, for messages */
	const char *open; /* opens that very file, also if it was replaced or lies in another root:
			     /proc/PID/map_files/... */
	u64 device, inode;
};

typedef void (*library_found)(void *data, const struct library *library);

struct libraries;

/* Returns 0, or -errno with a reason: then mappings are found only by libraries_scan. *out is set unless memory is out.
 */
int libraries_open(struct libraries **out, struct reason *why);
void libraries_close(struct libraries *libraries);

/* From now on `found` is called once for every mapped file whose base name matches the shell pattern. */
int libraries_want(struct libraries *libraries, const char *pattern, library_found found, void *data);

/* Looks at what all processes, or one, map now. */
void libraries_scan(struct libraries *libraries);
void libraries_scan_process(struct libraries *libraries, u32 pid);

int libraries_fd(const struct libraries *libraries);
void libraries_work(struct libraries *libraries);
u64 libraries_lost(const struct libraries *libraries);

#endif
