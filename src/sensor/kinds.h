/* SPDX-License-Identifier: GPL-2.0 */
/* Every sensor's row for the table in sensor.c.
 * Each lives in the file of its name. */
#ifndef TACTUS_SENSOR_KINDS_H
#define TACTUS_SENSOR_KINDS_H

#include "sensor.h"

extern const struct sensor_kind sched_kind;
extern const struct sensor_kind launch_kind;
extern const struct sensor_kind gpu_kind;
extern const struct sensor_kind cuda_kind;
extern const struct sensor_kind feed_kind;
extern const struct sensor_kind wine_kind;
extern const struct sensor_kind input_kind;
extern const struct sensor_kind frame_kind;
extern const struct sensor_kind socket_kind;
extern const struct sensor_kind sound_kind;
extern const struct sensor_kind learned_kind;
extern const struct sensor_kind fence_kind;
extern const struct sensor_kind memory_kind;
extern const struct sensor_kind jobs_kind;
extern const struct sensor_kind display_kind;
extern const struct sensor_kind stacks_kind;

#endif
