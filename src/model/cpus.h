/* SPDX-License-Identifier: GPL-2.0 */
/* What is known of the CPUs over a window of time.
 * Filled by the sched sensor, shown by views; neither knows the other. */
#ifndef TACTUS_MODEL_CPUS_H
#define TACTUS_MODEL_CPUS_H

#include <stdbool.h>

#include "../../core/account.h"

struct cpus {
	u32 len;
	struct cpu_account *accounts; /* one a CPU number, those without a CPU empty */
	u64 refused;		      /* switches on a CPU that has no account */
	u64 recursion_misses;	      /* runs that the kernel skipped, on whatever CPU */
};

int cpus_init(struct cpus *cpus, u32 len);
void cpus_free(struct cpus *cpus);

/* A CPU that was there at some time in the window. */
bool cpu_was_seen(const struct cpu_account *account);

/* What happened between two readings: takes `earlier` off `later`. */
void cpus_subtract(struct cpus *later, const struct cpus *earlier);

/* And adds what happened since. */
void cpus_add(struct cpus *earlier, const struct cpus *since);

/* The sums over all CPUs. */
struct cpu_account cpus_sum(const struct cpus *cpus);

#endif
