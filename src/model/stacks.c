// SPDX-License-Identifier: GPL-2.0
/* Keeps names of functions by the number of their stack, the last events of each thread, and sums. A recording may hold
 * anything: numbers are keys, and never places. */
#include "stacks.h"

#include <stdlib.h>
#include <string.h>

#include "../base/sort.h"
#include "../base/vec.h"

struct recent_stacks {
	struct event_stack last[STACKS_RECENT];
	u32 next;
};

void stacks_free(struct stacks *stacks)
{
	for (size_t i = 0; i < stacks->len; i++) {
		for (u32 frame = 0; frame < STACK_FRAMES_MAX; frame++)
			free(stacks->all[i]->names[frame]);
		free(stacks->all[i]);
	}
	free(stacks->all);
	free(stacks->recent);
	free(stacks->sums);
	map_free(&stacks->by_number);
	map_free(&stacks->by_tid);
	map_free(&stacks->by_sum);
	*stacks = (struct stacks){ 0 };
}

static u64 key_of(u32 pid, u32 number)
{
	return (u64)pid << 32 | number;
}

const struct stack *stacks_find(const struct stacks *stacks, u32 pid, u32 number)
{
	u32 place = number == STACK_NONE ? 0 : map_get(&stacks->by_number, key_of(pid, number));

	return place ? stacks->all[place - 1] : NULL;
}

static struct stack *meet(struct stacks *stacks, u64 key)
{
	u32 place = map_get(&stacks->by_number, key);
	struct stack *stack;

	if (place)
		return stacks->all[place - 1];
	stack = stacks->len < STACKS_KEPT ? calloc(1, sizeof(*stack)) : NULL;
	if (!stack || !vec_reserve(stacks->all, stacks->room, stacks->len + 1, 64) ||
	    !map_set(&stacks->by_number, key, (u32)stacks->len + 1)) {
		free(stack);
		return NULL;
	}
	stacks->all[stacks->len++] = stack;
	return stack;
}

static void take_frame(struct stacks *stacks, const struct event_stack_frame *event)
{
	struct stack *stack = event->frame < STACK_FRAMES_MAX ? meet(stacks, key_of(event->pid, event->stack)) : NULL;
	char *name = stack ? strndup(event->name.text, sizeof(event->name.text)) : NULL;

	if (!name) {
		stacks->refused++;
		return;
	}
	free(stack->names[event->frame]);
	stack->names[event->frame] = name;
	if (event->frame >= stack->len)
		stack->len = event->frame + 1;
}

static void take_stack(struct stacks *stacks, const struct event_stack *event)
{
	u32 place = map_get(&stacks->by_tid, event->head.tid);
	struct recent_stacks *recent;

	if (!place) {
		if (stacks->recent_len >= STACKS_KEPT ||
		    !vec_reserve(stacks->recent, stacks->recent_room, stacks->recent_len + 1, 64) ||
		    !map_set(&stacks->by_tid, event->head.tid, (u32)stacks->recent_len + 1)) {
			stacks->refused++;
			return;
		}
		stacks->recent[stacks->recent_len] = (struct recent_stacks){ 0 };
		place = (u32)++stacks->recent_len;
	}
	recent = &stacks->recent[place - 1];
	recent->last[recent->next++ % STACKS_RECENT] = *event;
}

void stacks_handle(struct stacks *stacks, const struct event_header *event)
{
	if (event->kind == EVENT_STACK_FRAME)
		take_frame(stacks, (const struct event_stack_frame *)event);
	else if (event->kind == EVENT_STACK)
		take_stack(stacks, (const struct event_stack *)event);
}

const struct event_stack *stacks_longest(const struct stacks *stacks, u32 tid, u64 from_ns, u64 to_ns)
{
	u32 place = map_get(&stacks->by_tid, tid);
	const struct event_stack *longest = NULL;

	for (u32 i = 0; place && i < STACKS_RECENT; i++) {
		const struct event_stack *event = &stacks->recent[place - 1].last[i];

		if (event->head.time_ns > from_ns && event->head.time_ns <= to_ns &&
		    (!longest || event->off_ns > longest->off_ns))
			longest = event;
	}
	return longest;
}

static u64 mixed(u64 sum, u64 value)
{
	return (sum ^ value) * 0x100000001b3ull + 0x9e3779b9;
}

static u64 sum_key(const struct stack_sum *sum)
{
	u64 key = mixed(mixed(mixed(0xcbf29ce484222325ull, key_of(sum->pid, sum->kernel)), sum->user),
			key_of(sum->waker_pid, sum->waker_kernel));

	key = mixed(key, sum->waker_user);
	for (u32 i = 0; i < COMM_LEN; i++)
		key = mixed(key, (u64)(u8)sum->comm.text[i] << 8 | (u8)sum->waker_comm.text[i]);
	return key;
}

