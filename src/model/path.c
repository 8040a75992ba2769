// SPDX-License-Identifier: GPL-2.0
/* Keeps the last stretches of every thread (running, waiting for a CPU, blocked) and walks them backwards.
 * Where the kernel does not report interrupts, a wake-up by a thread of another process may have come from one while
 * that one ran: then it is named and not followed. */
#include "path.h"

#include <stdlib.h>

enum { STRETCHES_KEPT = 256, STEPS_MOST = PATH_STEPS };

struct stretch {
	u64 from_ns, to_ns;
	u32 waker_tid; /* of a sleep that was ended */
	u16 cpu;
	u8 kind;     /* enum path_kind */
	u8 woken_by; /* EVENT_FLAG_BY_* */
};

struct stretches {
	struct stretch now; /* to_ns is not known yet; from_ns 0: nothing is */
	u64 taken;
	struct stretch last[STRETCHES_KEPT];
};

static struct stretches *stretches_of(struct thread *thread)
{
	if (!thread->stretches)
		thread->stretches = calloc(1, sizeof(*thread->stretches));
	return thread->stretches;
}

/* The thread turns to something else. */
static bool turn_to(struct threads *threads, u32 tid, enum path_kind kind, u64 now_ns, u16 cpu, u32 waker_tid)
{
	struct thread *thread = tid ? threads_by_tid(threads, tid) : NULL;
	struct stretches *own;

	if (!thread || thread->bystander)
		return true;
	own = stretches_of(thread);
	if (!own)
		return false;
	if (own->now.from_ns && now_ns > own->now.from_ns) {
		struct stretch *ended = &own->last[own->taken++ % STRETCHES_KEPT];

		*ended = own->now;
		ended->to_ns = now_ns;
		ended->waker_tid = waker_tid;
		/* Where it waited is where it then runs. */
		if (ended->kind == PATH_WAITED)
			ended->cpu = cpu;
	}
	own->now = (struct stretch){ .from_ns = now_ns, .kind = (u8)kind, .cpu = cpu };
	return true;
}

static bool handle_switch(struct threads *threads, const struct event_switch *event)
{
	bool can_run = (event->head.flags & EVENT_FLAG_PREEMPTED) || event->prev_state == 0;

	return turn_to(threads, event->head.tid, can_run ? PATH_WAITED : PATH_SLEPT, event->head.time_ns,
		       event->head.cpu, 0) &&
	       turn_to(threads, event->next_tid, PATH_RAN, event->head.time_ns, event->head.cpu, 0);
}

static bool handle_wakeup(struct threads *threads, const struct event_wakeup *event)
{
	const struct thread *thread = threads_by_tid(threads, event->head.tid);

	/* One that is on its way to sleep, or waits already, only turns back. */
	if (thread && thread->stretches && thread->stretches->now.from_ns && thread->stretches->now.kind != PATH_SLEPT)
		return true;
	if (!turn_to(threads, event->head.tid, PATH_WAITED, event->head.time_ns, event->target_cpu, event->waker_tid))
		return false;
	if (thread && thread->stretches && thread->stretches->taken)
		thread->stretches->last[(thread->stretches->taken - 1) % STRETCHES_KEPT].woken_by =
			event->head.flags & (EVENT_FLAG_BY_INTERRUPT | EVENT_FLAG_BY_THREAD);
	return true;
}

bool path_handle(struct threads *threads, const struct event_header *event)
{
	if (event->kind == EVENT_SWITCH)
		return handle_switch(threads, (const struct event_switch *)event);
	if (event->kind == EVENT_WAKEUP)
		return handle_wakeup(threads, (const struct event_wakeup *)event);
	if (event->kind == EVENT_SAMPLE && !(event->flags & EVENT_FLAG_CLOSING))
		return turn_to(threads, event->tid, PATH_RAN, event->time_ns, event->cpu, 0);
	if (event->kind == EVENT_UNSEEN_SWITCH)
		return turn_to(threads, event->tid, PATH_RAN, ((const struct event_unseen_switch *)event)->since_ns,
			       event->cpu, 0);
	return true;
}

