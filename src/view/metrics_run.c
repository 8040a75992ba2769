// SPDX-License-Identifier: GPL-2.0
/* Seconds are added up; what is a count since the run began stays what the last one said.
 */
#include "metrics_run.h"

#include "../../core/account.h"

#define SILENT_NS (5ULL * NSEC_PER_SEC)

void metrics_run_add(struct metrics_run *run, const struct run_status *status, u64 now_ns)
{
	run->heard_ns = now_ns;
	run->seconds++;
	run->last = *status;
	run->deadline_misses += status->deadline_misses;
	run->lost += status->lost;
	for (u32 i = 0; i < SCX_COUNTERS; i++)
		run->decisions[i] += status->decisions[i];
	for (u32 i = 0; status->counts_events && i < SCX_EVENTS; i++)
		run->kernel_events[i] += status->kernel_events[i];
}

bool metrics_run_is_up(const struct metrics_run *run, u64 now_ns)
{
	return run->heard_ns && span_between(run->heard_ns, now_ns) < SILENT_NS;
}
