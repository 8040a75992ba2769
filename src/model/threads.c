// SPDX-License-Identifier: GPL-2.0
/* Turns a stream of events into accounts, by the same functions that the kernel half uses at its hooks.
 * A reused tid leads to the newest thread that had it. */
#include "threads.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../base/vec.h"

enum { FIRST_ROOM = 256 };

int threads_init(struct threads *threads, const struct cpu_topology *topology, u32 cpus_len)
{
	*threads = (struct threads){ .topology = topology, .cpus_len = cpus_len };
	threads->cpus = calloc(cpus_len ? cpus_len : 1, sizeof(*threads->cpus));
	return threads->cpus ? 0 : -ENOMEM;
}

static void free_thread(struct thread *thread)
{
	free(thread->role);
	free(thread->stretches);
	free(thread->moves);
	free(thread->clock);
	free(thread->lanes);
	free(thread);
}

void threads_free(struct threads *threads)
{
	for (size_t i = 0; i < threads->len; i++)
		free_thread(threads->all[i]);
	free(threads->all);
	map_free(&threads->by_tid);
	free(threads->cpus);
	*threads = (struct threads){ 0 };
}

/* In their order, so that of two with one tid the newer one stays. There is room: it was made for them all. */
static void index_anew(struct threads *threads, const struct thread *but)
{
	map_clear(&threads->by_tid);
	for (size_t i = 0; i < threads->len; i++)
		if (threads->all[i] != but)
			map_set(&threads->by_tid, threads->all[i]->tid, (u32)i + 1);
}

static void note_end(struct threads *threads, struct thread *thread)
{
	if (threads->ended_most && !thread->end_number) {
		thread->end_number = ++threads->ends;
		threads->ended_len++;
	}
	thread->ended = true;
}

/* Lets the threads go that ended longest ago. Where ends were lost, so that there are too many all the same, those that
 * were met first go too: one that lives is met again. */
static void forget_some(struct threads *threads)
{
	bool full = threads->len >= THREADS_MOST;
	size_t kept = 0;

	for (size_t i = 0; i < threads->len; i++) {
		struct thread *thread = threads->all[i];
		bool goes = thread->end_number ? thread->end_number + threads->ended_most <= threads->ends
					       : full && i < threads->len / 2;

		threads->ended_len -= goes && thread->end_number;
		if (goes)
			free_thread(thread);
		else
			threads->all[kept++] = thread;
	}
	threads->len = kept;
	index_anew(threads, NULL);
}

struct thread *threads_by_tid(const struct threads *threads, u32 tid)
{
	u32 index = map_get(&threads->by_tid, tid);

	return index ? threads->all[index - 1] : NULL;
}

bool threads_has_ended(const struct threads *threads, u32 tid)
{
	const struct thread *thread = threads_by_tid(threads, tid);

	return thread && thread->ended;
}

static struct thread *add_thread(struct threads *threads, u32 tid, u64 start_ns)
{
	struct thread *thread = threads_by_tid(threads, tid);

	if (threads->len >= THREADS_MOST)
		return NULL;
	if (thread)
		note_end(threads, thread);
	if (!vec_reserve(threads->all, threads->room, threads->len + 1, FIRST_ROOM) ||
	    !map_reserve(&threads->by_tid, threads->len + 1))
		return NULL;
	thread = calloc(1, sizeof(*thread));
	if (!thread)
		return NULL;
	thread->tid = tid;
	thread->start_ns = start_ns;
	threads->all[threads->len++] = thread;
	map_set(&threads->by_tid, tid, (u32)threads->len);
	return thread;
}

void threads_comm(char into[COMM_LEN + 1], const struct threads *threads, u32 tid)
{
	const struct thread *thread = tid ? threads_by_tid(threads, tid) : NULL;

	memset(into, 0, COMM_LEN + 1);
	if (thread)
		memcpy(into, thread->comm.text, COMM_LEN);
}

struct thread *threads_meet(struct threads *threads, u32 tid, u64 start_ns)
{
	struct thread *thread = threads_by_tid(threads, tid);

	if (!thread || thread->start_ns != start_ns)
		thread = add_thread(threads, tid, start_ns);
	if (!thread)
		threads->refused++;
	return thread;
}

