// SPDX-License-Identifier: GPL-2.0
/* Numbers caches without gaps, and works out once what the scheduler would else ask at each step. */
#include "scx_places.h"

#include <stdlib.h>

#include "../base/topology.h"

/* Numbers the caches from 0 without gaps, in the order of their first CPUs. */
static void number_caches(struct scx_config *config, const struct cpu_topology *topology)
{
	for (u32 cpu = 0; cpu < config->cpus_len; cpu++) {
		u32 other = 0;

		while (other < cpu &&
		       (topology[other].llc != topology[cpu].llc || topology[other].known != topology[cpu].known))
			other++;
		if (other < cpu)
			config->cache_of[cpu] = config->cache_of[other];
		else if (config->caches_len < SCX_CACHES_MAX)
			config->cache_of[cpu] = (u16)config->caches_len++;
	}
}

/* The same CPUs in the order of their caches. */
static void list_caches(struct scx_config *config)
{
	u32 len = 0;

	for (u32 cache = 0; cache < config->caches_len; cache++) {
		config->cache_begins[cache] = (u16)len;
		for (u32 cpu = 0; cpu < config->cpus_len; cpu++)
			if (config->cache_of[cpu] == cache)
				config->by_cache[len++] = (u16)cpu;
	}
	for (u32 cache = config->caches_len; cache <= SCX_CACHES_MAX; cache++)
		config->cache_begins[cache] = (u16)len;
}

/* Each CPU's next one of the same core; the last one's is the first. */
static void link_siblings(struct scx_config *config, const struct cpu_topology *topology)
{
	for (u32 cpu = 0; cpu < config->cpus_len; cpu++) {
		u32 next = cpu;

		do {
			next = (next + 1) % config->cpus_len;
		} while (next != cpu && (topology[next].core != topology[cpu].core || !topology[next].known));
		config->next_sibling[cpu] = (u16)next;
	}
}

static void order_caches(struct scx_config *config, const struct cpu_topology *topology, const char *root)
{
	u16 nodes[NODES_MAX], distances[SCX_CACHES_MAX];

	for (u32 own = 0; own < config->caches_len; own++) {
		u32 own_node = topology[config->by_cache[config->cache_begins[own]]].node;

		node_distances_read(root, own_node, nodes);
		for (u32 cache = 0; cache < config->caches_len; cache++)
			distances[cache] =
				nodes[topology[config->by_cache[config->cache_begins[cache]]].node % NODES_MAX];
		steal_order(distances, config->caches_len, own, config->steal_order + own * SCX_CACHES_MAX);
	}
}

static void find_small(struct scx_config *config, const struct cpu_topology *topology, const char *root)
{
	u64 *capacities = calloc(config->cpus_len, sizeof(*capacities)), most = 0;

	/* Without memory all are alike. */
	if (!capacities)
		return;
	capacities_read(root, topology, capacities, config->cpus_len);
	for (u32 cpu = 0; cpu < config->cpus_len; cpu++)
		most = capacities[cpu] > most ? capacities[cpu] : most;
	for (u32 cpu = 0; cpu < config->cpus_len; cpu++) {
		config->is_small[cpu] = (u8)capacity_is_small(capacity_scaled(capacities[cpu], most));
		config->has_small |= config->is_small[cpu];
	}
	free(capacities);
}

void scx_places_fill(struct scx_config *config, const struct cpu_topology *topology, const char *root)
{
	number_caches(config, topology);
	list_caches(config);
	link_siblings(config, topology);
	order_caches(config, topology, root);
	find_small(config, topology, root);
	config->ranks_cpus = config->caches_len > 1 || idle_cpu_rank_asks((int)config->has_small, config->power);
}
