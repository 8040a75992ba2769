/* SPDX-License-Identifier: GPL-2.0 */
/* A thread's scheduling attributes, asked for and set: sched_getattr(2) and sched_setattr(2), which the C library has
 * no words for everywhere. */
#ifndef TACTUS_SCHED_ATTR_H
#define TACTUS_SCHED_ATTR_H

#include <stdbool.h>

#include "../../core/hints.h"

struct attr {
	u32 policy; /* SCHED_OTHER, ... */
	u64 flags;
	struct hint hint; /* slice_ns as the kernel reports it: never 0 where it has custom slices */
};

/* Each returns 0 or -errno. */
int thread_attr_get(u32 tid, struct attr *attr);

/* Changes slice, nice and clamp of a thread of the fair class, and nothing else. With `means` that lack something, that
 * is left out. `reset_on_fork`: its children start as if it had been given no hint. */
int thread_attr_set(u32 tid, const struct attr *attr, const struct hint_means *means, u32 reset_on_fork);

/* Puts back what a thread of any class had; `policy` is the one that it has now. Outside the fair class there is only
 * the nice value, which the thread has again when it comes back. */
int attr_put_back(u32 tid, const struct attr *attr, const struct hint_means *means);

/* Raises the calling thread as far as it goes, and takes that back; its children start without it. False: it may not,
 * or its owner has chosen something for it. */
bool thread_attr_press(void);
void thread_attr_ease(void);

/* Whether its children start without what it has. */
int attr_resets_on_fork(const struct attr *attr);

/* Finds out, on the calling thread, what this kernel takes; leaves it as it was. */
struct hint_means attr_means(void);

#endif
