/* SPDX-License-Identifier: GPL-2.0 */
/* What the kernel counts of a sched_ext scheduler (Linux 6.15 and later, /sys/kernel/sched_ext/root/events): how often
 * it had to step in, or did something that a scheduler may want to know. */
#ifndef TACTUS_SCHED_SCX_EVENTS_H
#define TACTUS_SCHED_SCX_EVENTS_H

#include <stdbool.h>

#include "../../core/types.h"

enum scx_event {
	SCX_EVENT_SELECT_CPU_FALLBACK,	       /* the CPU that was chosen could not be had */
	SCX_EVENT_DISPATCH_LOCAL_DSQ_OFFLINE,  /* a thread was sent to a CPU that was gone */
	SCX_EVENT_DISPATCH_KEEP_LAST,	       /* a thread went on since nobody else was there */
	SCX_EVENT_ENQ_SKIP_EXITING,	       /* threads on their way out, which the scheduler is not asked about */
	SCX_EVENT_ENQ_SKIP_MIGRATION_DISABLED, /* threads that must stay on their CPU for a moment, as those */
	SCX_EVENT_REENQ_IMMED,		       /* threads that could not run at once and came back */
	SCX_EVENT_REFILL_SLICE_DFL,	       /* slices that the kernel filled up with its own default */
	SCX_EVENT_BYPASS_DURATION,	       /* ns in which the kernel did not ask the scheduler at all */
	SCX_EVENT_BYPASS_DISPATCH,	       /* threads that it ran meanwhile */
	SCX_EVENT_BYPASS_ACTIVATE,
	SCX_EVENTS,
};

/* By what name each is printed. */
extern const char *const scx_event_names[SCX_EVENTS];

/* False if the kernel counts nothing. Counts that it does not have are 0. */
bool scx_events_read(u64 events[SCX_EVENTS]);

#endif
