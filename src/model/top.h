/* SPDX-License-Identifier: GPL-2.0 */
/* What 'tactus top' shows, as numbers: what each thread, process and CPU did in the last second and in the last few,
 * from a stream of events, live or recorded. Time goes in turns of a second; what is shown stays until the next. */
#ifndef TACTUS_MODEL_TOP_H
#define TACTUS_MODEL_TOP_H

#include "frames.h"
#include "misses.h"
#include "moves.h"
#include "top_waits.h"

enum {
	TOP_TURN_NS = NSEC_PER_SEC,
	TOP_SHOWN = 20, /* turns in a sparkline */
	TOP_CULPRITS = 4,
	TOP_WAKERS = 4,
	TOP_WAKER_AMOUNT = 8, /* for one wake-up, so that wearing down leaves parts of it */
	TOP_KEPT_TURNS = 60,  /* a thread that did nothing for so long is forgotten */
	TOP_ENDED_TURNS = 2,  /* and one that ended so long ago: where there are many forks they would be most */
	TOP_THREADS_MOST = 1 << 16,
	TOP_LONG_NS = SUMS_LONG_NS,
	TOP_WORDS_SIZE = 240,
	/* Kept of all threads together, the newest: */
	TOP_LONG_WAITS = 512,
	TOP_MOVES = 256,
	TOP_MISSES = 256,
	TOP_LATE_FRAMES = 64,
};

/* Another thread that had to do with one, and how much: time, or times. */
struct top_other {
	u32 tid;
	struct comm comm;
	u64 amount;
};

struct top_counts {
	u64 cpu_ns;
	u64 runs, wakeups, moves;
	u64 submits;  /* to a GPU */
	u64 launches; /* by CUDA */
	u64 misses;
	u64 pushes; /* others were pushed off a CPU for it, by tactus's scheduler */
};

struct top_thread {
	u32 tid, pid;
	u32 idle_turns;
	u64 start_ns;
	struct comm comm;
	bool ended;
	u32 role, tier; /* if has_role */
	bool has_role;
	u32 prio;			  /* as in core/event.h */
	struct top_counts now, last, all; /* this turn's, the last one's, and all that came before this turn */
	struct top_waits waits;
	u64 worst_ns[TOP_SHOWN]; /* the longest wait of each turn; the newest is at top->turns % TOP_SHOWN */
	struct top_other culprits[TOP_CULPRITS];
	struct top_other wakers[TOP_WAKERS];
	bool wakers_unsure; /* an interrupt may have woken it while these ran: the kernel does not show it */
};

struct top_cpu {
	bool seen;
	u32 tid; /* 0: idle */
	struct comm comm;
	u64 since_ns;
	u64 busy_ns, switches; /* this turn's */
	u32 percent;	       /* busy in the last turn */
	u8 percents[TOP_SHOWN];
	u32 shown_tid; /* who ran when the last turn ended */
	struct comm shown_comm;
};

/* A process that presents, in the last turn. */
struct top_presenter {
	u32 pid;
	struct comm comm;
	u64 fps_tenths;
	u64 late, all_late, dropped; /* in this turn, and so far */
	u64 target_ns, p50_ns, p99_ns, max_ns;
	u64 last_ns[FRAMES_SHOWN]; /* its last frames */
	u32 last_len;
};

struct top_wait {
	u64 to_ns, wait_ns;
	u32 tid, cpu;
	struct comm comm;
	enum wait_kind kind;
	enum culprit culprit;
	u32 behind_tid, waker_tid;
	struct comm behind_comm, waker_comm;
};

struct top_move {
	struct move move;
	struct comm comm;
};

struct top_miss {
	struct miss miss;
	struct comm comm, behind_comm;
};

struct top_late {
	struct late_frame frame;
	u32 pid;
	struct comm comm;
	char words[TOP_WORDS_SIZE]; /* why */
};

/* Of the whole machine, in a turn. */
struct top_sums {
	u64 switches, wakeups, moves, submits, launches, misses, late_frames, frames, lost;
};

enum { TOP_PRESENTERS = 16 };

/* Says why a frame was late. */
typedef void (*top_explain)(char *into, size_t size, const struct threads *threads, const struct late_frame *late);

struct top {
	top_explain explain;
	bool frozen;  /* what is shown stays */
	bool by_sums; /* the kernel half adds threads and CPUs up: see top_sums.h */
	u64 turn_from_ns, turn_at_ns;
	u64 last_span_ns; /* how long the last turn was; 0: there was none */
	u64 shown_ns;	  /* when it ended */
	u64 turns;
	struct top_sums now, last, all;
	struct top_thread **threads;
	size_t len, room;
	struct map by_tid;
	struct top_cpu *cpus;
	u32 cpus_len;
	struct top_presenter presenters[TOP_PRESENTERS];
	u32 presenters_len;
	struct top_wait waits[TOP_LONG_WAITS];
	struct top_move moves[TOP_MOVES];
	struct top_miss misses[TOP_MISSES];
	struct top_late late[TOP_LATE_FRAMES];
	u64 waits_taken, moves_taken, misses_taken, late_taken; /* the newest of each is at (taken - 1) % its room */
	struct frames frame_model;
	u32 frameless_turns;
	struct misses miss_model;
	struct moves move_model;
	u64 refused; /* threads for which there was no room or memory */
};

/* Returns 0 or -ENOMEM. */
int top_init(struct top *top, u32 cpus_len, top_explain explain);
void top_free(struct top *top);

/* Takes an event that `threads` has taken, and the wait that it ended, or NULL. Where nobody advanced the time before,
 * it does that too. */
void top_handle(struct top *top, struct threads *threads, const struct event_header *event, const struct wait *ended);

/* Nothing that is older comes any more. True if a turn has ended. */
bool top_advance(struct top *top, struct threads *threads, u64 now_ns);

/* After a freeze: all that came meanwhile is one turn. */
void top_thaw(struct top *top, struct threads *threads, u64 now_ns);

/* Ends a turn before its time: a stream has ended. */
void top_finish(struct top *top, struct threads *threads, u64 now_ns);

/* The thread, NULL if it is not kept. */
struct top_thread *top_find(const struct top *top, u32 tid);

/* The thread, made if it is not kept. NULL: there is no room. */
struct top_thread *top_meet(struct top *top, u32 tid, u32 pid, u64 start_ns, const struct comm *comm);

/* One that is there gets more; else it takes a free place, or wears down the smallest until that is free. */
void top_add_other(struct top_other *others, u32 len, const struct threads *threads, u32 tid, u64 amount);

/* The name of a thread, empty if it is not known. */
struct comm top_comm_of(const struct threads *threads, u32 tid);

/* Ends a turn now, and begins the next. */
void top_turn(struct top *top, const struct threads *threads, u64 now_ns);

/* How often a second, in tenths, of a count of the last turn. */
u64 top_rate_tenths(const struct top *top, u64 count);

/* Of the newest `taken` things, kept in so many places, the one that lies `back` behind the newest: its place, or -1.
 */
long top_place(u64 taken, u64 room, u64 back);

#endif
