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
			*stall = (struct stall){ .kind = STALL_GAP,
						 .row = row,
						 .at_ns = event->head.time_ns,
						 .span_ns = gap_ns,
						 .usual_ns = usual_ns };
		row->gap_stalls += usual_ns != 0;
	}
	if (event->took_ns) {
		hist_add(&row->took_ns, event->took_ns);
		usual_ns = stall_judge(&row->tooks, event->took_ns, STALL_IOCTL_LEAST_NS);
		if (usual_ns && event->took_ns > stall->span_ns)
			*stall = (struct stall){ .kind = STALL_IOCTL,
						 .row = row,
						 .at_ns = event->head.time_ns,
						 .span_ns = event->took_ns,
						 .usual_ns = usual_ns };
		row->ioctl_stalls += usual_ns != 0;
	}
	return stall->kind != STALL_NONE;
}

static void take_use(struct gpu_use *use, u64 from_ns, u64 to_ns)
{
	if (!use->first_ns)
		use->first_ns = use->until_ns = from_ns;
	if (from_ns > use->until_ns) {
		hist_add(&use->idle_ns, from_ns - use->until_ns);
		use->until_ns = from_ns;
	}
	use->busy_ns += span_between(use->until_ns, to_ns);
	if (to_ns > use->until_ns)
		use->until_ns = to_ns;
}

u64 gpu_use_percent(const struct gpu_use *use)
{
	u64 span_ns = span_between(use->first_ns, use->until_ns);

	return span_ns ? (u64)(10000.0 * (double)use->busy_ns / (double)span_ns) : 0;
}

/* Whether the span stands out; counted in *stalls. */
static bool stands_out(struct stall_window *window, const struct event_fence *event, enum stall_kind kind, u64 span_ns,
		       u64 *stalls, struct stall *stall)
{
	u64 usual_ns = stall_judge(window, span_ns, STALL_GPU_LEAST_NS);

	if (!usual_ns)
		return false;
	(*stalls)++;
	*stall = (struct stall){ .kind = kind,
				 .driver = &event->driver,
				 .timeline = &event->timeline,
				 .tid = event->head.tid,
				 .at_ns = event->head.time_ns,
				 .span_ns = span_ns,
				 .usual_ns = usual_ns };
	return true;
}

static bool handle_signal(struct submits *submits, const struct event_fence *event, struct stall *stall)
{
	struct fence_row **at = &submits->fences, *row;
	u64 now_ns = event->head.time_ns;

	for (; (row = *at); at = &row->next)
		if (same_text(&row->driver, &event->driver) && same_text(&row->timeline, &event->timeline))
			break;
	if (!row)
		*at = row = new_row(submits, sizeof(*row));
	if (!row)
		return false;
	row->driver = event->driver;
	row->timeline = event->timeline;
	row->last_ns = now_ns;
	hist_add(&row->took_ns, event->took_ns);
	take_use(&row->use, span_between(event->took_ns, now_ns), now_ns);
	return stands_out(&row->tooks, event, STALL_FENCE, event->took_ns, &row->stalls, stall);
}

/* A ring gets its next job while it does the one before: that one's end is when this one begins. */
static bool handle_job(struct submits *submits, const struct event_fence *event, struct stall *stall)
{
	struct ring_row **at = &submits->rings, *row;
	u64 now_ns = event->head.time_ns, given_ns = span_between(event->took_ns, now_ns), began_ns;

	for (; (row = *at); at = &row->next)
		if (same_text(&row->device, &event->driver) && same_text(&row->ring, &event->timeline))
			break;
	if (!row)
		*at = row = new_row(submits, sizeof(*row));
	if (!row)
		return false;
	row->device = event->driver;
	row->ring = event->timeline;
	row->last_ns = now_ns;
	if (event->head.flags & EVENT_FLAG_QUEUED) {
		hist_add(&row->queue_ns, event->took_ns);
		return stands_out(&row->queues, event, STALL_QUEUE, event->took_ns, &row->stalls, stall);
	}
	began_ns = given_ns > row->use.until_ns || row->use.until_ns > now_ns ? given_ns : row->use.until_ns;
	hist_add(&row->behind_ns, began_ns - given_ns);
	hist_add(&row->run_ns, now_ns - began_ns);
	take_use(&row->use, began_ns, now_ns);
	return stands_out(&row->runs, event, STALL_RUN, now_ns - began_ns, &row->stalls, stall);
}

