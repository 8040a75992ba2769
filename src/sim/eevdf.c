// SPDX-License-Identifier: GPL-2.0
/* The kernel's own scheduler, by its rules: virtual time by weight, lag, who is eligible, earliest deadline first, how
 * long a thread is protected from one that wakes, by version; before 6.6 the one that was there then. Control groups
 * and what the kernel estimates of loads are left out. */
#include <errno.h>
#include <stdlib.h>

#include "../../core/account.h"
#include "../../core/scx_config.h"
#include "../base/vec.h"
#include "eevdf_state.h"
#include "weights.h"

enum {
	BASE_SLICE_OLD_NS = 750 * NSEC_PER_USEC, /* times 1 + log2 of CPUs, of which 8 count */
	BASE_SLICE_NS = 700 * NSEC_PER_USEC,	 /* from 6.15 on */
	CFS_LATENCY_NS = 6 * NSEC_PER_MSEC,
	CFS_GRANULARITY_NS = 750 * NSEC_PER_USEC,
	CFS_WAKEUP_NS = NSEC_PER_MSEC,
	CFS_NR_LATENCY = 8,
	BALANCE_NS = 64 * NSEC_PER_MSEC,
};

static int fair_init(struct machine *machine)
{
	struct fair *fair = calloc(1, sizeof(*fair));
	u32 factor = 1, counted = machine->cpus_len < 8 ? machine->cpus_len : 8, kernel = machine->kernel;

	if (!fair)
		return -ENOMEM;
	machine->policy_data = fair;
	while (counted >>= 1)
		factor++;
	fair->queues = calloc(machine->cpus_len, sizeof(*fair->queues));
	if (!fair->queues)
		return -ENOMEM;
	fair->is_cfs = kernel && kernel < SCX_KERNEL(6, 6);
	fair->delays_dequeue = !kernel || kernel >= SCX_KERNEL(6, 12);
	fair->shortest_protects = !kernel || kernel >= SCX_KERNEL(6, 17);
	fair->hints = machine->policy == &policy_hints;
	fair->forks_wait = fair->lag_by_tick = kernel >= SCX_KERNEL(7, 0);
	fair->has_hrtick = kernel >= SCX_KERNEL(7, 1);
	fair->slice_ns = (u64)(kernel && kernel < SCX_KERNEL(6, 15) ? BASE_SLICE_OLD_NS : BASE_SLICE_NS) * factor;
	if (machine->params.slice_ns)
		fair->slice_ns = machine->params.slice_ns;
	fair->latency_ns = (u64)CFS_LATENCY_NS * factor;
	fair->granularity_ns = (u64)CFS_GRANULARITY_NS * factor;
	fair->wakeup_ns = (u64)CFS_WAKEUP_NS * factor;
	return 0;
}

static void fair_free(struct machine *machine)
{
	struct fair *fair = fair_of(machine);

	for (u32 cpu = 0; fair->queues && cpu < machine->cpus_len; cpu++)
		free(fair->queues[cpu].list);
	free(fair->queues);
	free(fair);
}

static bool is_eligible(const struct sim_thread *thread, s64 middle)
{
	return thread->fair.vruntime <= middle;
}

/* Of those that are owed time the one whose deadline is nearest. */
static struct sim_thread *earliest(struct machine *machine, s32 cpu, struct sim_thread *curr, s64 middle)
{
	const struct fair_queue *queue = &fair_of(machine)->queues[cpu];
	struct sim_thread *best = curr && is_eligible(curr, middle) ? curr : NULL, *first = curr;

	for (u32 i = 0; i < queue->len; i++) {
		struct sim_thread *thread = &machine->threads[queue->list[i]];

		if (!first || thread->fair.vruntime < first->fair.vruntime)
			first = thread;
		if (is_eligible(thread, middle) && (!best || thread->fair.deadline < best->fair.deadline))
			best = thread;
	}
	return best ? best : first;
}

