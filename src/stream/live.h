/* SPDX-License-Identifier: GPL-2.0 */
/* The kernel's rings as one stream in order of time.
 * Each CPU writes its own ring; here they are read and merged. */
#ifndef TACTUS_STREAM_LIVE_H
#define TACTUS_STREAM_LIVE_H

#include "../../core/event.h"
#include "../../core/sched_config.h"

struct live;

typedef void (*live_take)(void *data, const struct event_header *event);

/* `cpus` are the kernel half's counters, which tell what the rings had no room for. Returns 0 or -errno. */
int live_open(struct live **live, const int *ring_fds, const struct sched_cpu *cpus, u32 len);
void live_close(struct live *live);

/* Becomes readable when a ring has much to read. */
int live_fd(const struct live *live);

/* Reads the rings and hands over what is older than `until_ns`, always in the order of time: an event that reaches its
 * ring after a later one comes in its place if that one is not handed over yet, else at that one's time. Losses are
 * handed over as events of their own. Returns 0 or -errno. */
int live_drain(struct live *live, u64 until_ns, live_take take, void *data);

/* Events read so far from one CPU's ring. */
u64 live_read(const struct live *live, u32 cpu);

#endif
