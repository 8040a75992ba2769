// SPDX-License-Identifier: GPL-2.0
/* What a CPU can dispatch under tactus's scheduler: bpf/scx_queues.h on a simulated machine.
 */
#include "../../core/placement.h"
#include "tactus_state.h"

enum { LATE_LOOKED = 1024 };

s64 tactus_first_lag(const struct tactus *tactus, u32 queue)
{
	const struct dsq *dsq = &tactus->queues[queue];

	return dsq->len ? (s64)(dsq_at(dsq, 0)->key - tactus->clocks[queue]) : NO_LAG;
}

u64 tactus_behind_ns(struct tactus *tactus, const struct sim_thread *thread, s32 cpu)
{
	s64 own = tactus_first_lag(tactus, tactus_own_queue(cpu)),
	    shared = tactus_first_lag(tactus, tactus_cache(tactus, cpu));

	if (thread->only_cpu < 0 && !thread->kept_off)
		return 0;
	return queue_behind_ns(own < shared ? own : shared, tactus->settings.slice_ns, tactus->settings.credit);
}

void tactus_follow_shared(struct tactus *tactus, s32 cpu, u32 shared, bool has_rivals)
{
	struct tactus_run *run = &tactus->runs[cpu];
	u64 now = tactus->clocks[shared];

	if (has_rivals)
		tactus->clocks[tactus_own_queue(cpu)] += clock_follows(run->shared_seen, now, tactus->settings.slice_ns,
								       tactus->settings.credit);
	run->shared_seen = now;
}

static void to_local(struct machine *machine, struct dsq *dsq, u32 at, s32 cpu)
{
	struct tactus *tactus = tactus_of(machine);
	u32 thread = dsq_at(dsq, at)->thread;

	dsq_remove(dsq, at);
	machine->failed |= !dsq_insert(&tactus->local[cpu], tactus->order++, thread);
}

bool tactus_move_first(struct machine *machine, u32 queue, s32 cpu)
{
	struct dsq *dsq = &tactus_of(machine)->queues[queue];

	for (u32 at = 0; at < dsq->len; at++)
		if (sim_may_run(&machine->threads[dsq_at(dsq, at)->thread], cpu)) {
			to_local(machine, dsq, at, cpu);
			return true;
		}
	return false;
}

static bool dispatch_late(struct machine *machine, u32 queue, s32 cpu)
{
	struct tactus *tactus = tactus_of(machine);
	struct tactus_load *load = &tactus->loads[queue];
	u64 now_ns = machine->now_ns, threshold_ns = tier_late_threshold_ns(load->longest_ns);
	struct dsq *dsq = &tactus->queues[queue];
	u32 looked = 0, taken = 0;

	if (!tier_may_be_late(load->longest_ns, span_between(load->looked_at_ns, now_ns)))
		return false;
	load->looked_at_ns = now_ns;
	load->longest_ns = 0;
	for (u32 at = dsq->len; at-- > 0;) {
		struct sim_thread *thread = &machine->threads[dsq_at(dsq, at)->thread];
		u64 wait_ns = span_between(thread->scx->queued_at_ns, now_ns);

		if (looked++ >= LATE_LOOKED) {
			load->longest_ns = tier_late_unseen_ns(wait_ns);
			break;
		}
		if (tier_takes_late(wait_ns, threshold_ns, taken) && sim_may_run(thread, cpu)) {
			to_local(machine, dsq, at, cpu);
			thread->slice_left_ns = TIER_LATE_SLICE_NS;
			thread->scx->is_late = 1;
			taken++;
			continue;
		}
		load->longest_ns = wait_ns > load->longest_ns ? wait_ns : load->longest_ns;
	}
	return taken;
}

static void update_load(struct machine *machine, u32 queue, u32 cpus)
{
	struct tactus *tactus = tactus_of(machine);
	struct tactus_load *load = &tactus->loads[queue];
	const struct dsq *dsq = &tactus->queues[queue];
	u32 urgent = 0;

	load->per_cpu = tier_queued_per_cpu(dsq->len, cpus);
	load->many_urgent = 0;
	if (!tier_are_many_urgent(load->per_cpu))
		return;
	for (u32 at = 0; at < dsq->len && at < TIER_LOAD_LOOKED; at++)
		urgent += machine->threads[dsq_at(dsq, at)->thread].scx->tier == TIER_LATENCY_CRITICAL;
	load->many_urgent = (u32)tier_are_many_urgent(urgent);
}

static u32 cpus_of_cache(const struct scx_config *settings, u32 cache)
{
	return settings->cache_begins[cache + 1] - (u32)settings->cache_begins[cache];
}

static bool take_from_longer(struct machine *machine, u32 shared, s32 cpu)
{
	const struct tactus *tactus = tactus_of(machine);
	const struct scx_config *settings = &tactus->settings;

	for (u32 i = 0; i + 1 < settings->caches_len; i++) {
		u32 other = settings->steal_order[shared * SCX_CACHES_MAX + i];

		if (cache_takes_from(tactus->queues[shared].len, cpus_of_cache(settings, shared),
				     tactus->queues[other].len, cpus_of_cache(settings, other)) &&
		    tactus_move_first(machine, other, cpu))
			return true;
	}
	return false;
}

bool tactus_dispatch_any_late(struct machine *machine, u32 own, u32 shared, s32 cpu)
{
	struct tactus *tactus = tactus_of(machine);
	struct tactus_run *run = &tactus->runs[cpu];

	if (!tier_looks_for_late(run->late_at_ns, run->looked_ns))
		return false;
	run->late_at_ns = machine->now_ns;
	update_load(machine, own, 1);
	update_load(machine, shared, cpus_of_cache(&tactus->settings, shared));
	return dispatch_late(machine, own, cpu) || dispatch_late(machine, shared, cpu) ||
	       take_from_longer(machine, shared, cpu);
}

static u64 first_wait_ns(const struct machine *machine, u32 queue)
{
	const struct dsq *dsq = &tactus_of(machine)->queues[queue];
	u64 since_ns = dsq->len ? machine->threads[dsq_at(dsq, 0)->thread].scx->queued_at_ns : 0;

	return dsq->len ? span_between(since_ns, machine->now_ns) : 0;
}

/* One other cache a time, each in its turn: what it costs does not grow with the machine. */
bool tactus_steal_older(struct machine *machine, u32 shared, s32 cpu)
{
	struct tactus *tactus = tactus_of(machine);
	const struct scx_config *settings = &tactus->settings;
	u64 bound_ns = machine->params.steal_older_ns;
	u32 other;

	if (!bound_ns || settings->caches_len < 2)
		return false;
	other = settings->steal_order[shared * SCX_CACHES_MAX + tactus->runs[cpu].looks++ % (settings->caches_len - 1)];
	if (!steals_older(first_wait_ns(machine, shared), first_wait_ns(machine, other), bound_ns) ||
	    !tactus_move_first(machine, other, cpu))
		return false;
	machine->counts.stolen++;
	return true;
}

bool tactus_steal(struct machine *machine, u32 shared, s32 cpu)
{
	const struct scx_config *settings = &tactus_of(machine)->settings;

	for (u32 i = 0; i + 1 < settings->caches_len; i++)
		if (tactus_move_first(machine, settings->steal_order[shared * SCX_CACHES_MAX + i], cpu))
			return true;
	return false;
}
