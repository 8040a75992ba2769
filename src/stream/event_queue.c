// SPDX-License-Identifier: GPL-2.0
#include "event_queue.h"

#include <stdlib.h>
#include <string.h>

#include "../base/vec.h"

static bool make_room(struct event_queue *queue, size_t size)
{
	size_t held = queue->to - queue->from;

	if (queue->to + size <= queue->room)
		return true;
	if (queue->from >= queue->room / 2 && held + size <= queue->room) {
		memmove(queue->bytes, queue->bytes + queue->from, held);
		queue->from = 0;
		queue->to = held;
		return true;
	}
	return vec_reserve(queue->bytes, queue->room, queue->to + size, 4096);
}

size_t event_bytes(const struct event_header *event)
{
	static const u8 sizes[EVENT_KINDS] = {
#define EVENT_SIZE(KIND, name, group, rate, bytes) [EVENT_##KIND] = (bytes),
		EVENT_TABLE(EVENT_SIZE)
#undef EVENT_SIZE
	};

	return event->kind < EVENT_KINDS ? sizes[event->kind] : 0;
}

static struct event_header *event_at(const struct event_queue *queue, size_t at)
{
	return (struct event_header *)(queue->bytes + at);
}

/* Where an event of that time belongs: before the first later one, or at the end. */
static size_t place_of(const struct event_queue *queue, u64 time_ns)
{
	size_t at = queue->from;

	while (at < queue->to && event_at(queue, at)->time_ns <= time_ns) {
		size_t bytes = event_bytes(event_at(queue, at));

		if (!bytes || bytes > queue->to - at)
			return queue->to;
		at += bytes;
	}
	return at;
}

bool event_queue_add(struct event_queue *queue, const struct event_header *event, size_t size)
{
	size_t at;

	if (!make_room(queue, size))
		return false;
	at = queue->to;
	if (queue->from < queue->to && event->time_ns < queue->last_ns)
		at = place_of(queue, event->time_ns);
	else
		queue->last_ns = event->time_ns;
	memmove(queue->bytes + at + size, queue->bytes + at, queue->to - at);
	memcpy(queue->bytes + at, event, size);
	queue->to += size;
	return true;
}

struct event_header *event_queue_first(const struct event_queue *queue)
{
	return queue->from < queue->to ? event_at(queue, queue->from) : NULL;
}

bool event_queue_is_whole(const struct event_queue *queue)
{
	size_t bytes = event_bytes(event_at(queue, queue->from));

	return bytes && bytes <= queue->to - queue->from;
}

void event_queue_drop(struct event_queue *queue)
{
	queue->from += event_bytes(event_at(queue, queue->from));
	if (queue->from == queue->to)
		queue->from = queue->to = 0;
}

void event_queue_free(struct event_queue *queue)
{
	free(queue->bytes);
	*queue = (struct event_queue){};
}
