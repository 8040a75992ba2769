/* SPDX-License-Identifier: GPL-2.0 */
/* Where the CPUs of this machine lie to each other, read from sysfs. */
#ifndef TACTUS_BASE_PLACES_H
#define TACTUS_BASE_PLACES_H

#include "../../core/place.h"

/* Fills `len` places. What sysfs does not say is taken to be one and the same for all CPUs. */
void topology_read(struct cpu_topology *topology, u32 len);

#endif
