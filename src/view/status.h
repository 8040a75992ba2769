/* SPDX-License-Identifier: GPL-2.0 */
/* What 'tactus run' says of each second, as numbers: printed by it, and sent to whoever asks with 'tactus stats'.
 * The layout is what goes over the socket between the two, so both must be of one version. */
#ifndef TACTUS_VIEW_STATUS_H
#define TACTUS_VIEW_STATUS_H

#include <stdbool.h>
#include <stdio.h>

#include "../../core/role.h"
#include "../../core/scx_exit.h"
#include "../sched/scx_events.h"

enum { STATUS_MAGIC = 0x74637473, STATUS_VERSION = 2, STATUS_NAME_LEN = 16 };

struct run_status {
	u32 magic;
	u32 version;
	u64 wall_ns; /* when this second ended */
	u64 span_ns;
	char actuator[STATUS_NAME_LEN];
	u64 busy_ns;
	u64 idle_ns;
	u64 switches;
	u64 moves;
	u64 lost;   /* switches, events and facts */
	u64 missed; /* urgent threads that waited longer than they may */
	u64 wait_p99_ns[TIERS];
	u64 waits[TIERS];   /* how many that is of */
	u64 by_tier[TIERS]; /* threads that there are now */
	u64 by_role[ROLES];
	u64 decisions[SCX_COUNTERS];
	u64 counts_events; /* 1: the kernel counts the next */
	u64 kernel_events[SCX_EVENTS];
	u64 hints_urgent; /* threads that have one */
	u64 hints_batch;
	u64 hints_given; /* so far */
	u64 hints_taken_back;
	u64 hints_left_alone;
	u64 hints_refused;
	u64 restarts; /* of the scheduler so far */
};

/* Whether `bytes` of something that came over the socket are a status that can be shown. */
bool status_is_sound(const void *from, size_t bytes);

void status_print_head(FILE *out);
void status_print_line(FILE *out, const struct run_status *status);
void status_print_json(FILE *out, const struct run_status *status);

#endif
