/* SPDX-License-Identifier: GPL-2.0 */
/* How a runnable thread gets into a dispatch queue, and how a CPU hears of it.
 * For the scheduler alone. */
#ifndef TACTUS_BPF_SCX_ENQUEUE_H
#define TACTUS_BPF_SCX_ENQUEUE_H

#include "scx_turns.h"
#include "scx_emit.h"
#include "scx_vtime.h"

/* A kernel thread that does what its CPU needs done: it passes no queue. */
static __always_inline bool is_bound(struct task_struct *p, struct task_ctx *thread)
{
	return tier_is_bound((p->flags & PF_KTHREAD) && p->nr_cpus_allowed == 1, nice_of(p), thread->scx.burst_ns);
}

/* How it gets into its CPU's local queue. */
static __always_inline u64 bound_flags(s32 cpu, bool wakes)
{
	struct cpu_run *run = run_on(cpu);

	switch (tier_bound_joins(wakes, run->kicked != 0, tier_on(cpu, bpf_ktime_get_ns()))) {
	case TIER_BOUND_PREEMPTS:
		return scx_value(scx_enq_flags, SCX_ENQ_PREEMPT);
	case TIER_BOUND_FIRST:
		return scx_value(scx_enq_flags, SCX_ENQ_HEAD);
	default:
		return 0;
	}
}

/* It is as urgent as any: one that needs little may preempt it once it has run for longer. */
static __always_inline void bound_joins(struct task_struct *p, struct task_ctx *thread, s32 cpu, bool wakes)
{
	join_queue(thread, cache_of(cpu), TIER_LATENCY_CRITICAL, wakes, 0);
	thread->scx.tier = TIER_LATENCY_CRITICAL;
	thread->scx.boost = 0;
}

/* How a thread is going to be enqueued. */
struct enqueue_plan {
	u64 slice_ns;
	u32 queue;
	u32 tier;
	u32 boost;
	bool stay; /* on its CPU */
	bool owed; /* it has not had more than its share */
};

static __always_inline void note_preemption(struct task_struct *p, struct task_ctx *thread, s32 victim, u32 boost,
					    u64 now_ns)
{
	struct event_decision decision = { .what = DECISION_PREEMPT };

	run_on(victim)->kicked = 1;
	count(SCX_COUNT_PREEMPTED);
	decision.from_cpu = (u16)p->thread_info.cpu;
	decision.to_cpu = (u16)victim;
	decision.boost = (u16)boost;
	decision.other_tid = run_on(victim)->tid;
	decision.other_tier = tier_on(victim, now_ns);
	send_decision(p, thread, now_ns, &decision);
}

static __always_inline void preempt_directly(struct task_struct *p, struct task_ctx *thread,
					     const struct enqueue_plan *plan, s32 victim, u64 enq_flags, u64 now_ns)
{
	note_preemption(p, thread, victim, plan->boost, now_ns);
	dsq_insert(p, scx_value(scx_dsq_id_flags, SCX_DSQ_LOCAL_ON) | (u32)victim, plan->slice_ns,
		   enq_flags | scx_value(scx_enq_flags, SCX_ENQ_PREEMPT) | settings.at_once);
}

/* Where CPUs can't be kicked, the thread is dispatched directly: to an idle CPU, or to one whose thread it preempts. */
static __always_inline bool dispatch_directly(struct task_struct *p, struct task_ctx *thread,
					      const struct enqueue_plan *plan, u64 enq_flags, u64 now_ns)
{
	s32 cpu = -1;

	if (!plan->stay && settings.cpus_len > 1 && bpf_ksym_exists(scx_bpf_pick_idle_cpu))
		cpu = scx_bpf_pick_idle_cpu(p->cpus_ptr, 0);
	if (cpu < 0 && plan->owed) {
		cpu = find_victim(p, thread, plan->tier, (s32)p->thread_info.cpu, plan->stay, now_ns);
		if (cpu >= 0) {
			preempt_directly(p, thread, plan, cpu, enq_flags, now_ns);
			return true;
		}
	}
	if (cpu < 0)
		return false;
	run_on(cpu)->is_given = 1;
	dsq_insert(p, scx_value(scx_dsq_id_flags, SCX_DSQ_LOCAL_ON) | (u32)cpu, plan->slice_ns,
		   enq_flags | settings.at_once);
	return true;
}

static __always_inline void count_urgent(struct task_struct *p, struct task_ctx *thread,
					 const struct enqueue_plan *plan, s32 cpu, u64 now_ns)
{
	if (plan->tier != TIER_LATENCY_CRITICAL || !plan->owed)
		return;
	thread->scx.counted_urgent = 1;
	__sync_fetch_and_add(&load_of(plan->queue)->urgent, 1);
	time_turns_for(p, plan->queue, cpu, now_ns);
}

/* Inserts the thread into its queue and kicks a CPU that shall take it. */
static __always_inline void insert_and_kick(struct task_struct *p, struct task_ctx *thread,
					    const struct enqueue_plan *plan, u64 enq_flags, u64 now_ns)
{
	u64 deadline = tier_deadline(thread->scx.vtime,
				     tier_expected_ns(plan->tier, thread->learner.expected_run_ns, settings.slice_ns),
				     thread->scx.effective_weight, plan->boost);
	s32 cpu = (s32)p->thread_info.cpu, victim = -1, idle;

	if (can_kick() && plan->owed)
		victim = find_victim(p, thread, plan->tier, cpu, plan->stay, now_ns);
	/* A CPU of another cache would not look into this queue. */
	if (victim >= 0 && cache_of(victim) != cache_of(cpu)) {
		preempt_directly(p, thread, plan, victim, enq_flags, now_ns);
		return;
	}
	dsq_insert_vtime(p, plan->queue, plan->slice_ns, deadline, enq_flags);
	if (plan->stay)
		run_on(cpu)->own_waits = 1;
	if (tier_asks_for_turns(plan->tier, plan->owed, thread->scx.burst_ns, deadline, *clock_of(plan->queue))) {
		asks_for_turns(thread, plan->queue, now_ns);
		time_turns_for(p, plan->queue, cpu, now_ns);
	}
	if (!can_kick()) {
		count_urgent(p, thread, plan, cpu, now_ns);
		return;
	}
	if (!plan->stay && settings.cpus_len > 1 && bpf_ksym_exists(scx_bpf_pick_idle_cpu)) {
		/* A CPU that went idle meanwhile would not look into this queue by itself. */
		idle = scx_bpf_pick_idle_cpu(p->cpus_ptr, 0);
		if (idle >= 0) {
			run_on(idle)->is_given = 1;
			kick(idle, scx_value(scx_kick_flags, SCX_KICK_IDLE));
			return;
		}
	}
	if (victim < 0) {
		count_urgent(p, thread, plan, cpu, now_ns);
		return;
	}
	note_preemption(p, thread, victim, plan->boost, now_ns);
	kick(victim, scx_value(scx_kick_flags, SCX_KICK_PREEMPT));
}

#endif
