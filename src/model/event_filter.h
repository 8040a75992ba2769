/* SPDX-License-Identifier: GPL-2.0 */
/* The filters of the kernel half, for a recording: events of threads and CPUs that were not asked for are left out, and
 * those who take part in an event of one that was are bystanders. */
#ifndef TACTUS_MODEL_EVENT_FILTER_H
#define TACTUS_MODEL_EVENT_FILTER_H

#include <stdbool.h>

#include "../../core/event.h"
#include "../base/filter.h"

/* Room for any event. */
union any_event {
	struct event_header head;
	struct event_thread thread;
	struct event_rename rename;
	unsigned char bytes[256];
};

struct event_filter;

/* NULL for want of memory. `filter` is needed as long as it; cgroups are not looked at. `every_switch`: those of others
 * pass too, on CPUs that were asked for, so that who was in the way is known however far back. */
struct event_filter *event_filter_open(const struct filter *filter, bool every_switch);
void event_filter_close(struct event_filter *filter);

/* The event as it is to be taken: itself, or *changed; NULL: it is left out. To be called with every event, in their
 * order.
 */
const struct event_header *event_filter_pass(struct event_filter *filter, const struct event_header *event,
					     union any_event *changed);

/* Whether any thread so far was one that was asked for. */
bool event_filter_matched(const struct event_filter *filter);

/* Whether something passed or did not pass by mistake, for want of memory. */
bool event_filter_failed(const struct event_filter *filter);

#endif