static struct sim_thread *least_run(struct machine *machine, s32 cpu, struct sim_thread *curr)
{
	const struct fair_queue *queue = &fair_of(machine)->queues[cpu];
	struct sim_thread *best = curr;

	for (u32 i = 0; i < queue->len; i++) {
		struct sim_thread *thread = &machine->threads[queue->list[i]];

		if (!best || thread->fair.vruntime < best->fair.vruntime)
			best = thread;
	}
	return best;
}

/* It has worked off what it owed, and is owed nothing for having slept. */
static void end_delay(struct machine *machine, s32 cpu, struct sim_thread *thread, s64 middle)
{
	fair_list_remove(machine, cpu, thread);
	thread->fair.is_delayed = false;
	fair_note_lag(machine, cpu, thread, middle);
	thread->fair.lag = thread->fair.lag > 0 ? 0 : thread->fair.lag;
}

static struct sim_thread *choose_once(struct machine *machine, s32 cpu, struct sim_thread *curr, bool protects)
{
	const struct fair_queue *queue = &fair_of(machine)->queues[cpu];
	s64 middle;

	if (fair_of(machine)->is_cfs)
		return least_run(machine, cpu, curr);
	middle = fair_middle(machine, cpu, curr);
	if (curr && protects && is_eligible(curr, middle) && curr->fair.vruntime < queue->protected_until)
		return curr;
	return earliest(machine, cpu, curr, middle);
}

/* Who runs next there; NULL: nobody, once those that only sleep there are gone. */
static struct sim_thread *choose(struct machine *machine, s32 cpu, struct sim_thread *curr, bool protects)
{
	struct sim_thread *found = choose_once(machine, cpu, curr, protects);

	while (found && found->fair.is_delayed) {
		end_delay(machine, cpu, found, fair_middle(machine, cpu, curr));
		found = choose_once(machine, cpu, curr, protects);
	}
	return found;
}

static bool cfs_preempts(const struct machine *machine, const struct sim_thread *curr, const struct sim_thread *woken)
{
	s64 gran = virtual_of(fair_of(machine)->wakeup_ns, woken->fair.weight);

	return curr->fair.vruntime - woken->fair.vruntime > gran;
}

static void set_slice_end(struct machine *machine, s32 cpu, const struct sim_thread *thread)
{
	struct fair *fair = fair_of(machine);
	s64 left = thread->fair.deadline - thread->fair.vruntime;

	if (!fair->has_hrtick || !fair->queues[cpu].len)
		return;
	left = left > 0 ? left * thread->fair.weight / NICE_0_WEIGHT : 0;
	sim_set_slice_end(machine, cpu, machine->now_ns + (u64)left + 1);
}

/* Woken before it had worked off what it owed: what is left of that it owes still. */
static void wake_delayed(struct machine *machine, s32 cpu, struct sim_thread *thread)
{
	s64 owed = thread->fair.lag, middle = fair_middle(machine, cpu, fair_running(machine, cpu));
	s64 now = middle - thread->fair.vruntime;

	fair_list_remove(machine, cpu, thread);
	thread->fair.is_delayed = false;
	if (now > 0 || now < owed) {
		thread->fair.lag = now > 0 ? 0 : owed;
		fair_place(machine, cpu, thread, false, true);
	}
	fair_list_add(machine, cpu, thread);
}

static void fair_enqueue(struct machine *machine, struct sim_thread *thread, s32 cpu, bool wakes, bool is_new)
{
	struct fair *fair = fair_of(machine);
	struct sim_thread *curr = fair_running(machine, cpu);
	bool preempts;

	/* A realtime thread takes its CPU: it stays what it was. */
	if (curr == thread) {
		fair_list_add(machine, cpu, thread);
		return;
	}
	if (curr)
		sim_charge(machine, cpu);
	if (thread->fair.is_delayed && thread->fair.queue == cpu) {
		wake_delayed(machine, cpu, thread);
	} else {
		fair_place(machine, cpu, thread, is_new, wakes);
		fair_list_add(machine, cpu, thread);
	}
	if (sim_is_idle(machine, cpu)) {
		sim_resched(machine, cpu);
		return;
	}
	if (!curr || !wakes)
		return;
	preempts = is_new && fair->forks_wait ? false
		   : fair->is_cfs
			   ? cfs_preempts(machine, curr, thread)
			   : choose(machine, cpu, curr,
				    !(fair->delays_dequeue && thread->fair.slice_ns < curr->fair.slice_ns)) == thread;
	if (preempts) {
		sim_resched(machine, cpu);
	} else if (!machine->cpus[cpu].slice_ends_ns) {
		set_slice_end(machine, cpu, curr);
		machine_plan(machine, cpu);
	}
}

