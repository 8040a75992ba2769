/* SPDX-License-Identifier: GPL-2.0 */
/* Launches that programs tell of themselves, in the rings of core/detour.h, gathered in the order of time. */
#ifndef TACTUS_SENSOR_CUDA_TOLD_H
#define TACTUS_SENSOR_CUDA_TOLD_H

#include <stdbool.h>
#include <stddef.h>

#include "../../core/detour.h"

struct cuda_teller;

struct cuda_told {
	struct cuda_teller *tellers; /* processes, as they come */
	u32 tellers_len;
	struct event_cuda_launch *launches; /* those from `taken` on are in order, and not taken yet */
	size_t len, room, taken;
};

/* Reads what is new in the files of the folder. `functions`: one more than the highest number of a function; `all`:
 * nobody writes any more, so that what is not there now never will be. */
void cuda_told_collect(struct cuda_told *told, const char *folder, u32 functions, bool all);
/* Valid until the next cuda_told_collect. */
const struct event_cuda_launch *cuda_told_take(struct cuda_told *told, u64 before_ns);
void cuda_told_free(struct cuda_told *told);

#endif
