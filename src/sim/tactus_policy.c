// SPDX-License-Identifier: GPL-2.0
/* tactus's scheduler on a simulated machine: the operations of bpf/scx.bpf.c, with what the kernel does around them.
 * Control groups, quotas, locks and power are left out: recordings do not have them. */
#include <errno.h>
#include <stdlib.h>

#include "../sched/scx_places.h"
#include "tactus_state.h"

static u16 distance_of(void *data, u32 from, u32 to)
{
	const struct sim_topology *topology = data;

	return topology->distances[from % SIM_NODES_MAX][to % SIM_NODES_MAX];
}

static int tactus_init(struct machine *machine)
{
	const struct sim_topology *topology = machine->topology;
	struct tactus *tactus = calloc(1, sizeof(*tactus));
	u64 capacities[SIM_CPUS_MAX];

	if (!tactus)
		return -ENOMEM;
	machine->policy_data = tactus;
	tactus->settings.cpus_len = machine->cpus_len;
	tactus->settings.slice_ns = machine->params.slice_ns ? machine->params.slice_ns : TIER_SLICE_NS;
	tactus->settings.light_ns = machine->params.light_ns ? machine->params.light_ns : TIER_LIGHT_NS;
	tactus->settings.credit = machine->params.credit ? machine->params.credit : TIER_URGENT_CREDIT;
	tactus->settings.discount = machine->params.discount ? machine->params.discount : TIER_URGENT_DISCOUNT;
	for (u32 cpu = 0; cpu < machine->cpus_len; cpu++)
		capacities[cpu] = topology->capacity[cpu];
	scx_places_arrange(&tactus->settings, topology->cpus, capacities, distance_of, (void *)topology);
	tactus->entities = calloc(machine->len ? machine->len : 1, sizeof(*tactus->entities));
	tactus->runs = calloc(machine->cpus_len, sizeof(*tactus->runs));
	tactus->local = calloc(machine->cpus_len, sizeof(*tactus->local));
	if (!tactus->entities || !tactus->runs || !tactus->local)
		return -ENOMEM;
	for (u32 cpu = 0; cpu < machine->cpus_len; cpu++)
		tactus->runs[cpu].is_off = 1;
	tactus->order = 1ULL << 40;
	for (u32 i = 0; i < SCX_QUEUES; i++)
		tactus->clocks[i] = 1ULL << 40;
	for (u32 i = 0; i < machine->len; i++) {
		machine->threads[i].scx = &tactus->entities[i];
		tactus->entities[i] = (struct scx_entity){ .vtime = 1ULL << 40,
							   .last_cpu = -1,
							   .direct_cpu = -1,
							   .waker = NO_THREAD,
							   .tier = TIER_INTERACTIVE };
	}
	return 0;
}

static void tactus_free(struct machine *machine)
{
	struct tactus *tactus = tactus_of(machine);

	for (u32 i = 0; i < SCX_QUEUES; i++)
		free(tactus->queues[i].items);
	for (u32 cpu = 0; tactus->local && cpu < machine->cpus_len; cpu++)
		free(tactus->local[cpu].items);
	free(tactus->entities);
	free(tactus->runs);
	free(tactus->local);
	free(tactus);
}

/* As the operation, when a thread is new: it begins where the clock is. */
static void enable(struct machine *machine, struct sim_thread *thread, s32 cpu)
{
	struct tactus *tactus = tactus_of(machine);
	struct scx_entity *entity = thread->scx;

	entity->queue = tactus_cache(tactus, cpu);
	entity->vtime = tactus->clocks[entity->queue];
	entity->last_cpu = cpu;
	tactus_update_weight(machine, thread);
}