static u32 load_on(const struct machine *machine, s32 cpu)
{
	const struct fair_queue *queue = &fair_of(machine)->queues[cpu];

	return queue->len - queue->delayed + !sim_is_idle(machine, cpu);
}

static bool shares_cache(const struct machine *machine, s32 a, s32 b)
{
	return machine->topology->cpus[a].llc == machine->topology->cpus[b].llc;
}

static bool core_is_idle(const struct machine *machine, s32 cpu)
{
	s32 other = cpu;

	do {
		if (!sim_is_idle(machine, other))
			return false;
		other = machine->topology->next_sibling[other];
	} while (other != cpu);
	return true;
}

static s32 idlest(const struct machine *machine, const struct sim_thread *thread)
{
	u32 best_load = ~0u;
	s32 best = 0;

	for (u32 cpu = 0; cpu < machine->cpus_len && best_load; cpu++)
		if (sim_may_run(thread, (s32)cpu) && load_on(machine, (s32)cpu) < best_load) {
			best_load = load_on(machine, (s32)cpu);
			best = (s32)cpu;
		}
	return best;
}

/* An idle CPU beside that one, a whole core if there are siblings; -1: none. */
static s32 idle_near(const struct machine *machine, const struct sim_thread *thread, s32 target)
{
	bool has_siblings = machine->topology->smt_percent < 100;
	s32 found = -1;

	for (u32 step = 1; step < machine->cpus_len; step++) {
		s32 cpu = (target + (s32)step) % (s32)machine->cpus_len;

		if (!sim_is_idle(machine, cpu) || !shares_cache(machine, cpu, target) || !sim_may_run(thread, cpu))
			continue;
		if (!has_siblings || core_is_idle(machine, cpu))
			return cpu;
		found = found < 0 ? cpu : found;
	}
	return found;
}

static s32 fair_select(struct machine *machine, struct sim_thread *thread, s32 waker_cpu, bool by_interrupt,
		       bool is_new)
{
	s32 prev = thread->cpu, target = prev, near;

	(void)by_interrupt;
	if (thread->fair.is_delayed)
		return thread->fair.queue;
	if (thread->only_cpu >= 0)
		return thread->only_cpu;
	if (is_new || prev < 0)
		return idlest(machine, thread);
	if (sim_is_idle(machine, prev))
		return prev;
	if (waker_cpu >= 0 && waker_cpu != prev && sim_may_run(thread, waker_cpu) &&
	    load_on(machine, waker_cpu) < load_on(machine, prev))
		target = waker_cpu;
	if (sim_is_idle(machine, target))
		return target;
	near = idle_near(machine, thread, target);
	return near >= 0 ? near : target;
}

/* The longest queue that has one for this CPU; with `cache` only of those that share it. */
static struct sim_thread *pullable(struct machine *machine, s32 cpu, bool cache, u32 least_len)
{
	struct fair *fair = fair_of(machine);
	struct sim_thread *found = NULL;
	u32 best = least_len - 1;

	for (u32 other = 0; other < machine->cpus_len; other++) {
		const struct fair_queue *queue = &fair->queues[other];

		if ((s32)other == cpu || queue->len - queue->delayed <= best ||
		    shares_cache(machine, cpu, (s32)other) != cache)
			continue;
		for (u32 i = 0; i < queue->len; i++) {
			struct sim_thread *thread = &machine->threads[queue->list[i]];

			if (thread->fair.is_delayed || !sim_may_run(thread, cpu))
				continue;
			found = thread;
			best = queue->len - queue->delayed;
			break;
		}
	}
	return found;
}

