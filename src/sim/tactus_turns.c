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

static u64 turn_began_ns(const struct tactus_run *run)
{
	return run->turn_again == run->turn ? run->turn_again_ns : run->turn_since_ns;
}

static u64 turn_vtime_at(const struct tactus *tactus, const struct tactus_run *run, u64 then_ns)
{
	return run->turn_vtime + tier_charge(span_between(run->turn_since_ns, then_ns), run->effective_weight,
					     run->tier, tactus->settings.discount, 0);
}

/* Of those that wait for the CPU, in its own queue too. */
static u32 timed_waiters(const struct tactus *tactus, s32 cpu)
{
	const struct tactus_load *shared = &tactus->loads[tactus_cache(tactus, cpu)],
				 *own = &tactus->loads[tactus_own_queue(cpu)];

	return shared->asking_timed + shared->urgent +
	       (tactus->runs[cpu].own_waits ? own->asking_timed + own->urgent : 0);
}

static bool hogs_wait(const struct tactus *tactus, s32 cpu)
{
	u32 own = tactus_own_queue(cpu), shared = tactus_cache(tactus, cpu);

	return tactus->queues[shared].len > tactus->loads[shared].asking ||
	       (tactus->runs[cpu].own_waits && tactus->queues[own].len > tactus->loads[own].asking);
}

/* In how long the turn of the thread that runs on that CPU ends; 0: with a tick. */
static u64 turn_left_ns(const struct machine *machine, s32 cpu)
{
	const struct tactus *tactus = tactus_of(machine);
	const struct tactus_run *run = &tactus->runs[cpu];
	const struct tactus_load *load = &tactus->loads[tactus_cache(tactus, cpu)],
				 *own = &tactus->loads[tactus_own_queue(cpu)];
	u64 burst_ns = run->burst_ns + span_between(run->since_ns, machine->now_ns), began_ns = turn_began_ns(run),
	    turn_ns;
	u32 tier = run->tier < TIERS ? tier_now(run->tier, tier_burst_counted_ns(burst_ns, run->may_burn)) : TIERS;
	bool own_too = run->own_waits != 0;

	if (run->is_off)
		return 0;
	turn_ns = tier_turn_ns(tier, burst_ns, load->asking + (own_too ? own->asking : 0),
			       load->asking_timed + (own_too ? own->asking_timed : 0),
			       load->urgent + (own_too ? own->urgent : 0));
	if (!turn_ns && tier_times_own_turn(tier, run->by_timer != 0, burst_ns, run->last_burst_ns) &&
	    hogs_wait(tactus, cpu))
		turn_ns = tier_own_turn_ns(turn_vtime_at(tactus, run, began_ns), tactus->clocks[run->queue]);
	return turn_ns ? tier_turn_left_ns(turn_ns, span_between(began_ns, machine->now_ns)) : 0;
}

static void start_turn_timer(struct machine *machine, s32 cpu, u64 left_ns)
{
	tactus_of(machine)->runs[cpu].turn_timer_ns = machine->now_ns + left_ns;
	sim_set_timer(machine, cpu, machine->now_ns + left_ns);
}

static bool time_turn(struct machine *machine, s32 cpu)
{
	u64 left_ns = turn_left_ns(machine, cpu);
	const struct tactus *tactus = tactus_of(machine);

	if (!tier_sets_timer(tactus->runs[cpu].turn_timer_ns, left_ns, machine->now_ns, timed_waiters(tactus, cpu)))
		return false;
	start_turn_timer(machine, cpu, left_ns);
	return true;
}

void tactus_time_turns_for(struct machine *machine, const struct sim_thread *thread, u32 queue, s32 cpu)
{
	const struct scx_config *settings = &tactus_of(machine)->settings;
	u32 cache = settings->cache_of[cpu];

	if (settings->cpus_len == 1 || queue >= SCX_CACHES_MAX) {
		time_turn(machine, cpu);
		return;
	}
	if (sim_may_run(thread, cpu) && time_turn(machine, cpu))
		return;
	for (u32 i = settings->cache_begins[cache]; i < settings->cache_begins[cache + 1]; i++) {
		s32 other = settings->by_cache[i];

		if (sim_may_run(thread, other) && time_turn(machine, other))
			break;
	}
}

void tactus_turn_begins(struct machine *machine, const struct scx_entity *entity, s32 cpu)
{
	struct tactus_run *run = &tactus_of(machine)->runs[cpu];

	run->turn++;
	run->turn_since_ns = machine->now_ns;
	run->turn_vtime = entity->vtime;
	run->queue = entity->queue;
	run->effective_weight = entity->effective_weight;
	run->boost = entity->boost;
	time_turn(machine, cpu);
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
	vtime = vtime_moved(turn_vtime_at(tactus, run, machine->now_ns), tactus->clocks[run->queue], clock);
	vtime = tier_turn_vtime(vtime, clock, first->scx->asks_in != 0);
	deadline = tier_deadline(vtime, settings->slice_ns, run->effective_weight, run->boost);
	if (!sim_may_run(first, cpu) || tier_keeps_cpu(deadline, clock, tactus_first_lag(tactus, queue)))
		return false;
	run->turn_over = run->turn;
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
			run->turn_again_ns = machine->now_ns;
			run->turn_again = run->turn;
		}
	}
	if (left_ns)
		start_turn_timer(machine, cpu, left_ns);
}
