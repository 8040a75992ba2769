// SPDX-License-Identifier: GPL-2.0
/* The last runs of each CPU, from a stream of events, and who had most of a span of time there. */
#include "history.h"

#include <stdlib.h>
#include <string.h>

#include "../../core/account.h"
#include "../base/vec.h"

struct run {
	u64 from_ns, to_ns;
	u32 tid; /* 0: idle */
};

struct cpu_runs {
	u64 since_ns; /* of the run that goes on; 0: not known */
	u64 taken;    /* runs that ended so far; the newest is at (taken - 1) % HISTORY_RUNS */
	struct run last[HISTORY_RUNS];
};

void history_free(struct history *history)
{
	for (u32 cpu = 0; cpu < history->cpus_len; cpu++)
		free(history->cpus[cpu]);
	free(history->cpus);
	*history = (struct history){ 0 };
}

/* The CPU's runs, made if they are not there. NULL for want of memory. */
static struct cpu_runs *runs_of(struct history *history, u32 cpu)
{
	if (!vec_lengthen(history->cpus, history->cpus_len, (size_t)cpu + 1))
		return NULL;
	if (!history->cpus[cpu])
		history->cpus[cpu] = calloc(1, sizeof(struct cpu_runs));
	return history->cpus[cpu];
}

/* Remembers who ran until now. In a filtered stream the thread that leaves may not be the one that came: switches
 * between others are missing. The span is then put down to the one that leaves, the only one sure to have been there.
 */
bool history_handle(struct history *history, const struct event_header *event)
{
	struct cpu_runs *runs;

	if (event->kind != EVENT_SWITCH && event->kind != EVENT_SAMPLE && event->kind != EVENT_LOST)
		return true;
	if (event->kind == EVENT_SAMPLE && (event->flags & EVENT_FLAG_CLOSING))
		return true;
	runs = runs_of(history, event->cpu);
	if (!runs)
		return false;
	if (event->kind == EVENT_SWITCH && runs->since_ns)
		runs->last[runs->taken++ % HISTORY_RUNS] =
			(struct run){ .from_ns = runs->since_ns, .to_ns = event->time_ns, .tid = event->tid };
	runs->since_ns = event->time_ns;
	return true;
}

struct share {
	u32 tid;
	u64 ns;
};

static void add_share(struct share *shares, u32 *len, u32 tid, u64 ns)
{
	for (u32 i = 0; i < *len; i++) {
		if (shares[i].tid == tid) {
			shares[i].ns += ns;
			return;
		}
	}
	shares[(*len)++] = (struct share){ .tid = tid, .ns = ns };
}

enum culprit history_culprit(const struct history *history, u32 cpu, u64 from_ns, u64 to_ns, u32 *tid)
{
	const struct cpu_runs *runs = cpu < history->cpus_len ? history->cpus[cpu] : NULL;
	struct share shares[HISTORY_RUNS];
	u32 shares_len = 0, largest = 0;

	for (u64 back = 1; runs && back <= runs->taken && back <= HISTORY_RUNS; back++) {
		const struct run *run = &runs->last[(runs->taken - back) % HISTORY_RUNS];
		u64 begin_ns = run->from_ns > from_ns ? run->from_ns : from_ns;
		u64 end_ns = run->to_ns < to_ns ? run->to_ns : to_ns;

		if (run->to_ns <= from_ns)
			break;
		if (run->from_ns >= to_ns)
			continue;
		add_share(shares, &shares_len, run->tid, span_between(begin_ns, end_ns));
	}
	if (!shares_len)
		return CULPRIT_UNKNOWN;
	for (u32 i = 1; i < shares_len; i++)
		if (shares[i].ns > shares[largest].ns)
			largest = i;
	*tid = shares[largest].tid;
	return *tid ? CULPRIT_THREAD : CULPRIT_IDLE;
}
