// SPDX-License-Identifier: GPL-2.0
/* How urgent a thread is under tactus's scheduler, and its virtual time: bpf/scx_urgency.h, bpf/scx_vtime.h and
 * bpf/scx_wake.h on a simulated machine. */
#include "tactus_state.h"
#include "weights.h"

enum { NICE_0_PRIO = 121 }; /* as in core/event.h */

static s32 nice_of(const struct sim_thread *thread)
{
	return (s32)thread->prio - NICE_0_PRIO;
}

static bool by_user(const struct sim_thread *thread)
{
	return thread->role_evidence == EVIDENCE_USER;
}

static bool is_spent(struct machine *machine)
{
	struct tactus *tactus = tactus_of(machine);

	if (!urgency_is_spent(&tactus->account))
		return false;
	urgency_fill(&tactus->account, machine->cpus_len, machine->now_ns);
	return urgency_is_spent(&tactus->account);
}

u32 tactus_tier(struct machine *machine, const struct sim_thread *thread, u32 *boost)
{
	const struct scx_entity *entity = thread->scx;
	struct tier_inputs inputs = {
		.now_ns = machine->now_ns,
		.input_until_ns = thread->input_ns ? thread->input_ns + TIER_INPUT_NS : 0,
		.frame_due_ns = thread->frame_due_ns,
		.inherited_until_ns = entity->inherited.until_ns,
		.throttled_until_ns = entity->watch.throttled_until_ns,
		.burst_ns = entity->burst_ns,
		.raise = machine->params.raise,
		.role_tier = thread->role_tier,
		.role_boost = thread->role_boost,
		.inherited_boost = entity->inherited.boost,
		.nice = nice_of(thread),
		.is_kernel_thread = thread->work->is_kernel,
		.by_user = by_user(thread),
		.may_burn = entity->may_burn != 0,
	};
	struct effective_tier now = tier_effective(&inputs);

	if (now.limit != TIER_LIMIT_BURST && tier_uses_budget(now.tier, inputs.is_kernel_thread) && is_spent(machine))
		now = tier_over_budget();
	*boost = now.boost;
	return now.tier;
}

static void charge_burning(struct machine *machine, struct sim_thread *thread, u64 ran_ns)
{
	struct tactus *tactus = tactus_of(machine);
	struct scx_entity *entity = thread->scx;
	bool was_urgent = entity->tier == TIER_LATENCY_CRITICAL, may;
	u64 now_ns = machine->now_ns;

	if (machine->cpus_len < URGENCY_BURN_CPUS || thread->work->is_kernel ||
	    !tier_burns(thread->role_tier, entity->burst_ns))
		return;
	may = entity->watch.throttled_until_ns <= now_ns &&
	      urgency_burn_charge(&tactus->burnt, machine->cpus_len, was_urgent ? ran_ns : 0, now_ns);
	if (was_urgent)
		entity->watch.burnt_ns += ran_ns;
	if (entity->may_burn && !may)
		entity->vtime += urgent_watch_throttle(&entity->watch, now_ns);
	entity->may_burn = may;
}

void tactus_charge(struct machine *machine, struct sim_thread *thread)
{
	struct tactus *tactus = tactus_of(machine);
	struct scx_entity *entity = thread->scx;
	u64 ran_ns = thread->ran_ns - entity->charged_ns;
	u64 cost = tier_charge(ran_ns, entity->effective_weight, entity->tier, tactus->settings.discount,
			       (int)tactus->loads[entity->queue].many_urgent);

	entity->burst_ns += ran_ns;
	entity->charged_ns = thread->ran_ns;
	if (entity->is_late) {
		entity->is_late = 0;
		return;
	}
	entity->vtime += cost;
	if (tier_uses_budget(entity->tier, thread->work->is_kernel)) {
		urgent_watch_ran(&entity->watch, ran_ns, vtime_charge(ran_ns, entity->effective_weight) - cost);
		urgency_fill(&tactus->account, machine->cpus_len, machine->now_ns);
		urgency_charge(&tactus->account, machine->cpus_len, ran_ns);
	}
	charge_burning(machine, thread, ran_ns);
}

void tactus_update_weight(struct machine *machine, struct sim_thread *thread)
{
	struct tactus *tactus = tactus_of(machine);
	struct scx_entity *entity = thread->scx;
	u64 weight = tier_effective_weight(scx_weight_of_prio(thread->prio), 1ULL << GROUP_SHARE_BITS);

	entity->vtime = vtime_reweighed(entity->vtime, tactus->clocks[entity->queue], entity->effective_weight, weight);
	entity->effective_weight = weight;
}

void tactus_join_queue(struct machine *machine, struct scx_entity *entity, u32 queue, u32 tier, bool slept,
		       u64 behind_ns)
{
	struct tactus *tactus = tactus_of(machine);
	u64 clock = tactus->clocks[queue];

	if (entity->queue != queue) {
		entity->vtime = vtime_moved(entity->vtime, tactus->clocks[entity->queue], clock);
		entity->queue = queue;
	}
	entity->vtime = vtime_enqueued(entity->vtime, clock, tier_credited(tier, 0), tactus->settings.slice_ns,
				       tactus->settings.credit, (int)tactus->loads[queue].many_urgent, slept,
				       behind_ns);
}

void tactus_on_wakeup(struct machine *machine, struct sim_thread *thread)
{
	struct scx_entity *entity = thread->scx;
	struct sim_thread *waker = entity->waker == NO_THREAD ? NULL : &machine->threads[entity->waker];
	u64 now_ns = machine->now_ns;
	u32 depth;

	entity->is_light = !waker && tier_may_raise(nice_of(thread), 0, by_user(thread)) &&
			   tier_is_light(entity->last_burst_ns, now_ns - entity->awake_since_ns,
					 tactus_of(machine)->settings.light_ns);
	entity->awake_since_ns = now_ns;
	entity->by_timer = !waker;
	if (!waker || waker == thread)
		return;
	depth = inherit_depth(thread->role_tier, &entity->inherited, now_ns);
	if ((machine->params.raise & RAISE_INPUT) && waker->input_ns && waker->input_ns + TIER_INPUT_NS > now_ns)
		thread->input_ns = waker->input_ns;
	/* It hands a part of its frame over. */
	if ((machine->params.raise & RAISE_FRAMES) && waker->frame_due_ns && waker->work->pid == thread->work->pid)
		thread->frame_due_ns = waker->frame_due_ns;
	if (inherit_passes(depth, waker->work->is_kernel, waker->role_tier))
		waker->scx->inherited = inherit_from(depth, thread->role_boost, entity->inherited.boost, now_ns);
}

void tactus_on_sleep(struct machine *machine, struct sim_thread *thread)
{
	struct tactus *tactus = tactus_of(machine);
	struct scx_entity *entity = thread->scx;
	u64 now_ns = machine->now_ns;
	bool may_burn;

	entity->last_burst_ns = entity->burst_ns;
	entity->burst_ns = 0;
	entity->may_burn = 0;
	if (!urgent_watch_is_on(&entity->watch))
		return;
	entity->watch.awake_ns += span_between(entity->awake_since_ns, now_ns);
	may_burn = machine->cpus_len >= URGENCY_BURN_CPUS && urgent_watch_burns(&entity->watch, now_ns) &&
		   urgency_burn_charge(&tactus->burnt, machine->cpus_len, urgent_watch_uncharged_ns(&entity->watch),
				       now_ns);
	entity->vtime += urgent_watch_ends(&entity->watch, now_ns, may_burn);
}
