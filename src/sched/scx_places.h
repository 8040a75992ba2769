/* SPDX-License-Identifier: GPL-2.0 */
/* What the scheduler knows of where CPUs lie: caches, siblings, small cores, and which caches are near. */
#ifndef TACTUS_SCHED_SCX_PLACES_H
#define TACTUS_SCHED_SCX_PLACES_H

#include "../../core/scx_config.h"

/* How far one memory node is from another, as the firmware has it. */
typedef u16 (*node_distance)(void *data, u32 from, u32 to);

/* Fills it for config->cpus_len CPUs and config->power; capacities may be NULL. */
void scx_places_arrange(struct scx_config *config, const struct cpu_topology *topology, const u64 *capacities,
			node_distance distance, void *data);

/* The same by what sysfs says. `root` is where sysfs has CPUs and nodes. */
void scx_places_fill(struct scx_config *config, const struct cpu_topology *topology, const char *root);

#endif
