/* SPDX-License-Identifier: GPL-2.0 */
/* Small questions to /proc about one thread.
 * The text is parsed apart from the reading, so that any bytes can be tried on the parser. */
#ifndef TACTUS_BASE_PROC_H
#define TACTUS_BASE_PROC_H

#include <stddef.h>

#include "../../core/types.h"

/* When the thread started, in clock ticks since boot: with its tid, who it is. 0 if the text is no /proc/TID/stat. */
u64 stat_start_ticks(const char *text);

/* How long it has run, in clock ticks, as the same text says. */
u64 stat_cpu_ticks(const char *text);

/* The real user, as a text like /proc/TID/status says it. Returns 0 or -EINVAL. */
int status_real_uid(const char *text, u32 *uid);

/* The process, as the same text says it; 0: it does not. */
u32 status_pid(const char *text);

/* The process that started it, likewise. */
u32 status_parent(const char *text);

/* The first two levels of a control group's path: "/user.slice/user-1000.slice" of anything below. Returns how many
 * bytes that is; 0: it is in none. */
size_t cgroup_top_len(const char *path);

struct thread_times {
	u64 start_ticks;
	u64 cpu_ticks;
};

/* Of a living thread. Returns 0, -ESRCH if there is none of this tid, or another -errno if that is not known now. */
int proc_times(u32 tid, struct thread_times *times);

/* How long the thread has been on a CPU, and how long it has waited for one. Returns 0 or -errno: not every kernel
 * tells. */
int proc_run_times(u32 tid, u64 *cpu_ns, u64 *wait_ns);

/* The most pressing nice value that the thread may choose for itself, as a text like /proc/TID/limits says it; 20: none
 * but its own or a nicer one. */
s32 limits_least_nice(const char *text);
/* The same of a living thread, and anything for root's. A capability says nothing: it may be one of a user namespace.
 */
s32 proc_least_nice(u32 tid);

/* The process that the thread is of; 0: there is no such thread, or it is not known. */
u32 proc_pid(u32 tid);

/* The process's parents, nearest first. Returns how many, `most` at most. */
u32 proc_parents(u32 pid, u32 *parents, u32 most);

/* The real user that it runs as. Returns 0 or -errno. */
int proc_real_uid(u32 tid, u32 *uid);

/* Its name, up to a newline; "": it is not known. */
void proc_comm(u32 pid, struct comm *comm);

/* The start alone; 0 if there is no such thread or it is not known. */
u64 proc_start_ticks(u32 tid);

#endif
