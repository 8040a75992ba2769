// SPDX-License-Identifier: GPL-2.0
/* Says what is missing from a result: one sentence for each reason. */
#include <inttypes.h>
#include <stdio.h>

#include "../../core/event_info.h"
#include "../base/proc_apart.h"
#include "capture.h"

/* Of a thousand switches one that is timed by the kernel's own figure changes no digit that is shown. */
enum { UNSEEN_PER_MILLE = 1 };

/* "3 switch, 1 frame" */
static void list_kinds(const struct capture_losses *losses, char *text, size_t size)
{
	size_t used = 0;

	text[0] = '\0';
	for (u32 kind = 1; kind < EVENT_KINDS && used < size; kind++)
		if (losses->of_kind[kind])
			used += (size_t)snprintf(text + used, size - used, "%s%" PRIu64 " %s", used ? ", " : "",
						 (uint64_t)losses->of_kind[kind], event_info(kind)->name);
}

/* "3 of mappings, 1 of launch". Returns the sum. */
static u64 list_sensors(const struct capture_losses *losses, char *text, size_t size)
{
	size_t used = 0;
	u64 sum = 0;

	text[0] = '\0';
	for (u32 i = 0; i < losses->sensors_len; i++) {
		sum += losses->sensors[i].facts;
		if (used < size)
			used += (size_t)snprintf(text + used, size - used, "%s%" PRIu64 " of %s", used ? ", " : "",
						 (uint64_t)losses->sensors[i].facts, losses->sensors[i].sensor);
	}
	return sum;
}

static bool matters(const struct capture *capture)
{
	u64 runs = 0;

	for (size_t i = 0; i < capture->threads.len; i++)
		runs += capture->threads.all[i]->account.runs;
	return runs && capture->losses.unseen_switches * 1000 > runs * UNSEEN_PER_MILLE;
}

void capture_print_losses(const struct capture *capture)
{
	const struct capture_losses *losses = &capture->losses;
	char list[512];
	u64 facts;

	list_kinds(losses, list, sizeof(list));
	if (losses->events)
		note("%" PRIu64 " events were lost%s%s%s: the rings were full%s", (uint64_t)losses->events,
		     list[0] ? " (" : "", list, list[0] ? ")" : "",
		     capture->replay ? "" : " (--ring-kb makes them larger)");
	if (losses->unseen_switches && (capture->verbose || matters(capture)))
		note("the kernel did not show %" PRIu64 " switch%s; the runs after them are timed by its own clock",
		     (uint64_t)losses->unseen_switches, losses->unseen_switches == 1 ? "" : "es");
	if (losses->unreached)
		note("%" PRIu64 " events were left out: the storage of their threads could not be reached, since an "
		     "interrupt came during a look-up (Linux 6.2 and later can do that)",
		     (uint64_t)losses->unreached);
	facts = list_sensors(losses, list, sizeof(list));
	if (facts)
		note("%" PRIu64 " facts were lost (%s): a map or ring was full, a hook was busy, or an argument could "
		     "not be read",
		     (uint64_t)facts, list);
	if (proc_apart_unanswered())
		note("%" PRIu64 " times a process's command line, environment or mappings could not be had in time, or "
		     "were not asked for since others of its user's could not: what these processes are is unknown",
		     (uint64_t)proc_apart_unanswered());
	if (losses->threads)
		note("%" PRIu64 " threads are in no account: there was no memory for them", (uint64_t)losses->threads);
}
