/* SPDX-License-Identifier: GPL-2.0 */
/* The processes that count and tell (core/detour.h): each asks for memory by a socket, which the kernel says the pid
 * of, and gets some if it is the command or a descendant of it. So many at a time, one piece each, of a fixed size. */
#ifndef TACTUS_SENSOR_CUDA_TELLERS_H
#define TACTUS_SENSOR_CUDA_TELLERS_H

#include <sys/types.h>

#include "../model/detour.h"
#include "cuda_told.h"

enum {
	CUDA_TELLERS_MAX = 256,
	/* Launches held at a time, and at the end, when no ring can keep what is left. */
	CUDA_TOLD_HELD = 1 << 17,
	CUDA_TOLD_HELD_LAST = 1 << 20,
};

struct cuda_teller {
	struct cuda_ring ring;
	u64 start_ticks;	  /* with the pid: who it is */
	struct detour_seen *seen; /* DETOUR_ROWS of them; NULL: nothing yet */
	bool has_counted, is_broken;
};

struct cuda_tellers {
	int listen_fd; /* -1: it is not open */
	bool tell;     /* they have rings */
	u32 cpus;
	u32 functions; /* one more than the highest number of a function */
	struct cuda_teller all[CUDA_TELLERS_MAX];
	u32 len, first; /* `first`: whose ring is read first the next time */
	u64 swept_ns, answered_until_ns;
	/* What those counted that are gone. */
	struct detour_seen *gone; /* by function */
	u32 gone_len;
	u32 gone_processes, gone_broken;
	u64 gone_calls;
	u64 lost; /* launches that were told and not read */
	struct cuda_told told;
	/* Fills in which function a row is of. False: it is none that was planned. */
	bool (*find)(const void *data, const struct detour_row *row, struct detour_seen *seen);
	const void *data;
};

/* Listens at this path. `find` and its data, `tell` and `functions` are the caller's to set. Returns 0 or -errno. */
int cuda_tellers_open(struct cuda_tellers *tellers, const char *path, mode_t mode);
void cuda_tellers_close(struct cuda_tellers *tellers);

/* Answers those who ask. `is_ours` says whether the process of a pidfd is the command or a descendant. */
void cuda_tellers_serve(struct cuda_tellers *tellers, bool (*is_ours)(void *data, int pidfd), void *data);

/* Reads what was told since the last time; `all`: none of them tells any more. */
void cuda_tellers_collect(struct cuda_tellers *tellers, bool all);

struct cuda_tellers_sum {
	u32 processes, broken;
	u64 calls;
};

/* Calls `take` with what was counted of a function in a process, for each; returns the sums. */
struct cuda_tellers_sum cuda_tellers_read(struct cuda_tellers *tellers,
					  void (*take)(void *data, const struct detour_seen *seen), void *data);

#endif
