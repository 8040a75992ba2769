/* SPDX-License-Identifier: GPL-2.0 */
/* What a CPU has to choose from: who is first in its own queue and in the one that it shares, by clocks that go on
 * together, and who has waited so long that it goes out of turn. */
#ifndef TACTUS_BPF_SCX_QUEUES_H
#define TACTUS_BPF_SCX_QUEUES_H

#include "scx_place.h"

#define NO_LAG 0x7fffffffffffffffLL
enum { LATE_LOOKED = 1024 };

/* Whether anybody waits in the CPU's own queue. Few threads do, and to ask the kernel is to look the queue up; so who
 * joins leaves word, after that, and it is taken before the look. */
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

/* How far the first in a queue is from its queue's clock; a queue without a first is infinitely far. */
static __always_inline s64 first_lag(u32 queue)
{
	return dsq_first_lag(queue, *clock_of(queue), NO_LAG);
}

/* Where threads of both queues want this CPU, the clock of its own goes on with the shared one: else whoever waits
 * there would stay as far from its turn as it is, while those of the other queue come and go. */
static __always_inline void follow_shared(s32 cpu, u32 shared, bool has_rivals)
{
	struct cpu_run *run = run_on(cpu);
	u64 now = *clock_of(shared);

	if (has_rivals)
		*clock_of(queue_of_cpu(cpu)) += clock_follows(run->shared_seen, now, settings.slice_ns);
	run->shared_seen = now;
}

/* Who is in the middle of what must end on the CPU where it began waits for that one. */
static __always_inline bool may_run_here(struct task_struct *p, s32 cpu)
{
	return bpf_cpumask_test_cpu((u32)cpu, p->cpus_ptr) &&
	       (!p->migration_disabled || (s32)p->thread_info.cpu == cpu);
}

/* Among heavy threads, or very many, a light one's turn may be minutes away. Those who have waited too long are taken
 * out of turn. That is a gift: their turn comes no later for it. */
static __noinline bool take_late(u32 queue, s32 cpu, u64 now_ns)
{
	struct crowd *crowd = crowd_of(queue);
	u64 bar_ns = tier_late_bar_ns(crowd->longest_ns);
	struct task_struct *p;

	if (!bpf_ksym_exists(bpf_iter_scx_dsq_new))
		return false;
	if (!tier_may_be_late(crowd->longest_ns, span_between(crowd->looked_at_ns, now_ns)))
		return false;
	crowd->looked_at_ns = now_ns;
	crowd->longest_ns = 0;
	crowd->looked = crowd->taken = 0;
	bpf_for_each(scx_dsq, p, queue, scx_value(scx_dsq_iter_flags, SCX_DSQ_ITER_REV))
	{
		struct kthread *thread = thread_of(p);
		u64 wait_ns = thread ? span_between(thread->turn.queued_at_ns, now_ns) : 0;

		if (crowd->looked++ >= LATE_LOOKED) {
			crowd->longest_ns = wait_ns > TIER_LATE_NS ? wait_ns : TIER_LATE_NS;
			break;
		}
		if (thread && wait_ns >= bar_ns && crowd->taken < TIER_LATE_MOST && may_run_here(p, cpu) &&
		    dsq_move_here(&___it, p, TIER_LATE_SLICE_NS)) {
			thread->turn.is_late = 1;
			crowd->taken++;
			continue;
		}
		if (wait_ns > crowd->longest_ns)
			crowd->longest_ns = wait_ns;
	}
	return crowd->taken;
}

/* How many wait, and whether many of the first are urgent. */
static __noinline void look_at_crowd(u32 queue, u32 cpus)
{
	struct crowd *crowd = crowd_of(queue);
	struct task_struct *p;

	crowd->per_cpu = (u32)scx_bpf_dsq_nr_queued(queue) / (cpus ? cpus : 1);
	if (crowd->per_cpu < TIER_CROWD_URGENT || !bpf_ksym_exists(bpf_iter_scx_dsq_new)) {
		crowd->many_urgent = 0;
		return;
	}
	crowd->looked = crowd->looked_urgent = 0;
	bpf_for_each(scx_dsq, p, queue, 0)
	{
		struct kthread *thread = thread_of(p);

		if (crowd->looked++ >= TIER_CROWD_LOOKED)
			break;
		crowd->looked_urgent += thread && thread->turn.tier == TIER_LATENCY_CRITICAL;
	}
	crowd->many_urgent = crowd->looked_urgent >= TIER_CROWD_URGENT;
}

/* Whoever started or went on last has looked at the clock, so most of the time this need not. */
static __always_inline bool serves_late(u32 own, u32 shared, s32 cpu)
{
	struct cpu_run *run = run_on(cpu);
	u64 now_ns;

	if (span_between(run->late_at_ns, run->looked_ns) < TIER_LATE_EVERY_NS)
		return false;
	now_ns = bpf_ktime_get_ns();
	run->late_at_ns = now_ns;
	look_at_crowd(own, 1);
	look_at_crowd(shared, cache_begins(shared + 1) - cache_begins(shared));
	return take_late(own, cpu, now_ns) || take_late(shared, cpu, now_ns);
}

#endif