static s32 tactus_select(struct machine *machine, struct sim_thread *thread, s32 waker_cpu, bool by_interrupt,
			 bool is_new)
{
	struct tactus *tactus = tactus_of(machine);
	struct scx_entity *entity = thread->scx;
	s32 prev = thread->only_cpu >= 0 ? thread->work->only_cpu : thread->cpu >= 0 ? thread->cpu : waker_cpu;
	struct sim_thread *waker = waker_cpu >= 0 && !by_interrupt ? sim_running(machine, waker_cpu) : NULL;
	bool is_idle = false;
	u32 boost;
	s32 cpu;

	prev = prev < 0 ? 0 : prev % (s32)machine->cpus_len;
	for (u32 tries = 1; tries < machine->cpus_len && !sim_may_run(thread, prev); tries++)
		prev = (prev + 1) % (s32)machine->cpus_len;
	entity->waker = waker ? sim_index(machine, waker) : NO_THREAD;
	entity->direct_cpu = -1;
	if (is_new)
		enable(machine, thread, prev);
	cpu = tactus_choose_cpu(machine, thread, prev, &is_idle);
	if (!is_idle)
		return cpu;
	if (!is_new)
		tactus_on_wakeup(machine, thread);
	entity->tier = tactus_tier(machine, thread, &boost);
	entity->boost = boost;
	tactus_join_queue(machine, entity, tactus_cache(tactus, cpu), entity->tier, true, 0);
	entity->queued_at_ns = machine->now_ns;
	entity->direct_cpu = cpu;
	tactus->runs[cpu].is_given = 1;
	return cpu;
}

static void insert_local(struct machine *machine, struct sim_thread *thread, s32 cpu, u64 slice_ns, bool at_head)
{
	struct tactus *tactus = tactus_of(machine);
	struct dsq *local = &tactus->local[cpu];
	u64 key = at_head && local->len ? dsq_at(local, 0)->key - 1 : tactus->order++;

	thread->slice_left_ns = slice_ns;
	machine->failed |= !dsq_insert(local, key, sim_index(machine, thread));
	if (sim_is_idle(machine, cpu))
		sim_resched(machine, cpu);
}

void tactus_kick(struct machine *machine, s32 cpu)
{
	struct sim_thread *running = sim_running(machine, cpu);

	tactus_of(machine)->runs[cpu].kicked = 1;
	if (running)
		running->slice_left_ns = 0;
	sim_resched(machine, cpu);
}

struct enqueue_plan {
	u64 slice_ns;
	u32 queue, tier, boost;
	bool stay, owed;
};

static void count_urgent(struct machine *machine, const struct sim_thread *thread, const struct enqueue_plan *plan,
			 s32 cpu)
{
	if (plan->tier != TIER_LATENCY_CRITICAL || !plan->owed)
		return;
	thread->scx->counted_urgent = 1;
	tactus_of(machine)->loads[plan->queue].urgent++;
	tactus_time_turns_for(machine, thread, plan->queue, cpu);
}

static void insert_and_kick(struct machine *machine, struct sim_thread *thread, const struct enqueue_plan *plan,
			    s32 cpu)
{
	struct tactus *tactus = tactus_of(machine);
	struct scx_entity *entity = thread->scx;
	s32 victim = plan->owed ? tactus_find_victim(machine, thread, plan->tier, cpu, plan->stay) : -1, idle;
	u64 deadline = tier_deadline(entity->vtime, tier_expected_ns(plan->tier, 0, tactus->settings.slice_ns),
				     entity->effective_weight, plan->boost);

	if (victim >= 0 && tactus_cache(tactus, victim) != tactus_cache(tactus, cpu)) {
		insert_local(machine, thread, victim, plan->slice_ns, true);
		tactus_kick(machine, victim);
		return;
	}
	thread->slice_left_ns = plan->slice_ns;
	machine->failed |= !dsq_insert(&tactus->queues[plan->queue], deadline, sim_index(machine, thread));
	if (plan->stay)
		tactus->runs[cpu].own_waits = 1;
	if (tier_asks_for_turns(plan->tier, plan->owed, entity->burst_ns, deadline, tactus->clocks[plan->queue])) {
		tactus_asks_for_turns(machine, entity, plan->queue);
		tactus_time_turns_for(machine, thread, plan->queue, cpu);
	}
	if (!plan->stay) {
		idle = tactus_pick_idle(machine, thread);
		if (idle >= 0) {
			tactus->runs[idle].is_given = 1;
			sim_resched(machine, idle);
			return;
		}
	} else if (sim_is_idle(machine, cpu)) {
		sim_resched(machine, cpu);
		return;
	}
	if (victim < 0)
		count_urgent(machine, thread, plan, cpu);
	else
		tactus_kick(machine, victim);
}