/* The thread that an event is about, if it has an account. One whose thread info was lost gets one all the same. */
static struct thread *accounted(struct threads *threads, u32 tid)
{
	struct thread *thread = tid ? threads_by_tid(threads, tid) : NULL;

	if (tid && !thread)
		thread = threads_meet(threads, tid, 0);
	return thread && !thread->bystander ? thread : NULL;
}

/* A run begins, now or, if the switch to it was not seen, some time ago. True if the thread had waited for it. */
static bool begin_run(struct thread *thread, u64 since_ns, u32 cpu, u32 prio, struct wait *ended)
{
	*ended = (struct wait){ .thread = thread,
				.from_ns = thread->account.wait_since_ns,
				.to_ns = since_ns,
				.kind = thread->account.wait_kind,
				.cpu = cpu,
				.waker_tid = thread->account.waker_tid };
	thread_run_begins(&thread->account, since_ns, cpu, prio);
	return ended->kind != WAIT_NONE;
}

static bool handle_unseen_switch(struct threads *threads, const struct event_unseen_switch *event, struct wait *ended)
{
	struct thread *thread = accounted(threads, event->head.tid);

	return thread && begin_run(thread, event->since_ns, event->head.cpu, thread->account.prio, ended);
}

static bool handle_switch(struct threads *threads, const struct event_switch *event, struct wait *ended)
{
	u64 now_ns = event->head.time_ns;
	struct thread *prev = accounted(threads, event->head.tid), *next = accounted(threads, event->next_tid);
	bool waited = false;

	if (prev) {
		thread_run_ends(&prev->account, now_ns, event->prev_state, event->head.flags & EVENT_FLAG_PREEMPTED,
				event->prev_prio);
		prev->queue_cpu = event->head.cpu;
		if (event->prev_state & STATE_DEAD)
			note_end(threads, prev);
	}
	if (next)
		waited = begin_run(next, now_ns, event->head.cpu, event->next_prio, ended);
	if (event->head.cpu < threads->cpus_len)
		threads->cpus[event->head.cpu] = (struct cpu_now){ event->next_tid, event->next_prio, now_ns };
	return waited;
}

static void handle_wakeup(struct threads *threads, const struct event_wakeup *event)
{
	struct thread *thread = accounted(threads, event->head.tid);

	if (!thread)
		return;
	if (!thread->account.run_since_ns && !thread->account.wait_since_ns)
		thread->queue_cpu = event->target_cpu;
	thread_woken(&thread->account, event->head.time_ns, event->waker_tid, event->prio);
}

static void handle_migrate(struct threads *threads, const struct event_migrate *event)
{
	struct thread *thread = accounted(threads, event->head.tid);

	if (!thread)
		return;
	if (event->from_cpu < threads->cpus_len && event->to_cpu < threads->cpus_len)
		thread_moved(&thread->account,
			     cpu_distance(&threads->topology[event->from_cpu], &threads->topology[event->to_cpu]));
	thread->queue_cpu = event->to_cpu;
}

static void handle_thread(struct threads *threads, const struct event_thread *event)
{
	struct thread *thread = threads_meet(threads, event->head.tid, event->start_ns);

	if (!thread)
		return;
	thread->pid = event->pid;
	thread->parent_tid = event->parent_tid;
	thread->comm = event->comm;
	thread->bystander = event->head.flags & EVENT_FLAG_BYSTANDER;
}

static void handle_rename(struct threads *threads, const struct event_rename *event)
{
	struct thread *thread = threads_by_tid(threads, event->head.tid);

	if (!thread)
		return;
	thread->comm = event->comm;
	thread->bystander = event->head.flags & EVENT_FLAG_BYSTANDER;
}

/* The thread goes on under its process's tid; who had that before is gone, and
 * found no more. */
static void handle_tid_change(struct threads *threads, const struct event_tid_change *event)
{
	struct thread *first = threads_by_tid(threads, event->head.tid);
	struct thread *thread = threads_by_tid(threads, event->old_tid);

	if (!thread)
		return;
	if (first && first != thread) {
		first->tid = event->old_tid;
		note_end(threads, first);
	}
	thread->tid = event->head.tid;
	thread->pid = event->pid;
	index_anew(threads, first);
}

