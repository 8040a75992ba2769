// SPDX-License-Identifier: GPL-2.0
/* Priority inversions from a stream of events. Each CPU has a list of the threads that wait for it. A thread is on the
 * list of the CPU in whose queue the kernel put it, so it is allowed to run there: that is how its affinity counts. */
#include "inversions.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

enum { PRIO_REALTIME_FIRST = 1, PRIO_NICE_FIRST = 101 };

struct waiter {
	const struct thread *thread;
	u64 since_ns; /* in this CPU's queue, not in the one that it was moved from */
	u32 cpu;
	u32 prio;
	struct waiter **link, *next; /* in the CPU's list */
	struct waiter *chain;	     /* in the hash, or in the list of spares */
};

enum prio_class prio_class(u32 prio)
{
	if (prio < PRIO_REALTIME_FIRST)
		return PRIO_DEADLINE;
	return prio < PRIO_NICE_FIRST ? PRIO_REALTIME : PRIO_NICE;
}

int inversions_init(struct inversions *inversions, u32 cpus_len, u64 threshold_ns)
{
	*inversions = (struct inversions){ .threshold_ns = threshold_ns, .cpus_len = cpus_len };
	inversions->cpus = calloc(cpus_len ? cpus_len : 1, sizeof(*inversions->cpus));
	inversions->waiting = calloc(INVERSIONS_BUCKETS, sizeof(*inversions->waiting));
	inversions->pairs = calloc(INVERSIONS_BUCKETS, sizeof(*inversions->pairs));
	if (inversions->cpus && inversions->waiting && inversions->pairs)
		return 0;
	inversions_free(inversions);
	return -ENOMEM;
}

void inversions_free(struct inversions *inversions)
{
	for (u32 i = 0; inversions->waiting && i < INVERSIONS_BUCKETS; i++) {
		while (inversions->waiting[i]) {
			struct waiter *waiter = inversions->waiting[i];

			inversions->waiting[i] = waiter->chain;
			free(waiter);
		}
	}
	for (u32 i = 0; inversions->pairs && i < INVERSIONS_BUCKETS; i++) {
		while (inversions->pairs[i]) {
			struct inversion *pair = inversions->pairs[i];

			inversions->pairs[i] = pair->next;
			free(pair);
		}
	}
	while (inversions->spare) {
		struct waiter *waiter = inversions->spare;

		inversions->spare = waiter->chain;
		free(waiter);
	}
	free(inversions->cpus);
	free(inversions->waiting);
	free(inversions->pairs);
	*inversions = (struct inversions){ 0 };
}

static u32 bucket_of(const void *one, const void *other)
{
	u64 mixed = (u64)(uintptr_t)one * 0x9e3779b97f4a7c15ULL;

	mixed = (mixed ^ (u64)(uintptr_t)other) * 0x9e3779b97f4a7c15ULL;
	return (u32)(mixed >> 32) % INVERSIONS_BUCKETS;
}

/* The link that points to the thread's place, or to NULL if it waits nowhere. */
static struct waiter **waiter_link(struct inversions *inversions, const struct thread *thread)
{
	struct waiter **link = &inversions->waiting[bucket_of(thread, NULL)];

	while (*link && (*link)->thread != thread)
		link = &(*link)->chain;
	return link;
}

static void enter_queue(struct inversions *inversions, struct waiter *waiter, u32 cpu, u64 now_ns)
{
	struct waiter **first = &inversions->cpus[cpu].waiters;

	waiter->cpu = cpu;
	waiter->since_ns = now_ns;
	waiter->link = first;
	waiter->next = *first;
	if (*first)
		(*first)->link = &waiter->next;
	*first = waiter;
}

static void leave_queue(struct waiter *waiter)
{
	*waiter->link = waiter->next;
	if (waiter->next)
		waiter->next->link = waiter->link;
}

static void stop_waiting(struct inversions *inversions, const struct thread *thread)
{
	struct waiter **link = waiter_link(inversions, thread), *waiter = *link;

	if (!waiter)
		return;
	leave_queue(waiter);
	*link = waiter->chain;
	waiter->chain = inversions->spare;
	inversions->spare = waiter;
}

