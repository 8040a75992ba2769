// SPDX-License-Identifier: GPL-2.0
/* A timer of each CPU that ends turns before the tick does: bpf/scx_turns.h on a simulated machine.
 */
#include "tactus_state.h"

void tactus_asks_no_longer(struct tactus *tactus, struct scx_entity *entity)
{
	struct tactus_load *load;

	if (!entity->asks_in)
		return;
	load = &tactus->loads[entity->asks_in - 1];
	entity->asks_in = 0;
	load->asking -= load->asking > 0;
	load->asking_timed -= entity->asks_timed && load->asking_timed;
}

void tactus_asks_for_turns(struct machine *machine, struct scx_entity *entity, u32 queue)
{
	struct tactus *tactus = tactus_of(machine);
	struct tactus_load *load = &tactus->loads[queue];

	load->turns_until_ns = machine->now_ns + TIER_TURNS_NS;
	if (entity->asks_in == queue + 1)
		return;
	tactus_asks_no_longer(tactus, entity);
	entity->asks_in = queue + 1;
	load->asking++;
	entity->asks_timed = entity->by_timer;
	load->asking_timed += entity->asks_timed;
}

/* In how long the turn of the thread that runs on that CPU ends; 0: with a tick. */
static u64 turn_left_ns(const struct machine *machine, s32 cpu)
{
	const struct tactus *tactus = tactus_of(machine);
	const struct tactus_run *run = &tactus->runs[cpu];
	u32 shared = tactus_cache(tactus, cpu);
	const struct tactus_load *load = &tactus->loads[shared], *own = &tactus->loads[tactus_own_queue(cpu)];
	u64 burst_ns = run->burst_ns + span_between(run->since_ns, machine->now_ns);
	u32 tier = run->tier < TIERS ? tier_now(run->tier, tier_burst_counted_ns(burst_ns, run->may_burn)) : TIERS;
	u64 turn_ns = tier_turn_ns(tier, burst_ns, load->asking + (run->own_waits ? own->asking : 0),
				   load->asking_timed + (run->own_waits ? own->asking_timed : 0), load->urgent);

	if (!turn_ns && tier_times_own_turn(tier, run->by_timer != 0, burst_ns, run->last_burst_ns) &&
	    tactus->queues[shared].len > load->asking)
		turn_ns = tier_own_turn_ns(run->turn_vtime, tactus->clocks[shared]);
	return turn_ns ? tier_turn_left_ns(turn_ns, span_between(run->turn_since_ns, machine->now_ns)) : 0;
}

static void start_turn_timer(struct machine *machine, s32 cpu, u64 left_ns)
{
	tactus_of(machine)->runs[cpu].turn_timer_ns = machine->now_ns + left_ns;
	sim_set_timer(machine, cpu, machine->now_ns + left_ns);
}

static void time_turn(struct machine *machine, s32 cpu)
{
	u64 left_ns = turn_left_ns(machine, cpu);
	const struct tactus *tactus = tactus_of(machine);
	const struct tactus_load *load = &tactus->loads[tactus_cache(tactus, cpu)];

	if (tier_sets_timer(tactus->runs[cpu].turn_timer_ns, left_ns, machine->now_ns,
			    load->asking_timed + load->urgent))
		start_turn_timer(machine, cpu, left_ns);
}

void tactus_time_turns_for(struct machine *machine, u32 queue, s32 cpu)
{
	const struct scx_config *settings = &tactus_of(machine)->settings;
	u32 cache = settings->cache_of[cpu];

	if (settings->cpus_len == 1 || queue >= SCX_CACHES_MAX || turn_left_ns(machine, cpu)) {
		time_turn(machine, cpu);
		return;
	}
	for (u32 i = settings->cache_begins[cache]; i < settings->cache_begins[cache + 1]; i++) {
		if (!turn_left_ns(machine, settings->by_cache[i]))
			continue;
		time_turn(machine, settings->by_cache[i]);
		break;
	}
}

void tactus_turn_begins(struct machine *machine, const struct scx_entity *entity, s32 cpu)
{
	struct tactus_run *run = &tactus_of(machine)->runs[cpu];

	run->turn_since_ns = machine->now_ns;
	run->turn_vtime = entity->vtime;
	run->effective_weight = entity->effective_weight;
	run->boost = entity->boost;
	time_turn(machine, cpu);
}

static u64 turn_vtime_now(const struct machine *machine, const struct tactus_run *run)
{
	return run->turn_vtime + tier_charge(span_between(run->turn_since_ns, machine->now_ns), run->effective_weight,
					     run->tier, tactus_of(machine)->settings.discount, 0);
}

/* Lets the first of the queue run on that CPU, if it would be by its deadline. */
static bool end_turn_for(struct machine *machine, u32 queue, s32 cpu)
{
	struct tactus *tactus = tactus_of(machine);
	const struct scx_config *settings = &tactus->settings;
	struct tactus_run *run = &tactus->runs[cpu];
	u64 clock = tactus->clocks[queue], vtime, deadline;
	const struct sim_thread *first;

	if (!tactus->queues[queue].len)
		return false;
	first = &machine->threads[dsq_at(&tactus->queues[queue], 0)->thread];
	vtime = turn_vtime_now(machine, run);
	vtime = tier_turn_vtime(vtime, clock, first->scx->asks_in != 0);
	deadline = tier_deadline(vtime, settings->slice_ns, run->effective_weight, run->boost);
	if (!sim_may_run(first, cpu) || tier_keeps_cpu(deadline, clock, tactus_first_lag(tactus, queue)))
		return false;
	run->turn_over = 1;
	tactus_kick(machine, cpu);
	return true;
}

void tactus_turn_timer(struct machine *machine, s32 cpu)
{
	struct tactus *tactus = tactus_of(machine);
	struct tactus_run *run = &tactus->runs[cpu];
	u64 left_ns = turn_left_ns(machine, cpu);

	run->turn_timer_ns = 0;
	if (!left_ns)
		return;
	if (left_ns <= TIER_TURN_LEAST_NS) {
		left_ns = TIER_HOG_TURN_NS;
		if ((run->own_waits && end_turn_for(machine, tactus_own_queue(cpu), cpu)) ||
		    end_turn_for(machine, tactus_cache(tactus, cpu), cpu)) {
			left_ns = 0;
		} else {
			run->turn_vtime = turn_vtime_now(machine, run);
			run->turn_since_ns = machine->now_ns;
		}
	}
	if (left_ns)
		start_turn_timer(machine, cpu, left_ns);
}