static void handle_sample(struct threads *threads, const struct event_sample *event)
{
	struct thread *thread = accounted(threads, event->head.tid);

	if (thread && (event->head.flags & EVENT_FLAG_CLOSING))
		thread_charge(&thread->account, event->head.time_ns);
	else if (thread)
		thread_run_found(&thread->account, event->head.time_ns, event->head.cpu, (u32)event->prio);
	if (event->head.cpu < threads->cpus_len && !(event->head.flags & EVENT_FLAG_CLOSING))
		threads->cpus[event->head.cpu] = (struct cpu_now){ event->head.tid, (u32)event->prio,
								   event->head.time_ns };
}

static void handle_role(struct threads *threads, const struct event_role *event)
{
	struct thread *thread = accounted(threads, event->head.tid);

	if (!thread)
		return;
	if (!thread->role)
		thread->role = malloc(sizeof(*thread->role));
	if (thread->role)
		*thread->role = *event;
	else
		threads->refused++;
	/* The thread's end or the window's. */
	if (threads->ended_most && (event->head.flags & EVENT_FLAG_CLOSING))
		note_end(threads, thread);
}

static void handle_lost(struct threads *threads, const struct event_lost *event)
{
	threads->lost += event->count;
	/* Whatever a recording claims. */
	if (event->of_kind < EVENT_KINDS)
		threads->lost_kinds[event->of_kind] += event->count;
}

bool threads_handle(struct threads *threads, const struct event_header *event, struct wait *ended)
{
	/* Here nobody holds a thread. */
	if (threads->ended_most && (threads->ended_len >= 2 * threads->ended_most || threads->len >= THREADS_MOST))
		forget_some(threads);
	if (!threads->first_ns)
		threads->first_ns = event->time_ns;
	if (event->time_ns > threads->last_ns)
		threads->last_ns = event->time_ns;
	switch (event->kind) {
	case EVENT_SWITCH:
		return handle_switch(threads, (const struct event_switch *)event, ended);
	case EVENT_UNSEEN_SWITCH:
		return handle_unseen_switch(threads, (const struct event_unseen_switch *)event, ended);
	case EVENT_WAKEUP:
		handle_wakeup(threads, (const struct event_wakeup *)event);
		break;
	case EVENT_MIGRATE:
		handle_migrate(threads, (const struct event_migrate *)event);
		break;
	case EVENT_THREAD:
		handle_thread(threads, (const struct event_thread *)event);
		break;
	case EVENT_TID_CHANGE:
		handle_tid_change(threads, (const struct event_tid_change *)event);
		break;
	case EVENT_RENAME:
		handle_rename(threads, (const struct event_rename *)event);
		break;
	case EVENT_SAMPLE:
		handle_sample(threads, (const struct event_sample *)event);
		break;
	case EVENT_ROLE:
		handle_role(threads, (const struct event_role *)event);
		break;
	case EVENT_LOST:
		handle_lost(threads, (const struct event_lost *)event);
		break;
	default:
		break;
	}
	return false;
}

void threads_charge(struct threads *threads, u64 now_ns)
{
	for (u32 cpu = 0; cpu < threads->cpus_len; cpu++) {
		u32 tid = threads->cpus[cpu].tid;
		struct thread *thread = tid ? threads_by_tid(threads, tid) : NULL;

		/* One of whom nothing but a moment is known may be long gone. */
		if (thread && thread->pid)
			thread_charge(&thread->account, now_ns);
	}
}

void threads_restart(struct threads *threads)
{
	for (size_t i = 0; i < threads->len; i++)
		thread_restart(&threads->all[i]->account);
}

void threads_lost_sight(struct threads *threads)
{
	for (size_t i = 0; i < threads->len; i++) {
		struct thread_account *account = &threads->all[i]->account;

		account->run_since_ns = account->wait_since_ns = 0;
		account->wait_kind = WAIT_NONE;
	}
	for (u32 cpu = 0; cpu < threads->cpus_len; cpu++)
		threads->cpus[cpu] = (struct cpu_now){ 0 };
}
