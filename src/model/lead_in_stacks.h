/* SPDX-License-Identifier: GPL-2.0 */
/* Functions on stacks, for parts of a stream that had them before: a part gets those of the stacks that its
 * events refer to. */
#ifndef TACTUS_MODEL_LEAD_IN_STACKS_H
#define TACTUS_MODEL_LEAD_IN_STACKS_H

#include <stdbool.h>
#include <stddef.h>

#include "../../core/event.h"
#include "../base/map.h"

/* Above that, the half goes that nobody referred to for longest. */
enum { LEAD_IN_STACKS_BYTES = 64 << 20 };

struct lead_in_stack;

/* All zeroes is an empty one. */
struct lead_in_stacks {
	struct lead_in_stack **all;
	size_t len, room, bytes;
	struct map by_number; /* by process and number: index into all, plus one */
	u64 order;
	size_t nameless; /* of the part's, those that nobody named a function of */
	u64 dropped;	 /* stacks that went for want of room, and functions that found none */
	bool failed;
};

void lead_in_stacks_free(struct lead_in_stacks *stacks);

void lead_in_stacks_take(struct lead_in_stacks *stacks, const struct event_stack_frame *event);

/* An event refers to it: it is none of those that go first. */
void lead_in_stacks_use(struct lead_in_stacks *stacks, u32 pid, u32 number);

/* An event of the part refers to it: hands over what is known of it, once. */
void lead_in_stacks_want(struct lead_in_stacks *stacks, u32 pid, u32 number, u64 now_ns,
			 void (*handle)(void *data, const struct event_header *event), void *data);
bool lead_in_stacks_is_wanted(const struct lead_in_stacks *stacks, u32 pid, u32 number);

#endif