static bool handle_fence(struct submits *submits, const struct event_fence *event, struct stall *stall)
{
	for (struct submit_row *row = submits->rows; row; row = row->next)
		row->is_reported |= event->head.tid && row->tid == event->head.tid;
	return event->head.flags & (EVENT_FLAG_QUEUED | EVENT_FLAG_RAN) ? handle_job(submits, event, stall)
									: handle_signal(submits, event, stall);
}

bool submits_unreported(const struct submits *submits, u32 driver)
{
	bool submits_to_it = false, is_reported = false;

	for (const struct submit_row *row = submits->rows; row; row = row->next) {
		bool counts = row->driver == driver && row->submits && row->work != GPU_WORK_FLIP;

		submits_to_it |= counts;
		is_reported |= counts && row->is_reported;
	}
	return submits_to_it && !is_reported;
}

u64 submits_done(const struct submits *submits)
{
	u64 done = 0;

	for (const struct fence_row *row = submits->fences; row; row = row->next)
		done += row->took_ns.total;
	for (const struct ring_row *row = submits->rings; row; row = row->next)
		done += row->run_ns.total;
	return done;
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
	row->last_ns = event->head.time_ns;
	if (event->bytes > row->most_bytes)
		row->most_bytes = event->bytes;
}

bool submits_handle(struct submits *submits, const struct threads *threads, const struct event_header *event,
		    struct stall *stall)
{
	if (event->kind == EVENT_SUBMIT)
		return handle_submit(submits, threads, (const struct event_submit *)event, stall);
	if (event->kind == EVENT_FENCE)
		return handle_fence(submits, (const struct event_fence *)event, stall);
	if (event->kind == EVENT_GPU_MEMORY)
		handle_memory(submits, (const struct event_gpu_memory *)event);
	return false;
}

/* Takes the rows of a list out of which `goes` says so. */
#define TAKE_OUT(list, type, goes)                             \
	for (struct type **at = &(list), *row; (row = *at);) { \
		if (!(goes)) {                                 \
			at = &row->next;                       \
			continue;                              \
		}                                              \
		*at = row->next;                               \
		free(row);                                     \
		submits->len--;                                \
	}

void submits_free(struct submits *submits)
{
	TAKE_OUT(submits->rows, submit_row, true);
	TAKE_OUT(submits->fences, fence_row, true);
	TAKE_OUT(submits->rings, ring_row, true);
	TAKE_OUT(submits->memories, memory_row, true);
	*submits = (struct submits){ 0 };
}

static bool is_gone(const struct submit_row *row, const struct threads *threads, u64 since_ns)
{
	const struct thread *thread = threads_by_tid(threads, row->tid);

	return row->last_ns < since_ns || (thread && (thread->ended || thread->start_ns != row->start_ns));
}

void submits_forget(struct submits *submits, const struct threads *threads, u64 since_ns)
{
	TAKE_OUT(submits->rows, submit_row, is_gone(row, threads, since_ns));
	TAKE_OUT(submits->fences, fence_row, row->last_ns < since_ns);
	TAKE_OUT(submits->rings, ring_row, row->last_ns < since_ns);
	TAKE_OUT(submits->memories, memory_row,
		 row->pid && (row->last_ns < since_ns || threads_has_ended(threads, row->pid)));
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
	for (struct fence_row *row = submits->fences; row; row = row->next) {
		row->took_ns = (struct hist){ 0 };
		row->use = (struct gpu_use){ 0 };
		row->stalls = 0;
	}
	for (struct ring_row *row = submits->rings; row; row = row->next) {
		row->queue_ns = row->behind_ns = row->run_ns = (struct hist){ 0 };
		row->use = (struct gpu_use){ 0 };
		row->stalls = 0;
	}
}
