// SPDX-License-Identifier: GPL-2.0
/* Times that a recording has in it without saying so: how long CPUs took to react, and the tick.
 */
#include <math.h>
#include <stdlib.h>

#include "../base/sort.h"
#include "work_state.h"

enum { FRESH_NS = 100 * NSEC_PER_USEC };

/* The longest first: what has a phase in one has it in its parts too. */
static const u32 tick_periods_ns[TICKS] = { 10000000, 4000000, 3333333, 1000000 };

u64 sim_hash(u64 seed, u64 count)
{
	u64 z = seed + count * 0x9e3779b97f4a7c15ULL;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

void delays_take(struct work_delays *delays, u64 ns)
{
	u32 short_ns = ns < 0xffffffffu ? (u32)ns : 0xffffffffu;
	u64 at = delays->seen++;

	if (delays->len < WORK_DELAYS) {
		delays->ns[delays->len++] = short_ns;
		return;
	}
	at = sim_hash(at, 7) % delays->seen;
	if (at < WORK_DELAYS)
		delays->ns[at] = short_ns;
}

static int by_size(const void *a, const void *b)
{
	u32 x = *(const u32 *)a, y = *(const u32 *)b;

	return (x > y) - (x < y);
}

void delays_sort(struct work_delays *delays)
{
	sort_rows(delays->ns, delays->len, sizeof(*delays->ns), by_size);
}

u64 delay_at(const struct work_delays *delays, u32 at)
{
	return delays->len ? delays->ns[(u64)at * delays->len >> 32] : 0;
}

void work_note_delay(struct work *work, const struct extracted *thread, const struct event_switch *event)
{
	u64 wait_ns = event->head.time_ns - thread->waits_ns;

	if (!thread->woken)
		return;
	if (thread->met_idle)
		delays_take(&work->idle, wait_ns);
	else if (event->head.tid && !event->prev_state && wait_ns < NSEC_PER_MSEC)
		delays_take(&work->preempt, wait_ns);
}

/* Threads take turns when a tick says so: the period at whose phase most turns end is the tick's. */
void work_note_turn(struct work_state *state, const struct extracted *next, const struct event_switch *event)
{
	u64 now_ns = event->head.time_ns;

	if (!event->head.tid || event->prev_state || (next->woken && now_ns - next->waits_ns < FRESH_NS))
		return;
	state->turns++;
	for (u32 i = 0; i < TICKS; i++) {
		double angle = (double)(now_ns % tick_periods_ns[i]) / tick_periods_ns[i] * 2 * M_PI;

		state->turn_cos[i] += cos(angle);
		state->turn_sin[i] += sin(angle);
	}
}

/* The largest period at whose phase turns end. */
u32 work_tick_of(const struct work_state *state)
{
	for (u32 i = 0; i < TICKS && state->turns >= TURNS_LEAST; i++) {
		double mean = sqrt(state->turn_cos[i] * state->turn_cos[i] + state->turn_sin[i] * state->turn_sin[i]) /
			      (double)state->turns;

		if (mean > 0.5)
			return tick_periods_ns[i];
	}
	return 0;
}
