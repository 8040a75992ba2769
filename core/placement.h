/* SPDX-License-Identifier: GPL-2.0 */
/* Which CPU a thread had better run on, and whose threads a CPU without work takes: near ones first. Pure;
 * src/sched/scx_places.c prepares what never changes, bpf/scx_place.h asks. */
#ifndef TACTUS_CORE_PLACEMENT_H
#define TACTUS_CORE_PLACEMENT_H

#include "types.h"

enum {
	CAPACITY_MOST = 1024,	/* of the biggest core of the machine */
	CAPACITY_SMALL = 85,	/* percent: a core with less of that is small. Favoured cores differ by less */
	DISTANCE_OWN_NODE = 10, /* what the firmware gives a node's distance to itself */
	CORE_SIBLINGS_MOST = 8,
};

/* What a machine may be asked to care for. */
enum power { POWER_PERFORMANCE, POWER_BALANCED, POWER_SAVE, POWERS };

/* A CPU's capacity in parts of the biggest, by what sysfs gives, in whatever unit. 0: it gives nothing. */
core_fn u32 capacity_scaled(u64 own, u64 most)
{
	if (!own || !most || own >= most)
		return CAPACITY_MOST;
	return (u32)(own * CAPACITY_MOST / most);
}

core_fn int capacity_is_small(u32 capacity)
{
	return capacity * 100 < CAPACITY_MOST * CAPACITY_SMALL;
}

/* In which order a cache's CPUs take threads from other caches' queues: the nearest memory node first, and among those
 * that are as near the one that comes next, so that not everybody looks into the same queue first. `distances` are from
 * the own one, as the firmware has them. Writes len - 1 numbers. */
core_fn void steal_order(const u16 *distances, u32 len, u32 own, u8 *order)
{
	for (u32 step = 1; step < len; step++) {
		u32 cache = (own + step) % len, at = step - 1;

		while (at > 0 && distances[order[at - 1]] > distances[cache]) {
			order[at] = order[at - 1];
			at--;
		}
		order[at] = (u8)cache;
	}
}

/* Whether a CPU takes a thread from another cache's queue although it has some in its own: where more wait there for
 * each CPU even after that one has gone, or as many. So no cache's queue stays long beside short ones, and nothing goes
 * to and fro. */
core_fn int cache_takes_from(u32 own_waiting, u32 own_cpus, u32 other_waiting, u32 other_cpus)
{
	return other_waiting && (u64)(other_waiting - 1) * own_cpus >= ((u64)own_waiting + 1) * other_cpus;
}

/* Whether a CPU that has work of its own had better take the first of another cache's queue: that one has waited longer
 * by more than a move and cold caches are worth. 0 for `bound_ns`: never. */
core_fn int steals_older(u64 own_wait_ns, u64 other_wait_ns, u64 bound_ns)
{
	return bound_ns && other_wait_ns > bound_ns && other_wait_ns - bound_ns > own_wait_ns;
}

/* An idle CPU that a thread may run on. */
struct idle_cpu {
	u8 is_previous; /* the thread ran there last, so its caches are warm */
	u8 is_whole;	/* its siblings are idle too */
	u8 is_small;
};

/* How well it suits; less is better, 0 is best. An urgent thread wants a big core to itself before it wants warm
 * caches. To save power, others fill cores that are awake, and small ones, so that the rest can sleep. */
core_fn u32 idle_cpu_rank(const struct idle_cpu *cpu, int is_urgent, u32 power)
{
	if (is_urgent)
		return cpu->is_small * 4u + !cpu->is_whole * 2u + !cpu->is_previous;
	if (power == POWER_SAVE)
		return !cpu->is_small * 2u + cpu->is_whole;
	return !cpu->is_whole * 2u + !cpu->is_previous;
}

/* Whether what the thread is changes anything about that. */
core_fn int idle_cpu_rank_asks(int has_small, u32 power)
{
	return has_small || power == POWER_SAVE;
}

#endif
