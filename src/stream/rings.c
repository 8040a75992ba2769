// SPDX-License-Identifier: GPL-2.0
/* Reads a ring a CPU into a queue a CPU, and takes from the queues whichever event is the oldest: what is in a ring is
 * read at once, so that the ring has room again. */
#include "rings.h"

#include "event_queue.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct queue {
	struct event_queue waiting;
	u64 events;
	u64 lost; /* when losses were last asked for */
	u32 lost_kinds[EVENT_KINDS];
	bool failed; /* no memory for an event */
};

struct rings {
	struct ring_buffer *buffers;
	const struct sched_cpu *cpus;
	struct queue *queues, *first; /* `first`: has the event that was given last */
	u32 len;
	bool is_bad; /* an event that is not a whole one */
};

static int on_event(void *context, void *data, size_t size)
{
	struct queue *queue = context;

	queue->events++;
	if (!event_queue_add(&queue->waiting, data, size))
		queue->failed = true;
	return 0;
}

int rings_open(struct rings **out, const int *ring_fds, const struct sched_cpu *cpus, u32 len)
{
	struct rings *rings = calloc(1, sizeof(*rings));
	int error = 0;

	*out = rings;
	if (!rings)
		return -ENOMEM;
	rings->cpus = cpus;
	rings->len = len;
	rings->queues = calloc(len, sizeof(*rings->queues));
	if (!rings->queues)
		error = -ENOMEM;
	for (u32 cpu = 0; cpu < len && !error; cpu++) {
		if (cpu == 0) {
			rings->buffers = ring_buffer__new(ring_fds[0], on_event, &rings->queues[0], NULL);
			error = rings->buffers ? 0 : -errno;
		} else {
			error = ring_buffer__add(rings->buffers, ring_fds[cpu], on_event, &rings->queues[cpu]);
		}
	}
	if (error) {
		rings_close(rings);
		*out = NULL;
	}
	return error;
}

void rings_close(struct rings *rings)
{
	if (!rings)
		return;
	ring_buffer__free(rings->buffers);
	for (u32 cpu = 0; rings->queues && cpu < rings->len; cpu++)
		event_queue_free(&rings->queues[cpu].waiting);
	free(rings->queues);
	free(rings);
}

int rings_fd(const struct rings *rings)
{
	return ring_buffer__epoll_fd(rings->buffers);
}

u64 rings_count(const struct rings *rings, u32 cpu)
{
	return rings->queues[cpu].events;
}

int rings_read(struct rings *rings)
{
	int got = ring_buffer__consume(rings->buffers);

	return got < 0 ? got : 0;
}

int rings_error(const struct rings *rings)
{
	for (u32 cpu = 0; cpu < rings->len; cpu++)
		if (rings->queues[cpu].failed)
			return -ENOMEM;
	return rings->is_bad ? -EBADMSG : 0;
}

struct event_header *rings_first(struct rings *rings, u64 until_ns)
{
	struct event_header *first = NULL;

	for (u32 cpu = 0; cpu < rings->len; cpu++) {
		struct event_header *event = event_queue_first(&rings->queues[cpu].waiting);

		if (event && event->time_ns < until_ns) {
			first = event;
			until_ns = event->time_ns;
			rings->first = &rings->queues[cpu];
		}
	}
	rings->is_bad |= first && !event_queue_is_whole(&rings->first->waiting);
	return rings->is_bad ? NULL : first;
}

void rings_drop(struct rings *rings)
{
	event_queue_drop(&rings->first->waiting);
}

static void losses_of(struct rings *rings, u32 cpu, u64 now_ns,
		      void (*handle)(void *data, const struct event_header *event), void *data)
{
	struct queue *queue = &rings->queues[cpu];

	for (u32 kind = 0; kind < EVENT_KINDS; kind++) {
		u32 lost = __atomic_load_n(&rings->cpus[cpu].lost_kinds[kind], __ATOMIC_RELAXED);
		struct event_lost event = { .head = { .time_ns = now_ns, .cpu = (u16)cpu, .kind = EVENT_LOST },
					    .count = lost - queue->lost_kinds[kind],
					    .of_kind = kind };

		if (event.count)
			handle(data, &event.head);
		queue->lost_kinds[kind] = lost;
	}
}

void rings_losses(struct rings *rings, u64 now_ns, void (*handle)(void *data, const struct event_header *event),
		  void *data)
{
	for (u32 cpu = 0; cpu < rings->len; cpu++) {
		u64 lost = __atomic_load_n(&rings->cpus[cpu].lost, __ATOMIC_RELAXED);

		if (lost != rings->queues[cpu].lost)
			losses_of(rings, cpu, now_ns, handle, data);
		rings->queues[cpu].lost = lost;
	}
}
