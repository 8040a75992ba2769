/* SPDX-License-Identifier: GPL-2.0 */
/* From a stream of events to blocks of time, for model/compare.h: frames and why they were late, waits for CPUs by tier
 * and role, deadline misses, CPU time, switches, launches. */
#ifndef TACTUS_MODEL_COMPARE_TAKE_H
#define TACTUS_MODEL_COMPARE_TAKE_H

#include "blocks.h"
#include "frames.h"
#include "misses.h"

struct compare_take {
	struct blocks *blocks; /* NULL: what comes belongs to neither side */
	struct frames frames;
	struct misses misses;
	bool no_misses; /* deadline misses are not counted */
	/* Whether a thread is one of those that are compared; of others only their waits are. NULL: all are. */
	bool (*counts)(const void *data, const struct thread *thread);
	const void *data;
};

void compare_take_init(struct compare_take *take);
void compare_take_free(struct compare_take *take);

/* Takes an event that `threads` has taken, and the wait that it ended, or NULL. */
void compare_take_event(struct compare_take *take, struct threads *threads, const struct event_header *event,
			const struct wait *ended);

/* So far it was a piece of time, which is over; all accounts begin anew. */
void compare_take_piece_ends(struct compare_take *take, struct threads *threads, u64 from_ns, u64 to_ns);

/* What came before is known, and counted nowhere. */
void compare_take_restart(struct compare_take *take, struct threads *threads);

#endif
