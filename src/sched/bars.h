/* SPDX-License-Identifier: GPL-2.0 */
/* Processes that are left to the kernel for a while, since acting for them made somebody wait longer.
 * A process that is barred again is barred for twice as long (core/effect.h). */
#ifndef TACTUS_SCHED_BARS_H
#define TACTUS_SCHED_BARS_H

#include <stdbool.h>

#include "../../core/types.h"

enum { BARS_MOST = 64 };

struct bar {
	u32 pid; /* 0: free */
	u32 times;
	u64 start_ticks; /* with the pid, who it is */
	u64 until_ns;
};

/* All zeroes is an empty one. */
struct bars {
	struct bar all[BARS_MOST];
	u64 longest_ns; /* nobody is barred after that */
};

/* Bars the process from now on. Where there is no room, the one whose bar ends first gives way. Returns for how long.
 */
u64 bars_add(struct bars *bars, u32 pid, u64 start_ticks, u64 now_ns);

bool bars_has(const struct bars *bars, u32 pid, u64 now_ns);

/* Each that is barred now. */
#define bars_for_each(bar, bars, now_ns)                                                \
	for (const struct bar *bar = (bars)->all; bar < (bars)->all + BARS_MOST; bar++) \
		if (bar->pid && bar->until_ns > (now_ns))

/* How many are barred now. */
u32 bars_count(const struct bars *bars, u64 now_ns);

#endif
