// SPDX-License-Identifier: GPL-2.0
/* Time goes on from one thing that happens to the next: a CPU's thread has had what it wanted, a tick, a timer, an
 * event of the recording that comes at its time. */
#include "machine.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../../core/scx_config.h"
#include "../base/vec.h"

enum {
	TICK_NS = 4 * NSEC_PER_MSEC,
	PREEMPT_LEAST_NS = NSEC_PER_USEC, /* an interrupt to a CPU that runs a thread */
	LIVELOCK_STEPS = 1000 * 1000,	  /* so many without time going on are no work */
};

#define NEVER (~0ULL)

/* CPUs in a heap, by what happens next. */
static bool cpu_before(const struct machine *machine, u32 a, u32 b)
{
	u64 x = machine->cpus[a].next_ns, y = machine->cpus[b].next_ns;

	return x != y ? x < y : a < b;
}

static void heap_put(struct machine *machine, u32 at, u32 cpu)
{
	machine->cpu_heap[at] = cpu;
	machine->cpus[cpu].at = at;
}

static void heap_moved(struct machine *machine, u32 cpu)
{
	u32 at = machine->cpus[cpu].at, len = machine->cpus_len;

	while (at && cpu_before(machine, cpu, machine->cpu_heap[(at - 1) / 2])) {
		heap_put(machine, at, machine->cpu_heap[(at - 1) / 2]);
		at = (at - 1) / 2;
	}
	for (;;) {
		u32 child = at * 2 + 1;

		if (child + 1 < len && cpu_before(machine, machine->cpu_heap[child + 1], machine->cpu_heap[child]))
			child++;
		if (child >= len || !cpu_before(machine, machine->cpu_heap[child], cpu))
			break;
		heap_put(machine, at, machine->cpu_heap[child]);
		at = child;
	}
	heap_put(machine, at, cpu);
}

static bool timer_before(const struct sim_timer *a, const struct sim_timer *b)
{
	return a->time_ns != b->time_ns ? a->time_ns < b->time_ns : a->order < b->order;
}

