/* SPDX-License-Identifier: GPL-2.0 */
/* The policy SCHED_EXT, by which single threads are given to a sched_ext scheduler that takes only a part of them.
 * The kernel runs its own class before them; without a scheduler it treats them as any other. */
#ifndef TACTUS_SCHED_PARTIAL_H
#define TACTUS_SCHED_PARTIAL_H

#include <stddef.h>

#include "../../core/types.h"
#include "../base/say.h"

/* Returns 0 or -errno. Children that it forks have the policy too. */
int sched_ext_policy_give(u32 pid);

/* How many threads on the machine have the policy. */
u32 sched_ext_policy_count(void);

/* Call before any thread is given: a journal says that all that have the policy are ours. Returns 0,
 * or -errno with a reason. */
int sched_ext_policy_begin(struct reason *why);

/* Makes them ordinary threads again. Returns how many could not be made so; then the journal stays. */
u32 sched_ext_policy_end(void);

/* The same for a run that was killed. Returns how many threads were put back, 0 if there is nothing to undo, or -errno
 * with a reason; -EBUSY: one is running. `stuck`: how many could not be put back. */
int sched_ext_policy_undo(size_t *stuck, struct reason *why);

#endif
