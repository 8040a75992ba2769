/* SPDX-License-Identifier: GPL-2.0 */
/* Which GPU drivers this machine has right now and by which functions they take ioctls.
 * Reads /proc and /sys; opens no device, since that alone can wake a GPU that sleeps. */
#ifndef TACTUS_SENSOR_GPU_FIND_H
#define TACTUS_SENSOR_GPU_FIND_H

#include <stdbool.h>

#include "../model/gpu.h"

struct gpu_found {
	u32 families; /* GPU_OF_*, of drivers that are loaded */
	u32 devices;  /* the same, of those that have a device */
	u32 uvm_major;
	struct gpu_function nvidia;
	struct gpu_function uvm;
};

void gpu_find(struct gpu_found *found);

/* Hands over the minor number and driver of each DRM device. */
void gpu_find_minors(void (*take)(void *data, u32 minor, u32 driver), void *data);

/* A descriptor that is readable when a node has come in the folders of GPUs' devices; -1: it can't be had. */
int gpu_watch_devices(void);

/* Reads it: whether a node of a GPU was among them, or one that was not reported for want of room. */
bool gpu_device_came(int fd);

#endif