bool machine_timer_add(struct machine *machine, u32 thread, u64 time_ns)
{
	struct sim_timer timer = { time_ns, machine->timer_orders++, thread };
	u32 at = machine->timers_len;

	if (time_ns == NEVER)
		return true;
	if (!vec_reserve(machine->timers, machine->timers_room, machine->timers_len + 1, 64)) {
		machine->failed = true;
		return false;
	}
	machine->timers_len++;
	while (at && timer_before(&timer, &machine->timers[(at - 1) / 2])) {
		machine->timers[at] = machine->timers[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	machine->timers[at] = timer;
	return true;
}

static struct sim_timer timer_pop(struct machine *machine)
{
	struct sim_timer first = machine->timers[0], last = machine->timers[--machine->timers_len];
	u32 at = 0, len = machine->timers_len;

	for (;;) {
		u32 child = at * 2 + 1;

		if (child + 1 < len && timer_before(&machine->timers[child + 1], &machine->timers[child]))
			child++;
		if (child >= len || !timer_before(&machine->timers[child], &last))
			break;
		machine->timers[at] = machine->timers[child];
		at = child;
	}
	if (len)
		machine->timers[at] = last;
	return first;
}

void machine_note_waiting(struct machine *machine, int more_waiting, int more_idle)
{
	u32 both = machine->waiting < machine->idle ? machine->waiting : machine->idle;

	machine->counts.idle_beside_waiting_ns += (machine->now_ns - machine->idle_since_ns) * both;
	machine->idle_since_ns = machine->now_ns;
	machine->waiting = (u32)((int)machine->waiting + more_waiting);
	machine->idle = (u32)((int)machine->idle + more_idle);
	if (machine->waiting > machine->counts.queued_most)
		machine->counts.queued_most = machine->waiting;
}

u32 sim_speed(const struct machine *machine, s32 cpu)
{
	const struct sim_topology *topology = machine->topology;
	u32 speed = topology->capacity[cpu];

	if (topology->smt_percent >= 100)
		return speed;
	for (u32 other = topology->next_sibling[cpu]; other != (u32)cpu; other = topology->next_sibling[other])
		if (machine->cpus[other].thread != NO_THREAD)
			return speed * topology->smt_percent / 100;
	return speed;
}

void machine_plan(struct machine *machine, s32 cpu)
{
	struct sim_cpu *of = &machine->cpus[cpu];
	struct sim_thread *thread = sim_running(machine, cpu);
	u64 next_ns = of->look_ns ? of->look_ns : NEVER, end_ns;

	next_ns = of->timer_ns && of->timer_ns < next_ns ? of->timer_ns : next_ns;
	if (thread) {
		end_ns = thread->left_ns > NEVER / 4096
				 ? NEVER
				 : machine->now_ns + (thread->left_ns * 1024 + of->speed - 1) / of->speed;
		next_ns = end_ns < next_ns ? end_ns : next_ns;
		next_ns = of->slice_ends_ns && of->slice_ends_ns < next_ns ? of->slice_ends_ns : next_ns;
		next_ns = of->tick_ns && of->tick_ns < next_ns ? of->tick_ns : next_ns;
	}
	of->next_ns = next_ns;
	heap_moved(machine, (u32)cpu);
}

void sim_charge(struct machine *machine, s32 cpu)
{
	struct sim_cpu *of = &machine->cpus[cpu];
	struct sim_thread *thread = sim_running(machine, cpu);
	u64 ran_ns = machine->now_ns - of->charged_ns, done_ns;

	if (!thread || !ran_ns)
		return;
	of->charged_ns = machine->now_ns;
	of->busy_ns += ran_ns;
	done_ns = of->speed == 1024 ? ran_ns : (ran_ns * of->speed + 1023) / 1024;
	thread->ran_ns += ran_ns;
	if (thread->left_ns <= NEVER / 4096)
		thread->left_ns -= done_ns < thread->left_ns ? done_ns : thread->left_ns;
	if (thread->prio > PRIO_REALTIME_LAST)
		machine->policy->charge(machine, thread, cpu, ran_ns);
}

void sim_resched_now(struct machine *machine, s32 cpu)
{
	struct sim_cpu *of = &machine->cpus[cpu];

	if (of->look_ns && of->look_ns <= machine->now_ns)
		return;
	if (of->thread == NO_THREAD && !of->look_ns)
		machine_note_waiting(machine, 0, -1);
	of->look_ns = machine->now_ns;
	machine_plan(machine, cpu);
}

/* An idle CPU wakes up first; a busy one hears of it by an interrupt. Both took as long in the recording. */
void sim_resched(struct machine *machine, s32 cpu)
{
	struct sim_cpu *of = &machine->cpus[cpu];
	u32 chance = (u32)sim_hash(machine->params.seed, machine->chance++);
	bool is_idle = of->thread == NO_THREAD;

	if (of->look_ns)
		return;
	if (is_idle)
		machine_note_waiting(machine, 0, -1);
	of->look_ns = machine->now_ns + (is_idle ? delay_at(&machine->work->idle, chance)
						 : PREEMPT_LEAST_NS + delay_at(&machine->work->preempt, chance));
	machine_plan(machine, cpu);
}

void sim_set_slice_end(struct machine *machine, s32 cpu, u64 time_ns)
{
	machine->cpus[cpu].slice_ends_ns = time_ns;
}

void sim_set_timer(struct machine *machine, s32 cpu, u64 time_ns)
{
	machine->cpus[cpu].timer_ns = time_ns;
	machine_plan(machine, cpu);
}

/* Ticks come at the same time everywhere. */
static u64 next_tick(const struct machine *machine)
{
	return machine->now_ns - machine->now_ns % machine->tick_ns + machine->tick_ns;
}

static void siblings_change(struct machine *machine, s32 cpu)
{
	const struct sim_topology *topology = machine->topology;

	if (topology->smt_percent >= 100)
		return;
	for (u32 other = topology->next_sibling[cpu]; other != (u32)cpu; other = topology->next_sibling[other]) {
		sim_charge(machine, (s32)other);
		machine->cpus[other].speed = sim_speed(machine, (s32)other);
		machine_plan(machine, (s32)other);
	}
}

/* What a thread costs that comes from elsewhere, and a switch. */
static void note_arrival(struct machine *machine, struct sim_thread *next, s32 cpu)
{
	const struct sim_topology *topology = machine->topology;
	s32 from = next->cpu;
	u64 cost_ns = machine->params.switch_ns;

	if (from != cpu) {
		if (from >= 0) {
			machine->counts.moves++;
			cost_ns += topology->move_ns[cpu_distance(&topology->cpus[from], &topology->cpus[cpu])];
			machine_emit_move(machine, next, from, cpu, next->is_woken);
		}
		next->cpu = cpu;
	}
	if (next->left_ns <= NEVER / 8192)
		next->left_ns += cost_ns;
}

static void switch_to(struct machine *machine, s32 cpu, struct sim_thread *prev, bool prev_runs,
		      struct sim_thread *next)
{
	struct sim_cpu *of = &machine->cpus[cpu];
	u64 wait_ns;

	machine->counts.switches++;
	if (next)
		note_arrival(machine, next, cpu);
	machine_emit_switch(machine, cpu, prev, prev_runs, next);
	if (prev && prev_runs) {
		prev->state = SIM_RUNNABLE;
		prev->wait_ns = machine->now_ns;
		prev->is_woken = false;
	}
	machine_note_waiting(machine, (prev_runs ? 1 : 0) - (next ? 1 : 0), next ? 0 : 1);
	of->thread = next ? sim_index(machine, next) : NO_THREAD;
	of->since_ns = of->charged_ns = machine->now_ns;
	of->slice_ends_ns = 0;
	of->tick_ns = next ? next_tick(machine) : 0;
	if (!prev != !next)
		siblings_change(machine, cpu);
	of->speed = sim_speed(machine, cpu);
	if (!next) {
		of->idle_since_ns = machine->now_ns;
		return;
	}
	wait_ns = machine->now_ns - next->wait_ns;
	if (wait_ns > machine->counts.longest_wait_ns)
		machine->counts.longest_wait_ns = wait_ns;
	if (machine->on_wait)
		machine->on_wait(machine->data, next, wait_ns);
	next->state = SIM_RUNNING;
}

static struct sim_thread *rt_take(struct machine *machine, s32 cpu, const struct sim_thread *prev)
{
	u32 first = machine->rt_first[cpu];
	struct sim_thread *thread = first == NO_THREAD ? NULL : &machine->threads[first];

	if (!thread || (prev && prev->prio <= thread->prio))
		return NULL;
	machine->rt_first[cpu] = thread->rt_next;
	return thread;
}

/* Realtime threads go first, as they do under any policy. Returns who runs next. */
static struct sim_thread *choose(struct machine *machine, s32 cpu, struct sim_thread *prev)
{
	struct sim_thread *rt = rt_take(machine, cpu, prev);

	machine->counts.picks++;
	if (rt) {
		if (prev && prev->prio <= PRIO_REALTIME_LAST)
			machine_rt_enqueue(machine, prev, cpu);
		else if (prev)
			machine->policy->enqueue(machine, prev, cpu, false, false);
		return rt;
	}
	if (prev && prev->prio <= PRIO_REALTIME_LAST)
		return prev;
	return machine->policy->pick(machine, cpu, prev);
}

/* The CPU looks for who runs next, and again while that one only does what takes no time. */
static void schedule(struct machine *machine, s32 cpu, bool prev_runs)
{
	struct sim_cpu *of = &machine->cpus[cpu];

	for (;;) {
		struct sim_thread *prev = sim_running(machine, cpu), *next;

		of->look_ns = 0;
		next = choose(machine, cpu, prev_runs ? prev : NULL);
		/* A CPU that looks is not idle; switch_to counts it so where it stays without a thread. */
		if (!next && !prev) {
			machine_note_waiting(machine, 0, 1);
			break;
		}
		if (next != prev || !prev_runs) {
			switch_to(machine, cpu, prev, prev_runs, next);
			if (next && next->prio > PRIO_REALTIME_LAST)
				machine->policy->starts(machine, next, cpu);
		}
		if (!next || next->left_ns || machine_advance(machine, next, cpu))
			break;
		prev_runs = false;
		if (machine->failed || machine->livelock_steps > LIVELOCK_STEPS)
			break;
	}
	machine_plan(machine, cpu);
}

static void cpu_happens(struct machine *machine, s32 cpu)
{
	struct sim_cpu *of = &machine->cpus[cpu];
	struct sim_thread *thread;

	sim_charge(machine, cpu);
	thread = sim_running(machine, cpu);
	if (thread && !thread->left_ns && !machine_advance(machine, thread, cpu)) {
		schedule(machine, cpu, false);
		return;
	}
	if (thread && of->tick_ns && of->tick_ns <= machine->now_ns) {
		of->tick_ns = next_tick(machine);
		machine->counts.ticks++;
		if (thread->prio > PRIO_REALTIME_LAST)
			machine->policy->tick(machine, cpu);
	}
	if (of->timer_ns && of->timer_ns <= machine->now_ns) {
		of->timer_ns = 0;
		machine->policy->timer(machine, cpu);
	}
	if (thread && of->slice_ends_ns && of->slice_ends_ns <= machine->now_ns) {
		of->slice_ends_ns = 0;
		of->look_ns = machine->now_ns;
	}
	if (of->look_ns && of->look_ns <= machine->now_ns)
		schedule(machine, cpu, thread != NULL);
	else
		machine_plan(machine, cpu);
}

static void timer_happens(struct machine *machine)
{
	struct sim_timer timer = timer_pop(machine);
	struct sim_thread *thread = &machine->threads[timer.thread];

	machine_wake(machine, timer.thread, NULL, thread->cpu >= 0 ? thread->cpu : 0, false);
}

static int set_up(struct machine *machine)
{
	const struct work *work = machine->work;

	machine->threads = calloc(work->len ? work->len : 1, sizeof(*machine->threads));
	machine->cpus = calloc(machine->cpus_len, sizeof(*machine->cpus));
	machine->cpu_heap = calloc(machine->cpus_len, sizeof(*machine->cpu_heap));
	machine->rt_first = calloc(machine->cpus_len, sizeof(*machine->rt_first));
	if (!machine->threads || !machine->cpus || !machine->cpu_heap || !machine->rt_first)
		return -ENOMEM;
	machine->len = work->len;
	machine->idle = machine->cpus_len;
	for (u32 cpu = 0; cpu < machine->cpus_len; cpu++) {
		machine->cpus[cpu] = (struct sim_cpu){ .thread = NO_THREAD, .next_ns = NEVER, .at = cpu };
		machine->cpus[cpu].speed = machine->topology->capacity[cpu];
		machine->cpu_heap[cpu] = cpu;
		machine->rt_first[cpu] = NO_THREAD;
	}
	for (u32 i = 0; i < work->len; i++) {
		struct sim_thread *thread = &machine->threads[i];

		thread->work = &work->threads[i];
		thread->tid = work->threads[i].tid;
		thread->prio = work->threads[i].prio;
		thread->state = SIM_UNBORN;
		thread->cpu = -1;
		/* On a machine of fewer CPUs it stays on one all the same; which of others it may use is not known. */
		thread->only_cpu = thread->work->only_cpu < 0 ? -1 : thread->work->only_cpu % (s32)machine->cpus_len;
		thread->kept_off = machine->cpus_len == work->cpus_len ? thread->work->kept_off : NULL;
		thread->role_tier = TIER_INTERACTIVE;
		thread->fair.queue = thread->fair.left_queue = -1;
	}
	return machine->policy->init(machine);
}

static void begin_thread(struct machine *machine, u32 index)
{
	const struct work_thread *work = &machine->work->threads[index];
	struct sim_thread *thread = &machine->threads[index];

	thread->cpu = (s32)(work->cpu % machine->cpus_len);
	thread->state = SIM_ASLEEP;
	if (work->begins != BEGIN_ASLEEP || machine_advance(machine, thread, -1))
		machine_begin(machine, thread);
}

/* Those that are there as the window opens: first who they are, then what they do. */
static void populate(struct machine *machine)
{
	const struct work *work = machine->work;

	for (u32 i = 0; i < machine->len; i++)
		if (work->threads[i].begins != BEGIN_NEW)
			machine_emit_thread(machine, &machine->threads[i], false);
	/* What is known of them before anything happens. */
	while (machine->timed_next < work->timed_len && work->timed[machine->timed_next].time_ns <= machine->now_ns)
		machine_emit_timed(machine, &work->timed[machine->timed_next++]);
	machine_emit_samples(machine, false);
	/* Those that ran first: else one that waited for its CPU would find another idle that is not. */
	for (u32 i = 0; i < machine->len; i++)
		if (work->threads[i].begins == BEGIN_RUNNING)
			begin_thread(machine, i);
	for (u32 i = 0; i < machine->len; i++)
		if (work->threads[i].begins != BEGIN_RUNNING && work->threads[i].begins != BEGIN_NEW)
			begin_thread(machine, i);
}

static int go_on(struct machine *machine)
{
	const struct work *work = machine->work;

	while (!machine->failed && !machine->stopped) {
		u64 cpu_ns = machine->cpus[machine->cpu_heap[0]].next_ns;
		u64 timer_ns = machine->timers_len ? machine->timers[0].time_ns : NEVER;
		u64 timed_ns = machine->timed_next < work->timed_len ? work->timed[machine->timed_next].time_ns : NEVER;
		u64 next_ns = cpu_ns < timer_ns ? cpu_ns : timer_ns;

		next_ns = timed_ns < next_ns ? timed_ns : next_ns;
		if (next_ns > machine->end_ns)
			break;
		if (next_ns > machine->now_ns) {
			machine->now_ns = next_ns;
			machine->livelock_steps = 0;
		} else if (machine->livelock_steps++ > LIVELOCK_STEPS) {
			return -ELOOP;
		}
		machine->counts.steps++;
		if (timed_ns <= machine->now_ns)
			machine_emit_timed(machine, &work->timed[machine->timed_next++]);
		else if (timer_ns <= machine->now_ns)
			timer_happens(machine);
		else
			cpu_happens(machine, (s32)machine->cpu_heap[0]);
	}
	return machine->failed ? -ENOMEM : machine->stopped ? -EINTR : 0;
}

static void close_up(struct machine *machine)
{
	machine->now_ns = machine->end_ns;
	machine_note_waiting(machine, 0, 0);
	for (u32 cpu = 0; cpu < machine->cpus_len; cpu++)
		sim_charge(machine, (s32)cpu);
	for (u32 i = 0; i < machine->len; i++) {
		const struct sim_thread *thread = &machine->threads[i];
		u64 wait_ns = machine->now_ns - thread->wait_ns;

		if (thread->state == SIM_RUNNABLE && wait_ns > machine->counts.longest_wait_ns)
			machine->counts.longest_wait_ns = wait_ns;
	}
	machine_emit_samples(machine, true);
}

int machine_run(struct machine *machine, const struct work *work, const struct sim_topology *topology,
		const struct sim_params *params)
{
	int error;

	machine->work = work;
	machine->topology = topology;
	machine->params = *params;
	machine->policy = params->policy;
	machine->cpus_len = topology->cpus_len;
	machine->now_ns = machine->idle_since_ns = work->first_ns;
	machine->end_ns = work->last_ns;
	machine->tick_ns = params->tick_ns ? params->tick_ns : work->tick_ns ? work->tick_ns : TICK_NS;
	machine->kernel = params->kernel;
	error = set_up(machine);
	if (error)
		return error;
	populate(machine);
	error = go_on(machine);
	if (!error)
		close_up(machine);
	return error;
}

void machine_free(struct machine *machine)
{
	if (machine->policy && machine->policy_data)
		machine->policy->free(machine);
	free(machine->threads);
	free(machine->cpus);
	free(machine->cpu_heap);
	free(machine->rt_first);
	free(machine->timers);
	machine->threads = NULL;
	machine->cpus = NULL;
	machine->cpu_heap = machine->rt_first = NULL;
	machine->timers = NULL;
	machine->policy_data = NULL;
}

const struct sim_policy *sim_policy_by_name(const char *name)
{
	static const struct sim_policy *const all[] = { &policy_eevdf, &policy_hints, &policy_tactus, &policy_fifo,
							&policy_vtime };

	for (u32 i = 0; i < sizeof(all) / sizeof(*all); i++)
		if (!strcmp(all[i]->name, name))
			return all[i];
	return NULL;
}
