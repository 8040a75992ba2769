/* SPDX-License-Identifier: GPL-2.0 */
/* What the library in a traced program has counted and reported (core/detour.h). That memory is the program's to write:
 * it may hold anything, and something else a moment later. What is taken from it is bounded by what can be true of that
 * one process. */
#ifndef TACTUS_MODEL_DETOUR_H
#define TACTUS_MODEL_DETOUR_H

#include <stdbool.h>
#include <stddef.h>

#include "../../core/detour.h"

/* The most calls that a process can have made in so long: one a nanosecond on each CPU. */
u64 detour_most_calls(u64 ns, u32 cpus);

/* Calls `take` for each row of counts that is in use, with its number. All of them together have `most` calls at most.
 * Returns how many, or -EINVAL if these are no counts. */
int detour_counts_read(const void *bytes, size_t len, u64 most,
		       void (*take)(void *data, u32 number, const struct detour_row *row), void *data);

/* What has been seen of a row so far. */
struct detour_seen {
	u64 calls, returned, failed;
	u32 function; /* that it was first seen with, whatever it says later; 0: not seen yet */
	bool is_whole;
	bool is_refused; /* it is of nothing that was planned */
};

/* Adds what is new. Counts only grow. */
void detour_seen_take(struct detour_seen *seen, const struct detour_row *row);

u64 detour_sum(u64 one, u64 other);

/* How many launches can be read at once from `taken` on, when `begun` have been begun: up to the ring's end. 0: none,
 * or the two can't be. */
u64 detour_stretch(u64 begun, u64 taken, u64 most);

/* Takes a launch that should be the one of this turn out of a ring. Returns false if it is not there (yet), or nothing
 * that can be one. `functions`: one more than the highest number of a function. Its time is made one from `since_ns` to
 * `until_ns`. */
bool detour_launch_read(const struct detour_launch *launch, u64 sequence, u32 functions, u64 since_ns, u64 until_ns,
			struct event_cuda_launch *event);

/* Whether one more who asks is to be answered now: a thousand a second, and some at once. Who asks more often waits, so
 * that asking costs him more than it costs the program. */
bool detour_may_answer(u64 *paid_until_ns, u64 now_ns);

#endif
