/* SPDX-License-Identifier: GPL-2.0 */
/* Launches that programs report themselves, in the rings of core/detour.h, gathered in the order of time. */
#ifndef TACTUS_SENSOR_CUDA_REPORTS_H
#define TACTUS_SENSOR_CUDA_REPORTS_H

#include <stdbool.h>
#include <stddef.h>

#include "../../core/detour.h"

struct cuda_reports_launch {
	u32 pid; /* the process whose word it is */
	struct event_cuda_launch event;
};

struct cuda_reports {
	struct cuda_reports_launch *launches; /* those from `taken` on are in order, and not taken yet */
	size_t len, room, taken;
	u64 given_until_ns; /* what is older was asked for: what comes now comes after it */
};

/* A process's ring. */
struct cuda_ring {
	int fd;
	u32 pid;
	u64 met_ns;
	u64 taken;
};

/* How launches are to be read. */
struct cuda_reports_wishes {
	u32 functions; /* one more than the highest number of a function */
	bool all;      /* nobody writes any more: what is not there now never will be */
	u64 (*clock)(void);
	size_t most; /* to be held in all when this ring has been read; what there is more stays in the ring */
};

/* Forgets those that were taken. */
void cuda_reports_begin(struct cuda_reports *reports);
/* Reads what is new in a ring. Returns how many launches are left in it. */
u64 cuda_reports_read(struct cuda_reports *reports, struct cuda_ring *ring, const struct cuda_reports_wishes *wishes);
/* Puts those that were read into order. */
void cuda_reports_end(struct cuda_reports *reports);

/* The oldest that is older than that, valid until the next cuda_reports_begin; NULL: there is none. */
const struct cuda_reports_launch *cuda_reports_first(struct cuda_reports *reports, u64 before_ns);
void cuda_reports_drop(struct cuda_reports *reports);
void cuda_reports_free(struct cuda_reports *reports);

#endif
