// SPDX-License-Identifier: GPL-2.0
/* Priority inversions from a stream of events. Each CPU has a list of the threads that wait for it. A thread is on the
 * list of the CPU in whose queue the kernel put it, so it is allowed to run there: that is how its affinity counts. */
#include "inversions.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

#include "../base/sort.h"
#include "../base/vec.h"

enum { PRIO_REALTIME_FIRST = 1, PRIO_NICE_FIRST = 101 };

struct waiter {
	const struct thread *thread;
	u64 since_ns; /* in this CPU's queue, not in the one that it was moved from */
	u32 cpu;
	u32 prio;
	u64 reported_ns;	     /* of the run that was in its way when that was handed over: when it began */
	struct waiter **link, *next; /* in the CPU's list; no link: it does not wait */
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
	return inversions->cpus ? 0 : -ENOMEM;
}

void inversions_free(struct inversions *inversions)
{
	for (size_t i = 0; i < inversions->waiters_len; i++)
		free(inversions->waiters[i]);
	free(inversions->waiters);
	free(inversions->pairs);
	free(inversions->cpus);
	map_free(&inversions->by_thread);
	map_free(&inversions->by_pair);
	*inversions = (struct inversions){ 0 };
}

/* NULL: it has never waited. */
static struct waiter *waiter_of(const struct inversions *inversions, const struct thread *thread)
{
	u32 index = map_get(&inversions->by_thread, (uintptr_t)thread);

	return index ? inversions->waiters[index - 1] : NULL;
}

/* NULL for want of memory. */
static struct waiter *new_waiter(struct inversions *inversions, const struct thread *thread)
{
	struct waiter *waiter;

	if (!vec_reserve(inversions->waiters, inversions->waiters_room, inversions->waiters_len + 1, 64) ||
	    !map_reserve(&inversions->by_thread, inversions->waiters_len + 1))
		return NULL;
	waiter = calloc(1, sizeof(*waiter));
	if (!waiter)
		return NULL;
	waiter->thread = thread;
	inversions->waiters[inversions->waiters_len++] = waiter;
	map_set(&inversions->by_thread, (uintptr_t)thread, (u32)inversions->waiters_len);
	return waiter;
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
	waiter->link = NULL;
}

static void stop_waiting(struct inversions *inversions, const struct thread *thread)
{
	struct waiter *waiter = waiter_of(inversions, thread);

	if (waiter && waiter->link)
		leave_queue(waiter);
}

static void start_waiting(struct inversions *inversions, const struct thread *thread, u32 cpu, u32 prio, u64 now_ns)
{
	struct waiter *waiter;

	if (cpu >= inversions->cpus_len)
		return;
	stop_waiting(inversions, thread);
	waiter = waiter_of(inversions, thread);
	if (!waiter)
		waiter = new_waiter(inversions, thread);
	if (!waiter) {
		inversions->failed = true;
		return;
	}
	waiter->prio = prio;
	enter_queue(inversions, waiter, cpu, now_ns);
}

/* Under which number a pair is in the index, or would be. Of two with the same hash the later one has the next. */
static u64 number_of(const struct inversions *inversions, const struct thread *waiter, const struct thread *runner)
{
	u64 number = (u64)(uintptr_t)waiter * 0x9e3779b97f4a7c15ULL ^ (u64)(uintptr_t)runner;
	u32 index;

	while ((index = map_get(&inversions->by_pair, number)) &&
	       (inversions->pairs[index - 1].waiter != waiter || inversions->pairs[index - 1].runner != runner))
		number++;
	return number;
}

/* NULL if there is no room for one more. */
static struct inversion *pair_of(struct inversions *inversions, const struct thread *waiter,
				 const struct thread *runner)
{
	u64 number = number_of(inversions, waiter, runner);
	u32 index = map_get(&inversions->by_pair, number);

	if (index)
		return &inversions->pairs[index - 1];
	if (inversions->pairs_len == INVERSIONS_PAIRS_KEPT) {
		inversions->not_kept++;
		return NULL;
	}
	if (!vec_reserve(inversions->pairs, inversions->pairs_room, inversions->pairs_len + 1, 64) ||
	    !map_set(&inversions->by_pair, number, (u32)inversions->pairs_len + 1)) {
		inversions->failed = true;
		return NULL;
	}
	inversions->pairs[inversions->pairs_len] = (struct inversion){ .waiter = waiter, .runner = runner };
	return &inversions->pairs[inversions->pairs_len++];
}

static u64 overlap_from(const struct inversion_cpu *cpu, const struct waiter *waiter)
{
	return waiter->since_ns > cpu->since_ns ? waiter->since_ns : cpu->since_ns;
}

