/* SPDX-License-Identifier: GPL-2.0 */
/* The sched sensor: what each CPU did in a window of time.
 * Start it with sensor_start(&sensor, &sched_kind). */
#ifndef TACTUS_SENSOR_SCHED_H
#define TACTUS_SENSOR_SCHED_H

#include "../model/cpus.h"
#include "sensor.h"

extern const struct sensor_kind sched_kind;

/* Brings the accounts up to now and copies them. They grow from the sensor's start; a window is the difference of two
 * readings. Returns 0 or -errno. */
int sched_read_cpus(struct sensor *sensor, struct cpus *cpus);

#endif
