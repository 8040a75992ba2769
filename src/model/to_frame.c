// SPDX-License-Identifier: GPL-2.0
/* Keeps reports on their way in a short list. A frame answers the oldest report that its process read since the frame
 * before: later ones are counted with it. Where the thread that presents did not get the report itself, the frame that
 * it is in may have been begun before; then the next one counts. */
#include "to_frame.h"

#include <string.h>

static void drop_carrier(struct to_frames *all, u32 tid)
{
	for (u32 i = 0; i < all->carriers_len; i++)
		if (all->carriers[i].tid == tid)
			all->carriers[i--] = all->carriers[--all->carriers_len];
}

static void carry(struct to_frames *all, u32 tid, u32 device, u64 report_ns)
{
	for (u32 i = 0; i < all->carriers_len; i++)
		if (all->carriers[i].tid == tid) {
			/* What it already has is older. */
			return;
		}
	if (all->carriers_len == TO_FRAME_CARRIERS) {
		all->refused++;
		return;
	}
	all->carriers[all->carriers_len].tid = tid;
	all->carriers[all->carriers_len].device = device;
	all->carriers[all->carriers_len++].report_ns = report_ns;
}

static struct to_frame_way *unanswered(struct to_frames *all, u32 pid)
{
	for (u32 i = 0; i < all->ways_len; i++)
		if (all->ways[i].pid == pid && all->ways[i].stage == TO_FRAME_READ)
			return &all->ways[i];
	return NULL;
}

static bool got_it(const struct to_frame_way *way, u32 tid)
{
	for (u32 i = 0; i < way->tids_len; i++)
		if (way->tids[i] == tid)
			return true;
	return false;
}

/* The thread has the report now. */
static void reach(struct to_frames *all, const struct threads *threads, u32 tid, u32 device, u64 report_ns, u64 now_ns)
{
	const struct thread *thread = threads_by_tid(threads, tid);
	struct to_frame_way *way = thread ? unanswered(all, thread->pid) : NULL;

	carry(all, tid, device, report_ns);
	if (!thread)
		return;
	if (way && now_ns - way->read_ns > TO_FRAME_MOST_NS) {
		all->without_frame += way->reports;
		*way = all->ways[--all->ways_len];
		way = NULL;
	}
	if (!way && all->ways_len == TO_FRAME_WAITING) {
		all->refused++;
		return;
	}
	if (!way) {
		way = &all->ways[all->ways_len++];
		*way = (struct to_frame_way){
			.pid = thread->pid, .device = device, .report_ns = report_ns, .read_ns = now_ns, .reports = 1
		};
	} else if (way->report_ns != report_ns || way->device != device) {
		way->reports += !got_it(way, tid) || report_ns > way->report_ns;
	}
	if (!got_it(way, tid) && way->tids_len < TO_FRAME_THREADS)
		way->tids[way->tids_len++] = tid;
}

static void handle_input_wake(struct to_frames *all, const struct threads *threads,
			      const struct event_input_wake *event)
{
	drop_carrier(all, event->head.tid);
	reach(all, threads, event->head.tid, event->device, span_between(event->delay_ns, event->head.time_ns),
	      event->head.time_ns);
}

/* Whom a thread wakes that has just read a report gets it, if the kernel tells that it was not an interrupt, or in its
 * own process. */
static void handle_wakeup(struct to_frames *all, const struct threads *threads, const struct event_wakeup *event)
{
	const struct thread *waker, *woken;

	if (event->head.flags & EVENT_FLAG_BY_INTERRUPT)
		return;
	for (u32 i = 0; i < all->carriers_len; i++) {
		if (all->carriers[i].tid != event->waker_tid)
			continue;
		waker = threads_by_tid(threads, event->waker_tid);
		woken = threads_by_tid(threads, event->head.tid);
		if (waker && woken && ((event->head.flags & EVENT_FLAG_BY_THREAD) || waker->pid == woken->pid))
			reach(all, threads, event->head.tid, all->carriers[i].device, all->carriers[i].report_ns,
			      event->head.time_ns);
		return;
	}
}

static void handle_switch(struct to_frames *all, const struct event_switch *event)
{
	if (event->prev_state && !(event->head.flags & EVENT_FLAG_PREEMPTED))
		drop_carrier(all, event->head.tid);
}

static u32 server_of(const struct to_frames *all, u32 pid)
{
	for (u32 i = 0; i < all->servers_len; i++)
		if (all->servers[i].pid == pid)
			return all->servers[i].server_pid;
	return 0;
}

static void handle_served(struct to_frames *all, const struct event_served *event)
{
	u32 at = 0;

	while (at < all->servers_len && all->servers[at].pid != event->pid)
		at++;
	if (at == TO_FRAME_SERVERS) {
		all->refused++;
		return;
	}
	all->servers_len += at == all->servers_len;
	all->servers[at].pid = event->pid;
	all->servers[at].server_pid = event->server_pid;
}

static void take_frame(struct to_frame_way *way, const struct event_frame *event)
{
	u32 tid = event->head.tid;

	if (way->stage != TO_FRAME_READ) {
		way->presents_after += way->present_tid == tid;
		return;
	}
	if (event->head.time_ns < way->read_ns)
		return;
	if (!got_it(way, tid) && way->begins_tid != tid) {
		way->begins_tid = tid;
		return;
	}
	way->stage = TO_FRAME_PRESENTED;
	way->present_tid = way->flip_tid = tid;
	way->presented_ns = way->flip_ns = event->head.time_ns;
	way->number = event->number;
}

