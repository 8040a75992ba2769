/* SPDX-License-Identifier: GPL-2.0 */
/* How a thread that wants to run gets into a queue, and how a CPU hears of it.
 * For the scheduler alone. */
#ifndef TACTUS_BPF_SCX_JOIN_H
#define TACTUS_BPF_SCX_JOIN_H

#include "scx_queues.h"
#include "scx_tell.h"

/* A thread on its way into a queue. */
struct joining {
	u64 slice_ns;
	u32 queue;
	u32 tier;
	u32 boost;
	bool stay; /* on the CPU where it is */
	bool owed; /* it has not had more than its share */
};

static __always_inline void note_preemption(struct task_struct *p, struct kthread *thread, s32 victim, u32 other_tier,
					    u32 boost, u64 now_ns)
{
	struct event_decision decision = { .what = DECISION_PREEMPT };

	run_on(victim)->kicked = 1;
	count(SCX_COUNT_PREEMPTED);
	decision.from_cpu = (u16)p->thread_info.cpu;
	decision.to_cpu = (u16)victim;
	decision.boost = (u16)boost;
	decision.other_tid = run_on(victim)->tid;
	decision.other_tier = other_tier;
	send_decision(p, thread, now_ns, &decision);
}

/* A CPU that can't be told to look into the queue is given the thread itself: one that is idle, or one whose thread
 * this one pushes off. */
static __always_inline bool hand_over(struct task_struct *p, struct kthread *thread, const struct joining *joining,
				      u64 enq_flags, u64 now_ns)
{
	s32 cpu = -1;
	u32 other_tier;

	if (!joining->stay && settings.cpus_len > 1 && bpf_ksym_exists(scx_bpf_pick_idle_cpu))
		cpu = scx_bpf_pick_idle_cpu(p->cpus_ptr, 0);
	if (cpu < 0 && joining->owed) {
		cpu = find_victim(p, thread, joining->tier, (s32)p->thread_info.cpu, joining->stay, now_ns,
				  &other_tier);
		if (cpu >= 0) {
			note_preemption(p, thread, cpu, other_tier, joining->boost, now_ns);
			enq_flags |= scx_value(scx_enq_flags, SCX_ENQ_PREEMPT);
		}
	}
	if (cpu < 0)
		return false;
	dsq_insert(p, scx_value(scx_dsq_id_flags, SCX_DSQ_LOCAL_ON) | (u32)cpu, joining->slice_ns,
		   enq_flags | settings.at_once);
	return true;
}

static __always_inline void count_urgent(struct kthread *thread, const struct joining *joining)
{
	if (joining->tier != TIER_LATENCY_CRITICAL || !joining->owed)
		return;
	thread->turn.counted_urgent = 1;
	__sync_fetch_and_add(&crowd_of(joining->queue)->urgent, 1);
}

/* Puts the thread into its queue and sees to it that somebody looks there. */
static __always_inline void queue_up(struct task_struct *p, struct kthread *thread, const struct joining *joining,
				     u64 enq_flags, u64 now_ns)
{
	s32 cpu = (s32)p->thread_info.cpu, victim, idle;
	u32 other_tier;

	dsq_insert_vtime(
		p, joining->queue, joining->slice_ns,
		tier_deadline(thread->turn.vtime,
			      tier_expected_ns(joining->tier, thread->learner.expected_run_ns, settings.slice_ns),
			      thread->turn.worth, joining->boost),
		enq_flags);
	if (joining->stay)
		run_on(cpu)->own_waits = 1;
	if (!can_kick()) {
		count_urgent(thread, joining);
		return;
	}
	if (!joining->stay && settings.cpus_len > 1 && bpf_ksym_exists(scx_bpf_pick_idle_cpu)) {
		/* A CPU that fell idle meanwhile would not look here by itself. */
		idle = scx_bpf_pick_idle_cpu(p->cpus_ptr, 0);
		if (idle >= 0) {
			kick(idle, scx_value(scx_kick_flags, SCX_KICK_IDLE));
			return;
		}
	}
	victim = joining->owed ? find_victim(p, thread, joining->tier, cpu, joining->stay, now_ns, &other_tier) : -1;
	if (victim < 0) {
		count_urgent(thread, joining);
		return;
	}
	note_preemption(p, thread, victim, other_tier, joining->boost, now_ns);
	kick(victim, scx_value(scx_kick_flags, SCX_KICK_PREEMPT));
}

#endif