/* What the thread did just before this time. */
static bool stretch_before(const struct thread *thread, u64 time_ns, struct stretch *found)
{
	const struct stretches *own = thread ? thread->stretches : NULL;
	u64 first, low, high;

	if (!own)
		return false;
	if (own->now.from_ns && own->now.from_ns < time_ns) {
		*found = own->now;
		found->to_ns = time_ns;
		return true;
	}
	high = own->taken;
	first = low = high > STRETCHES_KEPT ? high - STRETCHES_KEPT : 0;
	/* One began after another: the last that began before is found by halves. */
	while (low < high) {
		u64 middle = low + (high - low) / 2;

		if (own->last[middle % STRETCHES_KEPT].from_ns < time_ns)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == first)
		return false;
	*found = own->last[(low - 1) % STRETCHES_KEPT];
	return found->to_ns >= time_ns;
}

static void add_item(struct path *path, const struct path_item *item, enum path_whose whose)
{
	path->kinds_ns[item->kind][whose] += item->ns;
	for (u32 i = 0; i < path->len; i++) {
		struct path_item *known = &path->items[i];

		if (known->kind != item->kind || known->tid != item->tid || known->other_tid != item->other_tid)
			continue;
		known->ns += item->ns;
		if (item->ns > known->longest_ns) {
			known->longest_ns = item->ns;
			known->cpu = item->cpu;
			known->woken_by = item->woken_by;
		}
		return;
	}
	if (path->len == PATH_ITEMS) {
		path->unlisted_ns += item->ns;
		return;
	}
	path->items[path->len] = *item;
	path->items[path->len++].longest_ns = item->ns;
}

/* The last time that the thread ran before this one. */
static bool run_before(const struct thread *thread, u64 time_ns, struct stretch *found)
{
	while (stretch_before(thread, time_ns, found)) {
		if (found->kind == PATH_RAN)
			return true;
		time_ns = found->from_ns;
	}
	return false;
}

/* Whoever ended this sleep, and its run in which it did; NULL: nobody that one could follow. A wake-up of a thread on
 * another CPU is reported when it gets there, which may be after its waker has gone to sleep itself. */
static const struct thread *follow(const struct threads *threads, const struct thread *thread,
				   const struct stretch *sleep, struct stretch *run)
{
	const struct thread *waker = sleep->waker_tid ? threads_by_tid(threads, sleep->waker_tid) : NULL;

	if (!waker || waker == thread || (sleep->woken_by & EVENT_FLAG_BY_INTERRUPT))
		return NULL;
	if (sleep->woken_by & EVENT_FLAG_BY_THREAD)
		return run_before(waker, sleep->to_ns, run) && run->to_ns > sleep->from_ns ? waker : NULL;
	if (waker->pid != thread->pid)
		return NULL;
	return stretch_before(waker, sleep->to_ns, run) && run->kind == PATH_RAN ? waker : NULL;
}

static void add_step(struct path_trail *trail, const struct path_item *item, u64 from_ns, u64 to_ns)
{
	if (!trail || trail->len == PATH_STEPS)
		return;
	trail->steps[trail->len++] = (struct path_step){ .from_ns = from_ns,
							 .to_ns = to_ns,
							 .kind = item->kind,
							 .tid = item->tid,
							 .other_tid = item->other_tid,
							 .cpu = item->cpu,
							 .woken_by = item->woken_by };
}

