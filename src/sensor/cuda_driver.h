/* SPDX-License-Identifier: GPL-2.0 */
/* Functions of NVIDIA's kernel modules, by pattern: their names differ between versions, so they are looked up. */
#ifndef TACTUS_SENSOR_CUDA_DRIVER_H
#define TACTUS_SENSOR_CUDA_DRIVER_H

#include <stdbool.h>
#include <stddef.h>

#include "../base/say.h"

/* One that a probe can be put on. */
struct driver_function {
	char *symbol;
	char *name; /* MODULE:SYMBOL */
};

struct driver_functions {
	struct driver_function *all;
	size_t len, room;
};

/* Those whose names fit a shell pattern, of modules whose names begin with nvidia, or, if the pattern is
 * MODULE:PATTERN, of that one; `vmlinux` is the kernel itself. Returns 0, or -errno with a reason. */
int driver_functions_find(struct driver_functions *functions, const char *pattern, struct reason *why);
void driver_functions_free(struct driver_functions *functions);

#endif
