// SPDX-License-Identifier: GPL-2.0
/* A CPU's queue under the kernel's own scheduler: virtual times, who joins where, what is owed to who leaves.
 */
#include "../../core/hints.h"
#include "../base/vec.h"
#include "eevdf_state.h"
#include "weights.h"

#define BASE_FAR (1LL << 36)

struct sim_thread *fair_running(const struct machine *machine, s32 cpu)
{
	struct sim_thread *thread = sim_running(machine, cpu);

	return thread && thread->prio > PRIO_REALTIME_LAST && thread->fair.queue == cpu ? thread : NULL;
}

/* The virtual time of the queue: the mean of all in it, by weight, the running one included. */
s64 fair_middle(const struct machine *machine, s32 cpu, const struct sim_thread *curr)
{
	const struct fair_queue *queue = &fair_of(machine)->queues[cpu];
	s64 sum = queue->sum, weight = (s64)queue->weight;

	if (curr) {
		sum += (curr->fair.vruntime - queue->base) * curr->fair.weight;
		weight += curr->fair.weight;
	}
	if (!weight)
		return queue->least;
	/* Towards less, so that nobody counts as eligible for a rounding. */
	return queue->base + (sum < 0 ? (sum - weight + 1) / weight : sum / weight);
}

/* Sums stay small where the base is near. */
static void move_base(struct fair_queue *queue, s64 near)
{
	s64 by = near - queue->base;

	if (queue->len && by < BASE_FAR && by > -(s64)BASE_FAR)
		return;
	queue->sum -= by * (s64)queue->weight;
	queue->base = near;
}

void fair_list_add(struct machine *machine, s32 cpu, struct sim_thread *thread)
{
	struct fair_queue *queue = &fair_of(machine)->queues[cpu];

	if (!vec_reserve(queue->list, queue->room, queue->len + 1, 16)) {
		machine->failed = true;
		return;
	}
	move_base(queue, thread->fair.vruntime);
	thread->fair.at = queue->len;
	thread->fair.queue = cpu;
	queue->list[queue->len++] = sim_index(machine, thread);
	queue->weight += thread->fair.weight;
	queue->sum += (thread->fair.vruntime - queue->base) * thread->fair.weight;
	queue->delayed += thread->fair.is_delayed;
	fair_of(machine)->queued += !thread->fair.is_delayed;
}

void fair_list_remove(struct machine *machine, s32 cpu, struct sim_thread *thread)
{
	struct fair_queue *queue = &fair_of(machine)->queues[cpu];
	u32 last = queue->list[--queue->len];

	queue->list[thread->fair.at] = last;
	machine->threads[last].fair.at = thread->fair.at;
	queue->weight -= thread->fair.weight;
	queue->sum -= (thread->fair.vruntime - queue->base) * thread->fair.weight;
	queue->delayed -= thread->fair.is_delayed;
	fair_of(machine)->queued -= !thread->fair.is_delayed;
}

static s64 clamped(s64 value, s64 most)
{
	return value > most ? most : value < -most ? -most : value;
}

/* It leaves the queue: what it is owed, or owes, goes with it. */
void fair_note_lag(struct machine *machine, s32 cpu, struct sim_thread *thread, s64 middle)
{
	struct fair *fair = fair_of(machine);
	u64 most_ns = 2 * fair->slice_ns > machine->tick_ns ? 2 * fair->slice_ns : machine->tick_ns;

	if (fair->lag_by_tick)
		most_ns = fair->slice_ns + machine->tick_ns;

	thread->fair.lag = clamped(middle - thread->fair.vruntime, virtual_of(most_ns, thread->fair.weight));
	thread->fair.left_at = middle;
	thread->fair.left_queue = cpu;
	thread->fair.queue = -1;
}

/* By its nice value, and with hints by its tier. */
static void set_weight(const struct fair *fair, struct sim_thread *thread)
{
	const struct hint_means means = { .slices = fair->delays_dequeue,
					  .presses = 1,
					  .usual_slice_ns = fair->slice_ns };
	struct hint hint = { .nice = (s32)thread->prio - PRIO_NICE_0 };

	if (fair->hints && thread->role_tier == TIER_LATENCY_CRITICAL && !thread->work->is_kernel)
		hint = hint_for(&hint, thread->role_tier, thread->fair.burst_ns, &means);
	thread->fair.weight = weight_of_prio((u32)(hint.nice + PRIO_NICE_0));
	thread->fair.slice_ns = hint.slice_ns ? hint.slice_ns : fair->slice_ns;
}

/* Where it joins: as far from the middle as it left, the more so as it moves the middle by joining. */
void fair_place(struct machine *machine, s32 cpu, struct sim_thread *thread, bool is_new, bool slept)
{
	struct fair *fair = fair_of(machine);
	struct fair_queue *queue = &fair->queues[cpu];
	struct sim_thread *curr = fair_running(machine, cpu);
	struct fair_entity *entity = &thread->fair;
	s64 middle = fair_middle(machine, cpu, curr), lag = is_new ? 0 : entity->lag, own;
	s64 load = (s64)queue->weight + (curr ? curr->fair.weight : 0);

	set_weight(fair, thread);
	own = virtual_of(entity->slice_ns, entity->weight);
	if (fair->is_cfs) {
		s64 least = queue->least - (slept && !is_new ? (s64)fair->latency_ns / 2 : 0);

		entity->vruntime = queue->least - lag;
		entity->vruntime = entity->vruntime < least ? least : entity->vruntime;
		entity->vruntime += is_new ? own : 0;
		return;
	}
	if (load)
		lag = lag * (load + entity->weight) / load;
	entity->vruntime = middle - lag;
	entity->deadline = entity->vruntime + (is_new ? own / 2 : own);
}