/* `returns`: to the thread itself, where the sleep began in which another was followed. */
static void walk(struct path *path, struct path_trail *trail, const struct threads *threads,
		 const struct history *history, u32 tid, u64 from_ns, u64 to_ns, bool returns)
{
	const struct thread *own = threads_by_tid(threads, tid), *thread = own, *waker;
	struct stretch stretch, run;
	u64 back_ns = from_ns; /* while another is followed */

	*path = (struct path){ 0 };
	if (trail)
		trail->len = 0;
	for (u32 step = 0; step < STEPS_MOST && to_ns > from_ns; step++) {
		struct path_item item = { 0 };
		u64 begin_ns;

		if (thread != own && to_ns <= back_ns)
			thread = own;
		if (!thread || !stretch_before(thread, to_ns, &stretch)) {
			/* Nothing is known of that one so far back: the thread itself slept. */
			if (!returns || thread == own || !thread)
				break;
			item = (struct path_item){ .kind = PATH_SLEPT, .tid = thread->tid, .ns = to_ns - back_ns };
			add_item(path, &item, PATH_OTHERS);
			add_step(trail, &item, back_ns, to_ns);
			to_ns = back_ns;
			thread = own;
			continue;
		}
		item.tid = thread->tid;
		waker = stretch.kind == PATH_SLEPT && stretch.to_ns == to_ns ? follow(threads, thread, &stretch, &run)
									     : NULL;
		if (waker && returns && thread == own)
			back_ns = stretch.from_ns > from_ns ? stretch.from_ns : from_ns;
		if (waker && run.to_ns >= to_ns) {
			thread = waker;
			continue;
		}
		if (waker)
			stretch.from_ns = run.to_ns;
		begin_ns = stretch.from_ns > from_ns ? stretch.from_ns : from_ns;
		if (thread != own && begin_ns < back_ns)
			begin_ns = back_ns;
		item.kind = stretch.kind;
		item.ns = to_ns - begin_ns;
		item.cpu = stretch.cpu;
		if (item.kind == PATH_WAITED)
			history_culprit(history, stretch.cpu, begin_ns, to_ns, &item.other_tid);
		if (item.kind == PATH_SLEPT) {
			item.woken_by = stretch.woken_by;
			item.other_tid = stretch.woken_by & EVENT_FLAG_BY_INTERRUPT ? 0 : stretch.waker_tid;
		}
		add_item(path, &item, thread->tid == tid ? PATH_OWN : PATH_OTHERS);
		add_step(trail, &item, begin_ns, to_ns);
		to_ns = begin_ns;
		if (waker)
			thread = waker;
	}
	if (to_ns > from_ns)
		add_item(path, &(struct path_item){ .kind = PATH_UNKNOWN, .tid = tid, .ns = to_ns - from_ns },
			 PATH_OWN);
}

void path_walk(struct path *path, const struct threads *threads, const struct history *history, u32 tid, u64 from_ns,
	       u64 to_ns)
{
	walk(path, NULL, threads, history, tid, from_ns, to_ns, false);
}

void path_walk_trail(struct path *path, struct path_trail *trail, const struct threads *threads,
		     const struct history *history, u32 tid, u64 from_ns, u64 to_ns)
{
	walk(path, trail, threads, history, tid, from_ns, to_ns, false);
}

void path_walk_own(struct path *path, const struct threads *threads, const struct history *history, u32 tid,
		   u64 from_ns, u64 to_ns)
{
	walk(path, NULL, threads, history, tid, from_ns, to_ns, true);
}

/* A sleep of less than this part of the span is no wait for the next frame's time. */
enum { PACED_LEAST_PART = 16 };

static bool ended_from_outside(const struct threads *threads, const struct thread *thread, const struct stretch *sleep)
{
	const struct thread *waker = sleep->waker_tid ? threads_by_tid(threads, sleep->waker_tid) : NULL;

	return (sleep->woken_by & EVENT_FLAG_BY_INTERRUPT) || !waker || waker->pid != thread->pid;
}

u64 path_began_ns(const struct threads *threads, u32 tid, u64 from_ns, u64 to_ns)
{
	const struct thread *thread = threads_by_tid(threads, tid);
	u64 at_ns = to_ns, ran_ns = to_ns, began_ns = from_ns, longest_ns = 0;
	struct stretch stretch;

	while (at_ns > from_ns) {
		if (!stretch_before(thread, at_ns, &stretch))
			return 0;
		at_ns = stretch.from_ns;
		if (stretch.kind == PATH_RAN)
			ran_ns = at_ns;
		if (stretch.kind != PATH_SLEPT || at_ns < from_ns || stretch.to_ns - at_ns <= longest_ns ||
		    !ended_from_outside(threads, thread, &stretch))
			continue;
		longest_ns = stretch.to_ns - at_ns;
		began_ns = ran_ns;
	}
	return longest_ns * PACED_LEAST_PART >= to_ns - from_ns ? began_ns : from_ns;
}

void path_forget_ended(struct threads *threads)
{
	for (size_t i = 0; i < threads->len; i++) {
		struct thread *thread = threads->all[i];

		if (!thread->ended)
			continue;
		free(thread->stretches);
		thread->stretches = NULL;
	}
}
