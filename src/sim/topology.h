/* SPDX-License-Identifier: GPL-2.0 */
/* The CPUs of a simulated machine: where they lie, how fast they are, what a move between them costs. */
#ifndef TACTUS_SIM_TOPOLOGY_H
#define TACTUS_SIM_TOPOLOGY_H

#include "../../core/place.h"
#include "../base/say.h"

enum { SIM_CPUS_MAX = 512, SIM_NODES_MAX = 64, SIM_SMT_MAX = 8 };

struct sim_topology {
	u32 cpus_len;
	struct cpu_topology cpus[SIM_CPUS_MAX];
	u16 capacity[SIM_CPUS_MAX];	/* of 1024 */
	u16 next_sibling[SIM_CPUS_MAX]; /* of the same core, in a ring */
	u16 distances[SIM_NODES_MAX][SIM_NODES_MAX];
	u32 smt_percent;	/* the speed of a CPU beside a busy sibling; 100: as alone */
	u64 move_ns[DISTANCES]; /* what a move costs in CPU time for cold caches */
};

/* As the recording's machine had it. */
void sim_topology_from(struct sim_topology *topology, const struct cpu_topology *cpus, u32 len);

/* So many CPUs, all alike, in one cache. */
void sim_topology_flat(struct sim_topology *topology, u32 len);

/* So many CPUs, eight to a cache, eight caches to a memory node. */
void sim_topology_caches(struct sim_topology *topology, u32 len);

/* From the text of a topology file; lines as in docs/simulate.md. Returns 0, or -EINVAL with the reason. */
int sim_topology_parse(struct sim_topology *topology, const char *text, struct reason *why);

#endif
