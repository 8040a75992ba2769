// SPDX-License-Identifier: GPL-2.0
/* Feeds core/miss.h with each thread's wake-ups, runs and sleeps, and asks the CPUs' history who was in the way.
 * Where events were lost, what a thread does is not known until it is next woken. */
#include "misses.h"

#include <stdlib.h>

#include "../../core/role.h"
#include "../base/sort.h"

void misses_free(struct misses *misses)
{
	history_free(&misses->history);
}

static struct thread_clock *clock_of(struct misses *misses, struct thread *thread)
{
	struct thread_clock *clock;

	if (!thread || thread->bystander)
		return NULL;
	if (!thread->clock)
		thread->clock = calloc(1, sizeof(*thread->clock));
	clock = thread->clock;
	if (!clock) {
		misses->failed = true;
		return NULL;
	}
	if (clock->seen != misses->losses) {
		watch_lost_sight(&clock->watch);
		clock->seen = misses->losses;
	}
	return clock;
}

static u32 role_of(const struct thread *thread)
{
	return thread->role ? thread->role->role : ROLE_UNKNOWN;
}

static bool is_critical(const struct thread *thread)
{
	return tier_of_role(role_of(thread)) == TIER_LATENCY_CRITICAL;
}

static bool counts(const struct misses *misses, const struct thread *thread)
{
	return misses->of_all || is_critical(thread);
}

static bool judge(struct misses *misses, const struct thread *thread, const struct miss_verdict *verdict, u64 from_ns,
		  u64 now_ns, u32 cpu, struct miss *miss)
{
	struct thread_clock *clock = thread->clock;

	if (verdict->kind == MISS_NONE || !counts(misses, thread))
		return false;
	*miss = (struct miss){ .verdict = *verdict, .tid = thread->tid, .role = role_of(thread), .cpu = cpu };
	if (!misses->no_culprits)
		miss->culprit = history_culprit(&misses->history, cpu, from_ns, now_ns, &miss->behind_tid);
	clock->misses++;
	clock->critical_misses += is_critical(thread);
	clock->missed_periods += verdict->periods;
	clock->late_ns += verdict->late_ns;
	if (verdict->late_ns > clock->late_max_ns)
		clock->late_max_ns = verdict->late_ns;
	misses->all++;
	return true;
}

/* A wake-up by a thread of its own process is no timer, unless it was an interrupt that met that one. */
static bool is_from_outside(const struct threads *threads, const struct thread *thread,
			    const struct event_wakeup *event)
{
	const struct thread *waker = event->waker_tid ? threads_by_tid(threads, event->waker_tid) : NULL;

	return (event->head.flags & EVENT_FLAG_BY_INTERRUPT) || !waker || waker->pid != thread->pid;
}

static void handle_wakeup(struct misses *misses, struct threads *threads, const struct event_wakeup *event)
{
	struct thread *thread = threads_by_tid(threads, event->head.tid);
	struct thread_clock *clock = clock_of(misses, thread);
	bool asleep;

	if (!clock || (event->head.flags & EVENT_FLAG_NEW) || !is_from_outside(threads, thread, event))
		return;
	asleep = thread->account.woken_at_ns == event->head.time_ns;
	/* One that has been woken already and waits is not woken again. */
	if (!asleep && !thread->account.run_since_ns)
		return;
	watch_woken(&clock->watch, event->head.time_ns, asleep);
	/* A period counts when a miss of it would: else the share of misses would be of periods that had no say. */
	if (clock->watch.due_ns != event->head.time_ns || !counts(misses, thread))
		return;
	clock->periods++;
	clock->critical_periods += is_critical(thread);
}

static bool take_ran(struct misses *misses, struct threads *threads, u32 tid, u64 now_ns, u32 cpu, struct miss *miss)
{
	struct thread *thread = tid ? threads_by_tid(threads, tid) : NULL;
	struct thread_clock *clock = clock_of(misses, thread);
	struct miss_verdict verdict;

	if (!clock)
		return false;
	verdict = watch_ran(&clock->watch, now_ns, misses->slack_ns);
	return judge(misses, thread, &verdict, verdict.expected_ns, now_ns, cpu, miss);
}

static bool take_left(struct misses *misses, struct threads *threads, const struct event_switch *event,
		      struct miss *miss)
{
	struct thread *thread = event->head.tid ? threads_by_tid(threads, event->head.tid) : NULL;
	struct thread_clock *clock = clock_of(misses, thread);
	u64 now_ns = event->head.time_ns, begun_ns;
	struct miss_verdict verdict;

	if (!clock)
		return false;
	if ((event->head.flags & EVENT_FLAG_PREEMPTED) || !event->prev_state) {
		watch_pushed_off(&clock->watch, now_ns);
		return false;
	}
	begun_ns = clock->watch.due_ns;
	verdict = watch_slept(&clock->watch, now_ns, misses->slack_ns);
	return judge(misses, thread, &verdict, begun_ns, now_ns, event->head.cpu, miss);
}

u32 misses_handle(struct misses *misses, struct threads *threads, const struct event_header *event,
		  struct miss found[MISSES_AT_ONCE])
{
	const struct event_switch *change = (const struct event_switch *)event;
	u32 len = 0;

	if (!misses->no_culprits && !history_handle(&misses->history, event))
		misses->failed = true;
	switch (event->kind) {
	case EVENT_WAKEUP:
		handle_wakeup(misses, threads, (const struct event_wakeup *)event);
		break;
	case EVENT_LOST:
		misses->losses++;
		break;
	case EVENT_UNSEEN_SWITCH:
		len += take_ran(misses, threads, event->tid, ((const struct event_unseen_switch *)event)->since_ns,
				event->cpu, &found[len]);
		break;
	case EVENT_SWITCH:
		len += take_left(misses, threads, change, &found[len]);
		len += take_ran(misses, threads, change->next_tid, event->time_ns, event->cpu, &found[len]);
		break;
	default:
		break;
	}
	return len;
}

void misses_lost_sight(const struct threads *threads, u32 tid)
{
	const struct thread *thread = threads_by_tid(threads, tid);

	if (thread && thread->clock)
		watch_lost_sight(&thread->clock->watch);
}

static int by_misses(const void *a, const void *b)
{
	const struct thread *x = *(const struct thread *const *)a, *y = *(const struct thread *const *)b;

	if (x->clock->misses != y->clock->misses)
		return x->clock->misses < y->clock->misses ? 1 : -1;
	return x->tid < y->tid ? -1 : x->tid > y->tid;
}

const struct thread **misses_sorted(const struct misses *misses, const struct threads *threads, size_t *len)
{
	const struct thread **list = malloc((threads->len + 1) * sizeof(struct thread *));

	*len = 0;
	for (size_t i = 0; list && i < threads->len; i++) {
		const struct thread *thread = threads->all[i];

		if (thread->clock &&
		    (thread->clock->misses || (counts(misses, thread) && watch_is_steady(&thread->clock->watch))))
			list[(*len)++] = thread;
	}
	if (list)
		sort_rows(list, *len, sizeof(struct thread *), by_misses);
	return list;
}

void misses_restart(struct misses *misses, struct threads *threads)
{
	misses->all = 0;
	for (size_t i = 0; i < threads->len; i++) {
		struct thread_clock *clock = threads->all[i]->clock;

		if (clock)
			*clock = (struct thread_clock){ .watch = clock->watch, .seen = clock->seen };
	}
}
