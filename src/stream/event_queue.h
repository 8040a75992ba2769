/* SPDX-License-Identifier: GPL-2.0 */
/* Events of one CPU, waiting to be handed over in the order of time. They come nearly in that order: an interrupt, or
 * since Linux 7 another thread, may get into a ring between the moment an event happened and its own place there. */
#ifndef TACTUS_STREAM_EVENT_QUEUE_H
#define TACTUS_STREAM_EVENT_QUEUE_H

#include "../../core/event.h"

#include <stdbool.h>
#include <stddef.h>

struct event_queue {
	char *bytes;
	size_t from, to, room;
	u64 last_ns; /* of the latest event in it */
};

/* How long an event of that kind is; 0: there is no such kind. */
size_t event_bytes(const struct event_header *event);

/* False: there is no memory for it. Events of the same time stay in the order they came. */
bool event_queue_add(struct event_queue *queue, const struct event_header *event, size_t size);
/* NULL: it is empty. */
struct event_header *event_queue_first(const struct event_queue *queue);
/* Whether the first event is of a known kind and there to its end. */
bool event_queue_is_whole(const struct event_queue *queue);
void event_queue_drop(struct event_queue *queue);
void event_queue_free(struct event_queue *queue);

#endif