static void pull(struct machine *machine, s32 cpu, struct sim_thread *thread)
{
	s32 from = thread->fair.queue;
	s64 middle = fair_middle(machine, from, fair_running(machine, from)), left;

	fair_list_remove(machine, from, thread);
	fair_note_lag(machine, from, thread, middle);
	left = thread->fair.deadline - thread->fair.vruntime;
	fair_place(machine, cpu, thread, false, false);
	/* What it had run of its slice it has run there too. */
	if (fair_of(machine)->delays_dequeue)
		thread->fair.deadline = thread->fair.vruntime + left;
	fair_list_add(machine, cpu, thread);
}

static bool balance_idle(struct machine *machine, s32 cpu)
{
	struct sim_thread *thread;

	if (!fair_of(machine)->queued)
		return false;
	thread = pullable(machine, cpu, true, 1);
	if (!thread)
		thread = pullable(machine, cpu, false, 1);
	if (thread)
		pull(machine, cpu, thread);
	return thread != NULL;
}

static struct sim_thread *fair_pick(struct machine *machine, s32 cpu, struct sim_thread *prev)
{
	struct fair_queue *queue = &fair_of(machine)->queues[cpu];
	struct sim_thread *next;

	next = prev || queue->len ? choose(machine, cpu, prev, true) : NULL;
	if (!next) {
		if (!balance_idle(machine, cpu))
			return NULL;
		next = choose(machine, cpu, NULL, true);
	}
	/* The kernel sets its timer for who is set to run, and who goes on is not: its turn ends with a tick, or as
	 * somebody joins. */
	if (next == prev)
		return prev;
	fair_list_remove(machine, cpu, next);
	next->fair.queue = cpu;
	if (prev)
		fair_list_add(machine, cpu, prev);
	return next;
}

static u64 shortest_slice(const struct machine *machine, s32 cpu, const struct sim_thread *thread)
{
	const struct fair_queue *queue = &fair_of(machine)->queues[cpu];
	u64 shortest_ns = thread->fair.slice_ns;

	/* Without hints they are all alike. */
	for (u32 i = 0; fair_of(machine)->hints && i < queue->len; i++) {
		u64 slice_ns = machine->threads[queue->list[i]].fair.slice_ns;

		shortest_ns = slice_ns < shortest_ns ? slice_ns : shortest_ns;
	}
	return shortest_ns;
}

static void fair_starts(struct machine *machine, struct sim_thread *thread, s32 cpu)
{
	struct fair *fair = fair_of(machine);
	struct fair_queue *queue = &fair->queues[cpu];
	s64 shortest = virtual_of(shortest_slice(machine, cpu, thread), thread->fair.weight);

	queue->protected_until = thread->fair.deadline;
	if (fair->shortest_protects && thread->fair.vruntime + shortest < queue->protected_until)
		queue->protected_until = thread->fair.vruntime + shortest;
	set_slice_end(machine, cpu, thread);
}

static void fair_charge(struct machine *machine, struct sim_thread *thread, s32 cpu, u64 ran_ns)
{
	struct fair_queue *queue = &fair_of(machine)->queues[cpu];

	thread->fair.vruntime += virtual_of(ran_ns, thread->fair.weight);
	if (!fair_of(machine)->is_cfs) {
		if (thread->fair.vruntime >= thread->fair.deadline) {
			thread->fair.deadline = thread->fair.vruntime +
						virtual_of(thread->fair.slice_ns, thread->fair.weight);
			queue->protected_until = thread->fair.vruntime;
		}
		if (queue->len && thread->fair.vruntime >= queue->protected_until)
			sim_resched_now(machine, cpu);
		return;
	}
	if (thread->fair.vruntime > queue->least) {
		s64 least = thread->fair.vruntime;

		for (u32 i = 0; i < queue->len; i++)
			if (machine->threads[queue->list[i]].fair.vruntime < least)
				least = machine->threads[queue->list[i]].fair.vruntime;
		queue->least = least > queue->least ? least : queue->least;
	}
}

