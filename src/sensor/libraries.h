/* SPDX-License-Identifier: GPL-2.0 */
/* Which libraries processes really map, reported the moment they map them: the kernel's own records of executable
 * mappings (perf's), and /proc/PID/maps for what was mapped before. No path is assumed; a file is reported once. */
#ifndef TACTUS_SENSOR_LIBRARIES_H
#define TACTUS_SENSOR_LIBRARIES_H

#include <stdbool.h>

#include "../base/say.h"
#include "../../core/types.h"

/* Valid, as all that it points to, until the call that it is handed to returns. */
struct library {
	u32 pid;	  /* a process that maps it */
	const char *name; /* the file's base name */
	const char *path; /* as that process calls it, for messages; hostile bytes are possible */
	const char *open; /* opens that very file, also if it was replaced or lies in another root, or the process is
			     gone by now: to read it, and to attach uprobes to it */
	u64 device, inode;
	bool is_roots; /* nobody but root can write to it */
	bool is_quiet; /* users have had much said of their files already */
};

typedef void (*library_found)(void *data, const struct library *library);
typedef void (*library_gone)(void *data, u64 device, u64 inode);

struct libraries;

/* Returns 0, or -errno with a reason: then libraries_work looks once a second at what has changed in /proc. *out is set
 * unless memory is out. */
int libraries_open(struct libraries **out, struct reason *why);
void libraries_close(struct libraries *libraries);

/* Whether libraries_open would return 0 here; else why not. */
bool libraries_can_be_reported(struct reason *why);

/* From now on `found` is called once for every mapped file whose base name matches the shell pattern. That is the name
 * of the file itself, not of a link to it: libGLX.so.0.0.0 for libGLX.so.0. A file that was written to since is another
 * one. What is mapped already is reported by the next libraries_scan. When nobody maps a file any more that others than
 * root can write to, `gone` is called, unless it is NULL; of root's, ten minutes later, and only if it is not where it
 * was. Mapped again, it is found again. So much is done for each user and no more: what is above that is counted. */
int libraries_want(struct libraries *libraries, const char *pattern, library_found found, library_gone gone,
		   void *data);

/* Looks at what all processes, or one, map now. */
void libraries_scan(struct libraries *libraries);
void libraries_scan_process(struct libraries *libraries, u32 pid);

/* maps_read, of which so much is done for each user and no more: -EDQUOT then. */
struct mapping;
int libraries_read_maps(struct libraries *libraries, u32 pid, int (*take)(void *data, const struct mapping *mapping),
			void *data);

/* Opens the very file that a process maps there, read-only, if it is a regular one and nobody's program has to answer
 * for it. Returns a descriptor or -errno. */
struct stat;
int library_open(u32 pid, const struct mapping *mapping, struct stat *seen);

/* Readable when something has been mapped; -1 if the kernel does not report it. It is so once for each: who asks twice
 * before calling libraries_work may get no for an answer. */
int libraries_fd(const struct libraries *libraries);
/* Call when that is readable, and once a second. */
void libraries_work(struct libraries *libraries);

/* Mappings that the kernel had no room to report. They are looked for in /proc once they were noticed. */
u64 libraries_lost(const struct libraries *libraries);

/* How many times a mapped file was not looked at, or not to its end, or a process's mappings were not read so. */
u64 libraries_refused(const struct libraries *libraries);

#endif
