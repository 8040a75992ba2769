/* SPDX-License-Identifier: GPL-2.0 */
/* What eevdf*.c share: the queues of the kernel's own scheduler on a simulated machine. */
#ifndef TACTUS_SIM_EEVDF_STATE_H
#define TACTUS_SIM_EEVDF_STATE_H

#include "machine.h"

enum { NICE_0_WEIGHT = 1024 };

/* Of one CPU. Its running thread is not in the list; those that sleep owing time are. */
struct fair_queue {
	u32 *list;
	u32 len, room;
	u32 delayed; /* of them */
	u64 weight;  /* of those in the list */
	s64 sum;     /* of their virtual times less the base, each by its weight */
	s64 base;
	s64 least; /* it goes on even if there is nobody */
	s64 protected_until;
	u64 balanced_ns;
};

struct fair {
	struct fair_queue *queues;
	u64 slice_ns;
	u64 latency_ns, granularity_ns, wakeup_ns;
	u32 queued;
	bool is_cfs;
	bool delays_dequeue;	/* 6.12: who sleeps owing time works that off asleep */
	bool shortest_protects; /* 6.17: protected for the shortest slice that waits */
	bool has_hrtick;	/* 7.1: slices end when they end, not with a tick */
	bool forks_wait;	/* 7.0: a new thread does not preempt */
	bool lag_by_tick;	/* 7.0: owed or owing is at most a slice and a tick, before that two slices or a tick */
	bool hints;		/* urgent threads have those of core/hints.h */
};

static inline struct fair *fair_of(const struct machine *machine)
{
	return machine->policy_data;
}

static inline s64 virtual_of(u64 ns, u32 weight)
{
	return (s64)(weight == NICE_0_WEIGHT ? ns : ns * NICE_0_WEIGHT / weight);
}

/* Who runs there, if it is one of theirs. */
struct sim_thread *fair_running(const struct machine *machine, s32 cpu);
s64 fair_middle(const struct machine *machine, s32 cpu, const struct sim_thread *curr);
void fair_list_add(struct machine *machine, s32 cpu, struct sim_thread *thread);
void fair_list_remove(struct machine *machine, s32 cpu, struct sim_thread *thread);
void fair_note_lag(struct machine *machine, s32 cpu, struct sim_thread *thread, s64 middle);
void fair_place(struct machine *machine, s32 cpu, struct sim_thread *thread, bool is_new, bool slept);

#endif