static void fair_sleeps(struct machine *machine, struct sim_thread *thread, s32 cpu, bool ends)
{
	struct fair *fair = fair_of(machine);
	s64 middle = fair_middle(machine, cpu, thread);

	thread->fair.burst_ns = ewma(thread->fair.burst_ns, thread->ran_ns - thread->fair.slept_ran_ns);
	thread->fair.slept_ran_ns = thread->ran_ns;
	/* Who joins an empty queue joins where it was. */
	if (!fair->queues[cpu].len)
		fair->queues[cpu].least = middle;
	fair_note_lag(machine, cpu, thread, middle);
	if (fair->delays_dequeue && !fair->is_cfs && !ends && thread->fair.vruntime > middle && fair->queues[cpu].len) {
		thread->fair.is_delayed = true;
		fair_list_add(machine, cpu, thread);
	}
}

static void balance_busy(struct machine *machine, s32 cpu)
{
	struct fair_queue *queue = &fair_of(machine)->queues[cpu];
	struct sim_thread *thread;

	if (machine->now_ns - queue->balanced_ns < BALANCE_NS)
		return;
	queue->balanced_ns = machine->now_ns;
	thread = pullable(machine, cpu, true, queue->len - queue->delayed + 2);
	if (!thread)
		thread = pullable(machine, cpu, false, queue->len - queue->delayed + 2);
	if (thread)
		pull(machine, cpu, thread);
}

/* One that waits here while a CPU is idle is fetched by that one. */
static void kick_idle(struct machine *machine, s32 cpu)
{
	for (u32 other = 0; machine->idle && other < machine->cpus_len; other++)
		if ((s32)other != cpu && sim_is_idle(machine, (s32)other) &&
		    (pullable(machine, (s32)other, true, 1) || pullable(machine, (s32)other, false, 1))) {
			sim_resched(machine, (s32)other);
			return;
		}
}

static bool cfs_turn_ends(const struct machine *machine, s32 cpu, const struct sim_thread *thread)
{
	const struct fair *fair = fair_of(machine);
	const struct fair_queue *queue = &fair->queues[cpu];
	u64 period_ns = queue->len + 1 > CFS_NR_LATENCY ? (queue->len + 1) * fair->granularity_ns : fair->latency_ns;
	u64 ideal_ns = period_ns * thread->fair.weight / (queue->weight + thread->fair.weight);

	ideal_ns = ideal_ns < fair->granularity_ns ? fair->granularity_ns : ideal_ns;
	return machine->now_ns - machine->cpus[cpu].since_ns > ideal_ns;
}

static void fair_tick(struct machine *machine, s32 cpu)
{
	struct fair *fair = fair_of(machine);
	struct sim_thread *thread = fair_running(machine, cpu);

	if (!thread)
		return;
	balance_busy(machine, cpu);
	if (fair->queues[cpu].len > fair->queues[cpu].delayed)
		kick_idle(machine, cpu);
	if (fair->is_cfs && fair->queues[cpu].len && cfs_turn_ends(machine, cpu, thread))
		sim_resched_now(machine, cpu);
}

static u32 fair_queued(const struct machine *machine)
{
	return fair_of(machine)->queued;
}

#define FAIR(word)                                                                                        \
	{                                                                                                 \
		.name = word, .init = fair_init, .free = fair_free, .select_cpu = fair_select,            \
		.enqueue = fair_enqueue, .pick = fair_pick, .charge = fair_charge, .starts = fair_starts, \
		.sleeps = fair_sleeps, .tick = fair_tick, .queued = fair_queued                           \
	}
const struct sim_policy policy_eevdf = FAIR("eevdf");
const struct sim_policy policy_hints = FAIR("hints");
