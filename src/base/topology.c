// SPDX-License-Identifier: GPL-2.0
/* Reads /sys/devices/system/cpu: siblings, caches, nodes. Things that CPUs share are named by the lowest CPU that
 * shares them, so that no numbering of the firmware's matters. */
#include "topology.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "system.h"

enum { CACHE_INDEXES = 8, NODES = 1024 };

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

	for (u16 number = 0; number < NODES; number++) {
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
