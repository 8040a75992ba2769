// SPDX-License-Identifier: GPL-2.0
/* One second of 'tactus run' as a line for people or an object for programs.
 * Rates are per second, whatever the span really was. */
#include "status.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "../model/roles.h"
#include "../sink/text.h"

enum { WAIT_SIZE = 12 };

bool status_is_sound(const void *from, size_t bytes)
{
	struct run_status status;

	if (bytes != sizeof(status))
		return false;
	memcpy(&status, from, sizeof(status));
	return status.magic == STATUS_MAGIC && status.version == STATUS_VERSION &&
	       memchr(status.actuator, '\0', sizeof(status.actuator));
}

static u64 per_second(u64 count, u64 span_ns)
{
	double rate = span_ns ? (double)count * NSEC_PER_SEC / (double)span_ns + 0.5 : 0;

	/* Numbers come over a socket: what no integer holds is the largest. */
	return rate < 1e19 ? (u64)rate : ~0ULL;
}

void status_print_head(FILE *out)
{
	fputs("                                                         |     WAIT, P99 OF       |        THREADS\n"
	      "TIME      BY       BUSY  SWITCH/S  MOVE/S  PUSH/S   LATE | URGENT  NORMAL   BATCH | URGENT  BATCH  "
	      "RENDER  "
	      "AUDIO  INPUT  NET  HINTS  LOST\n",
	      out);
}

void status_print_line(FILE *out, const struct run_status *status)
{
	u64 total_ns = status->busy_ns + status->idle_ns;
	time_t at = (time_t)(status->wall_ns / NSEC_PER_SEC);
	char waits[TIERS][WAIT_SIZE], name[STATUS_NAME_LEN * 2], clock[16];
	struct tm local;

	for (u32 tier = 0; tier < TIERS; tier++) {
		if (status->waits[tier])
			format_time(waits[tier], sizeof(waits[tier]), status->wait_p99_ns[tier]);
		else
			strcpy(waits[tier], "-");
	}
	localtime_r(&at, &local);
	strftime(clock, sizeof(clock), "%H:%M:%S", &local);
	format_plain(name, sizeof(name), status->actuator);
	fprintf(out, "%s  %-7s %4.0f %%  %8" PRIu64 "  %6" PRIu64 "  %6" PRIu64 "  %5" PRIu64 " | %7s %7s %7s", clock,
		name, total_ns ? 100.0 * (double)status->busy_ns / (double)total_ns : 0,
		per_second(status->switches, status->span_ns), per_second(status->moves, status->span_ns),
		per_second(status->decisions[SCX_COUNT_PREEMPTED], status->span_ns), status->missed,
		waits[TIER_LATENCY_CRITICAL], waits[TIER_INTERACTIVE], waits[TIER_BATCH]);
	fprintf(out,
		" | %6" PRIu64 "  %5" PRIu64 "  %6" PRIu64 "  %5" PRIu64 "  %5" PRIu64 "  %3" PRIu64 "  %5" PRIu64
		"  %4" PRIu64 "\n",
		status->by_tier[TIER_LATENCY_CRITICAL], status->by_tier[TIER_BATCH], status->by_role[ROLE_RENDER],
		status->by_role[ROLE_AUDIO], status->by_role[ROLE_INPUT], status->by_role[ROLE_NETWORK],
		status->hints_urgent + status->hints_batch, status->lost);
}

static void print_tiers(FILE *out, const char *name, const u64 of[TIERS])
{
	fprintf(out, ",\"%s\":{\"urgent\":%" PRIu64 ",\"normal\":%" PRIu64 ",\"batch\":%" PRIu64 "}", name,
		of[TIER_LATENCY_CRITICAL], of[TIER_INTERACTIVE], of[TIER_BATCH]);
}

static void print_events(FILE *out, const struct run_status *status)
{
	fputs(",\"kernel_events\":", out);
	if (!status->counts_events) {
		fputs("null", out);
		return;
	}
	for (u32 event = 0; event < SCX_EVENTS; event++)
		fprintf(out, "%s\"%s%s\":%" PRIu64, event ? "," : "{", scx_event_names[event],
			event == SCX_EVENT_BYPASS_DURATION ? "_ns" : "", status->kernel_events[event]);
	fputs("}", out);
}

void status_print_json(FILE *out, const struct run_status *status)
{
	const u64 *decisions = status->decisions;
	bool by_us = !strcmp(status->actuator, "scx");

	fprintf(out, "{\"wall_ns\":%" PRIu64 ",\"span_ns\":%" PRIu64 ",\"scheduler\":%s,\"actuator\":", status->wall_ns,
		status->span_ns, by_us ? "\"tactus\"" : "null");
	print_json_string(out, status->actuator);
	fprintf(out,
		",\"switches\":%" PRIu64 ",\"busy_ns\":%" PRIu64 ",\"idle_ns\":%" PRIu64 ",\"moves\":%" PRIu64
		",\"missed\":%" PRIu64 ",\"lost\":%" PRIu64 ",\"restarts\":%" PRIu64,
		status->switches, status->busy_ns, status->idle_ns, status->moves, status->missed, status->lost,
		status->restarts);
	fprintf(out,
		",\"at_once\":%" PRIu64 ",\"queued\":%" PRIu64 ",\"preempted\":%" PRIu64 ",\"stolen\":%" PRIu64
		",\"burnt\":%" PRIu64 ",\"lent\":%" PRIu64 ",\"parked\":%" PRIu64,
		decisions[SCX_COUNT_IDLE], decisions[SCX_COUNT_QUEUED], decisions[SCX_COUNT_PREEMPTED],
		decisions[SCX_COUNT_STOLEN], decisions[SCX_COUNT_BURNT], decisions[SCX_COUNT_LENT],
		decisions[SCX_COUNT_PARKED]);
	print_events(out, status);
	print_tiers(out, "wait_p99_ns", status->wait_p99_ns);
	print_tiers(out, "waits", status->waits);
	print_tiers(out, "threads_by_tier", status->by_tier);
	fputs(",\"threads_by_role\":{", out);
	for (u32 role = ROLE_UNKNOWN + 1; role < ROLES; role++)
		fprintf(out, "%s\"%s\":%" PRIu64, role > 1 ? "," : "", role_name(role), status->by_role[role]);
	fprintf(out,
		"},\"hints\":{\"urgent\":%" PRIu64 ",\"batch\":%" PRIu64 ",\"given\":%" PRIu64
		",\"taken_back\":%" PRIu64 ",\"left_alone\":%" PRIu64 ",\"refused\":%" PRIu64 "}}\n",
		status->hints_urgent, status->hints_batch, status->hints_given, status->hints_taken_back,
		status->hints_left_alone, status->hints_refused);
}
