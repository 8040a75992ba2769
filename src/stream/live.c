// SPDX-License-Identifier: GPL-2.0
/* Reads a ring a CPU into a queue a CPU, and takes from the queues whichever event is the oldest.
 * Queues grow as they must: what is in a ring is read at once, so that the ring has room again. */
#include "live.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct queue {
	char *bytes;
	size_t from, to, room;
	u64 events;
	u64 lost; /* when losses were last told */
	u32 lost_told[EVENT_KINDS];
	bool failed; /* no memory for an event */
};

struct live {
	struct ring_buffer *rings;
	const struct sched_cpu *cpus;
	struct queue *queues;
	u32 len;
};

static bool make_room(struct queue *queue, size_t size)
{
	size_t held = queue->to - queue->from, room = queue->room ? queue->room : 4096;
	char *bytes;

	if (queue->to + size <= queue->room)
		return true;
	if (queue->from >= queue->room / 2 && held + size <= queue->room) {
		memmove(queue->bytes, queue->bytes + queue->from, held);
		queue->from = 0;
		queue->to = held;
		return true;
	}
	while (room < queue->to + size)
		room *= 2;
	bytes = realloc(queue->bytes, room);
	if (!bytes)
		return false;
	queue->bytes = bytes;
	queue->room = room;
	return true;
}

static int take_event(void *context, void *data, size_t size)
{
	struct queue *queue = context;

	queue->events++;
	if (!make_room(queue, size)) {
		queue->failed = true;
		return 0;
	}
	memcpy(queue->bytes + queue->to, data, size);
	queue->to += size;
	return 0;
}

int live_open(struct live **out, const int *ring_fds, const struct sched_cpu *cpus, u32 len)
{
	struct live *live = calloc(1, sizeof(*live));
	int error = 0;

	*out = live;
	if (!live)
		return -ENOMEM;
	live->cpus = cpus;
	live->len = len;
	live->queues = calloc(len, sizeof(*live->queues));
	if (!live->queues)
		error = -ENOMEM;
	for (u32 cpu = 0; cpu < len && !error; cpu++) {
		if (cpu == 0) {
			live->rings = ring_buffer__new(ring_fds[0], take_event, &live->queues[0], NULL);
			error = live->rings ? 0 : -errno;
		} else {
			error = ring_buffer__add(live->rings, ring_fds[cpu], take_event, &live->queues[cpu]);
		}
	}
	if (error) {
		live_close(live);
		*out = NULL;
	}
	return error;
}

void live_close(struct live *live)
{
	if (!live)
		return;
	ring_buffer__free(live->rings);
	for (u32 cpu = 0; live->queues && cpu < live->len; cpu++)
		free(live->queues[cpu].bytes);
	free(live->queues);
	free(live);
}

int live_fd(const struct live *live)
{
	return ring_buffer__epoll_fd(live->rings);
}

u64 live_read(const struct live *live, u32 cpu)
{
	return live->queues[cpu].events;
}

static const struct event_header *first_of(const struct queue *queue)
{
	return queue->from < queue->to ? (const struct event_header *)(queue->bytes + queue->from) : NULL;
}

/* The queue whose first event is the oldest of all and older than until_ns, or NULL. */
static struct queue *oldest(const struct live *live, u64 until_ns)
{
	struct queue *best = NULL;
	u64 best_ns = until_ns;

	for (u32 cpu = 0; cpu < live->len; cpu++) {
		const struct event_header *event = first_of(&live->queues[cpu]);

		if (event && event->time_ns < best_ns) {
			best = &live->queues[cpu];
			best_ns = event->time_ns;
		}
	}
	return best;
}

static size_t event_bytes(const struct event_header *event)
{
	static const u8 sizes[EVENT_KINDS] = {
#define EVENT_SIZE(KIND, name, bytes) [EVENT_##KIND] = (bytes),
		EVENT_TABLE(EVENT_SIZE)
#undef EVENT_SIZE
	};

	return event->kind < EVENT_KINDS ? sizes[event->kind] : 0;
}

static void tell_losses_of(struct live *live, u32 cpu, u64 now_ns, live_take take, void *data)
{
	for (u32 kind = 0; kind < EVENT_KINDS; kind++) {
		u32 lost = __atomic_load_n(&live->cpus[cpu].lost_kinds[kind], __ATOMIC_RELAXED);
		struct event_lost event = { .head = { .time_ns = now_ns, .cpu = (u16)cpu, .kind = EVENT_LOST },
					    .count = lost - live->queues[cpu].lost_told[kind],
					    .of_kind = kind };

		if (event.count)
			take(data, &event.head);
		live->queues[cpu].lost_told[kind] = lost;
	}
}

static void tell_losses(struct live *live, u64 now_ns, live_take take, void *data)
{
	for (u32 cpu = 0; cpu < live->len; cpu++) {
		u64 lost = __atomic_load_n(&live->cpus[cpu].lost, __ATOMIC_RELAXED);

		if (lost != live->queues[cpu].lost)
			tell_losses_of(live, cpu, now_ns, take, data);
		live->queues[cpu].lost = lost;
	}
}

int live_drain(struct live *live, u64 until_ns, live_take take, void *data)
{
	int got = ring_buffer__consume(live->rings);
	struct queue *queue;
	u64 last_ns = 0;

	if (got < 0)
		return got;
	while ((queue = oldest(live, until_ns))) {
		const struct event_header *event = first_of(queue);
		size_t bytes = event_bytes(event);

		if (!bytes || queue->from + bytes > queue->to)
			return -EBADMSG;
		last_ns = event->time_ns;
		take(data, event);
		queue->from += bytes;
		if (queue->from == queue->to)
			queue->from = queue->to = 0;
	}
	tell_losses(live, last_ns, take, data);
	for (u32 cpu = 0; cpu < live->len; cpu++)
		if (live->queues[cpu].failed)
			return -ENOMEM;
	return 0;
}
