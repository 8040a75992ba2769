/* SPDX-License-Identifier: GPL-2.0 */
/* Launches that programs tell of themselves, in the rings of core/detour.h, gathered in the order of time. */
#ifndef TACTUS_SENSOR_CUDA_TOLD_H
#define TACTUS_SENSOR_CUDA_TOLD_H

#include <stdbool.h>
#include <stddef.h>

#include "../../core/detour.h"

struct cuda_told_launch {
	u32 pid; /* the process whose word it is */
	struct event_cuda_launch event;
};

struct cuda_told {
	struct cuda_told_launch *launches; /* those from `taken` on are in order, and not taken yet */
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
struct cuda_told_wishes {
	u32 functions; /* one more than the highest number of a function */
	bool all;      /* nobody writes any more: what is not there now never will be */
	u64 (*clock)(void);
	size_t most; /* to be held in all when this ring has been read; what there is more stays in the ring */
};

/* Forgets those that were taken. */
void cuda_told_begin(struct cuda_told *told);
/* Reads what is new in a ring. Returns how many launches are left in it. */
u64 cuda_told_read(struct cuda_told *told, struct cuda_ring *ring, const struct cuda_told_wishes *wishes);
/* Puts those that were read into order. */
void cuda_told_end(struct cuda_told *told);

/* Valid until the next cuda_told_begin. */
const struct cuda_told_launch *cuda_told_take(struct cuda_told *told, u64 before_ns);
void cuda_told_free(struct cuda_told *told);

#endif