static void alert_to(struct inversions *inversions, const struct inversion_cpu *cpu, struct waiter *waiter,
		     const struct thread *runner, u64 now_ns)
{
	const struct inversion_alert *alert = &inversions->alert;
	u64 from_ns = overlap_from(cpu, waiter);
	u64 lasted_ns = span_between(from_ns, now_ns);

	if (!alert->least_ns || cpu->prio <= waiter->prio || lasted_ns < alert->least_ns ||
	    waiter->reported_ns == from_ns)
		return;
	waiter->reported_ns = from_ns;
	alert->each(alert->data, &(struct inversion_now){ .waiter = waiter->thread,
							  .runner = runner,
							  .waiter_prio = waiter->prio,
							  .runner_prio = cpu->prio,
							  .cpu = waiter->cpu,
							  .from_ns = from_ns,
							  .lasted_ns = lasted_ns });
}

static void count_overlap(struct inversions *inversions, const struct inversion_cpu *cpu, struct waiter *waiter,
			  const struct thread *runner, u64 now_ns)
{
	u64 overlap_ns = span_between(overlap_from(cpu, waiter), now_ns);
	struct inversion *pair;

	alert_to(inversions, cpu, waiter, runner, now_ns);
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
	u64 alert_ns = inversions->alert.least_ns, long_ns = inversions->threshold_ns;

	if (alert_ns && alert_ns < long_ns)
		long_ns = alert_ns;
	if (!cpu->tid || span_between(cpu->since_ns, now_ns) < long_ns)
		return NULL;
	return threads_by_tid(threads, cpu->tid);
}

static void end_run(struct inversions *inversions, const struct threads *threads, const struct inversion_cpu *cpu,
		    u64 now_ns)
{
	const struct thread *runner = cpu->waiters ? long_runner(inversions, threads, cpu, now_ns) : NULL;

	for (struct waiter *waiter = cpu->waiters; runner && waiter; waiter = waiter->next)
		count_overlap(inversions, cpu, waiter, runner, now_ns);
}

static void handle_switch(struct inversions *inversions, const struct threads *threads,
			  const struct event_switch *event)
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

static void handle_migrate(struct inversions *inversions, const struct threads *threads,
			   const struct event_migrate *event)
{
	const struct thread *thread = threads_by_tid(threads, event->head.tid), *runner;
	struct waiter *waiter = thread ? waiter_of(inversions, thread) : NULL;
	u64 now_ns = event->head.time_ns;

	if (!waiter || !waiter->link)
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
 * shows them; until then an inversion may be missed, but none is made up. */
static void forget_all(struct inversions *inversions)
{
	for (u32 i = 0; i < inversions->cpus_len; i++) {
		while (inversions->cpus[i].waiters)
			stop_waiting(inversions, inversions->cpus[i].waiters->thread);
		inversions->cpus[i].tid = 0;
	}
}

void inversions_handle(struct inversions *inversions, const struct threads *threads, const struct event_header *event)
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
		handle_switch(inversions, threads, (const struct event_switch *)event);
		break;
	case EVENT_WAKEUP: {
		const struct event_wakeup *wakeup = (const struct event_wakeup *)event;

		thread = threads_by_tid(threads, event->tid);
		if (thread && thread->account.wait_since_ns == event->time_ns)
			start_waiting(inversions, thread, wakeup->target_cpu, wakeup->prio, event->time_ns);
		break;
	}
	case EVENT_MIGRATE:
		handle_migrate(inversions, threads, (const struct event_migrate *)event);
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

/* Who is not watched leaves a CPU unseen while no watched thread waits for it: another may run there by now, unless one
 * has waited since it came. Who it was then shows the switch that ends the wait. */
static bool is_seen_to_run(const struct thread *runner, const struct inversion_cpu *cpu)
{
	const struct waiter *waiter = cpu->waiters;

	while (runner->bystander && waiter && waiter->since_ns > cpu->since_ns)
		waiter = waiter->next;
	return waiter;
}

void inversions_ongoing(struct inversions *inversions, const struct threads *threads, u64 now_ns)
{
	for (u32 i = 0; inversions->alert.least_ns && i < inversions->cpus_len; i++) {
		const struct inversion_cpu *cpu = &inversions->cpus[i];
		const struct thread *runner = cpu->waiters && cpu->tid ? threads_by_tid(threads, cpu->tid) : NULL;

		if (!runner || !is_seen_to_run(runner, cpu))
			continue;
		for (struct waiter *waiter = cpu->waiters; waiter; waiter = waiter->next)
			alert_to(inversions, cpu, waiter, runner, now_ns);
	}
}

void inversions_restart(struct inversions *inversions)
{
	inversions->pairs_len = 0;
	inversions->not_kept = 0;
	map_clear(&inversions->by_pair);
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

	if (!list)
		return NULL;
	for (size_t i = 0; i < inversions->pairs_len; i++)
		list[i] = &inversions->pairs[i];
	sort_rows(list, inversions->pairs_len, sizeof(*list), largest_total_first);
	return list;
}
