/* SPDX-License-Identifier: GPL-2.0 */
/* A timer of each CPU that ends turns. Slices end with a tick, which may be 4 ms away: too long where one that is no
 * hog waits. It is set only then. For the scheduler alone; how long a turn is, is core/tier.h's to say. */
#ifndef TACTUS_BPF_SCX_TURNS_H
#define TACTUS_BPF_SCX_TURNS_H

#include "scx_queues.h"

enum { TIMER_CLOCK = 1, TIMER_EXISTS = 16, TIMER_NO_ROOM = 12 }; /* CLOCK_MONOTONIC, EBUSY, ENOMEM */

struct turn_timer {
	struct bpf_timer timer;
};
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, SCX_CPUS_MAX);
	__type(key, u32);
	__type(value, struct turn_timer);
} turn_timers SEC(".maps");

/* CPUs that have none, and why. Read by src/sched/scx.c. */
u32 untimed_cpus = 0;
s32 untimed_error = 0;

/* The thread no longer waits, or not as one that asks for turns. */
static __always_inline void asks_no_longer(struct task_ctx *thread)
{
	struct queue_load *load;

	if (!thread->scx.asks_in)
		return;
	load = load_of(thread->scx.asks_in - 1);
	thread->scx.asks_in = 0;
	if (load->asking)
		__sync_fetch_and_sub(&load->asking, 1);
	if (thread->scx.asks_timed && load->asking_timed)
		__sync_fetch_and_sub(&load->asking_timed, 1);
}

/* It waits in this queue, and others' turns shall be short for it. */
static __always_inline void asks_for_turns(struct task_ctx *thread, u32 queue, u64 now_ns)
{
	load_of(queue)->turns_until_ns = now_ns + TIER_TURNS_NS;
	if (thread->scx.asks_in == queue + 1)
		return;
	asks_no_longer(thread);
	thread->scx.asks_in = queue + 1;
	__sync_fetch_and_add(&load_of(queue)->asking, 1);
	thread->scx.asks_timed = thread->scx.by_timer;
	if (thread->scx.asks_timed)
		__sync_fetch_and_add(&load_of(queue)->asking_timed, 1);
}

static __always_inline u64 turn_began_ns(struct cpu_run *run)
{
	return run->turn_again == run->turn ? run->turn_again_ns : run->turn_since_ns;
}

/* The vtime of the thread that runs there, with what its turn has taken until then. */
static __always_inline u64 turn_vtime_at(struct cpu_run *run, u64 then_ns)
{
	return run->turn_vtime + tier_charge(span_between(run->turn_since_ns, then_ns), run->effective_weight,
					     run->tier, settings.discount, 0);
}

/* Of those that wait for the CPU, in its own queue too. */
static __always_inline u32 timed_waiters(s32 cpu)
{
	struct queue_load *shared = load_of(cache_of(cpu)), *own = load_of(queue_of_cpu(cpu));

	return shared->asking_timed + shared->urgent + (run_on(cpu)->own_waits ? own->asking_timed + own->urgent : 0);
}

/* Whether hogs wait for the CPU. */
static __always_inline bool hogs_wait(s32 cpu)
{
	u32 own = queue_of_cpu(cpu), shared = cache_of(cpu);

	return (u32)scx_bpf_dsq_nr_queued(shared) > load_of(shared)->asking ||
	       (run_on(cpu)->own_waits && (u32)scx_bpf_dsq_nr_queued(own) > load_of(own)->asking);
}

/* In how long the turn of the thread that runs on that CPU ends; 0: with a tick. */
static __always_inline u64 turn_left_ns(s32 cpu, u64 now_ns)
{
	struct cpu_run *run = run_on(cpu);
	u32 tier = run->tier < TIERS ? tier_on(cpu, now_ns) : TIERS;
	struct queue_load *load = load_of(cache_of(cpu)), *own = load_of(queue_of_cpu(cpu));
	u64 burst_ns = run->burst_ns + span_between(run->since_ns, now_ns), began_ns = turn_began_ns(run), turn_ns;
	bool own_too = run->own_waits != 0;

	if (run->is_off)
		return 0;
	turn_ns = tier_turn_ns(tier, burst_ns, load->asking + (own_too ? own->asking : 0),
			       load->asking_timed + (own_too ? own->asking_timed : 0),
			       load->urgent + (own_too ? own->urgent : 0));
	if (!turn_ns && tier_times_own_turn(tier, run->by_timer != 0, burst_ns, run->last_burst_ns) && hogs_wait(cpu))
		turn_ns = tier_own_turn_ns(turn_vtime_at(run, began_ns), *clock_of(run->queue));
	return turn_ns ? tier_turn_left_ns(turn_ns, span_between(began_ns, now_ns)) : 0;
}

static __always_inline void start_turn_timer(s32 cpu, u64 left_ns, u64 now_ns)
{
	u32 key = (u32)cpu;
	struct turn_timer *timer = bpf_map_lookup_elem(&turn_timers, &key);

	if (timer && !bpf_timer_start(&timer->timer, left_ns, 0))
		run_on(cpu)->turn_timer_ns = now_ns + left_ns;
}

/* Sets the CPU's timer if its thread's turn has to end before the tick, unless it fires by then. One that is set for an
 * earlier thread's turn is set anew when it fires. False: it was not set. */
static __always_inline bool time_turn(s32 cpu, u64 now_ns)
{
	u64 left_ns = turn_left_ns(cpu, now_ns);

	if (!tier_sets_timer(run_on(cpu)->turn_timer_ns, left_ns, now_ns, timed_waiters(cpu)))
		return false;
	start_turn_timer(cpu, left_ns, now_ns);
	return true;
}

