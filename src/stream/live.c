// SPDX-License-Identifier: GPL-2.0
/* Reads a ring a CPU into a queue a CPU, and takes from the queues whichever event is the oldest: what is in a ring is
 * read at once, so that the ring has room again. */
#include "live.h"

#include "event_queue.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct queue {
	struct event_queue waiting;
	u64 events;
	u64 lost; /* when losses were last told */
	u32 lost_told[EVENT_KINDS];
	bool failed; /* no memory for an event */
};

struct live {
	struct ring_buffer *rings;
	const struct sched_cpu *cpus;
	struct queue *queues;
	u64 handed_ns; /* the time of the last event that was handed over */
	u32 len;
};

static int take_event(void *context, void *data, size_t size)
{
	struct queue *queue = context;

	queue->events++;
	if (!event_queue_add(&queue->waiting, data, size))
		queue->failed = true;
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
		event_queue_free(&live->queues[cpu].waiting);
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

/* The queue whose first event is the oldest of all and older than until_ns, or NULL. */
static struct queue *oldest(const struct live *live, u64 until_ns)
{
	struct queue *best = NULL;
	u64 best_ns = until_ns;

	for (u32 cpu = 0; cpu < live->len; cpu++) {
		const struct event_header *event = event_queue_first(&live->queues[cpu].waiting);

		if (event && event->time_ns < best_ns) {
			best = &live->queues[cpu];
			best_ns = event->time_ns;
		}
	}
	return best;
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

/* A reader that has gone on to later events can't go back: what reached its ring only now counts as of now. */
static void hand_over(struct live *live, struct event_header *event, live_take take, void *data)
{
	if (event->time_ns < live->handed_ns)
		event->time_ns = live->handed_ns;
	live->handed_ns = event->time_ns;
	take(data, event);
}

int live_drain(struct live *live, u64 until_ns, live_take take, void *data)
{
	int got = ring_buffer__consume(live->rings);
	struct queue *queue;

	if (got < 0)
		return got;
	while ((queue = oldest(live, until_ns))) {
		struct event_header *event = event_queue_first(&queue->waiting);

		if (!event_queue_is_whole(&queue->waiting))
			return -EBADMSG;
		hand_over(live, event, take, data);
		event_queue_drop(&queue->waiting);
	}
	tell_losses(live, live->handed_ns, take, data);
	for (u32 cpu = 0; cpu < live->len; cpu++)
		if (live->queues[cpu].failed)
			return -ENOMEM;
	return 0;
}
