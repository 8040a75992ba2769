/* SPDX-License-Identifier: GPL-2.0 */
/* A simulated machine: CPUs of a topology, threads with work to do (work.h), a policy that says who runs where, and a
 * handler that gets events as a recording has them. Nothing in it depends on anything but its inputs. */
#ifndef TACTUS_SIM_MACHINE_H
#define TACTUS_SIM_MACHINE_H

#include <stdbool.h>

#include "params.h"
#include "topology.h"
#include "work.h"

#define NO_THREAD (~0u)

enum sim_state { SIM_UNBORN, SIM_ASLEEP, SIM_RUNNABLE, SIM_RUNNING, SIM_GONE };

/* Under EEVDF. */
struct fair_entity {
	s64 vruntime;
	s64 deadline;
	s64 lag;     /* when it last left a queue, in virtual time of its weight */
	s64 left_at; /* the queue's virtual time then */
	u64 slice_ns;
	u64 burst_ns; /* what it runs at a time, about */
	u64 slept_ran_ns;
	u32 weight;
	u32 at;		 /* its place in the queue's list */
	s32 queue;	 /* -1: none */
	s32 left_queue;	 /* where it was last */
	bool is_delayed; /* it sleeps, and stays in the queue until it owes no time */
};

struct sim_thread {
	const struct work_thread *work;
	u32 tid;
	u32 prio;
	u32 next_prio; /* from its next wake-up on; 0: the same */
	u32 step;
	u32 state;	     /* enum sim_state */
	s32 cpu;	     /* where it runs, or ran last */
	s32 only_cpu;	     /* the one CPU of this machine that it may use; -1: any that it is not kept off */
	const u64 *kept_off; /* by bits; NULL: none */
	u32 signals;	     /* wake-ups that came before it slept */
	u64 left_ns;	     /* of the run that goes on, at full speed */
	u64 wait_ns;	     /* runnable since */
	u64 ran_ns;	     /* CPU time so far */
	u64 shift_ns;	     /* how far its times are behind those of the recording */
	u32 loops;	     /* it went round so often */
	u32 numbered_loops;  /* of which frames are counted */
	u64 number;	     /* of its last frame */
	u64 numbers;	     /* by which frames have higher numbers than in the recording */
	u64 gave_ns;	     /* it last gave work to a GPU; 0: it did not */
	u64 frame_ns;	     /* its last frame */
	u64 frame_period_ns;
	u64 frame_due_ns; /* the frame that it works on is due then; 0: none */
	u64 submit_ns;
	u64 input_ns; /* it was last woken by an input device */
	u64 slice_left_ns;
	u16 sleep_state;
	bool is_woken; /* it waits because it was woken */
	bool was_met;  /* who it is has been told */
	u32 rt_next;   /* in a queue of realtime threads */
	u8 role_tier, role_boost, role_evidence;
	u32 role_at_plus; /* a role that came before it was born: its place among the timed, plus one */
	struct fair_entity fair;
	struct scx_entity *scx; /* the tactus policy's */
};

struct sim_cpu {
	u32 thread;	   /* NO_THREAD: idle */
	u64 look_ns;	   /* it looks then for who shall run; 0: it need not */
	u64 since_ns;	   /* it runs since */
	u64 charged_ns;	   /* and was charged up to here */
	u64 next_ns;	   /* the next thing that happens here */
	u64 tick_ns;	   /* the next tick; 0: none is wanted */
	u64 slice_ends_ns; /* 0: slices end with ticks */
	u64 timer_ns;	   /* the policy's own; 0: it is not set */
	u64 idle_since_ns;
	u32 speed; /* in parts of 1024 */
	u32 at;	   /* in the heap */
	u64 busy_ns;
};

/* What was counted. */
struct sim_counts {
	u64 switches, wakeups, moves, ticks, picks;
	u64 idle_beside_waiting_ns; /* CPUs that were idle while a thread waited that may run there */
	u64 longest_wait_ns;
	u64 queued_most;
	u64 stayed; /* tactus: a thread was kept on its CPU because it had moved too often */
	u64 stolen; /* tactus: taken from another cache for having waited longer */
	u64 steps;
};

struct machine;

struct sim_policy {
	const char *name;
	int (*init)(struct machine *machine);
	void (*free)(struct machine *machine);
	/* On which CPU a thread that wakes or is new shall queue. */
	s32 (*select_cpu)(struct machine *machine, struct sim_thread *thread, s32 waker_cpu, bool by_interrupt,
			  bool is_new);
	/* It can run, and waits. `wakes`: it slept. */
	void (*enqueue)(struct machine *machine, struct sim_thread *thread, s32 cpu, bool wakes, bool is_new);
	/* Who runs next there. `prev` ran until now and could go on, or NULL; if another one is given, it is queued. */
	struct sim_thread *(*pick)(struct machine *machine, s32 cpu, struct sim_thread *prev);
	/* It ran for so long, and still does. */
	void (*charge)(struct machine *machine, struct sim_thread *thread, s32 cpu, u64 ran_ns);
	void (*starts)(struct machine *machine, struct sim_thread *thread, s32 cpu);
	/* It leaves its CPU to sleep, for good if `ends`. */
	void (*sleeps)(struct machine *machine, struct sim_thread *thread, s32 cpu, bool ends);
	void (*tick)(struct machine *machine, s32 cpu);
	/* The CPU's timer, which the policy has set, fires. */
	void (*timer)(struct machine *machine, s32 cpu);
	/* How many wait there, for a look at queues. */
	u32 (*queued)(const struct machine *machine);
};

