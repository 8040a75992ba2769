/* SPDX-License-Identifier: GPL-2.0 */
/* Priority inversions: a thread waits for a CPU while one of lower priority runs there, for longer than a threshold.
 * Found at the end of each run, by looking at who waited for that CPU meanwhile. */
#ifndef TACTUS_MODEL_INVERSIONS_H
#define TACTUS_MODEL_INVERSIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "../base/map.h"
#include "threads.h"

enum { INVERSIONS_PAIRS_KEPT = 65536 };

enum prio_class { PRIO_DEADLINE, PRIO_REALTIME, PRIO_NICE };

/* Everything that one thread did to one other. Priorities are those of the longest time. */
struct inversion {
	const struct thread *waiter, *runner;
	u32 waiter_prio, runner_prio;
	u64 times;
	u64 total_ns;
	u64 longest_ns;
	u64 longest_at_ns; /* when it ended */
};

struct waiter;

/* One that has lasted for a while. */
struct inversion_now {
	const struct thread *waiter, *runner;
	u32 waiter_prio, runner_prio, cpu;
	u64 from_ns, lasted_ns;
};

/* Where each that lasts for so long is handed over, once. 0: nowhere. */
struct inversion_alert {
	u64 least_ns;
	void (*each)(void *data, const struct inversion_now *now);
	void *data;
};

/* One CPU: who runs on it, and who waits for it. */
struct inversion_cpu {
	u32 tid, prio; /* tid 0: idle or not known */
	u64 since_ns;
	struct waiter *waiters;
};

struct inversions {
	u64 threshold_ns;
	struct inversion_alert alert;
	u64 last_ns; /* the time of the last event: the same live and on replay, unlike the window's end */
	struct inversion_cpu *cpus;
	u32 cpus_len;
	struct waiter **waiters; /* every thread that has waited */
	size_t waiters_len, waiters_room;
	struct map by_thread; /* by the thread's address: index into waiters, plus one */
	struct inversion *pairs;
	size_t pairs_len, pairs_room;
	struct map by_pair; /* index into pairs, plus one */
	u64 not_kept;	    /* inversions of pairs for which there was no room */
	bool failed;	    /* something is missing for want of memory */
};

int inversions_init(struct inversions *inversions, u32 cpus_len, u64 threshold_ns);
void inversions_free(struct inversions *inversions);

/* Takes an event that `threads` has taken already. */
void inversions_handle(struct inversions *inversions, const struct threads *threads, const struct event_header *event);

/* Alerts to each that surely goes on at now_ns; those that nobody asked about while they lasted, and those of who may
 * have left the CPU unseen, are alerted to as they end. */
void inversions_ongoing(struct inversions *inversions, const struct threads *threads, u64 now_ns);

/* Forgets all pairs; who waits for whom stays known. */
void inversions_restart(struct inversions *inversions);

/* Counts the runs that still go on at the end of the stream. Once, after the last event. */
void inversions_end(struct inversions *inversions, const struct threads *threads);

/* All pairs, the largest total first: pairs_len pointers, the caller frees the list. NULL for want of memory. */
const struct inversion **inversions_sorted(const struct inversions *inversions);

enum prio_class prio_class(u32 prio);

#endif
