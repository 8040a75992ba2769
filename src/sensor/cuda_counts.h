/* SPDX-License-Identifier: GPL-2.0 */
/* How often each function of libcuda was called: what the probes counted, and what programs counted themselves. */
#ifndef TACTUS_SENSOR_CUDA_COUNTS_H
#define TACTUS_SENSOR_CUDA_COUNTS_H

#include "../stream/stream.h"
#include "cuda_detour.h"

/* Hands over an event of kind cuda_count for each function, from 1 to below `functions`, that was called. `detour` can
 * be NULL. Returns 0 or -errno. */
int cuda_emit_counts(int counts_fd, u32 functions, struct cuda_detour *detour, struct cuda_detour_counts *sums,
		     event_handler handle, void *data);

#endif
