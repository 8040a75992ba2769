// SPDX-License-Identifier: GPL-2.0
/* Keeps of each thread and CPU the last event of each sort that changes what is known of it. Played again in their
 * order, they lead to the same state; sums they do not, and nobody counts them. */
#include "lead_in.h"

#include <stdlib.h>
#include <string.h>

#include "../../core/account.h"
#include "../../core/cuda.h"
#include "../../core/event_info.h"
#include "../base/map.h"
#include "../base/sort.h"
#include "../base/vec.h"
#include "lead_in_stacks.h"

/* What an event is the last one of. */
enum slot {
	SLOT_THREAD = 1,
	SLOT_RENAME,
	SLOT_IN,  /* onto a CPU */
	SLOT_OUT, /* off it */
	SLOT_WAKEUP,
	SLOT_MIGRATE,
	SLOT_ROLE,
	SLOT_EXEC,
	SLOT_OF_THREAD = SLOT_EXEC,
	SLOT_CPU,
	SLOT_DEVICE,
	SLOT_SERVED,
	SLOT_GPU_MEMORY,
};

enum { SLOT_SHIFT = 56, COMPACT_LEAST = 4096, KEPT_MOST = 1 << 22 };

struct kept {
	u64 order; /* of all events that were taken; 0: it is free */
	u64 key;
	struct event_header *event; /* all of it */
};

struct lead_in {
	struct kept *kept;
	size_t len, room, free_len;
	struct map by_key;   /* index into kept, plus one */
	struct kept *frames; /* as they came */
	size_t frames_len, frames_room, frames_most;
	struct lead_in_stacks stacks;
	u64 order;
	u64 now_ns;
	size_t bytes;
	bool failed;
};

struct lead_in *lead_in_open(size_t frames_most)
{
	struct lead_in *made = calloc(1, sizeof(*made));

	if (made)
		made->frames_most = frames_most;
	return made;
}

void lead_in_close(struct lead_in *lead_in)
{
	if (!lead_in)
		return;
	for (size_t i = 0; i < lead_in->len; i++)
		free(lead_in->kept[i].event);
	for (size_t i = 0; i < lead_in->frames_len; i++)
		free(lead_in->frames[i].event);
	free(lead_in->kept);
	free(lead_in->frames);
	map_free(&lead_in->by_key);
	lead_in_stacks_free(&lead_in->stacks);
	free(lead_in);
}

size_t lead_in_bytes(const struct lead_in *lead_in)
{
	return lead_in->bytes + lead_in->stacks.bytes + (lead_in->room + lead_in->frames_room) * sizeof(struct kept) +
	       lead_in->by_key.slots_len * sizeof(struct map_slot);
}

bool lead_in_failed(const struct lead_in *lead_in)
{
	return lead_in->failed || lead_in->stacks.failed;
}

static u64 key_of(enum slot slot, u64 id)
{
	return (u64)slot << SLOT_SHIFT | id;
}

static struct kept *find(const struct lead_in *lead_in, enum slot slot, u64 id)
{
	u32 place = map_get(&lead_in->by_key, key_of(slot, id));

	return place && lead_in->kept[place - 1].order ? &lead_in->kept[place - 1] : NULL;
}

static struct event_header *copy_of(struct lead_in *lead_in, const struct event_header *event)
{
	size_t bytes = event_info(event->kind)->bytes;
	struct event_header *copy = malloc(bytes);

	if (!copy) {
		lead_in->failed = true;
		return NULL;
	}
	lead_in->bytes += bytes;
	memcpy(copy, event, bytes);
	return copy;
}

static void drop(struct lead_in *lead_in, struct kept *kept)
{
	if (!kept)
		return;
	lead_in->bytes -= event_info(kept->event->kind)->bytes;
	free(kept->event);
	kept->event = NULL;
	kept->order = 0;
	lead_in->free_len++;
}

/* Threads come and go: their places are taken back when they are most of all. */
static void compact(struct lead_in *lead_in)
{
	size_t len = 0;

	if (lead_in->len < COMPACT_LEAST || lead_in->free_len < lead_in->len / 2)
		return;
	map_clear(&lead_in->by_key);
	for (size_t i = 0; i < lead_in->len; i++) {
		if (!lead_in->kept[i].order)
			continue;
		lead_in->kept[len++] = lead_in->kept[i];
		map_set(&lead_in->by_key, lead_in->kept[len - 1].key, (u32)len);
	}
	lead_in->len = len;
	lead_in->free_len = 0;
}