void stacks_add(struct stacks *stacks, const struct event_stack *event, u32 pid, const struct comm *comm,
		const struct comm *waker_comm, u64 ns)
{
	struct stack_sum one = { .tid = event->head.tid,
				 .waker_tid = event->waker_tid,
				 .pid = pid,
				 .kernel = event->kernel,
				 .user = event->user,
				 .waker_pid = event->waker_pid,
				 .waker_kernel = event->waker_kernel,
				 .waker_user = event->waker_user,
				 .comm = *comm,
				 .waker_comm = *waker_comm };
	u64 key = sum_key(&one);
	u32 place = map_get(&stacks->by_sum, key);
	struct stack_sum *sum;

	if (!place) {
		if (stacks->sums_len >= STACK_SUMS_KEPT ||
		    !vec_reserve(stacks->sums, stacks->sums_room, stacks->sums_len + 1, 64) ||
		    !map_set(&stacks->by_sum, key, (u32)stacks->sums_len + 1)) {
			stacks->refused++;
			return;
		}
		stacks->sums[stacks->sums_len] = one;
		place = (u32)++stacks->sums_len;
	}
	sum = &stacks->sums[place - 1];
	sum->tid = sum->tid == one.tid ? one.tid : 0;
	sum->waker_tid = sum->waker_tid == one.waker_tid ? one.waker_tid : 0;
	sum->times++;
	sum->ns += ns;
	sum->max_ns = ns > sum->max_ns ? ns : sum->max_ns;
}

static int most_first(const void *a, const void *b)
{
	const struct stack_sum *one = a, *other = b;

	if (one->ns != other->ns)
		return one->ns > other->ns ? -1 : 1;
	return one->pid < other->pid ? -1 : one->pid > other->pid;
}

/* Where x86 and arm64 come in by an interrupt. */
static bool begins_interrupt(const char *name)
{
	static const char *const beginnings[] = { "asm_sysvec_", "asm_common_interrupt", "asm_spurious_interrupt",
						  "el1h_64_irq", "el0t_64_irq",		 "el0t_32_irq" };

	for (size_t i = 0; name && i < sizeof(beginnings) / sizeof(beginnings[0]); i++)
		if (!strncmp(name, beginnings[i], strlen(beginnings[i])))
			return true;
	return false;
}

u32 stack_interrupt(const struct stack *stack)
{
	for (u32 frame = 0; stack && frame < stack->len; frame++)
		if (begins_interrupt(stack->names[frame]))
			return frame + 1;
	return 0;
}

static u64 names_key(u64 key, const struct stack *stack, u32 len)
{
	for (u32 frame = 0; frame < len; frame++) {
		for (const char *at = stack->names[frame]; at && *at; at++)
			key = mixed(key, (u8)*at);
		key = mixed(key, ';');
	}
	return mixed(key, '\n');
}

static u64 stack_key(const struct stacks *stacks, u64 key, u32 pid, u32 number, bool by_interrupt)
{
	const struct stack *stack = stacks_find(stacks, pid, number);
	u32 interrupt = by_interrupt ? stack_interrupt(stack) : 0;

	return names_key(key, stack, interrupt ? interrupt : stack ? stack->len : 0);
}

/* By the names of the functions, whatever their stacks' numbers and processes are. */
static u64 text_key(const struct stacks *stacks, const struct stack_sum *sum)
{
	bool has_waker = sum->waker_kernel != STACK_NONE || sum->waker_user != STACK_NONE;
	u64 key = 0xcbf29ce484222325ull;

	for (u32 i = 0; i < COMM_LEN; i++)
		key = mixed(key, (u64)(u8)sum->comm.text[i] << 8 | (has_waker ? (u8)sum->waker_comm.text[i] : 0));
	key = stack_key(stacks, key, 0, sum->kernel, false);
	key = stack_key(stacks, key, sum->pid, sum->user, false);
	if (!has_waker)
		return key;
	key = stack_key(stacks, mixed(key, !sum->waker_pid), 0, sum->waker_kernel, !sum->waker_pid);
	return stack_key(stacks, key, sum->waker_pid, sum->waker_user, false);
}

/* Sums that differ in nothing any more become one. */
static void merge(struct stacks *stacks)
{
	size_t kept = 0;

	map_clear(&stacks->by_sum);
	for (size_t i = 0; i < stacks->sums_len; i++) {
		struct stack_sum one = stacks->sums[i], *same;
		u64 key = text_key(stacks, &one);
		u32 place = map_get(&stacks->by_sum, key);

		if (!place) {
			/* There was room for as many before. */
			map_set(&stacks->by_sum, key, (u32)kept + 1);
			stacks->sums[kept++] = one;
			continue;
		}
		same = &stacks->sums[place - 1];
		same->tid = same->tid == one.tid ? one.tid : 0;
		same->waker_tid = same->waker_tid == one.waker_tid ? one.waker_tid : 0;
		same->times += one.times;
		same->ns += one.ns;
		same->max_ns = one.max_ns > same->max_ns ? one.max_ns : same->max_ns;
	}
	stacks->sums_len = kept;
}

void stacks_order(struct stacks *stacks)
{
	for (size_t i = 0; i < stacks->sums_len; i++) {
		struct stack_sum *sum = &stacks->sums[i];

		if (!stack_interrupt(stacks_find(stacks, 0, sum->waker_kernel)))
			continue;
		sum->waker_pid = sum->waker_tid = 0;
		sum->waker_user = STACK_NONE;
		sum->waker_comm = (struct comm){ "" };
	}
	merge(stacks);
	/* The places that the map has are of no use from here on. */
	map_clear(&stacks->by_sum);
	if (stacks->sums_len)
		sort_rows(stacks->sums, stacks->sums_len, sizeof(*stacks->sums), most_first);
}

void stacks_restart(struct stacks *stacks)
{
	map_clear(&stacks->by_sum);
	stacks->sums_len = 0;
}
