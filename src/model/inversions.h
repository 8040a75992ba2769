/* SPDX-License-Identifier: GPL-2.0 */
/* Priority inversions: a thread waits for a CPU while one of lower priority runs there, for longer than a threshold.
 * Found at the end of each run, by looking at who waited for that CPU meanwhile. */
#ifndef TACTUS_MODEL_INVERSIONS_H
#define TACTUS_MODEL_INVERSIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "threads.h"

enum {
	INVERSIONS_PAIRS_KEPT = 65536,
	INVERSIONS_BUCKETS = 4096,
};

enum prio_class { PRIO_DEADLINE, PRIO_REALTIME, PRIO_NICE };

/* Everything that one thread did to one other. Priorities are those of the longest time. */
struct inversion {
	const struct thread *waiter, *runner;
	u32 waiter_prio, runner_prio;
	u64 times;
	u64 total_ns;
	u64 longest_ns;
	u64 longest_at_ns; /* when it ended */
	struct inversion *next;
};

struct waiter;

/* One CPU: who runs on it, and who waits for it. */
struct inversion_cpu {
	u32 tid, prio; /* tid 0: idle or not known */
	u64 since_ns;
	struct waiter *waiters;
};

struct inversions {
	u64 threshold_ns;
	u64 last_ns; /* the time of the last event: the same live and on replay, unlike the window's end */
	struct inversion_cpu *cpus;
	u32 cpus_len;
	struct waiter **waiting; /* hash from thread to its place in a queue */
	struct waiter *spare;
	struct inversion **pairs; /* hash from waiter and runner */
	size_t pairs_len;
	u64 not_kept; /* inversions of pairs for which there was no room */
	bool failed;  /* something is missing for want of memory */
};

int inversions_init(struct inversions *inversions, u32 cpus_len, u64 threshold_ns);
void inversions_free(struct inversions *inversions);

/* Takes an event that `threads` has taken already. */
void inversions_take(struct inversions *inversions, const struct threads *threads, const struct event_header *event);

/* Counts the runs that still go on at the end of the stream. Once, after the last event. */
void inversions_end(struct inversions *inversions, const struct threads *threads);

/* All pairs, the largest total first: pairs_len pointers, the caller frees the list. NULL for want of memory. */
const struct inversion **inversions_sorted(const struct inversions *inversions);

enum prio_class prio_class(u32 prio);

#endif