static void keep(struct lead_in *lead_in, enum slot slot, u64 id, const struct event_header *event)
{
	u64 key = key_of(slot, id);
	u32 place = map_get(&lead_in->by_key, key);
	struct kept *kept = place ? &lead_in->kept[place - 1] : NULL;

	if (kept && kept->order && kept->event->kind == event->kind) {
		memcpy(kept->event, event, event_info(event->kind)->bytes);
		kept->order = lead_in->order;
		return;
	}
	if (kept && kept->order)
		drop(lead_in, kept);
	if (!kept) {
		compact(lead_in);
		if (lead_in->len >= KEPT_MOST ||
		    !vec_reserve(lead_in->kept, lead_in->room, lead_in->len + 1, COMPACT_LEAST) ||
		    !map_set(&lead_in->by_key, key, (u32)lead_in->len + 1)) {
			lead_in->failed = true;
			return;
		}
		kept = &lead_in->kept[lead_in->len++];
		*kept = (struct kept){ .key = key };
	} else {
		lead_in->free_len--;
	}
	kept->event = copy_of(lead_in, event);
	kept->order = kept->event ? lead_in->order : 0;
	lead_in->free_len += !kept->event;
}

static void keep_frame(struct lead_in *lead_in, const struct event_header *event)
{
	size_t most = lead_in->frames_most, half = lead_in->frames_len / 2;
	struct event_header *copy;

	if (most && lead_in->frames_len >= 2 * most) {
		for (size_t i = 0; i < half; i++) {
			lead_in->bytes -= event_info(lead_in->frames[i].event->kind)->bytes;
			free(lead_in->frames[i].event);
		}
		lead_in->frames_len -= half;
		memmove(lead_in->frames, lead_in->frames + half, lead_in->frames_len * sizeof(*lead_in->frames));
	}
	copy = vec_reserve(lead_in->frames, lead_in->frames_room, lead_in->frames_len + 1, 256)
		       ? copy_of(lead_in, event)
		       : NULL;
	if (copy)
		lead_in->frames[lead_in->frames_len++] = (struct kept){ .order = lead_in->order, .event = copy };
	else
		lead_in->failed = true;
}

static void forget_thread(struct lead_in *lead_in, u32 tid)
{
	for (int slot = SLOT_THREAD; slot <= SLOT_OF_THREAD; slot++)
		drop(lead_in, find(lead_in, (enum slot)slot, tid));
}

static void take_switch(struct lead_in *lead_in, const struct event_switch *event)
{
	keep(lead_in, SLOT_CPU, event->head.cpu, &event->head);
	if (event->next_tid)
		keep(lead_in, SLOT_IN, event->next_tid, &event->head);
	if (event->head.tid && (event->prev_state & STATE_DEAD))
		forget_thread(lead_in, event->head.tid);
	else if (event->head.tid)
		keep(lead_in, SLOT_OUT, event->head.tid, &event->head);
}

static void rename_tid(struct event_header *event, u32 from_tid, u32 to_tid)
{
	struct event_switch *to = (struct event_switch *)event;

	if (event->tid == from_tid)
		event->tid = to_tid;
	if (event->kind == EVENT_SWITCH && to->next_tid == from_tid)
		to->next_tid = to_tid;
}

/* It goes on as another: what is kept of it is made to say so, and who had that tid before is gone. That is rare. */
static void take_tid_change(struct lead_in *lead_in, const struct event_tid_change *event)
{
	u64 order = lead_in->order;

	if (event->head.tid == event->old_tid)
		return;
	forget_thread(lead_in, event->head.tid);
	for (size_t i = 0; i < lead_in->len; i++)
		if (lead_in->kept[i].order)
			rename_tid(lead_in->kept[i].event, event->old_tid, event->head.tid);
	for (int slot = SLOT_THREAD; slot <= SLOT_OF_THREAD; slot++) {
		struct kept *kept = find(lead_in, (enum slot)slot, event->old_tid);
		struct event_header *moved = kept ? kept->event : NULL;

		if (!moved)
			continue;
		if (slot == SLOT_THREAD)
			((struct event_thread *)moved)->pid = event->pid;
		moved = copy_of(lead_in, moved);
		lead_in->order = kept->order;
		drop(lead_in, kept);
		if (!moved)
			continue;
		keep(lead_in, (enum slot)slot, event->head.tid, moved);
		lead_in->bytes -= event_info(moved->kind)->bytes;
		free(moved);
	}
	lead_in->order = order;
}

