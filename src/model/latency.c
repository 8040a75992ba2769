// SPDX-License-Identifier: GPL-2.0
/* Run-queue latency from a stream of events. A thread's histogram has only the octaves that it needs, so that many
 * short-lived threads stay cheap; the runs of each CPU are remembered for a while, to name who was in the way. */
#include "latency.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../base/sort.h"
#include "../base/vec.h"

/* A histogram of core/hist.h, of which only slots first to first + len are there. */
struct thread_waits {
	const struct thread *thread;
	u64 total;
	u64 sum_ns;
	u64 max_ns;
	u32 first, len; /* multiples of HIST_SUBS */
	u32 *counts;
};

void latency_init(struct latency *latency, u64 over_ns)
{
	*latency = (struct latency){ .over_ns = over_ns };
}

void latency_free(struct latency *latency)
{
	for (size_t i = 0; i < latency->threads_len; i++)
		free(latency->threads[i].counts);
	history_free(&latency->history);
	free(latency->threads);
	map_free(&latency->by_thread);
	free(latency->longest);
	*latency = (struct latency){ 0 };
}

void latency_restart(struct latency *latency)
{
	for (size_t i = 0; i < latency->threads_len; i++)
		free(latency->threads[i].counts);
	latency->threads_len = 0;
	map_clear(&latency->by_thread);
	latency->woken = latency->preempted = (struct hist){ 0 };
	latency->longest_len = 0;
	latency->not_listed = 0;
}

/* NULL for want of memory. */
static struct thread_waits *waits_of(struct latency *latency, const struct thread *thread)
{
	u32 index = map_get(&latency->by_thread, (uintptr_t)thread);

	if (!index) {
		if (!vec_reserve(latency->threads, latency->threads_room, latency->threads_len + 1, 64) ||
		    !map_set(&latency->by_thread, (uintptr_t)thread, (u32)latency->threads_len + 1))
			return NULL;
		latency->threads[latency->threads_len++] = (struct thread_waits){ .thread = thread };
		index = (u32)latency->threads_len;
	}
	return &latency->threads[index - 1];
}

/* Makes room for the octave that the slot is in. */
static int widen(struct thread_waits *waits, u32 slot)
{
	u32 low = slot - slot % HIST_SUBS, high = low + HIST_SUBS;
	u32 first = waits->len && waits->first < low ? waits->first : low;
	u32 end = waits->first + waits->len > high ? waits->first + waits->len : high;
	u32 *counts = calloc(end - first, sizeof(*counts));

	if (!counts)
		return -ENOMEM;
	if (waits->len)
		memcpy(counts + (waits->first - first), waits->counts, waits->len * sizeof(*counts));
	free(waits->counts);
	waits->counts = counts;
	waits->first = first;
	waits->len = end - first;
	return 0;
}

static int add_wait(struct thread_waits *waits, u64 wait_ns)
{
	u32 slot = hist_slot(wait_ns);

	if ((slot < waits->first || slot >= waits->first + waits->len) && widen(waits, slot))
		return -ENOMEM;
	if (waits->counts[slot - waits->first] == UINT32_MAX)
		return 0;
	waits->counts[slot - waits->first]++;
	waits->total++;
	waits->sum_ns += wait_ns;
	if (wait_ns > waits->max_ns)
		waits->max_ns = wait_ns;
	return 0;
}

static void copy_comm(struct comm *into, const struct threads *threads, u32 tid)
{
	const struct thread *thread = tid ? threads_by_tid(threads, tid) : NULL;

	if (thread)
		*into = thread->comm;
}

static void sink_down(struct long_wait *heap, u32 len, u32 at)
{
	for (;;) {
		u32 least = at;
		struct long_wait lifted;

		for (u32 child = 2 * at + 1; child <= 2 * at + 2 && child < len; child++)
			if (heap[child].wait_ns < heap[least].wait_ns)
				least = child;
		if (least == at)
			return;
		lifted = heap[at];
		heap[at] = heap[least];
		heap[least] = lifted;
		at = least;
	}
}

static void rise_up(struct long_wait *heap, u32 at)
{
	while (at && heap[at].wait_ns < heap[(at - 1) / 2].wait_ns) {
		struct long_wait lifted = heap[at];

		heap[at] = heap[(at - 1) / 2];
		heap[(at - 1) / 2] = lifted;
		at = (at - 1) / 2;
	}
}

static void keep_wait(struct latency *latency, const struct threads *threads, const struct wait *wait)
{
	struct long_wait kept = {
		.to_ns = wait->to_ns,
		.wait_ns = span_between(wait->from_ns, wait->to_ns),
		.tid = wait->thread->tid,
		.pid = wait->thread->pid,
		.comm = wait->thread->comm,
		.cpu = wait->cpu,
		.kind = wait->kind,
		.waker_tid = wait->kind == WAIT_WOKEN ? wait->waker_tid : 0,
	};

	if (!latency->longest)
		latency->longest = calloc(LATENCY_WAITS_KEPT, sizeof(*latency->longest));
	if (!latency->longest) {
		latency->failed = true;
		return;
	}
	if (latency->longest_len == LATENCY_WAITS_KEPT) {
		latency->not_listed++;
		if (kept.wait_ns <= latency->longest[0].wait_ns)
			return;
	}
	kept.culprit = history_culprit(&latency->history, wait->cpu, wait->from_ns, wait->to_ns, &kept.behind_tid);
	copy_comm(&kept.behind_comm, threads, kept.behind_tid);
	copy_comm(&kept.waker_comm, threads, kept.waker_tid);
	if (latency->longest_len < LATENCY_WAITS_KEPT) {
		latency->longest[latency->longest_len] = kept;
		rise_up(latency->longest, latency->longest_len++);
	} else {
		latency->longest[0] = kept;
		sink_down(latency->longest, latency->longest_len, 0);
	}
}

