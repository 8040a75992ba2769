/* SPDX-License-Identifier: GPL-2.0 */
/* What is known of every thread in a window of time, made from a stream of events by the functions of core/account.h,
 * or filled with the accounts that the kernel half kept by the same functions. */
#ifndef TACTUS_MODEL_THREADS_H
#define TACTUS_MODEL_THREADS_H

#include <stdbool.h>
#include <stddef.h>

#include "../../core/account.h"
#include "../../core/event.h"
#include "../base/map.h"

enum {
	THREADS_MOST = 1 << 18, /* so many are known at a time; there are not many times as many tids */
	THREADS_ENDED_FEW = 4096,
	THREADS_ENDED_MANY = 1 << 16,
};

struct thread {
	u32 tid;
	u32 pid;
	u32 parent_tid;
	u64 start_ns; /* with tid: who it is; a reused tid is another thread */
	struct comm comm;
	bool ended;
	u64 end_number; /* of all ends, where those that ended are forgotten */
	bool bystander; /* not watched: it has a name and no account */
	u32 queue_cpu;	/* the CPU that it waits for, while it waits */
	struct thread_account account;
	struct event_role *role;     /* the last one, NULL if there was none */
	struct stretches *stretches; /* model/path.c's, NULL if nobody keeps them */
	struct thread_moves *moves;  /* and model/moves.c's */
	struct thread_clock *clock;  /* and model/misses.c's */
	struct thread_lanes *lanes;  /* and view/export_lanes.c's */
};

/* A wait that an event has just ended. */
struct wait {
	const struct thread *thread;
	u64 from_ns, to_ns;
	enum wait_kind kind;
	u32 cpu;       /* where it then ran */
	u32 waker_tid; /* for a wait after a wake-up */
};

/* What one CPU is doing, as far as the stream has shown. */
struct cpu_now {
	u32 tid;      /* 0: idle or not known */
	u32 prio;     /* of that thread, as in core/event.h */
	u64 since_ns; /* 0: not known yet */
};

struct threads {
	struct thread **all; /* in the order of their first event */
	size_t len, room;
	struct map by_tid; /* the newest thread with a tid: index into all, plus one */
	const struct cpu_topology *topology;
	struct cpu_now *cpus;
	u32 cpus_len;
	u64 first_ns, last_ns; /* the window: from the first sample or event to the last */
	u64 lost;	       /* events that the stream says are missing */
	u64 lost_kinds[EVENT_KINDS];
	u64 refused; /* threads that could not be kept for want of memory, or because there were THREADS_MOST */
	/* Set by who only needs names for a while, and keeps no thread beyond its event: of threads that ended so many
	 * are kept, or up to twice as many; 0: all. */
	size_t ended_most;
	size_t ended_len;
	u64 ends;
};

int threads_init(struct threads *threads, const struct cpu_topology *topology, u32 cpus_len);
void threads_free(struct threads *threads);

/* Applies one event. True, with *ended filled, if a thread has just got a CPU after waiting for one. */
bool threads_handle(struct threads *threads, const struct event_header *event, struct wait *ended);

/* Between two intervals: brings the accounts of those that run up to now; and begins all accounts anew. */
void threads_charge(struct threads *threads, u64 now_ns);
void threads_restart(struct threads *threads);

/* Switches came by that nobody saw: who runs and who waits is not known any more. */
void threads_lost_sight(struct threads *threads);

/* The newest thread with this tid, NULL if there is none. */
struct thread *threads_by_tid(const struct threads *threads, u32 tid);

/* Whether the newest thread with this tid is known to have ended. */
bool threads_has_ended(const struct threads *threads, u32 tid);

/* Its name with a 0 behind it; empty for a thread that is not known. */
void threads_comm(char into[COMM_LEN + 1], const struct threads *threads, u32 tid);

/* The thread of this tid and start time, made if it is not there. NULL only for want of memory. */
struct thread *threads_meet(struct threads *threads, u32 tid, u64 start_ns);

#endif
