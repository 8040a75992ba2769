/* SPDX-License-Identifier: GPL-2.0 */
/* For sched.c alone: which of its programs can be missed, and which control group a filter means.
 * Both are asked before the programs are loaded. */
#ifndef TACTUS_SENSOR_SCHED_PROGRAMS_H
#define TACTUS_SENSOR_SCHED_PROGRAMS_H

#include "../../core/sched_config.h"
#include "../base/filter.h"
#include "load.h"

extern const struct load_optional sched_optional[];

/* Fills in the numbers and depths of the control groups that the filter means. Returns 0 or -errno with the reason. */
int sched_find_cgroups(const struct filter *filter, struct sched_config *config, struct reason *why);

#endif
