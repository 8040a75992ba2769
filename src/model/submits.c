// SPDX-License-Identifier: GPL-2.0
/* Keeps what is known of submits, fences and memory in lists; there are few of each.
 * Intervals are those between submits of one kind, whatever else the thread submits in between. */
#include "submits.h"

#include <stdlib.h>
#include <string.h>

#include "../../core/gpu_config.h"

static bool same_text(const struct comm *a, const struct comm *b)
{
	return !memcmp(a->text, b->text, COMM_LEN);
}

/* Room for a row of any list, or NULL. */
static void *new_row(struct submits *submits, size_t size)
{
	void *row = submits->len < SUBMIT_ROWS_MAX ? calloc(1, size) : NULL;

	if (row)
		submits->len++;
	else
		submits->refused++;
	return row;
}

static struct submit_row *row_of(struct submits *submits, const struct threads *threads,
				 const struct event_submit *event)
{
	const struct thread *thread = threads_by_tid(threads, event->head.tid);
	u64 start_ns = thread ? thread->start_ns : 0;
	struct submit_row **at = &submits->rows, *row;

	for (; (row = *at); at = &row->next)
		if (row->tid == event->head.tid && row->start_ns == start_ns && row->driver == event->driver &&
		    row->work == event->work)
			return row;
	*at = row = new_row(submits, sizeof(*row));
	if (!row)
		return NULL;
	row->tid = event->head.tid;
	row->start_ns = start_ns;
	row->driver = event->driver;
	row->work = event->work;
	if (thread) {
		row->pid = thread->pid;
		row->comm = thread->comm;
	}
	return row;
}

static bool handle_submit(struct submits *submits, const struct threads *threads, const struct event_submit *event,
			  struct stall *stall)
{
	struct submit_row *row = row_of(submits, threads, event);
	u64 began_ns = event->head.time_ns - event->took_ns, gap_ns, usual_ns;

	if (!row)
		return false;
	*stall = (struct stall){ .row = row, .at_ns = event->head.time_ns };
	gap_ns = row->submits && began_ns > row->last_ns ? began_ns - row->last_ns : 0;
	row->first_ns = row->submits ? row->first_ns : began_ns;
	row->last_ns = began_ns;
	row->submits++;
	row->refused += event->result < 0;
	if (gap_ns && gap_ns <= STALL_PAUSE_NS) {
		hist_add(&row->interval_ns, gap_ns);
		usual_ns = stall_judge(&row->gaps, gap_ns, STALL_GAP_LEAST_NS);
		if (usual_ns)
			*stall = (struct stall){ STALL_GAP, row, event->head.time_ns, gap_ns, usual_ns };
		row->gap_stalls += usual_ns != 0;
	}
	if (event->took_ns) {
		hist_add(&row->took_ns, event->took_ns);
		usual_ns = stall_judge(&row->tooks, event->took_ns, STALL_IOCTL_LEAST_NS);
		if (usual_ns && event->took_ns > stall->span_ns)
			*stall = (struct stall){ STALL_IOCTL, row, event->head.time_ns, event->took_ns, usual_ns };
		row->ioctl_stalls += usual_ns != 0;
	}
	return stall->kind != STALL_NONE;
}

static void handle_fence(struct submits *submits, const struct event_fence *event)
{
	struct fence_row **at = &submits->fences, *row;

	for (; (row = *at); at = &row->next)
		if (same_text(&row->driver, &event->driver) && same_text(&row->timeline, &event->timeline))
			break;
	if (!row)
		*at = row = new_row(submits, sizeof(*row));
	if (!row)
		return;
	row->driver = event->driver;
	row->timeline = event->timeline;
	hist_add(&row->took_ns, event->took_ns);
}

static void handle_memory(struct submits *submits, const struct event_gpu_memory *event)
{
	struct memory_row **at = &submits->memories, *row;

	for (; (row = *at); at = &row->next)
		if (row->gpu == event->gpu && row->pid == event->pid)
			break;
	if (!row)
		*at = row = new_row(submits, sizeof(*row));
	if (!row)
		return;
	row->gpu = event->gpu;
	row->pid = event->pid;
	row->bytes = event->bytes;
	if (event->bytes > row->most_bytes)
		row->most_bytes = event->bytes;
}

bool submits_handle(struct submits *submits, const struct threads *threads, const struct event_header *event,
		    struct stall *stall)
{
	if (event->kind == EVENT_SUBMIT)
		return handle_submit(submits, threads, (const struct event_submit *)event, stall);
	if (event->kind == EVENT_FENCE)
		handle_fence(submits, (const struct event_fence *)event);
	if (event->kind == EVENT_GPU_MEMORY)
		handle_memory(submits, (const struct event_gpu_memory *)event);
	return false;
}

void submits_free(struct submits *submits)
{
	for (struct submit_row *row = submits->rows, *next; row; row = next) {
		next = row->next;
		free(row);
	}
	for (struct fence_row *row = submits->fences, *next; row; row = next) {
		next = row->next;
		free(row);
	}
	for (struct memory_row *row = submits->memories, *next; row; row = next) {
		next = row->next;
		free(row);
	}
	*submits = (struct submits){ 0 };
}

u64 submit_rate(const struct submit_row *row)
{
	u64 span_ns = row->last_ns - row->first_ns;

	return row->submits > 1 && span_ns ? (u64)(100.0 * (double)(row->submits - 1) * NSEC_PER_SEC / (double)span_ns)
					   : 0;
}

void submits_restart(struct submits *submits)
{
	for (struct submit_row *row = submits->rows; row; row = row->next) {
		row->submits = row->refused = row->ioctl_stalls = row->gap_stalls = row->first_ns = 0;
		row->took_ns = row->interval_ns = (struct hist){ 0 };
	}
	for (struct fence_row *row = submits->fences; row; row = row->next)
		row->took_ns = (struct hist){ 0 };
}