static void take_thread(struct lead_in *lead_in, const struct event_header *event)
{
	const struct event_thread *was = NULL, *is = (const struct event_thread *)event;
	struct kept *kept = find(lead_in, SLOT_THREAD, event->tid);

	if (kept)
		was = (const struct event_thread *)kept->event;
	/* Another thread with the same tid. */
	if (was && was->start_ns != is->start_ns)
		forget_thread(lead_in, event->tid);
	drop(lead_in, find(lead_in, SLOT_RENAME, event->tid));
	keep(lead_in, SLOT_THREAD, event->tid, event);
}

static void take_sample(struct lead_in *lead_in, const struct event_header *event)
{
	if (event->flags & EVENT_FLAG_CLOSING)
		return;
	keep(lead_in, SLOT_CPU, event->cpu, event);
	if (event->tid)
		keep(lead_in, SLOT_IN, event->tid, event);
}

/* Whose stack a thread's is. */
static u32 pid_of(const struct lead_in *lead_in, u32 tid)
{
	const struct kept *kept = find(lead_in, SLOT_THREAD, tid);

	return kept ? ((const struct event_thread *)kept->event)->pid : 0;
}

static void use_stacks(struct lead_in *lead_in, const struct event_stack *event)
{
	lead_in_stacks_use(&lead_in->stacks, 0, event->kernel);
	lead_in_stacks_use(&lead_in->stacks, pid_of(lead_in, event->head.tid), event->user);
	lead_in_stacks_use(&lead_in->stacks, 0, event->waker_kernel);
	lead_in_stacks_use(&lead_in->stacks, event->waker_pid, event->waker_user);
}

/* What is not of the scheduler. */
static void take_other(struct lead_in *lead_in, const struct event_header *event)
{
	const struct event_gpu_memory *memory = (const struct event_gpu_memory *)event;

	switch (event->kind) {
	case EVENT_ROLE:
		/* The last word on a thread comes after its end. */
		if (!(event->flags & EVENT_FLAG_CLOSING) && find(lead_in, SLOT_THREAD, event->tid))
			keep(lead_in, SLOT_ROLE, event->tid, event);
		break;
	case EVENT_EXEC:
		keep(lead_in, SLOT_EXEC, event->tid, event);
		break;
	case EVENT_DEVICE:
		keep(lead_in, SLOT_DEVICE, ((const struct event_device *)event)->device, event);
		break;
	case EVENT_SERVED:
		keep(lead_in, SLOT_SERVED, ((const struct event_served *)event)->pid, event);
		break;
	case EVENT_GPU_MEMORY:
		keep(lead_in, SLOT_GPU_MEMORY, (u64)(memory->gpu & 0xffffff) << 32 | memory->pid, event);
		break;
	case EVENT_FRAME:
	case EVENT_VBLANK:
	case EVENT_COMMIT:
		keep_frame(lead_in, event);
		break;
	case EVENT_CUDA_NAME:
		/* A range that has begun names nothing that comes. */
		if (((const struct event_cuda_name *)event)->what != CUDA_NAMED_RANGE)
			keep_frame(lead_in, event);
		break;
	case EVENT_STACK:
		use_stacks(lead_in, (const struct event_stack *)event);
		break;
	case EVENT_STACK_FRAME:
		lead_in_stacks_take(&lead_in->stacks, (const struct event_stack_frame *)event);
		break;
	default:
		break;
	}
}

void lead_in_take(struct lead_in *lead_in, const struct event_header *event)
{
	lead_in->order++;
	if (event->time_ns > lead_in->now_ns)
		lead_in->now_ns = event->time_ns;
	switch (event->kind) {
	case EVENT_SWITCH:
		take_switch(lead_in, (const struct event_switch *)event);
		break;
	case EVENT_UNSEEN_SWITCH:
		keep(lead_in, SLOT_IN, event->tid, event);
		break;
	case EVENT_SAMPLE:
		take_sample(lead_in, event);
		break;
	case EVENT_WAKEUP:
		keep(lead_in, SLOT_WAKEUP, event->tid, event);
		break;
	case EVENT_MIGRATE:
		keep(lead_in, SLOT_MIGRATE, event->tid, event);
		break;
	case EVENT_THREAD:
		take_thread(lead_in, event);
		break;
	case EVENT_RENAME:
		keep(lead_in, SLOT_RENAME, event->tid, event);
		break;
	case EVENT_TID_CHANGE:
		take_tid_change(lead_in, (const struct event_tid_change *)event);
		break;
	default:
		take_other(lead_in, event);
		break;
	}
}

