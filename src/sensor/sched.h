/* SPDX-License-Identifier: GPL-2.0 */
/* The sched sensor: threads' accounts kept in the kernel, and the stream of scheduler events.
 * Start it with sensor_start(&sensor, &sched_kind, &settings), then open the window, then close it. */
#ifndef TACTUS_SENSOR_SCHED_H
#define TACTUS_SENSOR_SCHED_H

#include "../../core/sched_config.h"
#include "../base/options.h"
#include "../model/threads.h"
#include "sensor.h"

struct sched_settings {
	bool account; /* keep threads' accounts */
	bool emit;    /* send events */
	struct filter filter;
	u32 command_pid; /* watch this process with its children and threads; 0: no command */
	u32 ring_bytes;	 /* each CPU's ring; 0: so that all together have 4 MB */
	const struct cpu_place *places;
	u32 cpus_len;
};

extern const struct sensor_kind sched_kind;

/* From here on everything counts. Returns 0 or -errno. */
int sched_open_window(struct sensor *sensor);

/* From here on nothing counts any more. */
int sched_close_window(struct sensor *sensor);

/* After the window has closed: adds every thread that was active in it. */
int sched_read_threads(struct sensor *sensor, struct threads *threads);

/* Accounts of ended threads wait in a ring of their own: takes them over. Call now and then, so that it does not fill.
 */
void sched_collect_ended(struct sensor *sensor, struct threads *threads);

/* Becomes readable when many are waiting there. */
int sched_ended_fd(const struct sensor *sensor);

struct sched_losses {
	u64 unseen_switches;
	u64 events;
	u64 threads; /* that got no account, or whose account was lost at their end */
};
struct sched_losses sched_losses(const struct sensor *sensor);

/* For the stream: the rings' descriptors, one a CPU, and each CPU's counters. */
const int *sched_ring_fds(const struct sensor *sensor);
const struct sched_cpu *sched_cpus(const struct sensor *sensor, u32 *len);

#endif
