/* SPDX-License-Identifier: GPL-2.0 */
/* What is known while work is taken from a recording. work*.c's own. */
#ifndef TACTUS_SIM_WORK_STATE_H
#define TACTUS_SIM_WORK_STATE_H

#include "work.h"

enum doing { DOING_SLEEP, DOING_WAIT, DOING_RUN, DOING_NOTHING };

/* Of one thread. */
struct extracted {
	u32 index;
	u32 doing; /* enum doing */
	u64 charged_ns;
	u64 slept_ns;
	u64 waits_ns;
	u64 early_ns; /* a wake-up met it while it still ran; 0: none */
	u64 gave_ns;  /* it gave work to a GPU and has not slept since; 0: no */
	u32 sleep_step;
	u32 cpu;
	u32 prio;
	u32 cpus_seen; /* 0: one at most */
	u32 pinned_votes;
	u64 *planes; /* what is known of CPUs: work_affinity.c's own; NULL: nothing */
	bool met, ran, has_sleep;
	bool woken;    /* it waits because it was woken */
	bool met_idle; /* for a CPU that was idle */
};

struct work_cpu {
	u32 tid; /* 0: idle */
	bool known;
	u64 since_ns;
};

enum { TICKS = 4, TURNS_LEAST = 50, WORK_FIRST_ROOM = 64 };

struct work_state {
	struct map by_tid;	   /* the newest thread with a tid: its index plus one */
	struct extracted *threads; /* by the same index */
	u32 room;
	struct work_cpu *cpus;
	bool is_open; /* what comes from here on is in the window; before that it is a lead-in */
	u64 turns;
	double turn_cos[TICKS], turn_sin[TICKS];
};

void work_free_thread(struct work_thread *thread);
/* Before the step that is there. */
void work_insert_step(struct work *work, u32 thread, u32 at, struct step step);
void work_free_state(struct work *work);
/* Where among the kept events it is from now on. */
u64 work_keep(struct work *work, const struct event_header *event);

/* It runs: how long it took since it was woken. */
void work_note_delay(struct work *work, const struct extracted *thread, const struct event_switch *event);

/* A turn has ended, and `next` begins; and what all of them say of the tick, in ns, 0: nothing. */
void work_note_turn(struct work_state *state, const struct extracted *next, const struct event_switch *event);
u32 work_tick_of(const struct work_state *state);

/* It runs there; it did so after it had waited beside other CPUs that were idle; all that is forgotten; and what it
 * says of the CPUs that it may use. */
void work_note_cpu(struct work *work, struct extracted *thread, u32 cpu);
void work_vote_pinned(struct work *work, struct extracted *thread, u32 cpu, u64 now_ns);
void work_forget_cpus(struct extracted *thread);
void work_find_cpus(struct work *work, struct extracted *thread);

/* Which of its sleeps that no thread ended are for a time, and which until one. */
void work_classify_sleeps(struct work_thread *thread);

/* Whether it sleeps until the next period of a clock, mostly; and whether a time is one of that clock. */
bool work_find_period(struct work_thread *thread);
bool work_is_on_grid(const struct work_thread *thread, u64 time_ns);

/* What it does over and over as the window ends, if it does. Before sleeps are classified: it wants their times. */
void work_find_loop(struct work_thread *thread, u64 first_ns, u64 last_ns);

enum { STATE_UNINTERRUPTIBLE = 0x2, STATE_NOLOAD = 0x400 };

/* I/O that it has asked for. */
static inline bool sleep_is_io(const struct step *step)
{
	return step->state & STATE_UNINTERRUPTIBLE && !(step->state & STATE_NOLOAD);
}

static inline bool sleep_is_by_interrupt(const struct step *step)
{
	return step->kind == STEP_SLEEP_UNTIL && step->flags & STEP_FLAG_INTERRUPT && step->value != ~0ULL;
}

/* The CPU in the name of a kernel thread that serves one CPU; -1: none. */
s32 kernel_cpu_of(const struct work_thread *thread, u32 cpus_len);

/* Whether an event tells what the running thread itself does. */
bool event_is_own_act(u32 kind);

static inline bool event_gives_to_gpu(u32 kind)
{
	return kind == EVENT_SUBMIT || kind == EVENT_CUDA_LAUNCH;
}

u32 event_kind_bytes(u32 kind);

#endif
