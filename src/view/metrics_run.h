/* SPDX-License-Identifier: GPL-2.0 */
/* What a 'tactus run' has said of its seconds, as counts that only grow. */
#ifndef TACTUS_VIEW_METRICS_RUN_H
#define TACTUS_VIEW_METRICS_RUN_H

#include "status.h"

struct metrics_run {
	u64 heard_ns; /* when the last second came, CLOCK_MONOTONIC; 0: none has */
	u64 seconds;
	struct run_status last;
	u64 deadline_misses, lost;
	u64 decisions[SCX_COUNTERS];
	u64 kernel_events[SCX_EVENTS];
};

void metrics_run_add(struct metrics_run *run, const struct run_status *status, u64 now_ns);

/* Whether there is one: it says something every second. */
bool metrics_run_is_up(const struct metrics_run *run, u64 now_ns);

#endif
