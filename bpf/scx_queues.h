/* SPDX-License-Identifier: GPL-2.0 */
/* What a CPU can dispatch: the first thread of its own queue and of the shared one, by clocks that advance together,
 * and threads that have waited so long that they go out of order. */
#ifndef TACTUS_BPF_SCX_QUEUES_H
#define TACTUS_BPF_SCX_QUEUES_H

#include "scx_place.h"

#define NO_LAG 0x7fffffffffffffffLL
enum { LATE_LOOKED = 1024 };

/* Whether a thread waits in the CPU's own queue. Few do, and asking the kernel is a look-up of the queue; so enqueue
 * sets a flag after the insert, and it is cleared before the look. */
static __always_inline bool own_waits(u32 own, s32 cpu)
{
	struct cpu_run *run = run_on(cpu);

	if (!run->own_waits)
		return false;
	__sync_lock_test_and_set(&run->own_waits, 0);
	if (scx_bpf_dsq_nr_queued(own) <= 0)
		return false;
	run->own_waits = 1;
	return true;
}

/* How far the deadline of the first thread in a queue is from the queue's clock; NO_LAG if the queue is empty. */
static __always_inline s64 first_lag(u32 queue)
{
	return dsq_first_lag(queue, *clock_of(queue), NO_LAG);
}

/* How far behind their clocks the queues are that this CPU takes from, for a thread that may not run everywhere. */
static __noinline u64 behind_ns(struct task_struct *p, s32 cpu)
{
	s64 shared, own;

	if (settings.cpus_len == 1 || (u32)p->nr_cpus_allowed >= settings.cpus_len)
		return 0;
	shared = first_lag(cache_of(cpu));
	own = run_on(cpu)->own_waits ? first_lag(queue_of_cpu(cpu)) : NO_LAG;
	return queue_behind_ns(own < shared ? own : shared, settings.slice_ns, settings.credit);
}

/* Where threads of both queues compete for this CPU, its own clock advances with the shared one: else a thread in the
 * own queue would stay as far from being first as it is, while those of the shared queue come and go. */
static __always_inline void follow_shared(s32 cpu, u32 shared, bool has_rivals)
{
	struct cpu_run *run = run_on(cpu);
	u64 now = *clock_of(shared);

	if (has_rivals)
		*clock_of(queue_of_cpu(cpu)) += clock_follows(run->shared_seen, now, settings.slice_ns,
							      settings.credit);
	run->shared_seen = now;
}

/* A thread whose migration is disabled waits for its CPU. */
static __always_inline bool may_run_here(struct task_struct *p, s32 cpu)
{
	return bpf_cpumask_test_cpu((u32)cpu, p->cpus_ptr) &&
	       (!p->migration_disabled || (s32)p->thread_info.cpu == cpu);
}

/* Among heavy threads, or very many, a light one may starve for minutes. Threads that have waited too long are
 * dispatched out of order, and are not charged for it. */
static __noinline bool dispatch_late(u32 queue, s32 cpu, u64 now_ns)
{
	struct queue_load *load = load_of(queue);
	u64 threshold_ns = tier_late_threshold_ns(load->longest_ns);
	struct task_struct *p;

	if (!bpf_ksym_exists(bpf_iter_scx_dsq_new))
		return false;
	if (!tier_may_be_late(load->longest_ns, span_between(load->looked_at_ns, now_ns)))
		return false;
	load->looked_at_ns = now_ns;
	load->longest_ns = 0;
	load->looked = load->taken = 0;
	bpf_for_each(scx_dsq, p, queue, scx_value(scx_dsq_iter_flags, SCX_DSQ_ITER_REV))
	{
		struct task_ctx *thread = thread_of(p);
		u64 wait_ns = thread ? span_between(thread->scx.queued_at_ns, now_ns) : 0;

		if (load->looked++ >= LATE_LOOKED) {
			load->longest_ns = tier_late_unseen_ns(wait_ns);
			break;
		}
		if (thread && tier_takes_late(wait_ns, threshold_ns, load->taken) && may_run_here(p, cpu) &&
		    dsq_move_here(&___it, p, TIER_LATE_SLICE_NS)) {
			thread->scx.is_late = 1;
			load->taken++;
			continue;
		}
		if (wait_ns > load->longest_ns)
			load->longest_ns = wait_ns;
	}
	return load->taken;
}

/* How many threads wait, and whether many of the first are urgent. */
static __noinline void update_queue_load(u32 queue, u32 cpus)
{
	struct queue_load *load = load_of(queue);
	struct task_struct *p;

	load->per_cpu = tier_queued_per_cpu((u32)scx_bpf_dsq_nr_queued(queue), cpus);
	if (!tier_are_many_urgent(load->per_cpu) || !bpf_ksym_exists(bpf_iter_scx_dsq_new)) {
		load->many_urgent = 0;
		return;
	}
	load->looked = load->looked_urgent = 0;
	bpf_for_each(scx_dsq, p, queue, 0)
	{
		struct task_ctx *thread = thread_of(p);

		if (load->looked++ >= TIER_LOAD_LOOKED)
			break;
		load->looked_urgent += thread && thread->scx.tier == TIER_LATENCY_CRITICAL;
	}
	load->many_urgent = tier_are_many_urgent(load->looked_urgent);
}

static __always_inline u32 cpus_of_cache(u32 cache)
{
	return cache_begins(cache + 1) - cache_begins(cache);
}

/* A CPU that always has something to run would never look into other caches' queues. */
static __noinline bool take_from_longer(u32 shared)
{
	u32 waiting = (u32)scx_bpf_dsq_nr_queued(shared), tries;

	bpf_for(tries, 0, settings.caches_len - 1)
	{
		u32 other = cache_to_steal_from(shared, tries);

		if (cache_takes_from(waiting, cpus_of_cache(shared), (u32)scx_bpf_dsq_nr_queued(other),
				     cpus_of_cache(other)) &&
		    dsq_move_to_local(other)) {
			count(SCX_COUNT_STOLEN);
			return true;
		}
	}
	return false;
}

/* The last start or extended slice has read the clock, so most of the time this need not. */
static __always_inline bool dispatch_any_late(u32 own, u32 shared, s32 cpu)
{
	struct cpu_run *run = run_on(cpu);
	u64 now_ns;

	if (!tier_looks_for_late(run->late_at_ns, run->looked_ns))
		return false;
	now_ns = bpf_ktime_get_ns();
	run->late_at_ns = now_ns;
	update_queue_load(own, 1);
	update_queue_load(shared, cpus_of_cache(shared));
	return dispatch_late(own, cpu, now_ns) || dispatch_late(shared, cpu, now_ns) ||
	       (settings.caches_len > 1 && take_from_longer(shared));
}

#endif
