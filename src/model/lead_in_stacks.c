// SPDX-License-Identifier: GPL-2.0
/* Keeps names of functions by the process and number of their stack. A recording may hold anything: numbers are keys,
 * and never places. */
#include "lead_in_stacks.h"

#include <stdlib.h>
#include <string.h>

#include "../base/sort.h"
#include "../base/vec.h"
#include "stacks.h"

enum { NAME_OVERHEAD = 16 };

struct lead_in_stack {
	u64 key;
	u64 used; /* when, by the order of all uses */
	size_t bytes;
	bool is_wanted;
	struct stack stack;
};

static void free_stack(struct lead_in_stack *one)
{
	for (u32 frame = 0; frame < STACK_FRAMES_MAX; frame++)
		free(one->stack.names[frame]);
	free(one);
}

void lead_in_stacks_free(struct lead_in_stacks *stacks)
{
	for (size_t i = 0; i < stacks->len; i++)
		free_stack(stacks->all[i]);
	free(stacks->all);
	map_free(&stacks->by_number);
	*stacks = (struct lead_in_stacks){ 0 };
}

static u64 key_of(u32 pid, u32 number)
{
	return (u64)pid << 32 | number;
}

static struct lead_in_stack *find(const struct lead_in_stacks *stacks, u32 pid, u32 number)
{
	u32 place = number == STACK_NONE ? 0 : map_get(&stacks->by_number, key_of(pid, number));

	return place ? stacks->all[place - 1] : NULL;
}

static int last_used_first(const void *a, const void *b)
{
	const struct lead_in_stack *one = *(struct lead_in_stack *const *)a, *other = *(struct lead_in_stack *const *)b;

	return one->used > other->used ? -1 : one->used < other->used;
}

static void drop_half(struct lead_in_stacks *stacks)
{
	size_t kept = stacks->len / 2;

	if (!kept)
		return;
	sort_rows(stacks->all, stacks->len, sizeof(*stacks->all), last_used_first);
	for (size_t i = kept; i < stacks->len; i++) {
		stacks->bytes -= stacks->all[i]->bytes;
		free_stack(stacks->all[i]);
	}
	stacks->dropped += stacks->len - kept;
	stacks->len = kept;
	map_clear(&stacks->by_number);
	/* There was room for as many before. */
	for (size_t i = 0; i < kept; i++)
		map_set(&stacks->by_number, stacks->all[i]->key, (u32)i + 1);
}

static struct lead_in_stack *meet(struct lead_in_stacks *stacks, u32 pid, u32 number)
{
	struct lead_in_stack *one = find(stacks, pid, number);

	if (one || number == STACK_NONE)
		return one;
	if (stacks->bytes > LEAD_IN_STACKS_BYTES)
		drop_half(stacks);
	one = calloc(1, sizeof(*one));
	if (!one || !vec_reserve(stacks->all, stacks->room, stacks->len + 1, 64) ||
	    !map_set(&stacks->by_number, key_of(pid, number), (u32)stacks->len + 1)) {
		free(one);
		stacks->failed = true;
		return NULL;
	}
	one->key = key_of(pid, number);
	one->used = ++stacks->order;
	one->bytes = sizeof(*one);
	stacks->bytes += one->bytes;
	stacks->all[stacks->len++] = one;
	return one;
}

void lead_in_stacks_take(struct lead_in_stacks *stacks, const struct event_stack_frame *event)
{
	struct lead_in_stack *one = event->frame < STACK_FRAMES_MAX ? meet(stacks, event->pid, event->stack) : NULL;
	char **name = one ? &one->stack.names[event->frame] : NULL;
	size_t had = name && *name ? strlen(*name) + NAME_OVERHEAD : 0, has;
	char *copy = name ? strndup(event->name.text, sizeof(event->name.text)) : NULL;

	if (!copy) {
		stacks->failed |= name != NULL;
		stacks->dropped++;
		return;
	}
	free(*name);
	*name = copy;
	has = strlen(copy) + NAME_OVERHEAD;
	one->bytes += has - had;
	stacks->bytes += has - had;
	stacks->nameless -= one->is_wanted && !one->stack.len;
	if (event->frame >= one->stack.len)
		one->stack.len = event->frame + 1;
}

void lead_in_stacks_use(struct lead_in_stacks *stacks, u32 pid, u32 number)
{
	struct lead_in_stack *one = find(stacks, pid, number);

	if (one)
		one->used = ++stacks->order;
}

void lead_in_stacks_want(struct lead_in_stacks *stacks, u32 pid, u32 number, u64 now_ns,
			 void (*handle)(void *data, const struct event_header *event), void *data)
{
	struct lead_in_stack *one = meet(stacks, pid, number);
	struct event_stack_frame event = { .head = { .time_ns = now_ns, .kind = EVENT_STACK_FRAME },
					   .pid = pid,
					   .stack = number };

	if (!one || one->is_wanted)
		return;
	one->is_wanted = true;
	stacks->nameless += !one->stack.len;
	for (u32 frame = 0; frame < one->stack.len; frame++) {
		if (!one->stack.names[frame])
			continue;
		event.frame = frame;
		event.name = (struct long_name){ "" };
		memcpy(event.name.text, one->stack.names[frame], strlen(one->stack.names[frame]));
		handle(data, &event.head);
	}
}

bool lead_in_stacks_is_wanted(const struct lead_in_stacks *stacks, u32 pid, u32 number)
{
	const struct lead_in_stack *one = find(stacks, pid, number);

	return one && one->is_wanted;
}