static void start_waiting(struct inversions *inversions, const struct thread *thread, u32 cpu, u32 prio, u64 now_ns)
{
	struct waiter *waiter, **link;

	if (cpu >= inversions->cpus_len)
		return;
	stop_waiting(inversions, thread);
	waiter = inversions->spare;
	if (waiter)
		inversions->spare = waiter->chain;
	else
		waiter = malloc(sizeof(*waiter));
	if (!waiter) {
		inversions->failed = true;
		return;
	}
	link = &inversions->waiting[bucket_of(thread, NULL)];
	*waiter = (struct waiter){ .thread = thread, .prio = prio, .chain = *link };
	*link = waiter;
	enter_queue(inversions, waiter, cpu, now_ns);
}

/* NULL if there is no room for one more. */
static struct inversion *pair_of(struct inversions *inversions, const struct thread *waiter,
				 const struct thread *runner)
{
	struct inversion **bucket = &inversions->pairs[bucket_of(waiter, runner)], *pair = *bucket;

	while (pair && (pair->waiter != waiter || pair->runner != runner))
		pair = pair->next;
	if (pair)
		return pair;
	if (inversions->pairs_len == INVERSIONS_PAIRS_KEPT) {
		inversions->not_kept++;
		return NULL;
	}
	pair = calloc(1, sizeof(*pair));
	if (!pair) {
		inversions->failed = true;
		return NULL;
	}
	*pair = (struct inversion){ .waiter = waiter, .runner = runner, .next = *bucket };
	*bucket = pair;
	inversions->pairs_len++;
	return pair;
}

static void count_overlap(struct inversions *inversions, const struct inversion_cpu *cpu, const struct waiter *waiter,
			  const struct thread *runner, u64 now_ns)
{
	u64 from_ns = waiter->since_ns > cpu->since_ns ? waiter->since_ns : cpu->since_ns;
	u64 overlap_ns = span_between(from_ns, now_ns);
	struct inversion *pair;

	if (cpu->prio <= waiter->prio || overlap_ns < inversions->threshold_ns)
		return;
	pair = pair_of(inversions, waiter->thread, runner);
	if (!pair)
		return;
	pair->times++;
	pair->total_ns += overlap_ns;
	if (overlap_ns <= pair->longest_ns)
		return;
	pair->longest_ns = overlap_ns;
	pair->longest_at_ns = now_ns;
	pair->waiter_prio = waiter->prio;
	pair->runner_prio = cpu->prio;
}

/* Who runs on the CPU, if it ran long enough to be in somebody's way: most did not and cost no more than this. */
static const struct thread *long_runner(const struct inversions *inversions, const struct threads *threads,
					const struct inversion_cpu *cpu, u64 now_ns)
{
	if (!cpu->tid || span_between(cpu->since_ns, now_ns) < inversions->threshold_ns)
		return NULL;
	return threads_by_tid(threads, cpu->tid);
}

static void end_run(struct inversions *inversions, const struct threads *threads, const struct inversion_cpu *cpu,
		    u64 now_ns)
{
	const struct thread *runner = cpu->waiters ? long_runner(inversions, threads, cpu, now_ns) : NULL;

	for (const struct waiter *waiter = cpu->waiters; runner && waiter; waiter = waiter->next)
		count_overlap(inversions, cpu, waiter, runner, now_ns);
}

static void take_switch(struct inversions *inversions, const struct threads *threads, const struct event_switch *event)
{
	struct inversion_cpu *cpu = &inversions->cpus[event->head.cpu];
	const struct thread *thread;
	u64 now_ns = event->head.time_ns;

	/* A runner that inherited priority from a waiter for a part of its run stood in nobody's way meanwhile, and
	 * when that was is not known: the more urgent of the two ends counts. */
	if (event->prev_prio < cpu->prio)
		cpu->prio = event->prev_prio;
	/* Another thread leaves than the one that came: with a filter, switches are sent only while a watched thread
	 * waits for the CPU. So whoever leaves now was on it when the wait began. */
	if (cpu->tid != event->head.tid) {
		cpu->tid = event->head.tid;
		cpu->prio = event->prev_prio;
	}
	end_run(inversions, threads, cpu, now_ns);
	thread = event->next_tid ? threads_by_tid(threads, event->next_tid) : NULL;
	if (thread)
		stop_waiting(inversions, thread);
	thread = event->head.tid ? threads_by_tid(threads, event->head.tid) : NULL;
	if (thread && thread->account.wait_since_ns == now_ns)
		start_waiting(inversions, thread, event->head.cpu, event->prev_prio, now_ns);
	else if (thread)
		stop_waiting(inversions, thread);
	*cpu = (struct inversion_cpu){
		.tid = event->next_tid, .prio = event->next_prio, .since_ns = now_ns, .waiters = cpu->waiters
	};
}

