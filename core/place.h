/* SPDX-License-Identifier: GPL-2.0 */
/* Where CPUs lie to each other, and how far a move between two of them is.
 * Filled from sysfs by the program, used by both halves, kept in recordings. */
#ifndef TACTUS_CORE_PLACE_H
#define TACTUS_CORE_PLACE_H

#include "types.h"

/* Numbers that are equal for CPUs that share the thing. */
struct cpu_topology {
	u16 core;  /* siblings of one core */
	u16 llc;   /* last-level cache */
	u16 node;  /* memory */
	u16 known; /* 0: nothing is known of this CPU */
};

enum distance {
	DISTANCE_CORE,	/* to a sibling of the same core */
	DISTANCE_LLC,	/* to another core, same last-level cache */
	DISTANCE_NODE,	/* to another cache, same memory node */
	DISTANCE_CROSS, /* to another memory node */
	DISTANCES,
};

core_fn enum distance cpu_distance(const struct cpu_topology *from, const struct cpu_topology *to)
{
	if (from->node != to->node)
		return DISTANCE_CROSS;
	if (from->llc != to->llc)
		return DISTANCE_NODE;
	return from->core != to->core ? DISTANCE_LLC : DISTANCE_CORE;
}

#endif
