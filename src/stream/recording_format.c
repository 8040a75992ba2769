// SPDX-License-Identifier: GPL-2.0
/* What the writer and the reader of a recording must agree on: checksums and a block's counts. */
#include "recording_format.h"

#include <zlib.h>

#include "../../core/event_info.h"

u32 recording_header_crc(const struct recording_header *header, const struct cpu_topology *topology)
{
	struct recording_header blank = *header;
	uLong crc;

	blank.crc = 0;
	crc = crc32(0, (const Bytef *)&blank, sizeof(blank));
	/* Without a buffer zlib would start anew. */
	if (header->cpus_len)
		crc = crc32(crc, (const Bytef *)topology, header->cpus_len * (uInt)sizeof(*topology));
	return (u32)crc;
}

u32 recording_block_crc(const struct recording_image *block)
{
	struct recording_block blank = block->head;

	blank.crc = 0;
	return (u32)crc32(crc32(0, (const Bytef *)&blank, sizeof(blank)), block->payload, blank.payload_bytes);
}

u32 recording_summarise(struct recording_image *block)
{
	struct recording_block *head = &block->head;
	u32 events_len = 0, at = 0;
	u64 lost = 0, first_ns = ~0ull, last_ns = 0;

	while (head->payload_bytes - at >= sizeof(struct event_header)) {
		const struct event_header *event = (const struct event_header *)(block->payload + at);
		const struct event_info *info = event_info(event->kind);

		if (!info || info->bytes > head->payload_bytes - at)
			break;
		if (event->kind == EVENT_LOST)
			lost += ((const struct event_lost *)event)->count;
		if (event->time_ns < first_ns)
			first_ns = event->time_ns;
		if (event->time_ns > last_ns)
			last_ns = event->time_ns;
		events_len++;
		at += info->bytes;
	}
	head->events_len = events_len;
	head->lost = lost;
	head->first_ns = first_ns;
	head->last_ns = last_ns;
	return at;
}
