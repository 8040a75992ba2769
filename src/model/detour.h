/* SPDX-License-Identifier: GPL-2.0 */
/* What the library in a traced program has counted (core/detour.h). Its file is the program's to write: it may hold
 * anything. */
#ifndef TACTUS_MODEL_DETOUR_H
#define TACTUS_MODEL_DETOUR_H

#include <stdbool.h>
#include <stddef.h>

#include "../../core/detour.h"

/* Calls `take` for each row of a file of counts that is in use. Returns how many, or -EINVAL if it is no such file. */
int detour_counts_read(const void *bytes, size_t len, void (*take)(void *data, const struct detour_row *row),
		       void *data);

/* Takes a launch that should be the one of this turn out of a ring. Returns false if it is not there (yet), or nothing
 * that can be one. `functions`: one more than the highest number of a function. */
bool detour_launch_read(const struct detour_launch *launch, u64 turn, u32 functions, struct event_cuda_launch *event);

#endif
