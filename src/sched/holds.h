/* SPDX-License-Identifier: GPL-2.0 */
/* Processes that are left to the kernel for a while, since acting for them made somebody wait longer.
 * A process that is held back again is held back for twice as long (core/effect.h). */
#ifndef TACTUS_SCHED_HOLDS_H
#define TACTUS_SCHED_HOLDS_H

#include <stdbool.h>

#include "../../core/types.h"

enum { HOLDS_MOST = 64 };

struct hold {
	u32 pid; /* 0: free */
	u32 times;
	u64 start_ticks; /* with the pid, who it is */
	u64 until_ns;
};

/* All zeroes is an empty one. */
struct holds {
	struct hold all[HOLDS_MOST];
	u64 longest_ns; /* nobody is held back after that */
};

/* Holds the process back from now on. Where there is no room, the one whose hold ends first gives way. Returns for how
 * long.
 */
u64 holds_add(struct holds *holds, u32 pid, u64 start_ticks, u64 now_ns);

bool holds_has(const struct holds *holds, u32 pid, u64 now_ns);

/* Each that is held back now. */
#define holds_for_each(hold, holds, now_ns)                                                    \
	for (const struct hold *hold = (holds)->all; hold < (holds)->all + HOLDS_MOST; hold++) \
		if (hold->pid && hold->until_ns > (now_ns))

/* How many are held back now. */
u32 holds_count(const struct holds *holds, u64 now_ns);

#endif
