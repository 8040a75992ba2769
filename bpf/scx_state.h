/* SPDX-License-Identifier: GPL-2.0 */
/* What the scheduler keeps for all threads together: its settings, each queue's clock and load, what each CPU runs,
 * counters. A thread's own state is struct scx_task in scx_task.h. */
#ifndef TACTUS_BPF_SCX_STATE_H
#define TACTUS_BPF_SCX_STATE_H

#include "roles.h"
#include "scx_calls.h"
#include "../core/power.h"
#include "../core/scx_exit.h"

const volatile struct scx_config settings = { .slice_ns = TIER_SLICE_NS,
					      .light_ns = TIER_LIGHT_NS,
					      .credit = TIER_URGENT_CREDIT,
					      .discount = TIER_URGENT_DISCOUNT,
					      .cpus_len = 1,
					      .caches_len = 1 };

/* By queue. CPUs race on a cache's; the clock is then off by less than a slice until the next thread starts. */
static u64 clocks[SCX_QUEUES];

/* The load of a queue, as of the last look. */
struct queue_load {
	u32 per_cpu;
	u32 many_urgent;
	u32 urgent; /* urgent threads that wait because only urgent ones ran; an estimate, corrected by its users */
	u32 asking; /* threads that wait and ask for turns; nearly exact */
	u32 asking_timed; /* of these, woken by a timer or a device */
	u32 unused;
	u64 turns_until_ns; /* batch threads have short turns, see tier_ends_turn */
	u64 longest_ns;	    /* the longest wait of a thread that was not dispatched out of order */
	u64 looked_at_ns;   /* when longest_ns was found */
	u32 looked;	    /* these three during a look: the verifier does not explore what it does not know */
	u32 looked_urgent;
	u32 taken;
};
static struct queue_load queue_loads[SCX_QUEUES];

/* What each CPU runs. Read by others without a lock: a stale answer costs a needless kick or a missed one. */
struct cpu_run {
	u64 since_ns;
	u64 burst_ns;	   /* of the thread, before this run */
	u64 last_burst_ns; /* and of its burst before it last slept */
	u32 tier;	   /* TIERS: it can't be preempted */
	u32 kicked;
	u32 is_own; /* it came from this CPU's own queue */
	u32 tid;
	u32 own_waits;	   /* a thread may wait in this CPU's own queue */
	u32 before_tid;	   /* the thread that ran here before */
	u64 turn;	   /* its thread's turn: they are numbered. A timer that fires late may be elsewhere */
	u64 turn_since_ns; /* it began then */
	u64 turn_vtime;	   /* its thread's vtime then, by the clock of this queue */
	u32 queue;
	u32 boost;
	u64 effective_weight;
	u64 turn_over;	   /* the timer found that another thread goes first now: the turn that it looked at */
	u64 turn_again;	   /* the timer found that this turn goes on, */
	u64 turn_again_ns; /* as another one from then on */
	u32 is_given;	   /* it was idle, and a thread is about to run there: what ran before is not to be preempted */
	u64 turn_timer_ns; /* its timer fires then, or did; 0: it is not set; TIER_NO_TIMER_NS: there is none */
	u64 shared_seen;   /* the clock of the cache's queue when this CPU last looked */
	u64 looked_ns;	   /* when this CPU last read the time */
	u64 late_at_ns;	   /* when this CPU last looked for late threads */
	u32 is_idle;	   /* it found nothing to run; kept only where idle CPUs are ranked */
	u32 may_burn;	   /* its thread stays urgent however long it runs */
	u32 holder_tid;	   /* this thread goes first, see scx_locks.h; 0: none */
	u32 looked;	   /* while it is looked for */
	u32 by_timer;	   /* a timer or a device woke its thread last */
	u32 is_off;	   /* no thread of ours runs there: it is idle, or at realtime work */
	struct power_use power;
};
static struct cpu_run runs[SCX_CPUS_MAX];

struct scx_exit_record exit_info = {};
/* Nobody is urgent for now. Written by src/sched/scx.c. */
u32 is_neutral = 0;

/* Makes the compiler describe the type in full, which the kernel's functions that take it require. */
static struct cpumask described __attribute__((used));

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, SCX_COUNTERS);
	__type(key, u32);
	__type(value, u64);
} counters SEC(".maps");

/* Threads under the scheduler. */
static u64 threads_joined, threads_left;

static __always_inline void count(u32 which)
{
	u64 *counter = bpf_map_lookup_elem(&counters, &which);

	if (counter)
		(*counter)++;
}

static __always_inline u64 *clock_of(u32 queue)
{
	u64 index = queue;

	barrier_var(index);
	return &clocks[index < SCX_QUEUES ? index : 0];
}

static __always_inline struct queue_load *load_of(u32 queue)
{
	u64 index = queue;

	barrier_var(index);
	return &queue_loads[index < SCX_QUEUES ? index : 0];
}

static __always_inline struct cpu_run *run_on(s32 cpu)
{
	u64 index = (u32)cpu;

	barrier_var(index);
	return &runs[index < SCX_CPUS_MAX ? index : 0];
}

static __always_inline u32 cache_of(s32 cpu)
{
	u64 index = (u32)cpu;

	barrier_var(index);
	return settings.cache_of[index < SCX_CPUS_MAX ? index : 0] % SCX_CACHES_MAX;
}

static __always_inline u32 queue_of_cpu(s32 cpu)
{
	return SCX_CACHES_MAX + (u32)cpu % SCX_CPUS_MAX;
}

#endif
