/* SPDX-License-Identifier: GPL-2.0 */
/* The work in a recording, apart from who scheduled it: of each thread what it wants of a CPU, whom it wakes on the
 * way, and what ends each of its sleeps. Made from a stream of events; a simulated machine (machine.h) does it again.
 */
#ifndef TACTUS_SIM_WORK_H
#define TACTUS_SIM_WORK_H

#include <stdbool.h>
#include <stddef.h>

#include "../../core/event.h"
#include "../../core/place.h"
#include "../base/map.h"

enum step_kind {
	STEP_RUN,  /* `value`: CPU time */
	STEP_WAKE, /* wakes `thread` */
	STEP_EMIT, /* does what the event at `value` of the kept ones tells */
	STEP_PRIO, /* has this priority from now on */
	STEP_GAVE, /* does nothing: when it slept here in the recording, it had given work to a GPU `value` before */
	STEP_SLEEP_SIGNAL, /* until another thread wakes it; where that has been done already it does not sleep */
	STEP_SLEEP_UNTIL,  /* until `value`, a time: a device, or a timer that goes by the clock */
	STEP_SLEEP_FOR,	   /* for `value`: a timer that begins when it sleeps, or I/O that it has asked for */
	STEP_SLEEP_PERIOD, /* until the next period of its clock */
	STEP_SLEEP_GPU,	   /* until `value` after it last gave work to a GPU */
	STEP_EXIT,
};

enum {
	STEP_FLAG_NEW = 1,	 /* WAKE: it is the thread's first, by its parent */
	STEP_FLAG_INTERRUPT = 2, /* SLEEP_*: an interrupt ends it */
	STEP_FLAG_BY_KERNEL = 4, /* SLEEP_SIGNAL: a kernel thread ends it */
	STEP_FLAG_COPY = 8,	 /* WAKE: not led to a copy yet */
};

struct step {
	u64 value;
	u32 thread; /* of WAKE: its index; of SLEEP_*: how long it slept, in us */
	u16 state;  /* of SLEEP_*: the kernel's TASK_* bits */
	u8 kind;    /* enum step_kind */
	u8 flags;
};

enum work_begin { BEGIN_ASLEEP, BEGIN_RUNNABLE, BEGIN_RUNNING, BEGIN_NEW };

struct work_thread {
	u32 tid, pid, parent_tid;
	u64 start_ns;
	struct comm comm; /* at its first event */
	struct step *steps;
	u32 len, room;
	u32 prio;      /* as in core/event.h */
	u32 cpu;       /* of its first event */
	s32 only_cpu;  /* the one CPU that it may use; -1: any */
	u64 *kept_off; /* CPUs of the recorded machine that it may not use, by bits; NULL: none */
	u8 begins;     /* enum work_begin */
	u8 is_kernel;
	u8 is_bystander; /* not watched: only what was in the way of those that were is known of it */
	u8 goes_on;	 /* it had not slept when the recording ended: it wants more than is known */
	u32 next_copy;	 /* its copy, plus one; 0: none */
	u64 vsync_ns;	 /* its timer is a display of this period; 0: it is not */
	/* Of STEP_SLEEP_PERIOD: it wakes at times that leave phase_ns when divided by this. */
	u64 period_ns, phase_ns;
	/* When it comes to the step loop_to it goes on with loop_from, and times are later by loop_ns; loop_to 0: it
	 * does not. */
	u32 loop_from, loop_to;
	u64 loop_ns;
};

/* An event that comes at its time, whoever is scheduled how. */
struct work_timed {
	u64 time_ns;
	u64 at;	    /* of the kept events */
	u32 thread; /* that it is about, plus one; 0: none */
};

static inline bool step_is_sleep(const struct step *step)
{
	return step->kind >= STEP_SLEEP_SIGNAL && step->kind <= STEP_SLEEP_GPU;
}

enum { WORK_DELAYS = 1024, WORK_THREADS_MOST = 1 << 20 };

/* How long something took, by quantiles. */
struct work_delays {
	u32 ns[WORK_DELAYS];
	u32 len;
	u64 seen;
};

struct work {
	struct work_thread *threads;
	u32 len, room;
	unsigned char *kept; /* events as in core/event.h, back to back */
	size_t kept_len, kept_room;
	struct work_timed *timed;
	size_t timed_len, timed_room;
	char kernel[64];
	u32 cpus_len;
	struct cpu_topology *topology;
	u64 first_ns, last_ns; /* the window */
	u64 wall_start_ns;
	u32 tick_ns;		    /* the time between two ticks; 0: it can't be told */
	struct work_delays idle;    /* from a wake-up to the run, where the CPU was idle */
	struct work_delays preempt; /* and where the thread on it was pushed off for that */
	u64 events;
	u64 lost;		  /* events that are missing */
	u64 decisions;		  /* of tactus's scheduler: it was in force */
	u32 bound, kept_off;	  /* threads that may use one CPU, and those that may not use some */
	u64 edges, external;	  /* wake-ups by threads, and by all else */
	bool failed;		  /* something is missing for want of memory */
	struct work_state *state; /* while it is made */
};

/* `topology` has one a CPU and is copied. Returns 0 or -ENOMEM. */
int work_init(struct work *work, const char *kernel, const struct cpu_topology *topology, u32 cpus_len, u64 start_ns,
	      u64 wall_start_ns);
void work_free(struct work *work);

/* The next event of the recording. */
void work_take(struct work *work, const struct event_header *event);
/* There are no more. Returns 0 or -ENOMEM. */
int work_end(struct work *work);

/* For who makes work of nothing: a thread, and its steps. Returns its index, or -ENOMEM; false for want of memory. */
int work_add_thread(struct work *work, u32 tid, u32 pid, const char *comm, enum work_begin begins);
bool work_add_step(struct work *work, u32 thread, struct step step);

/* So many copies of all user threads, each a little later than the one before by a part of `jitter_ns`, and its runs
 * longer or shorter by a part of `percent`. Returns 0 or -ENOMEM. */
int work_copy(struct work *work, u32 copies, u64 jitter_ns, u32 percent, u64 seed);

/* Takes all threads behind the first so many away again. */
void work_truncate(struct work *work, u32 len);

/* The delay that a number between 0 and 2^32 - 1 stands for. */
u64 delay_at(const struct work_delays *delays, u32 at);
/* Quantiles are in order from here on. */
void delays_sort(struct work_delays *delays);
void delays_take(struct work_delays *delays, u64 ns);

/* A number that looks like chance, of a seed and a count. */
u64 sim_hash(u64 seed, u64 count);

#endif
