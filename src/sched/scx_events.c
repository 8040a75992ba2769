// SPDX-License-Identifier: GPL-2.0
/* Reads what the kernel counts of the sched_ext scheduler in charge: a line a count, the name and the number. */
#include "scx_events.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define EVENTS_FILE "/sys/kernel/sched_ext/root/events"
#define EVENT_PREFIX "SCX_EV_"

const char *const scx_event_names[SCX_EVENTS] = {
	[SCX_EVENT_SELECT_CPU_FALLBACK] = "select_cpu_fallback",
	[SCX_EVENT_DISPATCH_LOCAL_DSQ_OFFLINE] = "dispatch_local_dsq_offline",
	[SCX_EVENT_DISPATCH_KEEP_LAST] = "dispatch_keep_last",
	[SCX_EVENT_ENQ_SKIP_EXITING] = "enq_skip_exiting",
	[SCX_EVENT_ENQ_SKIP_MIGRATION_DISABLED] = "enq_skip_migration_disabled",
	[SCX_EVENT_REENQ_IMMED] = "reenq_immed",
	[SCX_EVENT_REFILL_SLICE_DFL] = "refill_slice_dfl",
	[SCX_EVENT_BYPASS_DURATION] = "bypass_duration",
	[SCX_EVENT_BYPASS_DISPATCH] = "bypass_dispatch",
	[SCX_EVENT_BYPASS_ACTIVATE] = "bypass_activate",
};

static int event_of(const char *kernel_name)
{
	if (strncmp(kernel_name, EVENT_PREFIX, strlen(EVENT_PREFIX)))
		return -1;
	kernel_name += strlen(EVENT_PREFIX);
	for (int event = 0; event < SCX_EVENTS; event++)
		if (!strcasecmp(kernel_name, scx_event_names[event]))
			return event;
	return -1;
}

bool scx_events_read(u64 events[SCX_EVENTS])
{
	FILE *file = fopen(EVENTS_FILE, "re");
	char name[64];
	u64 count;
	int event;

	memset(events, 0, sizeof(events[0]) * SCX_EVENTS);
	if (!file)
		return false;
	while (fscanf(file, "%63s %" SCNu64, name, &count) == 2) {
		event = event_of(name);
		if (event >= 0)
			events[event] = count;
	}
	fclose(file);
	return true;
}
