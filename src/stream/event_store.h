/* SPDX-License-Identifier: GPL-2.0 */
/* The last events of a stream in memory: so long, and so many bytes, at most. What goes is handed over as it goes. */
#ifndef TACTUS_STREAM_EVENT_STORE_H
#define TACTUS_STREAM_EVENT_STORE_H

#include <stdbool.h>
#include <stddef.h>

#include "../../core/event.h"

enum { EVENT_STORE_CHUNK = 256 * 1024 };

struct event_store;

struct event_store_settings {
	u64 span_ns;
	size_t bytes_most; /* in whole chunks, two at least */
	/* An event is forgotten. */
	void (*on_forgotten)(void *data, const struct event_header *event);
	void *data;
};

/* NULL for want of memory. */
struct event_store *event_store_open(const struct event_store_settings *settings);
void event_store_close(struct event_store *store);

/* Events come in the order of time, but for a few. Unknown kinds are left out. */
void event_store_add(struct event_store *store, const struct event_header *event);

/* Hands over all that is kept, in the order in which it came. */
void event_store_each(const struct event_store *store, void (*handle)(void *data, const struct event_header *event),
		      void *data);

struct event_store_state {
	u64 first_ns, last_ns; /* the times of the oldest and of the latest event; 0: there is none */
	u64 events;
	size_t bytes;	 /* of memory */
	u64 pressed_out; /* events that went before their time, since there was no room */
};
struct event_store_state event_store_state(const struct event_store *store);

#endif