struct machine {
	const struct work *work;
	const struct sim_topology *topology;
	struct sim_params params;
	const struct sim_policy *policy;
	void *policy_data;
	struct sim_thread *threads;
	u32 len;
	struct sim_cpu *cpus;
	u32 cpus_len;
	u64 now_ns, end_ns;
	u64 tick_ns; /* between two */
	struct sim_counts counts;
	/* Handed every event, in the order of time; NULL: nobody wants them. */
	void (*handle)(void *data, const struct event_header *event);
	void *data;
	/* Told of each wait for a CPU that ends; NULL: nobody wants that. */
	void (*on_wait)(void *data, const struct sim_thread *thread, u64 wait_ns);
	u32 kernel; /* as SCX_KERNEL() has it */
	bool failed;
	bool stopped; /* by who is handed events: it ends as soon as it can */
	/* Inside: */
	u32 *cpu_heap;
	struct sim_timer {
		u64 time_ns;
		u64 order;
		u32 thread;
	} * timers;
	u32 timers_len, timers_room;
	u64 timer_orders;
	size_t timed_next;
	u32 *rt_first; /* of each CPU: realtime threads that wait */
	u64 chance;
	u64 livelock_steps; /* without time going on */
	u32 waiting;	    /* threads that can run and do not */
	u32 idle;	    /* CPUs */
	u64 idle_since_ns;  /* that both were so */
};

/* The machine of a work on a topology under a policy, until the work's window ends. Runs it from start to end. Returns
 * 0, -ENOMEM, -EINTR: it was stopped, or -ELOOP: it would go on for ever without time passing. */
int machine_run(struct machine *machine, const struct work *work, const struct sim_topology *topology,
		const struct sim_params *params);
void machine_free(struct machine *machine);

/* For policies: */
static inline bool sim_may_run(const struct sim_thread *thread, s32 cpu)
{
	if (thread->only_cpu >= 0)
		return thread->only_cpu == cpu;
	return !thread->kept_off || !(thread->kept_off[cpu / 64] >> cpu % 64 & 1);
}

static inline bool sim_is_idle(const struct machine *machine, s32 cpu)
{
	return machine->cpus[cpu].thread == NO_THREAD && !machine->cpus[cpu].look_ns;
}

static inline u32 sim_index(const struct machine *machine, const struct sim_thread *thread)
{
	return (u32)(thread - machine->threads);
}

/* The CPU looks anew for who shall run: as soon as it hears of it, or at once. */
void sim_resched(struct machine *machine, s32 cpu);
void sim_resched_now(struct machine *machine, s32 cpu);
/* The CPU's thread is charged up to now. */
void sim_charge(struct machine *machine, s32 cpu);
/* Its slice ends then, to the nanosecond; 0: with a tick. */
void sim_set_slice_end(struct machine *machine, s32 cpu, u64 time_ns);
/* The policy hears of that CPU then, whatever runs there. */
void sim_set_timer(struct machine *machine, s32 cpu, u64 time_ns);

static inline struct sim_thread *sim_running(const struct machine *machine, s32 cpu)
{
	u32 thread = machine->cpus[cpu].thread;

	return thread == NO_THREAD ? NULL : &machine->threads[thread];
}

/* How fast it is now: by its core and its siblings. */
u32 sim_speed(const struct machine *machine, s32 cpu);

/* For machine*.c alone: */
void machine_plan(struct machine *machine, s32 cpu);
/* Wakes a thread; `waker` is NULL for an interrupt on that CPU. */
void machine_wake(struct machine *machine, u32 index, struct sim_thread *waker, s32 cpu, bool is_new);
/* It can run as the window opens. */
void machine_begin(struct machine *machine, struct sim_thread *thread);
/* Goes on with the steps of the thread that runs there, until it wants CPU time or sleeps. False: it sleeps or is gone.
 */
bool machine_advance(struct machine *machine, struct sim_thread *thread, s32 cpu);
bool machine_timer_add(struct machine *machine, u32 thread, u64 time_ns);
void machine_note_waiting(struct machine *machine, int more_waiting, int more_idle);
void machine_rt_enqueue(struct machine *machine, struct sim_thread *thread, s32 cpu);
s32 machine_rt_select(const struct machine *machine, const struct sim_thread *thread);
/* What is handed over. */
void machine_emit_thread(struct machine *machine, struct sim_thread *thread, bool is_new);
void machine_emit_wakeup(struct machine *machine, const struct sim_thread *thread, const struct sim_thread *waker,
			 s32 cpu, s32 target, bool is_new);
void machine_emit_switch(struct machine *machine, s32 cpu, const struct sim_thread *prev, bool prev_runs,
			 const struct sim_thread *next);
void machine_emit_move(struct machine *machine, const struct sim_thread *thread, s32 from, s32 to, bool wakes);
void machine_emit_samples(struct machine *machine, bool closing);
void machine_emit_kept(struct machine *machine, struct sim_thread *thread, u64 at, s32 cpu);
void machine_emit_timed(struct machine *machine, const struct work_timed *timed);

extern const struct sim_policy policy_eevdf, policy_hints, policy_tactus, policy_fifo, policy_vtime;
/* NULL: there is none of that name. */
const struct sim_policy *sim_policy_by_name(const char *name);

#endif