static bool stays_on_cpu(const struct machine *machine, const struct sim_thread *thread)
{
	if (machine->cpus_len == 1)
		return false;
	return thread->only_cpu >= 0 || move_rate_is_high(&thread->scx->move_rate, machine->now_ns);
}

/* A kernel thread that does what its CPU needs done. */
static void enqueue_bound(struct machine *machine, struct sim_thread *thread, s32 cpu, bool wakes)
{
	struct tactus *tactus = tactus_of(machine);
	const struct tactus_run *run = &tactus->runs[cpu];
	u64 ran_ns = machine->now_ns - run->since_ns;
	u32 running = tier_now(run->tier, tier_burst_counted_ns(run->burst_ns + ran_ns, run->may_burn)),
	    joins = tier_bound_joins(wakes, run->kicked != 0, running);

	tactus_join_queue(machine, thread->scx, tactus_cache(tactus, cpu), TIER_LATENCY_CRITICAL, wakes, 0);
	thread->scx->tier = TIER_LATENCY_CRITICAL;
	thread->scx->boost = 0;
	insert_local(machine, thread, cpu, tactus->settings.slice_ns, joins != TIER_BOUND_LAST);
	/* A CPU that is about to look for a thread runs none, and is not idle either. */
	if (joins == TIER_BOUND_PREEMPTS && sim_running(machine, cpu)) {
		sim_running(machine, cpu)->slice_left_ns = 0;
		sim_resched(machine, cpu);
	}
}

static void tactus_enqueue(struct machine *machine, struct sim_thread *thread, s32 cpu, bool wakes, bool is_new)
{
	struct tactus *tactus = tactus_of(machine);
	struct scx_entity *entity = thread->scx;
	u64 base_ns = tactus->settings.slice_ns;
	bool wakeup = wakes && !is_new;
	struct enqueue_plan plan = { 0 };

	if (!wakes) {
		tactus->runs[cpu].is_off = 1;
		tactus_charge(machine, thread);
	}
	if (entity->direct_cpu >= 0 && wakes) {
		cpu = entity->direct_cpu;
		entity->direct_cpu = -1;
		insert_local(machine, thread, cpu, base_ns, false);
		return;
	}
	if (is_cpu_kthread(thread)) {
		enqueue_bound(machine, thread, cpu, wakes);
		return;
	}
	if (wakeup)
		tactus_on_wakeup(machine, thread);
	plan.tier = tactus_tier(machine, thread, &plan.boost);
	plan.stay = stays_on_cpu(machine, thread);
	machine->counts.stayed += plan.stay && thread->only_cpu < 0;
	plan.queue = plan.stay ? tactus_own_queue(cpu) : tactus_cache(tactus, cpu);
	tactus_update_weight(machine, thread);
	tactus_join_queue(machine, entity, plan.queue, plan.tier, wakeup,
			  wakeup ? tactus_behind_ns(tactus, thread, cpu) : 0);
	entity->tier = plan.tier;
	entity->boost = plan.boost;
	entity->queued_at_ns = machine->now_ns;
	plan.slice_ns = tier_slice_among_ns(plan.tier, base_ns, tactus->loads[plan.queue].per_cpu);
	plan.owed = tier_is_owed(plan.tier, entity->vtime, tactus->clocks[plan.queue], base_ns);
	if (tier_preempts_own_cpu(wakeup, plan.owed, plan.tier, entity->is_light) &&
	    tactus_can_preempt(machine, entity, plan.tier, cpu)) {
		insert_local(machine, thread, cpu, plan.slice_ns, true);
		tactus_kick(machine, cpu);
		return;
	}
	insert_and_kick(machine, thread, &plan, cpu);
}

