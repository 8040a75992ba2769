/* SPDX-License-Identifier: GPL-2.0 */
/* Every move of a thread to another CPU: why, how far, and how long until it ran again; and sums of them by cause and
 * by thread. */
#ifndef TACTUS_MODEL_MOVES_H
#define TACTUS_MODEL_MOVES_H

#include "../../core/move.h"
#include "threads.h"

enum after_move { MOVE_RAN, MOVE_MOVED_ON, MOVE_NOT_RUN }; /* it ran; was moved again before; had not when it ended */

struct move {
	u64 at_ns;
	u64 ready_ns;  /* it could run since: the decision, or, if it slept on, its next wake-up */
	u64 to_run_ns; /* from then on, if it ran */
	u32 tid, by_tid;
	u32 role; /* at that time */
	u16 from_cpu, to_cpu;
	enum move_cause cause;
	enum distance distance;
	enum after_move after;
	bool asleep; /* it was moved in its sleep, as kernels do with those that lie in a queue */
};

struct move_sums {
	u64 moves;
	u64 causes[MOVE_CAUSES];
	u64 distances[DISTANCES];
	u64 runs, to_run_ns, to_run_max_ns; /* of those that it ran after */
};

struct thread_moves {
	struct move pending; /* has not run since; at_ns 0: there is none */
	struct move_sums sums;
};

struct moves {
	struct move_sums causes[MOVE_CAUSES];
	struct move_sums all;
	bool failed; /* for want of memory */
};

const char *move_cause_name(enum move_cause cause);
const char *distance_name(enum distance distance);

/* Takes an event that `threads` has taken. True, with *done filled, if a move's outcome is known by it. */
bool moves_handle(struct moves *moves, struct threads *threads, const struct event_header *event, struct move *done);

/* Counting begins anew. */
void moves_restart(struct moves *moves, struct threads *threads);

/* After the last event, until false: a move whose thread has not run since. */
bool moves_left(struct moves *moves, struct threads *threads, size_t *at, struct move *done);

/* Threads that moved, most moves first. NULL for want of memory, or if there is none. The caller frees it. */
const struct thread **moves_sorted(const struct threads *threads, size_t *len);

#endif