/* One that waits asks: of the CPUs that take from its queue, and that it may run on, one that runs a hog whose turn
 * does not end by a timer yet, its own first. */
static __always_inline void time_turns_for(struct task_struct *p, u32 queue, s32 cpu, u64 now_ns)
{
	u32 cache = cache_of(cpu), i;
	s32 other;

	if (settings.cpus_len == 1 || queue >= SCX_CACHES_MAX) {
		time_turn(cpu, now_ns);
		return;
	}
	if (bpf_cpumask_test_cpu((u32)cpu, p->cpus_ptr) && time_turn(cpu, now_ns))
		return;
	bpf_for(i, cache_begins(cache), cache_begins(cache + 1))
	{
		other = (s32)cpu_in_caches(i);
		if (bpf_cpumask_test_cpu((u32)other, p->cpus_ptr) && time_turn(other, now_ns))
			break;
	}
}

/* A turn of the thread that runs there begins, from this vtime on. */
static __always_inline void turn_begins(struct task_ctx *thread, s32 cpu, u64 now_ns)
{
	struct cpu_run *run = run_on(cpu);

	run->turn++;
	run->turn_since_ns = now_ns;
	run->turn_vtime = thread->scx.vtime;
	run->queue = thread->scx.queue;
	run->effective_weight = thread->scx.effective_weight;
	run->boost = thread->scx.boost;
	time_turn(cpu, now_ns);
}

/* Lets the first of the queue run on that CPU, if it would be by its deadline. Where no CPU can be kicked, it is moved
 * there: not while somebody is in the CPU's local queue, who would wait for every turn to come. */
static __noinline bool end_turn_for(u32 queue, s32 cpu, u64 turn, u64 now_ns)
{
	struct cpu_run *run = run_on(cpu);
	u64 clock = *clock_of(queue), vtime, local = scx_value(scx_dsq_id_flags, SCX_DSQ_LOCAL_ON) | (u32)cpu;
	struct task_struct *p;
	bool ended = false;

	vtime = vtime_moved(turn_vtime_at(run, now_ns), *clock_of(run->queue), clock);
	bpf_for_each(scx_dsq, p, queue, 0)
	{
		struct task_ctx *first = vtime_before(vtime, clock) ? thread_of(p) : NULL;

		vtime = tier_turn_vtime(vtime, clock, first && first->scx.asks_in);
		if (!may_run_here(p, cpu) ||
		    tier_keeps_cpu(tier_deadline(vtime, settings.slice_ns, run->effective_weight, run->boost), clock,
				   (s64)(p->scx.dsq_vtime - clock)))
			break;
		if (can_kick()) {
			run->kicked = 1;
			run->turn_over = turn;
			kick(cpu, scx_value(scx_kick_flags, SCX_KICK_PREEMPT));
			ended = true;
		} else if (bpf_ksym_exists(scx_bpf_dsq_move) && scx_bpf_dsq_nr_queued(local) <= 0) {
			ended = scx_bpf_dsq_move(&___it, p, local,
						 scx_value(scx_enq_flags, SCX_ENQ_PREEMPT) | settings.at_once);
		}
		break;
	}
	return ended;
}

/* It may fire on another CPU than that whose turn it ends, where the next turn begins meanwhile: what it finds is said
 * of the turn that it looked at. */
static int on_turn_timer(void *map, u32 *key, struct turn_timer *timer)
{
	s32 cpu = (s32)*key;
	struct cpu_run *run = run_on(cpu);
	u64 turn = run->turn, now_ns = bpf_ktime_get_ns(), left_ns = turn_left_ns(cpu, now_ns);

	run->turn_timer_ns = 0;
	if (!left_ns || !bpf_ksym_exists(bpf_iter_scx_dsq_new))
		return 0;
	/* A program that may sleep has set this callback, so the verifier of Linux 6.17 wants it said that it does not.
	 */
	bpf_rcu_read_lock();
	if (left_ns <= TIER_TURN_LEAST_NS) {
		left_ns = TIER_HOG_TURN_NS;
		if ((run->own_waits && end_turn_for(queue_of_cpu(cpu), cpu, turn, now_ns)) ||
		    end_turn_for(cache_of(cpu), cpu, turn, now_ns)) {
			left_ns = 0;
		} else {
			/* It goes on for another turn, or each that begins to wait would set the timer for at once. */
			run->turn_again_ns = now_ns;
			run->turn_again = turn;
		}
	}
	bpf_rcu_read_unlock();
	if (left_ns)
		start_turn_timer(cpu, left_ns, now_ns);
	return 0;
}

/* Where there is no room for a timer, that CPU's turns end with the tick. */
static __always_inline void init_turn_timer(s32 cpu)
{
	u32 key = (u32)cpu;
	struct turn_timer *timer = bpf_map_lookup_elem(&turn_timers, &key);
	s32 error = -TIMER_NO_ROOM;

	run_on(cpu)->turn_timer_ns = 0;
	if (timer && !settings.refuses_timers)
		error = bpf_timer_init(&timer->timer, &turn_timers, TIMER_CLOCK);
	/* It exists already where the scheduler ran before. */
	if (timer && (!error || error == -TIMER_EXISTS))
		error = bpf_timer_set_callback(&timer->timer, on_turn_timer);
	if (!error)
		return;
	run_on(cpu)->turn_timer_ns = TIER_NO_TIMER_NS;
	untimed_cpus++;
	untimed_error = error;
}

#endif
