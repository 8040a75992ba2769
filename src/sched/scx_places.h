/* SPDX-License-Identifier: GPL-2.0 */
/* What the scheduler knows of where CPUs lie: caches, siblings, small cores, and which caches are near. */
#ifndef TACTUS_SCHED_SCX_PLACES_H
#define TACTUS_SCHED_SCX_PLACES_H

#include "../../core/scx_config.h"

/* Fills it for config->cpus_len CPUs and config->power. `root` is where sysfs has CPUs and nodes. */
void scx_places_fill(struct scx_config *config, const struct cpu_topology *topology, const char *root);

#endif