void latency_handle(struct latency *latency, const struct threads *threads, const struct event_header *event,
		    const struct wait *ended)
{
	struct thread_waits *waits;
	u64 wait_ns;

	if (latency->over_ns)
		if (!history_handle(&latency->history, event))
			latency->failed = true;
	if (!ended)
		return;
	wait_ns = span_between(ended->from_ns, ended->to_ns);
	hist_add(ended->kind == WAIT_WOKEN ? &latency->woken : &latency->preempted, wait_ns);
	waits = waits_of(latency, ended->thread);
	if (!waits || add_wait(waits, wait_ns))
		latency->failed = true;
	if (latency->over_ns && wait_ns > latency->over_ns)
		keep_wait(latency, threads, ended);
}

struct latency_summary latency_summary(const struct hist *hist)
{
	return (struct latency_summary){
		.waits = hist->total,
		.wait_ns = hist->sum,
		.p50_ns = hist_percentile(hist, 500000),
		.p90_ns = hist_percentile(hist, 900000),
		.p95_ns = hist_percentile(hist, 950000),
		.p99_ns = hist_percentile(hist, 990000),
		.p999_ns = hist_percentile(hist, 999000),
		.max_ns = hist->max,
	};
}

static void add_to_hist(struct hist *into, const struct thread_waits *waits)
{
	for (u32 i = 0; i < waits->len; i++)
		into->counts[waits->first + i] += waits->counts[i];
	into->total += waits->total;
	into->sum += waits->sum_ns;
	if (waits->max_ns > into->max)
		into->max = waits->max_ns;
}

bool latency_of_thread(const struct latency *latency, const struct thread *thread, struct latency_summary *summary)
{
	u32 index = map_get(&latency->by_thread, (uintptr_t)thread);
	struct hist hist = { 0 };

	if (!index)
		return false;
	add_to_hist(&hist, &latency->threads[index - 1]);
	*summary = latency_summary(&hist);
	return true;
}

static int process_order(const void *a, const void *b)
{
	const struct thread *left = (*(const struct thread_waits *const *)a)->thread;
	const struct thread *right = (*(const struct thread_waits *const *)b)->thread;

	if (left->pid != right->pid)
		return left->pid < right->pid ? -1 : 1;
	return left->tid < right->tid ? -1 : left->tid > right->tid;
}

static int worst_first(const void *a, const void *b)
{
	const struct latency_row *left = a, *right = b;

	if (left->summary.max_ns != right->summary.max_ns)
		return left->summary.max_ns > right->summary.max_ns ? -1 : 1;
	if (left->summary.waits != right->summary.waits)
		return left->summary.waits > right->summary.waits ? -1 : 1;
	return left->tid < right->tid ? -1 : left->tid > right->tid;
}

/* A process has the name of its first thread, whether that one waited or not. */
static void name_process(struct latency_row *row, const struct threads *threads)
{
	row->tid = row->pid;
	copy_comm(&row->comm, threads, row->pid);
}

struct latency_row *latency_rows(const struct latency *latency, const struct threads *threads, bool by_process,
				 size_t *len)
{
	size_t taken = 0, rows_len = 0;
	const struct thread_waits **order = calloc(latency->threads_len + 1, sizeof(*order));
	struct latency_row *rows = calloc(latency->threads_len + 1, sizeof(*rows));

	*len = latency->threads_len;
	for (size_t i = 0; order && i < latency->threads_len; i++)
		order[i] = &latency->threads[i];
	if (by_process && order)
		sort_rows(order, latency->threads_len, sizeof(*order), process_order);
	while (order && rows && taken < latency->threads_len) {
		const struct thread *thread = order[taken]->thread;
		struct hist hist = { 0 };

		do
			add_to_hist(&hist, order[taken++]);
		while (by_process && taken < latency->threads_len && order[taken]->thread->pid == thread->pid);
		rows[rows_len] = (struct latency_row){ .tid = thread->tid, .pid = thread->pid, .comm = thread->comm };
		if (by_process)
			name_process(&rows[rows_len], threads);
		rows[rows_len++].summary = latency_summary(&hist);
	}
	free(order);
	if (!rows_len) {
		free(rows);
		return NULL;
	}
	sort_rows(rows, rows_len, sizeof(*rows), worst_first);
	*len = rows_len;
	return rows;
}

static int earlier_first(const void *a, const void *b)
{
	const struct long_wait *left = a, *right = b;

	if (left->to_ns != right->to_ns)
		return left->to_ns < right->to_ns ? -1 : 1;
	return left->tid < right->tid ? -1 : left->tid > right->tid;
}

void latency_order_waits(struct latency *latency)
{
	if (latency->longest)
		sort_rows(latency->longest, latency->longest_len, sizeof(*latency->longest), earlier_first);
}
