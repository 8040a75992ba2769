/* SPDX-License-Identifier: GPL-2.0 */
/* Small questions to /proc about one thread.
 * The text is parsed apart from the reading, so that any bytes can be tried on the parser. */
#ifndef TACTUS_BASE_PROC_H
#define TACTUS_BASE_PROC_H

#include <stddef.h>

#include "../../core/types.h"

/* When the thread started, in clock ticks since boot: with its tid, who it is. 0 if the text is no /proc/TID/stat. */
u64 stat_start_ticks(const char *text);

/* How long it has run, in clock ticks, as the same text tells. */
u64 stat_cpu_ticks(const char *text);

/* The real user, as a text like /proc/TID/status says it. Returns 0 or -EINVAL. */
int status_real_uid(const char *text, u32 *uid);

/* The first two levels of a control group's path: "/user.slice/user-1000.slice" of anything below. Returns how many
 * bytes that is; 0: it is in none. */
size_t cgroup_top_len(const char *path);

struct thread_times {
	u64 start_ticks;
	u64 cpu_ticks;
};

/* Of a living thread. Returns 0, -ESRCH if there is none of this tid, or another -errno if that can't be told now. */
int proc_times(u32 tid, struct thread_times *times);

/* How long the thread has been on a CPU, and how long it has waited for one. Returns 0 or -errno: not every kernel
 * tells. */
int proc_run_times(u32 tid, u64 *cpu_ns, u64 *wait_ns);

/* The start alone; 0 if there is no such thread or it can't be told. */
u64 proc_start_ticks(u32 tid);

#endif
