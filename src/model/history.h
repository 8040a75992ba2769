/* SPDX-License-Identifier: GPL-2.0 */
/* Who ran on each CPU in the last while, to tell who was in the way of a thread that waited. */
#ifndef TACTUS_MODEL_HISTORY_H
#define TACTUS_MODEL_HISTORY_H

#include <stdbool.h>

#include "../../core/event.h"

enum { HISTORY_RUNS = 512 }; /* kept of each CPU */

/* What a CPU did for most of a span. */
enum culprit { CULPRIT_UNKNOWN, CULPRIT_IDLE, CULPRIT_THREAD };

struct cpu_runs;

struct history {
	struct cpu_runs **cpus; /* one a CPU that switched */
	u32 cpus_len;
};

void history_free(struct history *history);

/* Takes an event of any kind. False for want of memory. */
bool history_handle(struct history *history, const struct event_header *event);

/* What the CPU did for most of the span; *tid for a thread. */
enum culprit history_culprit(const struct history *history, u32 cpu, u64 from_ns, u64 to_ns, u32 *tid);

#endif
