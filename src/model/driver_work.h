/* SPDX-License-Identifier: GPL-2.0 */
/* Work that kernel threads did for a process, by function: what the process's threads had queued inside NVIDIA's
 * driver.
 */
#ifndef TACTUS_MODEL_DRIVER_WORK_H
#define TACTUS_MODEL_DRIVER_WORK_H

#include "../../core/event.h"

enum { DRIVER_WORK_ROWS = 256 };

struct driver_work_row {
	u32 pid;
	struct tail function; /* and its module in brackets, as the kernel writes it */
	u64 times;
	u64 total_ns, max_ns;
	u64 queued_ns; /* from queuing until it began, all together */
};

struct driver_work {
	struct driver_work_row rows[DRIVER_WORK_ROWS];
	u32 rows_len;
	u64 left_out; /* works without a row of theirs */
};

void driver_work_handle(struct driver_work *work, const struct event_header *header);

#endif