static void goes_on(struct machine *machine, struct sim_thread *prev, s32 cpu)
{
	const struct tactus *tactus = tactus_of(machine);
	const struct scx_entity *entity = prev->scx;

	prev->slice_left_ns = tier_slice_among_ns(entity->tier, tactus->settings.slice_ns,
						  tactus->loads[entity->queue].per_cpu);
	tactus_turn_begins(machine, entity, cpu);
}

static bool keeps_running(struct machine *machine, struct sim_thread *prev, s32 cpu, s64 first)
{
	struct tactus *tactus = tactus_of(machine);
	struct tactus_run *run = &tactus->runs[cpu];
	struct scx_entity *entity = prev->scx;
	u64 deadline;
	u32 boost;

	run->looked_ns = machine->now_ns;
	tactus_charge(machine, prev);
	run->may_burn = entity->may_burn;
	entity->tier = tactus_tier(machine, prev, &boost);
	entity->boost = boost;
	if (run->turn_over == run->turn)
		return false;
	deadline = tier_deadline(entity->vtime, tactus->settings.slice_ns, entity->effective_weight, boost);
	if (!tier_keeps_cpu(deadline, tactus->clocks[entity->queue], first))
		return false;
	goes_on(machine, prev, cpu);
	return true;
}

static bool own_waits(struct tactus *tactus, s32 cpu)
{
	tactus->runs[cpu].own_waits = tactus->queues[tactus_own_queue(cpu)].len > 0;
	return tactus->runs[cpu].own_waits;
}

/* As the operation: puts a thread into the CPU's local queue, or lets the one that ran go on, or does neither. */
static void dispatch(struct machine *machine, s32 cpu, struct sim_thread *prev)
{
	struct tactus *tactus = tactus_of(machine);
	u32 own = tactus_own_queue(cpu), shared = tactus_cache(tactus, cpu);
	bool own_first = own_waits(tactus, cpu);
	s64 own_lag, shared_lag;

	tactus->runs[cpu].kicked = tactus->runs[cpu].is_given = 0;
	if (tactus_dispatch_any_late(machine, own, shared, cpu) || tactus_steal_older(machine, shared, cpu))
		return;
	if (prev || (own_first && tactus->queues[shared].len)) {
		shared_lag = tactus_first_lag(tactus, shared);
		tactus_follow_shared(tactus, cpu, shared, shared_lag != NO_LAG || !tactus->runs[cpu].is_own);
		own_lag = own_first ? tactus_first_lag(tactus, own) : NO_LAG;
		own_first = own_lag < shared_lag;
		if (prev && keeps_running(machine, prev, cpu, own_first ? own_lag : shared_lag))
			return;
	}
	if ((own_first && tactus_move_first(machine, own, cpu)) || tactus_move_first(machine, shared, cpu) ||
	    (own_waits(tactus, cpu) && tactus_move_first(machine, own, cpu)))
		return;
	if (!tactus_steal(machine, shared, cpu) && prev)
		goes_on(machine, prev, cpu);
}

static struct sim_thread *tactus_pick(struct machine *machine, s32 cpu, struct sim_thread *prev)
{
	struct tactus *tactus = tactus_of(machine);
	struct dsq *local = &tactus->local[cpu];
	u32 next;

	if (prev && prev->slice_left_ns)
		return prev;
	if (!local->len) {
		dispatch(machine, cpu, prev);
		if (prev && prev->slice_left_ns)
			return prev;
	}
	if (!local->len)
		return NULL;
	if (prev)
		tactus_enqueue(machine, prev, cpu, false, false);
	next = dsq_at(local, 0)->thread;
	dsq_remove(local, 0);
	return &machine->threads[next];
}

/* A thread that is not urgent gives way to urgent ones that wait. */
static void give_way(struct machine *machine, struct sim_thread *thread, struct tactus_run *run, s32 cpu)
{
	struct tactus *tactus = tactus_of(machine);
	struct tactus_load *load = &tactus->loads[tactus_cache(tactus, cpu)];

	if (thread->scx->counted_urgent) {
		thread->scx->counted_urgent = 0;
		load = &tactus->loads[thread->scx->queue];
		load->urgent -= load->urgent > 0;
		return;
	}
	if (!tier_gives_way(run->tier) || thread->scx->is_late)
		return;
	if (!load->urgent)
		load = &tactus->loads[tactus_own_queue(cpu)];
	if (!load->urgent)
		return;
	load->urgent = 0;
	tactus_kick(machine, cpu);
}

