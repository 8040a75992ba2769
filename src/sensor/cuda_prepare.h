/* SPDX-License-Identifier: GPL-2.0 */
/* What the cuda sensor does before the command is forked: the library by which it counts its calls itself goes into its
 * environment. */
#ifndef TACTUS_SENSOR_CUDA_PREPARE_H
#define TACTUS_SENSOR_CUDA_PREPARE_H

#include "sensor_set.h"

struct cuda_detour;

struct cuda_prepared {
	struct cuda_detour *detour; /* NULL: it does not count itself, */
	struct reason trap;	    /* for this reason */
};

/* NULL for want of memory. */
void *cuda_prepare(const struct sensor_settings *settings);
void cuda_after_fork(void *prepared);
void cuda_unprepare(void *prepared);

#endif
