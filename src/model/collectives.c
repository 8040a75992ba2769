// SPDX-License-Identifier: GPL-2.0
/* A list that is looked through from its end: a program has a few communicators and makes the same calls again.
 */
#include "collectives.h"

#include <stdlib.h>

#include "../base/vec.h"

void collectives_free(struct collectives *collectives)
{
	free(collectives->all);
	*collectives = (struct collectives){ 0 };
}

static struct collective *row_of(struct collectives *collectives, const struct event_cuda_call *event, u32 type)
{
	for (size_t i = collectives->len; i-- > 0;) {
		struct collective *row = &collectives->all[i];

		if (row->pid == event->pid && row->function == event->function && row->type == type &&
		    row->communicator == event->address)
			return row;
	}
	if (collectives->len == COLLECTIVES_MAX ||
	    !vec_reserve(collectives->all, collectives->room, collectives->len + 1, 16)) {
		collectives->failed = true;
		return NULL;
	}
	collectives->all[collectives->len] = (struct collective){
		.pid = event->pid, .function = event->function, .type = type, .communicator = event->address
	};
	return &collectives->all[collectives->len++];
}

void collectives_handle(struct collectives *collectives, const struct cuda *cuda, const struct event_header *header)
{
	const struct event_cuda_call *event = (const struct event_cuda_call *)header;
	const char *name = header->kind == EVENT_CUDA_CALL ? cuda_function_name(cuda, event->function) : NULL;
	const struct cuda_api *api = name ? cuda_api_of(name) : NULL;
	struct collective *row;

	if (!api || api->class != CUDA_COLLECTIVES)
		return;
	row = row_of(collectives, event, shape_is_nccl(api->shape) ? event->copy : NCCL_TYPES);
	if (!row)
		return;
	row->count++;
	row->failed += event->result != 0;
	row->bytes += event->result ? 0 : event->bytes;
	row->ns += event->duration_ns;
	if (event->duration_ns > row->longest_ns)
		row->longest_ns = event->duration_ns;
}
