/* SPDX-License-Identifier: GPL-2.0 */
/* Run-queue latency: how long threads that could run waited for a CPU, in all, per thread and per process,
 * and the longest single waits with who had the CPU meanwhile. */
#ifndef TACTUS_MODEL_LATENCY_H
#define TACTUS_MODEL_LATENCY_H

#include <stdbool.h>
#include <stddef.h>

#include "../../core/hist.h"
#include "../base/map.h"
#include "history.h"
#include "threads.h"

enum {
	LATENCY_WAITS_KEPT = 1000, /* single waits that are listed; of more, the longest */
};

struct long_wait {
	u64 to_ns; /* when it ended */
	u64 wait_ns;
	u32 tid, pid;
	struct comm comm;
	u32 cpu;
	enum wait_kind kind;
	enum culprit culprit;
	u32 behind_tid; /* for CULPRIT_THREAD */
	struct comm behind_comm;
	u32 waker_tid; /* for WAIT_WOKEN; 0: an interrupt on an idle CPU */
	struct comm waker_comm;
};

struct latency_summary {
	u64 waits;
	u64 wait_ns; /* all of them together */
	u64 p50_ns, p90_ns, p95_ns, p99_ns, p999_ns;
	u64 max_ns;
};

/* A thread, or a process with the waits of all its threads. */
struct latency_row {
	u32 tid, pid;
	struct comm comm;
	struct latency_summary summary;
};

struct thread_waits;

struct latency {
	u64 over_ns; /* single waits longer than this are kept; 0: none */
	struct hist woken, preempted;
	struct thread_waits *threads;
	size_t threads_len, threads_room;
	struct map by_thread; /* by the thread's address: index into threads, plus one */
	struct history history;
	struct long_wait *longest; /* a heap, the shortest first; in order of time after latency_order_waits */
	u32 longest_len;
	u64 not_listed; /* single waits over the limit for which there was no room in the list */
	bool failed;	/* something is missing for want of memory */
};

void latency_init(struct latency *latency, u64 over_ns);
void latency_free(struct latency *latency);

/* Forgets all waits; who runs where stays known. */
void latency_restart(struct latency *latency);

/* Takes an event that `threads` has taken already, and the wait that it ended, or NULL. */
void latency_handle(struct latency *latency, const struct threads *threads, const struct event_header *event,
		    const struct wait *ended);

struct latency_summary latency_summary(const struct hist *hist);

/* Of one thread; false: it did not wait. */
bool latency_of_thread(const struct latency *latency, const struct thread *thread, struct latency_summary *summary);

/* Every thread that waited, or every process, the worst wait first. The caller frees it. NULL with *len 0 if there is
 * none, NULL with *len not 0 for want of memory. */
struct latency_row *latency_rows(const struct latency *latency, const struct threads *threads, bool by_process,
				 size_t *len);

/* Puts the single waits into order of time, once all events are taken. */
void latency_order_waits(struct latency *latency);

#endif
