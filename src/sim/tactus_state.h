/* SPDX-License-Identifier: GPL-2.0 */
/* tactus's scheduler on a simulated machine: what bpf/scx_state.h and bpf/scx_task.h keep in the kernel. Every decision
 * is a function of core/; these files only gather its inputs and carry out the answers, as bpf/scx*.h do. */
#ifndef TACTUS_SIM_TACTUS_STATE_H
#define TACTUS_SIM_TACTUS_STATE_H

#include "../../core/effective_tier.h"
#include "../../core/scx_config.h"
#include "../../core/urgency.h"
#include "dsq.h"
#include "machine.h"
#include "weights.h"

/* As struct scx_task. */
struct scx_entity {
	u64 vtime, charged_ns, burst_ns, last_burst_ns, queued_at_ns, awake_since_ns;
	struct inherited_urgency inherited;
	struct urgent_watch watch;
	struct move_rate move_rate;
	u64 effective_weight;
	u32 queue, tier;
	s32 last_cpu;
	s32 direct_cpu; /* an idle CPU that takes it without a queue; -1: none */
	u32 waker;	/* NO_THREAD: an interrupt */
	u32 asks_in;	/* the queue in which it waits and asks for turns, plus one; 0: it does not */
	u32 boost;
	u8 is_late, is_light, counted_urgent, may_burn, by_timer, asks_timed;
};

/* As struct queue_load. */
struct tactus_load {
	u32 per_cpu, many_urgent, urgent, asking, asking_timed;
	u64 turns_until_ns, longest_ns, looked_at_ns;
};

/* As struct cpu_run. */
struct tactus_run {
	u64 since_ns, burst_ns, last_burst_ns, shared_seen, looked_ns, late_at_ns;
	u32 tier, kicked, is_own, own_waits, may_burn, is_given, by_timer, is_off;
	u32 looks; /* into other caches' queues */
	u64 turn, turn_since_ns, turn_vtime, turn_over, turn_again, turn_again_ns;
	u64 effective_weight, turn_timer_ns;
	u32 queue, boost;
};

struct tactus {
	struct scx_config settings;
	struct scx_entity *entities;
	struct tactus_run *runs;
	struct dsq *local;
	u64 order;
	u64 clocks[SCX_QUEUES];
	struct tactus_load loads[SCX_QUEUES];
	struct dsq queues[SCX_QUEUES];
	struct urgency_account account, burnt; /* one user's: whose a thread is, a recording does not say */
};

static inline struct tactus *tactus_of(const struct machine *machine)
{
	return machine->policy_data;
}

static inline u32 tactus_own_queue(s32 cpu)
{
	return SCX_CACHES_MAX + (u32)cpu;
}

static inline u32 tactus_cache(const struct tactus *tactus, s32 cpu)
{
	return tactus->settings.cache_of[cpu];
}

static inline bool is_cpu_kthread(const struct sim_thread *thread)
{
	return tier_is_bound(thread->work->is_kernel && thread->only_cpu >= 0, (s32)thread->prio - PRIO_NICE_0,
			     thread->scx->burst_ns);
}

/* tactus_place.c: as bpf/scx_place.h. */
s32 tactus_choose_cpu(const struct machine *machine, const struct sim_thread *thread, s32 prev, bool *is_idle);
s32 tactus_pick_idle(const struct machine *machine, const struct sim_thread *thread);
bool tactus_can_preempt(const struct machine *machine, const struct scx_entity *entity, u32 tier, s32 cpu);
s32 tactus_find_victim(const struct machine *machine, const struct sim_thread *thread, u32 tier, s32 own,
		       bool only_own);

/* tactus_urgency.c: as bpf/scx_urgency.h, bpf/scx_vtime.h and bpf/scx_wake.h. */
u32 tactus_tier(struct machine *machine, const struct sim_thread *thread, u32 *boost);
void tactus_charge(struct machine *machine, struct sim_thread *thread);
void tactus_update_weight(struct machine *machine, struct sim_thread *thread);
void tactus_join_queue(struct machine *machine, struct scx_entity *entity, u32 queue, u32 tier, bool slept,
		       u64 behind_ns);
void tactus_on_wakeup(struct machine *machine, struct sim_thread *thread);
void tactus_on_sleep(struct machine *machine, struct sim_thread *thread);

/* tactus_queues.c: as bpf/scx_queues.h. */
s64 tactus_first_lag(const struct tactus *tactus, u32 queue);
void tactus_follow_shared(struct tactus *tactus, s32 cpu, u32 shared, bool has_rivals);
u64 tactus_behind_ns(struct tactus *tactus, const struct sim_thread *thread, s32 cpu);
bool tactus_move_first(struct machine *machine, u32 queue, s32 cpu);
bool tactus_dispatch_any_late(struct machine *machine, u32 own, u32 shared, s32 cpu);
bool tactus_steal(struct machine *machine, u32 shared, s32 cpu);
bool tactus_steal_older(struct machine *machine, u32 shared, s32 cpu);

/* tactus_turns.c: as bpf/scx_turns.h. */
void tactus_asks_no_longer(struct tactus *tactus, struct scx_entity *entity);
void tactus_asks_for_turns(struct machine *machine, struct scx_entity *entity, u32 queue);
void tactus_time_turns_for(struct machine *machine, const struct sim_thread *thread, u32 queue, s32 cpu);
void tactus_turn_begins(struct machine *machine, const struct scx_entity *entity, s32 cpu);
void tactus_turn_timer(struct machine *machine, s32 cpu);

/* tactus_policy.c: the CPU's thread gives way at once. */
void tactus_kick(struct machine *machine, s32 cpu);

#define NO_LAG 0x7fffffffffffffffLL

#endif
