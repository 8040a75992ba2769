/* SPDX-License-Identifier: GPL-2.0 */
/* The processes that count and report (core/detour.h): each asks for memory by a socket, which the kernel says the pid
 * of, and gets some if it is the command or a descendant of it. So many at a time, one piece each, of a fixed size. */
#ifndef TACTUS_SENSOR_CUDA_REPORTERS_H
#define TACTUS_SENSOR_CUDA_REPORTERS_H

#include <sys/types.h>

#include "../model/detour.h"
#include "cuda_reports.h"

enum {
	CUDA_REPORTERS_MAX = 256,
	/* Launches held at a time, and at the end, when no ring can keep what is left. */
	CUDA_REPORTED_HELD = 1 << 17,
	CUDA_REPORTED_HELD_LAST = 1 << 20,
};

struct cuda_reporter {
	struct cuda_ring ring;
	u64 start_ticks;	  /* with the pid: who it is */
	struct detour_seen *seen; /* DETOUR_ROWS of them; NULL: nothing yet */
	bool has_counted, is_broken;
};

struct cuda_reporters {
	int listen_fd;	/* -1: it is not open */
	bool has_rings; /* they have rings */
	u32 cpus;
	u32 functions; /* one more than the highest number of a function */
	struct cuda_reporter all[CUDA_REPORTERS_MAX];
	u32 len, first; /* `first`: whose ring is read first the next time */
	u64 swept_ns, answered_until_ns;
	/* What those counted that are gone. */
	struct detour_seen *gone; /* by function */
	u32 gone_len;
	u32 gone_processes, gone_broken;
	u64 gone_calls;
	u64 lost; /* launches that were reported and not read */
	struct cuda_reports reports;
	/* Fills in which function a row is of. False: it is none that was planned. */
	bool (*find)(const void *data, const struct detour_row *row, struct detour_seen *seen);
	const void *data;
};

/* Listens at this path. `find` and its data, `has_rings` and `functions` are the caller's to set. Returns 0 or -errno.
 */
int cuda_reporters_open(struct cuda_reporters *reporters, const char *path, mode_t mode);
void cuda_reporters_close(struct cuda_reporters *reporters);

/* Answers those who ask. `is_ours` says whether the process of a pidfd is the command or a descendant. */
void cuda_reporters_serve(struct cuda_reporters *reporters, bool (*is_ours)(void *data, int pidfd), void *data);

/* Reads what was reported since the last time; `all`: none of them reports any more. */
void cuda_reporters_collect(struct cuda_reporters *reporters, bool all);

struct cuda_reporters_sum {
	u32 processes, broken;
	u64 calls;
};

/* Calls `take` with what was counted of a function in a process, for each; returns the sums. */
struct cuda_reporters_sum cuda_reporters_read(struct cuda_reporters *reporters,
					      void (*take)(void *data, const struct detour_seen *seen), void *data);

#endif
