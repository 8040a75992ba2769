/* SPDX-License-Identifier: GPL-2.0 */
/* The kernel's rings, one a CPU, as one source of events in the order of time. */
#ifndef TACTUS_STREAM_RINGS_H
#define TACTUS_STREAM_RINGS_H

#include "../../core/event.h"
#include "../../core/sched_config.h"

struct rings;

/* `cpus` are the kernel half's counters, which say what the rings had no room for. Returns 0 or -errno. */
int rings_open(struct rings **rings, const int *ring_fds, const struct sched_cpu *cpus, u32 len);
void rings_close(struct rings *rings);

/* Becomes readable when a ring has much to read. */
int rings_fd(const struct rings *rings);

/* Reads what the rings hold, so that they have room again. Returns 0 or -errno. */
int rings_read(struct rings *rings);

/* The oldest event that was read and not dropped, if it is older than that; NULL: there is none. */
struct event_header *rings_first(struct rings *rings, u64 until_ns);
/* Drops the event that rings_first gave last. */
void rings_drop(struct rings *rings);

/* Why not everything is given that came, or can be: 0, -ENOMEM, or -EBADMSG where one is not a whole event. */
int rings_error(const struct rings *rings);

/* Calls `handle` with an event of kind lost for each kind and CPU of which more was lost since the last time. */
void rings_losses(struct rings *rings, u64 now_ns, void (*handle)(void *data, const struct event_header *event),
		  void *data);

/* Events read so far from one CPU's ring. */
u64 rings_count(const struct rings *rings, u32 cpu);

#endif
