/* SPDX-License-Identifier: GPL-2.0 */
/* Hints to the kernel's own scheduler: short slices and weight for urgent threads, by sched_setattr.
 * Every change is written down before it is made and undone at the end, by the next start after a crash, or by hand. */
#ifndef TACTUS_SCHED_HINTS_H
#define TACTUS_SCHED_HINTS_H

#include <stdbool.h>

#include "../../core/hints.h"
#include "../base/say.h"

struct hints;

struct hints_counts {
	u64 urgent;	/* threads that have a hint now */
	u64 given;	/* changes made */
	u64 taken_back; /* at the end, or because a thread is urgent no more */
	u64 left_alone; /* threads that their owner or another tool changed meanwhile, or had set before */
	u64 refused;	/* changes that the kernel or a full disk did not allow */
	u64 stuck;	/* threads that could not be put back at the end: the journal keeps them */
};

/* What a thread is to have. */
struct hint_wish {
	u32 tier;
	u64 burst_ns; /* what it runs at a time */
	u64 known_ns; /* by the monotonic clock: the thread was there then, so one that started later is another. 0: not
		       * known */
	int by_user;  /* the user said what it is */
	int is_awaited; /* urgent threads wait for it */
};

/* Undoes what a crashed one left behind. `dry_run`: decides and counts, changes nothing. Returns 0 or -errno with a
 * reason. */
int hints_open(struct hints **out, int dry_run, struct reason *why);

/* What this kernel takes, in words. */
const char *hints_means_words(const struct hints *hints);

/* Costs one system call, two more when something changes. */
void hints_on_role(struct hints *hints, u32 tid, const struct hint_wish *wish);

/* Looks at what urgent threads use, now and then: call at every tick. */
void hints_look(struct hints *hints);

/* Nobody has a hint until acting is no longer held back. */
void hints_hold(struct hints *hints, bool is_held);

/* The process whose urgent threads use most, or this one if it has such threads; 0: nobody has a hint. */
u32 hints_cause(const struct hints *hints, u32 pid);

/* Takes back the hints of a process, and gives it none for a while. Returns for how long. */
u64 hints_hold_back(struct hints *hints, u32 pid);
/* How many processes are held back now. */
u32 hints_held_back(const struct hints *hints);

/* How a thread stands. */
struct hint_standing {
	bool is_left_alone; /* its owner or another tool has chosen */
	bool is_held;	    /* it is urgent, and has no hint for now */
	bool is_given;
	struct hint hint; /* that it was given */
};
struct hint_standing hints_standing(const struct hints *hints, u32 tid);

struct hints_counts hints_counts(const struct hints *hints);

/* Takes everything back. */
struct hints_counts hints_close(struct hints *hints);

/* What a crashed tactus left. Returns the number of threads put back, 0 if there is nothing to undo, or -errno with a
 * reason; -EBUSY: one is running and will undo it itself. `stuck`: threads that could not be put back, which the
 * journal keeps. */
int hints_undo(size_t *stuck, struct reason *why);

/* For a run that is there but stands still: takes back what its journal lists, and leaves the journal to it. Returns
 * from how many threads. */
size_t hints_relieve(void);

/* The run goes on, and gives what was taken back again. */
void hints_relieved(struct hints *hints);

#endif
