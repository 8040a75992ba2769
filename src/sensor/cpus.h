/* SPDX-License-Identifier: GPL-2.0 */
/* The part of the sched sensor that counts for CPUs: what each CPU did in a window of time.
 * Start it with sensor_start(&sensor, &cpus_kind). */
#ifndef TACTUS_SENSOR_CPUS_H
#define TACTUS_SENSOR_CPUS_H

#include "../model/cpus.h"
#include "sensor.h"

extern const struct sensor_kind cpus_kind;

/* Brings the accounts up to now and copies them. They grow from the sensor's start; a window is the difference of two
 * readings. Returns 0 or -errno. */
int cpus_read(struct sensor *sensor, struct cpus *cpus);

#endif
