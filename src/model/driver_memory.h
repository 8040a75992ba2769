/* SPDX-License-Identifier: GPL-2.0 */
/* Memory that NVIDIA's driver allocates for a process, by the sizes in its own requests (RM_ALLOC of a class of memory,
 * RM_ALLOC_MEMORY): more than the program asks libcuda for, which takes memory in large pieces and needs some itself.
 */
#ifndef TACTUS_MODEL_DRIVER_MEMORY_H
#define TACTUS_MODEL_DRIVER_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

#include "../../core/cuda.h"
#include "../../core/event.h"
#include "../base/map.h"

enum { DRIVER_MEMORY_ROWS = 256, DRIVER_MEMORY_PIECES = 1 << 18 };

struct driver_memory_row {
	u32 pid, class;
	u64 now_bytes, peak_bytes, total_bytes;
	u64 allocations, frees;
};

struct driver_piece {
	u64 object; /* 0: it was freed */
	u64 bytes;
	u32 row;
};

struct driver_memory {
	struct driver_memory_row rows[DRIVER_MEMORY_ROWS];
	u32 rows_len;
	struct driver_piece *pieces;
	size_t pieces_len, pieces_room;
	struct map by_object; /* places of pieces plus one; the last of an object that comes again */
	bool failed;	      /* some are missing for want of memory or room */
};

void driver_memory_free(struct driver_memory *memory);

/* Other events are none of its business. */
void driver_memory_handle(struct driver_memory *memory, const struct event_header *event);

#endif