static void take_migrate(struct inversions *inversions, const struct threads *threads,
			 const struct event_migrate *event)
{
	const struct thread *thread = threads_by_tid(threads, event->head.tid), *runner;
	struct waiter *waiter = thread ? *waiter_link(inversions, thread) : NULL;
	u64 now_ns = event->head.time_ns;

	if (!waiter)
		return;
	runner = long_runner(inversions, threads, &inversions->cpus[waiter->cpu], now_ns);
	if (runner)
		count_overlap(inversions, &inversions->cpus[waiter->cpu], waiter, runner, now_ns);
	if (event->to_cpu >= inversions->cpus_len) {
		stop_waiting(inversions, thread);
		return;
	}
	leave_queue(waiter);
	enter_queue(inversions, waiter, event->to_cpu, now_ns);
}

/* Events are missing: who is thought to wait may have run long since. They are on the lists again as soon as the stream
 * tells of them; until then an inversion may be missed, but none is made up. */
static void forget_all(struct inversions *inversions)
{
	for (u32 i = 0; i < inversions->cpus_len; i++) {
		while (inversions->cpus[i].waiters)
			stop_waiting(inversions, inversions->cpus[i].waiters->thread);
		inversions->cpus[i].tid = 0;
	}
}

void inversions_take(struct inversions *inversions, const struct threads *threads, const struct event_header *event)
{
	const struct thread *thread;

	if (event->time_ns > inversions->last_ns)
		inversions->last_ns = event->time_ns;
	if (event->kind == EVENT_LOST) {
		forget_all(inversions);
		return;
	}
	if (event->cpu >= inversions->cpus_len)
		return;
	switch (event->kind) {
	case EVENT_SWITCH:
		take_switch(inversions, threads, (const struct event_switch *)event);
		break;
	case EVENT_WAKEUP: {
		const struct event_wakeup *wakeup = (const struct event_wakeup *)event;

		thread = threads_by_tid(threads, event->tid);
		if (thread && thread->account.wait_since_ns == event->time_ns)
			start_waiting(inversions, thread, wakeup->target_cpu, wakeup->prio, event->time_ns);
		break;
	}
	case EVENT_MIGRATE:
		take_migrate(inversions, threads, (const struct event_migrate *)event);
		break;
	case EVENT_SAMPLE:
		if (event->flags & EVENT_FLAG_CLOSING)
			break;
		inversions->cpus[event->cpu].tid = event->tid;
		inversions->cpus[event->cpu].prio = (u32)((const struct event_sample *)event)->prio;
		inversions->cpus[event->cpu].since_ns = event->time_ns;
		break;
	}
}

void inversions_end(struct inversions *inversions, const struct threads *threads)
{
	for (u32 i = 0; i < inversions->cpus_len; i++)
		end_run(inversions, threads, &inversions->cpus[i], inversions->last_ns);
}

static int largest_total_first(const void *a, const void *b)
{
	const struct inversion *left = *(const struct inversion *const *)a;
	const struct inversion *right = *(const struct inversion *const *)b;

	if (left->total_ns != right->total_ns)
		return left->total_ns > right->total_ns ? -1 : 1;
	if (left->waiter->tid != right->waiter->tid)
		return left->waiter->tid < right->waiter->tid ? -1 : 1;
	return left->runner->tid < right->runner->tid ? -1 : left->runner->tid > right->runner->tid;
}

const struct inversion **inversions_sorted(const struct inversions *inversions)
{
	const struct inversion **list = calloc(inversions->pairs_len + 1, sizeof(*list));
	size_t len = 0;

	if (!list)
		return NULL;
	for (u32 i = 0; i < INVERSIONS_BUCKETS; i++)
		for (const struct inversion *pair = inversions->pairs[i]; pair; pair = pair->next)
			list[len++] = pair;
	qsort(list, len, sizeof(*list), largest_total_first);
	return list;
}
