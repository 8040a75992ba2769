/* SPDX-License-Identifier: GPL-2.0 */
/* Stacks of threads that had no CPU, and of who woke them: their functions, and how long was waited by each pair of
 * them. */
#ifndef TACTUS_MODEL_STACKS_H
#define TACTUS_MODEL_STACKS_H

#include <stdbool.h>
#include <stddef.h>

#include "../../core/event.h"
#include "../base/map.h"

/* How much is kept at most; of what is above that, how much it was. */
enum { STACKS_KEPT = 1 << 16, STACK_SUMS_KEPT = 1 << 14, STACK_FRAMES_MAX = 64, STACKS_RECENT = 16 };

struct stack {
	char *names[STACK_FRAMES_MAX]; /* from where it is to who called; NULL: not known */
	u32 len;
};

/* All waits with the same stacks on both sides: the same functions, once they are in order. Where these are of several
 * processes, numbers are those of one of them. */
struct stack_sum {
	u32 tid, waker_tid; /* 0: of several threads */
	u32 pid, kernel, user;
	u32 waker_pid, waker_kernel, waker_user;
	struct comm comm, waker_comm;
	u64 times, ns, max_ns;
};

struct recent_stacks;

struct stacks {
	struct stack **all;
	size_t len, room;
	struct map by_number; /* by process and number: index into all, plus one */
	struct recent_stacks *recent;
	size_t recent_len, recent_room;
	struct map by_tid; /* index into recent, plus one */
	struct stack_sum *sums;
	size_t sums_len, sums_room;
	struct map by_sum;
	u64 refused; /* for which there was no room or memory */
};

void stacks_free(struct stacks *stacks);

/* Takes an event of any kind. */
void stacks_handle(struct stacks *stacks, const struct event_header *event);

/* The longest time without a CPU that the thread came back from in a span, of its last few; NULL: none is known. */
const struct event_stack *stacks_longest(const struct stacks *stacks, u32 tid, u64 from_ns, u64 to_ns);

/* Counts so much time to the stacks of an event. Names may come later. */
void stacks_add(struct stacks *stacks, const struct event_stack *event, u32 pid, const struct comm *comm,
		const struct comm *waker_comm, u64 ns);

/* How many of a kernel stack's functions, from the innermost on, are an interrupt's: those below have nothing to do
 * with it, nor has the thread that it met. 0: it is none. */
u32 stack_interrupt(const struct stack *stack);

/* The one with most time first. Wakers that were only met by an interrupt are none: not every kernel tells that as it
 * happens, but by the names on the stack it shows. */
void stacks_order(struct stacks *stacks);
/* Forgets what was counted; names stay. */
void stacks_restart(struct stacks *stacks);

/* NULL: nobody named its functions. */
const struct stack *stacks_find(const struct stacks *stacks, u32 pid, u32 number);

#endif
