// SPDX-License-Identifier: GPL-2.0
#include "driver_work.h"

#include <string.h>

static struct driver_work_row *row_of(struct driver_work *work, const struct event_cuda_work *event)
{
	struct driver_work_row *row;

	for (u32 i = 0; i < work->rows_len; i++)
		if (work->rows[i].pid == event->pid &&
		    !memcmp(&work->rows[i].function, &event->function, sizeof(event->function)))
			return &work->rows[i];
	if (work->rows_len == DRIVER_WORK_ROWS)
		return NULL;
	row = &work->rows[work->rows_len++];
	*row = (struct driver_work_row){ .pid = event->pid, .function = event->function };
	return row;
}

void driver_work_handle(struct driver_work *work, const struct event_header *header)
{
	const struct event_cuda_work *event = (const struct event_cuda_work *)header;
	struct driver_work_row *row;

	if (header->kind != EVENT_CUDA_WORK)
		return;
	row = row_of(work, event);
	if (!row) {
		work->left_out++;
		return;
	}
	row->times++;
	row->total_ns += event->duration_ns;
	row->queued_ns += event->queued_ns;
	if (event->duration_ns > row->max_ns)
		row->max_ns = event->duration_ns;
}
