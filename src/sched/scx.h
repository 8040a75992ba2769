/* SPDX-License-Identifier: GPL-2.0 */
/* The sched_ext actuator: puts bpf/scx.bpf.c in charge of the CPUs and takes it out again.
 * It is held by a link, so the kernel's own scheduler is back as soon as this process ends, however it ends. */
#ifndef TACTUS_SCHED_SCX_H
#define TACTUS_SCHED_SCX_H

#include <stdbool.h>

#include "../../core/scx_exit.h"
#include "../base/say.h"

struct scx;

/* Returns 0, or -errno with the reason in words. */
int scx_start(struct scx **scx, struct reason *why);

/* True once the kernel has put the scheduler out. */
bool scx_is_out(const struct scx *scx);

void scx_read_counters(const struct scx *scx, u64 counters[SCX_COUNTERS]);

/* Takes the scheduler out if it is still in, and says why it ended. */
struct scx_farewell scx_stop(struct scx *scx);

#endif
