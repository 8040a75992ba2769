// SPDX-License-Identifier: GPL-2.0
/* Reads /sys/devices/system/cpu: siblings, caches, nodes. Things that CPUs share are named by the lowest CPU that
 * shares them, so that no numbering of the firmware's matters. */
#include "topology.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "../../core/placement.h"
#include "system.h"

enum { CACHE_INDEXES = 8, FAR = 255 };

/* The first number of a list such as "0-3,8", or `otherwise`. */
static u16 first_of_list(u32 cpu, const char *file, u16 otherwise)
{
	char path[128], line[64];

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%u/%s", cpu, file);
	if (read_line_at(AT_FDCWD, path, line, sizeof(line)) || line[0] < '0' || line[0] > '9')
		return otherwise;
	return (u16)strtoul(line, NULL, 10);
}

static u16 last_level_cache(u32 cpu)
{
	char file[64];

	for (int index = CACHE_INDEXES - 1; index >= 0; index--) {
		u16 first;

		snprintf(file, sizeof(file), "cache/index%d/shared_cpu_list", index);
		first = first_of_list(cpu, file, 0xffff);
		if (first != 0xffff)
			return first;
	}
	return first_of_list(cpu, "topology/package_cpus_list", 0);
}

static u16 node(u32 cpu)
{
	char path[128];

	for (u16 number = 0; number < NODES_MAX; number++) {
		snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%u/node%u", cpu, number);
		if (access(path, F_OK) == 0)
			return number;
		/* Most machines have no nodes at all: do not look for a thousand of them. */
		if (number == 0 && access("/sys/devices/system/node", F_OK) != 0)
			break;
	}
	return 0;
}

void topology_read(struct cpu_topology *topology, u32 len)
{
	for (u32 cpu = 0; cpu < len; cpu++) {
		char path[64];

		snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%u", cpu);
		topology[cpu] = (struct cpu_topology){
			.core = first_of_list(cpu, "topology/thread_siblings_list", (u16)cpu),
			.llc = last_level_cache(cpu),
			.node = node(cpu),
			.known = access(path, F_OK) == 0,
		};
	}
}

/* True if every CPU says it, in a file of this name. */
static bool all_say(const char *root, const struct cpu_topology *topology, const char *file, u64 *capacities, u32 len)
{
	for (u32 cpu = 0; cpu < len; cpu++) {
		char path[256], line[32];

		capacities[cpu] = 0;
		if (!topology[cpu].known)
			continue;
		snprintf(path, sizeof(path), "%s/cpu/cpu%u/%s", root, cpu, file);
		if (read_line_at(AT_FDCWD, path, line, sizeof(line)) || line[0] < '1' || line[0] > '9')
			return false;
		capacities[cpu] = strtoul(line, NULL, 10) & 0xffffffff;
	}
	return true;
}

void capacities_read(const char *root, const struct cpu_topology *topology, u64 *capacities, u32 len)
{
	/* The second is for x86, whose kernel knows the first and does not show it. */
	static const char *const files[] = { "cpu_capacity", "cpufreq/cpuinfo_max_freq" };

	for (u32 i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		if (all_say(root, topology, files[i], capacities, len))
			return;
	for (u32 cpu = 0; cpu < len; cpu++)
		capacities[cpu] = 0;
}

void node_distances_read(const char *root, u32 node, u16 distances[NODES_MAX])
{
	char path[256], line[4096], *at = line, *end;

	for (u32 i = 0; i < NODES_MAX; i++)
		distances[i] = i == node ? DISTANCE_OWN_NODE : FAR;
	snprintf(path, sizeof(path), "%s/node/node%u/distance", root, node);
	if (read_line_at(AT_FDCWD, path, line, sizeof(line)))
		return;
	/* Numbers may have gaps; the list has none. */
	for (u32 i = 0; i < NODES_MAX; i++) {
		unsigned long distance;

		snprintf(path, sizeof(path), "%s/node/node%u", root, i);
		if (access(path, F_OK) != 0)
			continue;
		distance = strtoul(at, &end, 10);
		if (end == at)
			return;
		at = end;
		distances[i] = (u16)(distance < FAR ? distance : FAR);
	}
}
