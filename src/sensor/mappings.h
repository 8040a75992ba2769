/* SPDX-License-Identifier: GPL-2.0 */
/* The kernel's own word on every file that is mapped executable, on all CPUs: perf's side records, without an event
 * that counts anything. libraries.c makes sense of them. */
#ifndef TACTUS_SENSOR_MAPPINGS_H
#define TACTUS_SENSOR_MAPPINGS_H

#include "../base/maps.h"
#include "../base/say.h"

struct mappings;

/* Returns 0 or -errno with a reason. */
int mappings_open(struct mappings **out, struct reason *why);
void mappings_close(struct mappings *mappings);

/* Readable at the first record, and only until it has been asked: see libraries_fd. */
int mappings_fd(const struct mappings *mappings);

/* Hands out what is there. Returns how many records the kernel had no room for since the last call. */
u64 mappings_take(struct mappings *mappings, void (*take)(void *data, u32 pid, const struct mapping *mapping),
		  void *data);

/* Call now and then: follows CPUs that come and go. True if they did, and records may have been missed. */
bool mappings_follow_cpus(struct mappings *mappings);

#endif
