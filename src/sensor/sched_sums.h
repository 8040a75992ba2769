/* SPDX-License-Identifier: GPL-2.0 */
/* What each thread and each CPU did since it was last asked, added up by the kernel half: for a view that looks once a
 * second and need not see every switch. For a sched sensor that was started with keeps_sums. */
#ifndef TACTUS_SENSOR_SCHED_SUMS_H
#define TACTUS_SENSOR_SCHED_SUMS_H

#include "../../core/sums.h"
#include "sched.h"

struct sched_sums;

/* NULL: this kernel refuses what takes them, or memory is out. Then every switch has to be read. */
struct sched_sums *sched_sums_open(struct sensor *sched);
void sched_sums_close(struct sched_sums *sums);

/* Whether single switches and wake-ups are sent of urgent threads alone, or of all. */
void sched_sums_only(struct sched_sums *sums, bool only);

/* Sums of threads that end are handed over in either case, and not only where single switches are not sent. */
void sched_sums_keep_ended(struct sched_sums *sums);

/* Those of threads that have ended alone. Call now and then, so that their ring does not fill. */
int sched_sums_take_ended(struct sched_sums *sums, int (*take)(void *data, const void *row), void *data);

/* A struct sums_row for each thread that did anything since the last call; first those that have ended. `take` may be
 * NULL: then counting just begins anew. Returns 0 or -errno. */
int sched_sums_take(struct sched_sums *sums, int (*take)(void *data, const void *row), void *data);

/* So far. */
struct sched_cpu_sum {
	u64 busy_ns, switches;
	u32 tid; /* who runs now; 0: nobody */
};
struct sched_cpu_sum sched_sums_cpu(const struct sched_sums *sums, u32 cpu, u64 now_ns);

/* Threads of which a full map or ring kept nothing, so far. */
u64 sched_sums_refused(const struct sched_sums *sums);

#endif