static int by_order(const void *a, const void *b)
{
	const struct kept *x = *(const struct kept *const *)a, *y = *(const struct kept *const *)b;

	return x->order < y->order ? -1 : x->order > y->order;
}

/* Of a switch only those sides stand that are the last of their thread. */
static struct event_switch sides_of(const struct lead_in *lead_in, const struct kept *kept)
{
	struct event_switch event = *(const struct event_switch *)kept->event;
	const struct kept *out = find(lead_in, SLOT_OUT, event.head.tid), *in = find(lead_in, SLOT_IN, event.next_tid);

	if (!out || out->order != kept->order)
		event.head.tid = 0;
	if (!in || in->order != kept->order)
		event.next_tid = 0;
	return event;
}

void lead_in_give(struct lead_in *lead_in, void (*handle)(void *data, const struct event_header *event), void *data)
{
	size_t all = lead_in->len + lead_in->frames_len, len = 0;
	const struct kept **sorted = malloc((all ? all : 1) * sizeof(*sorted));
	u64 last_order = 0;

	if (!sorted) {
		lead_in->failed = true;
		return;
	}
	for (size_t i = 0; i < lead_in->len; i++)
		if (lead_in->kept[i].order)
			sorted[len++] = &lead_in->kept[i];
	for (size_t i = 0; i < lead_in->frames_len; i++)
		sorted[len++] = &lead_in->frames[i];
	sort_rows(sorted, len, sizeof(*sorted), by_order);
	for (size_t i = 0; i < len; i++) {
		struct event_switch sides;

		/* One switch may be the last of two threads and of a CPU. */
		if (sorted[i]->order == last_order)
			continue;
		last_order = sorted[i]->order;
		if (sorted[i]->event->kind == EVENT_SWITCH) {
			sides = sides_of(lead_in, sorted[i]);
			handle(data, &sides.head);
		} else {
			handle(data, sorted[i]->event);
		}
	}
	free(sorted);
}

bool lead_in_give_functions(struct lead_in *lead_in, const struct event_header *event,
			    void (*handle)(void *data, const struct event_header *event), void *data)
{
	const struct event_stack_frame *frame = (const struct event_stack_frame *)event;
	const struct event_stack *stack = (const struct event_stack *)event;
	struct lead_in_stacks *stacks = &lead_in->stacks;
	u64 now_ns = event->time_ns;

	if (event->kind == EVENT_STACK_FRAME)
		return lead_in_stacks_is_wanted(stacks, frame->pid, frame->stack);
	if (event->kind != EVENT_STACK)
		return true;
	lead_in_stacks_want(stacks, 0, stack->kernel, now_ns, handle, data);
	lead_in_stacks_want(stacks, pid_of(lead_in, event->tid), stack->user, now_ns, handle, data);
	lead_in_stacks_want(stacks, 0, stack->waker_kernel, now_ns, handle, data);
	lead_in_stacks_want(stacks, stack->waker_pid, stack->waker_user, now_ns, handle, data);
	return true;
}

size_t lead_in_nameless(const struct lead_in *lead_in)
{
	return lead_in->stacks.nameless;
}

bool lead_in_dropped_functions(const struct lead_in *lead_in)
{
	return lead_in->stacks.dropped;
}

void lead_in_give_closing(const struct lead_in *lead_in, u64 now_ns,
			  void (*handle)(void *data, const struct event_header *event), void *data)
{
	for (size_t i = 0; i < lead_in->len; i++) {
		const struct kept *kept = &lead_in->kept[i];
		struct event_sample sample = {
			.head = { .time_ns = now_ns, .kind = EVENT_SAMPLE, .flags = EVENT_FLAG_CLOSING }
		};

		if (!kept->order || kept->key >> SLOT_SHIFT != SLOT_CPU)
			continue;
		sample.head.cpu = kept->event->cpu;
		sample.head.tid = kept->event->tid;
		if (kept->event->kind == EVENT_SWITCH) {
			sample.head.tid = ((const struct event_switch *)kept->event)->next_tid;
			sample.prio = ((const struct event_switch *)kept->event)->next_prio;
		} else {
			sample.prio = ((const struct event_sample *)kept->event)->prio;
		}
		/* Of one whose name is not known nothing is known but a moment. */
		if (!find(lead_in, SLOT_THREAD, sample.head.tid))
			sample.head.tid = 0;
		handle(data, &sample.head);
	}
}
