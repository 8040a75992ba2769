/* SPDX-License-Identifier: GPL-2.0 */
/* Threads that work by a timer and ran too late, from a stream of events: when each was expected, when it ran, and who
 * had its CPU in between. */
#ifndef TACTUS_MODEL_MISSES_H
#define TACTUS_MODEL_MISSES_H

#include "../../core/miss.h"
#include "history.h"
#include "threads.h"

struct miss {
	struct miss_verdict verdict;
	u32 tid;
	u32 role;
	u32 cpu; /* where it ran then */
	enum culprit culprit;
	u32 behind_tid; /* for CULPRIT_THREAD; its own tid: it ran itself */
};

/* Of a thread. */
struct thread_clock {
	struct timer_watch watch;
	u64 seen;			       /* how often events were lost before, as far as this clock knows */
	u64 periods, misses, missed_periods;   /* while its misses counted, */
	u64 critical_periods, critical_misses; /* of those the ones while it was latency-critical */
	u64 late_ns, late_max_ns;
};

struct misses {
	struct history history;
	u64 slack_ns;	  /* 0: a part of each thread's period */
	bool no_culprits; /* only counts are wanted, not who had the CPU */
	bool of_all;	  /* not only of threads that render, play, read input or compose */
	u64 losses;
	u64 all;     /* misses so far */
	bool failed; /* for want of memory */
};

/* Counting begins anew. */
void misses_restart(struct misses *misses, struct threads *threads);
void misses_free(struct misses *misses);

enum { MISSES_AT_ONCE = 2 }; /* a switch may show that of who leaves and that of who comes */

/* Takes an event that `threads` has taken. Returns how many misses it shows. */
u32 misses_handle(struct misses *misses, struct threads *threads, const struct event_header *event,
		  struct miss found[MISSES_AT_ONCE]);

/* Switches of the thread came by that nobody saw. */
void misses_lost_sight(const struct threads *threads, u32 tid);

/* Threads with a timer whose misses count, those with the most first. NULL for want of memory. The caller frees it. */
const struct thread **misses_sorted(const struct misses *misses, const struct threads *threads, size_t *len);

#endif
