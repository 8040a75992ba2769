// SPDX-License-Identifier: GPL-2.0
/* Where a thread that wakes runs under tactus's scheduler: bpf/scx_place.h on a simulated machine.
 */
#include "tactus_state.h"

static bool core_is_idle(const struct machine *machine, u32 cpu)
{
	const struct scx_config *settings = &tactus_of(machine)->settings;

	for (u32 other = settings->next_sibling[cpu]; other != cpu; other = settings->next_sibling[other])
		if (!sim_is_idle(machine, (s32)other))
			return false;
	return true;
}

static s32 best_idle(const struct machine *machine, const struct sim_thread *thread, s32 prev, bool is_urgent)
{
	const struct scx_config *settings = &tactus_of(machine)->settings;
	u32 cache = settings->cache_of[prev], best = ~0u;
	s32 found = -1;

	for (u32 i = settings->cache_begins[cache]; i < settings->cache_begins[cache + 1] && best; i++) {
		u32 cpu = settings->by_cache[i], rank;
		struct idle_cpu idle = { .is_previous = (s32)cpu == prev };

		if (!sim_is_idle(machine, (s32)cpu) || !sim_may_run(thread, (s32)cpu))
			continue;
		idle.is_whole = core_is_idle(machine, cpu);
		idle.is_small = settings->is_small[cpu];
		rank = idle_cpu_rank(&idle, is_urgent, settings->power);
		if (rank < best) {
			best = rank;
			found = (s32)cpu;
		}
	}
	return found;
}

static bool wakes_urgent(const struct machine *machine, const struct sim_thread *thread)
{
	const struct scx_entity *entity = thread->scx;

	return thread->role_tier == TIER_LATENCY_CRITICAL || entity->inherited.until_ns > machine->now_ns ||
	       (thread->input_ns && thread->input_ns + TIER_INPUT_NS > machine->now_ns);
}

s32 tactus_pick_idle(const struct machine *machine, const struct sim_thread *thread)
{
	s32 found = -1;

	if (!machine->idle)
		return -1;
	for (u32 cpu = 0; cpu < machine->cpus_len; cpu++) {
		if (!sim_is_idle(machine, (s32)cpu) || !sim_may_run(thread, (s32)cpu))
			continue;
		if (core_is_idle(machine, cpu))
			return (s32)cpu;
		found = found < 0 ? (s32)cpu : found;
	}
	return found;
}

/* The kernel's own choice: the previous CPU if its core is idle, else such a core, else the previous one, else any. */
static s32 kernels_choice(const struct machine *machine, const struct sim_thread *thread, s32 prev, bool *is_idle)
{
	bool prev_idle = sim_may_run(thread, prev) && sim_is_idle(machine, prev);
	s32 cpu;

	*is_idle = true;
	if (prev_idle && core_is_idle(machine, (u32)prev))
		return prev;
	cpu = tactus_pick_idle(machine, thread);
	if (cpu >= 0 && (!prev_idle || core_is_idle(machine, (u32)cpu)))
		return cpu;
	if (prev_idle)
		return prev;
	*is_idle = false;
	return prev;
}

s32 tactus_choose_cpu(const struct machine *machine, const struct sim_thread *thread, s32 prev, bool *is_idle)
{
	const struct scx_config *settings = &tactus_of(machine)->settings;
	s32 cpu;

	if (settings->ranks_cpus && thread->only_cpu < 0) {
		bool asks = idle_cpu_rank_asks((int)settings->has_small, settings->power);

		cpu = best_idle(machine, thread, prev, asks && wakes_urgent(machine, thread));
		*is_idle = cpu >= 0;
		if (cpu >= 0)
			return cpu;
	}
	return kernels_choice(machine, thread, prev, is_idle);
}

bool tactus_can_preempt(const struct machine *machine, const struct scx_entity *entity, u32 tier, s32 cpu)
{
	const struct tactus_run *run = &tactus_of(machine)->runs[cpu];
	const struct sim_thread *running = sim_running(machine, cpu);
	u64 ran_ns = machine->now_ns - run->since_ns, light_ns = tactus_of(machine)->settings.light_ns;
	bool is_rt = running && running->prio <= PRIO_REALTIME_LAST;

	return !run->kicked && !run->is_given && !is_rt &&
	       tier_preempts(tier, tier_is_still_light(entity->is_light, entity->burst_ns, light_ns), run->tier,
			     tier_burst_counted_ns(run->burst_ns + ran_ns, run->may_burn), run->last_burst_ns, ran_ns,
			     light_ns);
}

static s32 victim_in_cache(const struct machine *machine, const struct sim_thread *thread, u32 tier, u32 cache)
{
	const struct scx_config *settings = &tactus_of(machine)->settings;
	s32 small = -1;

	for (u32 i = settings->cache_begins[cache]; i < settings->cache_begins[cache + 1]; i++) {
		s32 cpu = settings->by_cache[i];

		if (!sim_may_run(thread, cpu) || !tactus_can_preempt(machine, thread->scx, tier, cpu))
			continue;
		if (tier != TIER_LATENCY_CRITICAL || !settings->is_small[cpu])
			return cpu;
		small = cpu;
	}
	return small;
}

s32 tactus_find_victim(const struct machine *machine, const struct sim_thread *thread, u32 tier, s32 own, bool only_own)
{
	const struct scx_config *settings = &tactus_of(machine)->settings;
	bool own_is_good = tactus_can_preempt(machine, thread->scx, tier, own);
	u32 cache = settings->cache_of[own];
	s32 cpu;

	if (own_is_good && (only_own || tier != TIER_LATENCY_CRITICAL || !settings->is_small[own]))
		return own;
	if (only_own || tier == TIER_BATCH || settings->cpus_len == 1)
		return -1;
	cpu = victim_in_cache(machine, thread, tier, cache);
	for (u32 i = 0; cpu < 0 && tier == TIER_LATENCY_CRITICAL && i + 1 < settings->caches_len; i++)
		cpu = victim_in_cache(machine, thread, tier, settings->steal_order[cache * SCX_CACHES_MAX + i]);
	return cpu;
}
