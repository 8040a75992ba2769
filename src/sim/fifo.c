// SPDX-License-Identifier: GPL-2.0
/* The two ways of the kernel's example scx_simple: one queue for all CPUs, first come first served or by virtual time.
 */
#include <errno.h>
#include <stdlib.h>

#include "dsq.h"
#include "machine.h"
#include "weights.h"

enum { SIMPLE_SLICE_NS = 20 * NSEC_PER_MSEC };

struct simple {
	struct dsq shared;
	struct dsq *local;
	u64 order;   /* of the next to come */
	u64 clock;   /* the virtual time */
	u64 *vtimes; /* of threads */
	u64 slice_ns;
	bool by_vtime;
};

static struct simple *simple_of(const struct machine *machine)
{
	return machine->policy_data;
}

static int simple_init(struct machine *machine)
{
	struct simple *simple = calloc(1, sizeof(*simple));

	if (!simple)
		return -ENOMEM;
	machine->policy_data = simple;
	simple->local = calloc(machine->cpus_len, sizeof(*simple->local));
	simple->vtimes = calloc(machine->len ? machine->len : 1, sizeof(*simple->vtimes));
	simple->slice_ns = machine->params.slice_ns ? machine->params.slice_ns : SIMPLE_SLICE_NS;
	simple->by_vtime = machine->policy == &policy_vtime;
	simple->clock = simple->order = 1ULL << 40;
	return simple->local && simple->vtimes ? 0 : -ENOMEM;
}

static void simple_free(struct machine *machine)
{
	struct simple *simple = simple_of(machine);

	for (u32 cpu = 0; simple->local && cpu < machine->cpus_len; cpu++)
		free(simple->local[cpu].items);
	free(simple->local);
	free(simple->shared.items);
	free(simple->vtimes);
	free(simple);
}

static s32 idle_for(const struct machine *machine, const struct sim_thread *thread)
{
	s32 prev = thread->cpu >= 0 ? thread->cpu : 0;

	if (thread->only_cpu >= 0)
		return sim_is_idle(machine, thread->only_cpu) ? thread->only_cpu : -1;
	for (u32 step = 0; machine->idle && step < machine->cpus_len; step++) {
		s32 cpu = (prev + (s32)step) % (s32)machine->cpus_len;

		if (sim_is_idle(machine, cpu) && sim_may_run(thread, cpu))
			return cpu;
	}
	return -1;
}

static s32 simple_select(struct machine *machine, struct sim_thread *thread, s32 waker_cpu, bool by_interrupt,
			 bool is_new)
{
	s32 idle = idle_for(machine, thread);

	(void)waker_cpu, (void)by_interrupt, (void)is_new;
	if (idle >= 0)
		return idle;
	return thread->only_cpu >= 0 ? thread->only_cpu : thread->cpu >= 0 ? thread->cpu : 0;
}

static void simple_enqueue(struct machine *machine, struct sim_thread *thread, s32 cpu, bool wakes, bool is_new)
{
	struct simple *simple = simple_of(machine);
	u32 index = sim_index(machine, thread);
	u64 *vtime = &simple->vtimes[index], least = simple->clock - simple->slice_ns;

	thread->slice_left_ns = simple->slice_ns;
	if (thread->only_cpu >= 0 || (wakes && sim_is_idle(machine, cpu))) {
		machine->failed |= !dsq_insert(&simple->local[cpu], simple->order++, index);
		if (sim_is_idle(machine, cpu))
			sim_resched(machine, cpu);
		return;
	}
	if (is_new || vtime_before(*vtime, least))
		*vtime = is_new ? simple->clock : least;
	machine->failed |= !dsq_insert(&simple->shared, simple->by_vtime ? *vtime : simple->order++, index);
}

/* The first that may run there; NULL: none. */
static struct sim_thread *take(struct machine *machine, struct dsq *dsq, s32 cpu)
{
	for (u32 at = 0; at < dsq->len; at++) {
		struct sim_thread *thread = &machine->threads[dsq_at(dsq, at)->thread];

		if (!sim_may_run(thread, cpu))
			continue;
		dsq_remove(dsq, at);
		return thread;
	}
	return NULL;
}

static struct sim_thread *simple_pick(struct machine *machine, s32 cpu, struct sim_thread *prev)
{
	struct simple *simple = simple_of(machine);
	struct dsq *from = simple->local[cpu].len ? &simple->local[cpu] : &simple->shared;
	struct sim_thread *next;

	next = prev && prev->slice_left_ns ? NULL : take(machine, from, cpu);
	if (!next) {
		if (prev && !prev->slice_left_ns)
			prev->slice_left_ns = simple->slice_ns;
		return prev;
	}
	if (prev)
		simple_enqueue(machine, prev, cpu, false, false);
	return next;
}

static void simple_charge(struct machine *machine, struct sim_thread *thread, s32 cpu, u64 ran_ns)
{
	struct simple *simple = simple_of(machine);

	(void)cpu;
	thread->slice_left_ns -= ran_ns < thread->slice_left_ns ? ran_ns : thread->slice_left_ns;
	simple->vtimes[sim_index(machine, thread)] += ran_ns * 100 / scx_weight_of_prio(thread->prio);
}

static void simple_starts(struct machine *machine, struct sim_thread *thread, s32 cpu)
{
	struct simple *simple = simple_of(machine);
	u64 vtime = simple->vtimes[sim_index(machine, thread)];

	(void)cpu;
	if (vtime_before(simple->clock, vtime))
		simple->clock = vtime;
}

static void simple_sleeps(struct machine *machine, struct sim_thread *thread, s32 cpu, bool ends)
{
	(void)machine, (void)thread, (void)cpu, (void)ends;
}

static void simple_tick(struct machine *machine, s32 cpu)
{
	const struct sim_thread *thread = sim_running(machine, cpu);

	if (!thread->slice_left_ns)
		sim_resched_now(machine, cpu);
}

static u32 simple_queued(const struct machine *machine)
{
	return simple_of(machine)->shared.len;
}

#define SIMPLE(word)                                                                                              \
	{                                                                                                         \
		.name = word, .init = simple_init, .free = simple_free, .select_cpu = simple_select,              \
		.enqueue = simple_enqueue, .pick = simple_pick, .charge = simple_charge, .starts = simple_starts, \
		.sleeps = simple_sleeps, .tick = simple_tick, .queued = simple_queued                             \
	}
const struct sim_policy policy_fifo = SIMPLE("fifo");
const struct sim_policy policy_vtime = SIMPLE("vtime");
