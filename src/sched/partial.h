/* SPDX-License-Identifier: GPL-2.0 */
/* The policy SCHED_EXT, by which single threads are given to a sched_ext scheduler that takes only a part of them.
 * The kernel runs its own class before them; without a scheduler it treats them as any other. */
#ifndef TACTUS_SCHED_PARTIAL_H
#define TACTUS_SCHED_PARTIAL_H

#include "../../core/types.h"

/* Returns 0 or -errno. Children that it forks have the policy too. */
int partial_give(u32 pid);

/* How many threads on the machine have the policy. */
u32 partial_count(void);

/* Makes them ordinary threads again. Returns how many there were. */
u32 partial_take_back(void);

#endif
