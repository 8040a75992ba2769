// SPDX-License-Identifier: GPL-2.0
/* Pieces by the object's handle, which the driver hands out for each client: a process, mostly.
 */
#include "driver_memory.h"

#include <stdlib.h>

#include "../base/vec.h"

void driver_memory_free(struct driver_memory *memory)
{
	free(memory->pieces);
	map_free(&memory->by_object);
	*memory = (struct driver_memory){ 0 };
}

static u32 row_of(struct driver_memory *memory, u32 pid, u32 class)
{
	for (u32 i = 0; i < memory->rows_len; i++)
		if (memory->rows[i].pid == pid && memory->rows[i].class == class)
			return i;
	if (memory->rows_len == DRIVER_MEMORY_ROWS)
		return DRIVER_MEMORY_ROWS;
	memory->rows[memory->rows_len] = (struct driver_memory_row){ .pid = pid, .class = class };
	return memory->rows_len++;
}

static void allocated(struct driver_memory *memory, const struct event_cuda_call *event)
{
	u32 at = row_of(memory, event->pid, event->copy);
	struct driver_memory_row *row = &memory->rows[at];

	if (at == DRIVER_MEMORY_ROWS || memory->pieces_len == DRIVER_MEMORY_PIECES ||
	    !vec_reserve(memory->pieces, memory->pieces_room, memory->pieces_len + 1, 64) ||
	    !map_reserve(&memory->by_object, memory->pieces_len + 1)) {
		memory->failed = true;
		return;
	}
	memory->pieces[memory->pieces_len++] = (struct driver_piece){ event->address, event->bytes, at };
	map_set(&memory->by_object, event->address, (u32)memory->pieces_len);
	row->allocations++;
	row->total_bytes += event->bytes;
	row->now_bytes += event->bytes;
	if (row->now_bytes > row->peak_bytes)
		row->peak_bytes = row->now_bytes;
}

static void freed(struct driver_memory *memory, u64 object)
{
	u32 place = map_get(&memory->by_object, object);
	struct driver_piece *piece = place ? &memory->pieces[place - 1] : NULL;
	struct driver_memory_row *row;

	/* Most objects that are freed are no memory. */
	if (!piece || piece->object != object || !object)
		return;
	row = &memory->rows[piece->row];
	row->frees++;
	row->now_bytes -= piece->bytes < row->now_bytes ? piece->bytes : row->now_bytes;
	piece->object = 0;
}

void driver_memory_handle(struct driver_memory *memory, const struct event_header *header)
{
	const struct event_cuda_call *event = (const struct event_cuda_call *)header;

	if (header->kind != EVENT_CUDA_CALL || event->function != CUDA_FUNCTION_OF_DRIVER)
		return;
	if (event->copy)
		allocated(memory, event);
	else
		freed(memory, event->address);
}
