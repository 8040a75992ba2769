// SPDX-License-Identifier: GPL-2.0
/* Reads a file of counts. The rows are copied out: bytes may lie anywhere, and the program may be writing them still.
 */
#include "detour.h"

#include <errno.h>
#include <string.h>

int detour_counts_read(const void *bytes, size_t len, void (*take)(void *data, const struct detour_row *row),
		       void *data)
{
	const char *at = (const char *)bytes + sizeof(struct detour_counts);
	struct detour_counts head;
	struct detour_row row;
	int taken = 0;

	/* Without what may follow the rows. */
	if (len != DETOUR_COUNTS_BYTES)
		return -EINVAL;
	memcpy(&head, bytes, sizeof(head));
	if (head.magic != DETOUR_COUNTS_MAGIC || head.version != DETOUR_VERSION || head.len != DETOUR_ROWS)
		return -EINVAL;
	for (u32 i = 0; i < DETOUR_ROWS; i++) {
		memcpy(&row, at + i * sizeof(row), sizeof(row));
		/* They are not counted all at once. */
		if (row.sent > row.calls)
			row.sent = row.calls;
		if (row.trapped > row.calls - row.sent)
			row.trapped = row.calls - row.sent;
		if (row.failed > row.calls - row.sent - row.trapped)
			row.failed = row.calls - row.sent - row.trapped;
		if (row.used != 1)
			continue;
		take(data, &row);
		taken++;
	}
	return taken;
}

bool detour_launch_read(const struct detour_launch *launch, u64 turn, u32 functions, struct event_cuda_launch *event)
{
	if (launch->turn != turn + 1 || !launch->event.function || launch->event.function >= functions)
		return false;
	*event = launch->event;
	event->head.kind = EVENT_CUDA_LAUNCH;
	event->head.flags = EVENT_FLAG_ENTRY;
	event->head.cpu = 0;
	return true;
}
