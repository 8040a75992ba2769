// SPDX-License-Identifier: GPL-2.0
/* A list of chunks, filled at its end and emptied at its beginning. An emptied chunk is filled again. */
#include "event_store.h"

#include <stdlib.h>
#include <string.h>

#include "event_queue.h"

struct chunk {
	struct chunk *next;
	size_t from, to;
	_Alignas(8) unsigned char bytes[EVENT_STORE_CHUNK];
};

struct event_store {
	struct event_store_settings settings;
	struct chunk *first, *last; /* NULL: it is empty */
	struct chunk *spare;
	size_t chunks_len, chunks_most;
	u64 events, latest_ns, pressed_out;
};

struct event_store *event_store_open(const struct event_store_settings *settings)
{
	struct event_store *made = calloc(1, sizeof(*made));

	if (!made)
		return NULL;
	made->settings = *settings;
	made->chunks_most = settings->bytes_most / sizeof(struct chunk);
	if (made->chunks_most < 2)
		made->chunks_most = 2;
	return made;
}

void event_store_close(struct event_store *store)
{
	if (!store)
		return;
	while (store->first) {
		struct chunk *next = store->first->next;

		free(store->first);
		store->first = next;
	}
	free(store->spare);
	free(store);
}

static const struct event_header *oldest(const struct event_store *store)
{
	return store->first ? (const struct event_header *)(store->first->bytes + store->first->from) : NULL;
}

static void let_go_of_chunk(struct event_store *store)
{
	struct chunk *empty = store->first;

	store->first = empty->next;
	if (!store->first)
		store->last = NULL;
	if (store->spare) {
		free(empty);
		store->chunks_len--;
	} else {
		store->spare = empty;
	}
}

static void forget_oldest(struct event_store *store)
{
	const struct event_header *event = oldest(store);

	if (store->settings.on_forgotten)
		store->settings.on_forgotten(store->settings.data, event);
	store->first->from += event_bytes(event);
	store->events--;
	if (store->first->from == store->first->to)
		let_go_of_chunk(store);
}

static void press_out_chunk(struct event_store *store)
{
	struct chunk *pressed = store->first;

	while (store->first == pressed) {
		store->pressed_out++;
		forget_oldest(store);
	}
}

/* A chunk with room behind the last one. False: there is no memory, not even by forgetting. */
static bool add_chunk(struct event_store *store)
{
	struct chunk *made;

	while (store->first && !store->spare && store->chunks_len >= store->chunks_most)
		press_out_chunk(store);
	made = store->spare;
	store->spare = NULL;
	if (!made) {
		made = malloc(sizeof(*made));
		store->chunks_len += made != NULL;
	}
	if (!made && store->first) {
		press_out_chunk(store);
		made = store->spare;
		store->spare = NULL;
	}
	if (!made)
		return false;
	made->next = NULL;
	made->from = made->to = 0;
	if (store->last)
		store->last->next = made;
	else
		store->first = made;
	store->last = made;
	return true;
}

void event_store_add(struct event_store *store, const struct event_header *event)
{
	size_t bytes = event_bytes(event);

	if (!bytes)
		return;
	if (event->time_ns > store->latest_ns)
		store->latest_ns = event->time_ns;
	while (store->first && store->latest_ns - oldest(store)->time_ns > store->settings.span_ns &&
	       oldest(store)->time_ns < store->latest_ns)
		forget_oldest(store);
	if ((!store->last || store->last->to + bytes > EVENT_STORE_CHUNK) && !add_chunk(store)) {
		store->pressed_out++;
		if (store->settings.on_forgotten)
			store->settings.on_forgotten(store->settings.data, event);
		return;
	}
	memcpy(store->last->bytes + store->last->to, event, bytes);
	store->last->to += bytes;
	store->events++;
}

void event_store_each(const struct event_store *store, void (*handle)(void *data, const struct event_header *event),
		      void *data)
{
	for (const struct chunk *chunk = store->first; chunk; chunk = chunk->next) {
		size_t at = chunk->from;

		while (at < chunk->to) {
			const struct event_header *event = (const struct event_header *)(chunk->bytes + at);

			handle(data, event);
			at += event_bytes(event);
		}
	}
}

struct event_store_state event_store_state(const struct event_store *store)
{
	return (struct event_store_state){ .first_ns = store->first ? oldest(store)->time_ns : 0,
					   .last_ns = store->first ? store->latest_ns : 0,
					   .events = store->events,
					   .bytes = store->chunks_len * sizeof(struct chunk),
					   .pressed_out = store->pressed_out };
}
