/* SPDX-License-Identifier: GPL-2.0 */
/* Hints to the kernel's own scheduler: short slices for urgent threads, long ones for batch, by sched_setattr.
 * Every change is written down before it is made and undone at the end, by the next start after a crash, or by hand. */
#ifndef TACTUS_SCHED_HINTS_H
#define TACTUS_SCHED_HINTS_H

#include "../../core/hints.h"
#include "../base/say.h"

struct hints;

struct hints_counts {
	u64 urgent, batch; /* threads that have such a hint now */
	u64 given;	   /* changes made */
	u64 taken_back;	   /* at the end, or because a thread is urgent or batch no more */
	u64 left_alone;	   /* threads that their owner or another tool changed meanwhile, or had set before */
	u64 refused;	   /* changes that the kernel or a full disk did not allow */
};

/* Where the journal is: below /run for root, else in the user's runtime folder. NULL if there is none. */
const char *hints_journal_path(void);

/* Undoes what a crashed one left behind. `dry_run`: decides and counts, changes nothing. Returns 0 or -errno with a
 * reason. */
int hints_open(struct hints **out, int dry_run, struct reason *why);

/* What this kernel takes, in words. */
const char *hints_means_words(const struct hints *hints);

/* The thread is in this tier now, and runs so long at a time. Costs one system call, two more when that changes
 * something. */
void hints_tell(struct hints *hints, u32 tid, u32 tier, u64 burst_ns);

struct hints_counts hints_counts(const struct hints *hints);

/* Takes everything back. */
struct hints_counts hints_close(struct hints *hints);

/* What a crashed tactus left. Returns the number of threads put back, 0 if there is nothing to undo, or -errno with a
 * reason; -EBUSY: one is running and will undo it itself. */
int hints_undo(struct reason *why);

#endif
