/* SPDX-License-Identifier: GPL-2.0 */
/* A dispatch queue as sched_ext has them: threads in the order of a key; of equal keys the first comes first. */
#ifndef TACTUS_SIM_DSQ_H
#define TACTUS_SIM_DSQ_H

#include <stdbool.h>
#include <string.h>

#include "../../core/tier.h"
#include "../base/vec.h"

struct dsq_item {
	u64 key;
	u32 thread;
};

/* All zeroes is an empty one. */
struct dsq {
	struct dsq_item *items;
	u32 head, len, room; /* of the items, those from head on */
};

static inline bool dsq_insert(struct dsq *dsq, u64 key, u32 thread)
{
	u32 low = 0, high = dsq->len;

	if (dsq->head && dsq->head + dsq->len == dsq->room) {
		memmove(dsq->items, dsq->items + dsq->head, dsq->len * sizeof(*dsq->items));
		dsq->head = 0;
	}
	if (!vec_reserve(dsq->items, dsq->room, dsq->head + dsq->len + 1, 16))
		return false;
	while (low < high) {
		u32 middle = (low + high) / 2;

		if (vtime_before(key, dsq->items[dsq->head + middle].key))
			high = middle;
		else
			low = middle + 1;
	}
	memmove(dsq->items + dsq->head + low + 1, dsq->items + dsq->head + low, (dsq->len - low) * sizeof(*dsq->items));
	dsq->items[dsq->head + low] = (struct dsq_item){ key, thread };
	dsq->len++;
	return true;
}

static inline void dsq_remove(struct dsq *dsq, u32 at)
{
	struct dsq_item *items = dsq->items + dsq->head;

	dsq->len--;
	if (!at)
		dsq->head = dsq->len ? dsq->head + 1 : 0;
	else
		memmove(items + at, items + at + 1, (dsq->len - at) * sizeof(*items));
}

static inline const struct dsq_item *dsq_at(const struct dsq *dsq, u32 at)
{
	return &dsq->items[dsq->head + at];
}

#endif