static void tactus_starts(struct machine *machine, struct sim_thread *thread, s32 cpu)
{
	struct tactus *tactus = tactus_of(machine);
	struct tactus_run *run = &tactus->runs[cpu];
	struct scx_entity *entity = thread->scx;
	u64 now_ns = machine->now_ns, follows, *clock;

	run->since_ns = run->looked_ns = now_ns;
	run->kicked = run->is_given = run->is_off = 0;
	run->tier = entity->tier;
	run->burst_ns = entity->burst_ns;
	run->may_burn = entity->may_burn;
	run->last_burst_ns = entity->last_burst_ns;
	run->by_timer = entity->by_timer;
	give_way(machine, thread, run, cpu);
	entity->queued_at_ns = 0;
	move_rate_note(&entity->move_rate, entity->last_cpu >= 0 && entity->last_cpu != cpu, now_ns);
	entity->last_cpu = cpu;
	tactus_update_weight(machine, thread);
	entity->charged_ns = thread->ran_ns;
	tactus_asks_no_longer(tactus, entity);
	tactus_turn_begins(machine, entity, cpu);
	if (entity->is_late)
		return;
	clock = &tactus->clocks[entity->queue];
	run->is_own = entity->queue == tactus_own_queue(cpu);
	if (run->is_own) {
		follows = clock_follows(*clock, entity->vtime, tactus->settings.slice_ns, tactus->settings.credit);
		tactus->clocks[tactus_cache(tactus, cpu)] += follows;
		run->shared_seen += follows;
	}
	if (vtime_before(*clock, entity->vtime))
		*clock = entity->vtime;
}

static void tactus_ran(struct machine *machine, struct sim_thread *thread, s32 cpu, u64 ran_ns)
{
	(void)machine, (void)cpu;
	thread->slice_left_ns -= ran_ns < thread->slice_left_ns ? ran_ns : thread->slice_left_ns;
}

static void tactus_sleeps(struct machine *machine, struct sim_thread *thread, s32 cpu, bool ends)
{
	(void)ends;
	tactus_of(machine)->runs[cpu].is_off = 1;
	tactus_charge(machine, thread);
	tactus_on_sleep(machine, thread);
}

static void tactus_tick(struct machine *machine, s32 cpu)
{
	struct tactus *tactus = tactus_of(machine);
	struct sim_thread *thread = sim_running(machine, cpu);
	struct tactus_run *run = &tactus->runs[cpu];
	u64 until_ns = tactus->loads[tactus_cache(tactus, cpu)].turns_until_ns;

	if (run->own_waits && tactus->loads[tactus_own_queue(cpu)].turns_until_ns > until_ns)
		until_ns = tactus->loads[tactus_own_queue(cpu)].turns_until_ns;
	if (tier_ends_turn(run->tier, machine->now_ns - run->since_ns, until_ns, machine->now_ns))
		thread->slice_left_ns = 0;
	if (!thread->slice_left_ns)
		sim_resched_now(machine, cpu);
}

static u32 tactus_queued(const struct machine *machine)
{
	const struct tactus *tactus = tactus_of(machine);
	u32 sum = 0;

	for (u32 i = 0; i < tactus->settings.caches_len; i++)
		sum += tactus->queues[i].len;
	for (u32 cpu = 0; cpu < machine->cpus_len; cpu++)
		sum += tactus->queues[tactus_own_queue((s32)cpu)].len;
	return sum;
}

const struct sim_policy policy_tactus = {
	.name = "tactus",
	.init = tactus_init,
	.free = tactus_free,
	.select_cpu = tactus_select,
	.enqueue = tactus_enqueue,
	.pick = tactus_pick,
	.charge = tactus_ran,
	.starts = tactus_starts,
	.sleeps = tactus_sleeps,
	.tick = tactus_tick,
	.timer = tactus_turn_timer,
	.queued = tactus_queued,
};
