// SPDX-License-Identifier: GPL-2.0
/* Numbers caches without gaps, and works out once what the scheduler would else ask at each step. */
#include "scx_places.h"

#include <stdbool.h>
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

static void order_caches(struct scx_config *config, const struct cpu_topology *topology, node_distance distance,
			 void *data)
{
	u16 distances[SCX_CACHES_MAX];

	for (u32 own = 0; own < config->caches_len; own++) {
		u32 own_node = topology[config->by_cache[config->cache_begins[own]]].node;

		for (u32 cache = 0; cache < config->caches_len; cache++)
			distances[cache] = distance(data, own_node,
						    topology[config->by_cache[config->cache_begins[cache]]].node);
		steal_order(distances, config->caches_len, own, config->steal_order + own * SCX_CACHES_MAX);
	}
}

/* Without capacities all are alike. */
static void find_small(struct scx_config *config, const u64 *capacities)
{
	u64 most = 0;

	for (u32 cpu = 0; capacities && cpu < config->cpus_len; cpu++)
		most = capacities[cpu] > most ? capacities[cpu] : most;
	for (u32 cpu = 0; capacities && cpu < config->cpus_len; cpu++) {
		config->is_small[cpu] = (u8)capacity_is_small(capacity_scaled(capacities[cpu], most));
		config->has_small |= config->is_small[cpu];
	}
}

void scx_places_arrange(struct scx_config *config, const struct cpu_topology *topology, const u64 *capacities,
			node_distance distance, void *data)
{
	number_caches(config, topology);
	list_caches(config);
	link_siblings(config, topology);
	order_caches(config, topology, distance, data);
	find_small(config, capacities);
	config->ranks_cpus = config->caches_len > 1 || idle_cpu_rank_asks((int)config->has_small, config->power);
}

/* What sysfs has of one node, read when the first asks after it. */
struct read_distances {
	const char *root;
	bool has_node;
	u32 node;
	u16 distances[NODES_MAX];
};

static u16 read_distance(void *data, u32 from, u32 to)
{
	struct read_distances *read = data;

	if (!read->has_node || read->node != from)
		node_distances_read(read->root, from, read->distances);
	read->has_node = true;
	read->node = from;
	return read->distances[to % NODES_MAX];
}

void scx_places_fill(struct scx_config *config, const struct cpu_topology *topology, const char *root)
{
	u64 *capacities = calloc(config->cpus_len, sizeof(*capacities));
	struct read_distances read = { .root = root };

	if (capacities)
		capacities_read(root, topology, capacities, config->cpus_len);
	scx_places_arrange(config, topology, capacities, read_distance, &read);
	free(capacities);
}