static void handle_frame(struct to_frames *all, const struct threads *threads, const struct event_frame *event)
{
	const struct thread *thread = threads_by_tid(threads, event->head.tid);

	if (!thread)
		return;
	for (u32 i = 0; i < all->ways_len; i++) {
		struct to_frame_way *way = &all->ways[i];

		if (way->pid == thread->pid)
			take_frame(way, event);
		else if (way->stage == TO_FRAME_HANDED_OVER && server_of(all, way->pid) == thread->pid) {
			way->stage = TO_FRAME_COMPOSITED;
			way->flip_tid = event->head.tid;
			way->flip_ns = event->head.time_ns;
		}
	}
}

static void handle_commit(struct to_frames *all, const struct event_commit *event)
{
	for (u32 i = 0; i < all->ways_len; i++) {
		struct to_frame_way *way = &all->ways[i];

		if (way->stage == TO_FRAME_PRESENTED && way->present_tid == event->head.tid &&
		    way->number == event->number) {
			way->stage = TO_FRAME_HANDED_OVER;
			way->flip_tid = 0;
		}
	}
}

static struct to_frame_row *row_of(struct to_frames *all, const struct to_frame *done)
{
	u32 at = 0;

	while (at < all->rows_len && (all->rows[at].device != done->device || all->rows[at].pid != done->pid))
		at++;
	if (at == TO_FRAME_ROWS) {
		all->refused++;
		return NULL;
	}
	if (at == all->rows_len)
		all->rows[all->rows_len++] = (struct to_frame_row){ .device = done->device, .pid = done->pid };
	all->rows[at].comm = done->comm;
	return &all->rows[at];
}

static void finish(struct to_frames *all, const struct threads *threads, u32 at, u64 shown_at_ns, struct to_frame *done)
{
	const struct to_frame_way *way = &all->ways[at];
	const struct thread *thread = threads_by_tid(threads, way->present_tid);
	struct to_frame_row *row;

	*done = (struct to_frame){ .device = way->device,
				   .pid = way->pid,
				   .tid = way->present_tid,
				   .report_ns = way->report_ns,
				   .reports = way->reports,
				   .run_ns = span_between(way->report_ns, way->read_ns),
				   .present_ns = span_between(way->report_ns, way->presented_ns),
				   .shown_ns = shown_at_ns ? span_between(way->report_ns, shown_at_ns)
							   : TO_FRAME_UNKNOWN };
	if (thread)
		done->comm = thread->comm;
	row = row_of(all, done);
	if (row) {
		row->reports += done->reports;
		hist_add(&row->run_ns, done->run_ns);
		hist_add(&row->present_ns, done->present_ns);
		if (shown_at_ns)
			hist_add(&row->shown_ns, done->shown_ns);
	}
	all->ways[at] = all->ways[--all->ways_len];
}

/* A display tells whose picture is up: that of the flip before. */
static void handle_vblank(struct to_frames *all, const struct event_vblank *event)
{
	for (u32 i = 0; event->head.tid && i < all->ways_len; i++) {
		struct to_frame_way *way = &all->ways[i];

		if ((way->stage == TO_FRAME_PRESENTED || way->stage == TO_FRAME_COMPOSITED) && !way->shown_at_ns &&
		    way->flip_tid == event->head.tid && way->flip_ns <= event->at_ns)
			way->shown_at_ns = event->at_ns;
	}
}

void to_frames_handle(struct to_frames *to_frames, const struct threads *threads, const struct event_header *event)
{
	switch (event->kind) {
	case EVENT_INPUT_WAKE:
		handle_input_wake(to_frames, threads, (const struct event_input_wake *)event);
		break;
	case EVENT_WAKEUP:
		handle_wakeup(to_frames, threads, (const struct event_wakeup *)event);
		break;
	case EVENT_SWITCH:
		handle_switch(to_frames, (const struct event_switch *)event);
		break;
	case EVENT_FRAME:
		handle_frame(to_frames, threads, (const struct event_frame *)event);
		break;
	case EVENT_COMMIT:
		handle_commit(to_frames, (const struct event_commit *)event);
		break;
	case EVENT_SERVED:
		handle_served(to_frames, (const struct event_served *)event);
		break;
	case EVENT_VBLANK:
		handle_vblank(to_frames, (const struct event_vblank *)event);
		break;
	default:
		break;
	}
}

/* Whoever has presented twice since then, and heard nothing of a display, does not hear of one. */
static bool awaits_display(const struct to_frame_way *way, u64 now_ns)
{
	enum { PRESENTS_MOST = 2 };

	return !way->shown_at_ns && way->presents_after < PRESENTS_MOST &&
	       span_between(way->presented_ns, now_ns) < TO_FRAME_SHOWN_MOST_NS;
}

bool to_frames_next(struct to_frames *to_frames, const struct threads *threads, u64 now_ns, struct to_frame *done)
{
	for (u32 i = 0; i < to_frames->ways_len; i++) {
		const struct to_frame_way *way = &to_frames->ways[i];

		if (way->stage == TO_FRAME_READ) {
			if (span_between(way->read_ns, now_ns) < TO_FRAME_MOST_NS)
				continue;
			to_frames->without_frame += way->reports;
			to_frames->ways[i--] = to_frames->ways[--to_frames->ways_len];
			continue;
		}
		if (awaits_display(way, now_ns))
			continue;
		finish(to_frames, threads, i, way->shown_at_ns, done);
		return true;
	}
	return false;
}

void to_frames_restart(struct to_frames *to_frames)
{
	to_frames->rows_len = 0;
	to_frames->without_frame = to_frames->refused = 0;
}
