/* SPDX-License-Identifier: GPL-2.0 */
/* Where the CPUs of this machine lie to each other, read from sysfs. */
#ifndef TACTUS_BASE_PLACES_H
#define TACTUS_BASE_PLACES_H

#include "../../core/place.h"

/* Fills `len` places. What sysfs does not say is taken to be one and the same for all CPUs. */
void topology_read(struct cpu_topology *topology, u32 len);

#define SYSFS_ROOT "/sys/devices/system"
enum { NODES_MAX = 1024 };

/* What each CPU can do, in a unit that is the same for all; 0 for all, if the kernel does not say it of each. `root`
 * has the folders cpu and node. */
void capacities_read(const char *root, const struct cpu_topology *topology, u64 *capacities, u32 len);

/* How far each of NODES_MAX memory nodes is from one, as the firmware has it; what it does not say is far. */
void node_distances_read(const char *root, u32 node, u16 distances[NODES_MAX]);

#endif
