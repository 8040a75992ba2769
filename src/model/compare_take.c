// SPDX-License-Identifier: GPL-2.0
/* Hands events to the models of frames, misses and threads, and counts what they find.
 */
#include "compare_take.h"

void compare_take_init(struct compare_take *take)
{
	*take = (struct compare_take){ .misses = { .of_all = true, .no_culprits = true } };
	frames_init(&take->frames, true);
}

void compare_take_free(struct compare_take *take)
{
	frames_free(&take->frames);
	misses_free(&take->misses);
}

static bool counts(const struct compare_take *take, const struct thread *thread)
{
	return thread && !thread->bystander && (!take->counts || take->counts(take->data, thread));
}

static enum late_cause cause_of(const struct late_frame *late)
{
	if (!late->has_cause)
		return LATE_UNKNOWN;
	switch (late->cause.kind) {
	case PATH_RAN:
		return late->cause.tid == late->tid ? LATE_RAN : LATE_OTHER_RAN;
	case PATH_WAITED:
		return LATE_WAITED;
	case PATH_SLEPT:
		return LATE_SLEPT;
	default:
		return LATE_UNKNOWN;
	}
}

static void take_frame(struct compare_take *take, const struct threads *threads, const struct event_header *event,
		       const struct frame_process *process, const struct late_frame *late, bool is_late)
{
	struct blocks *blocks = take->blocks;
	u32 program;

	if (!late->interval_ns || !blocks || !counts(take, threads_by_tid(threads, event->tid)))
		return;
	program = blocks_program(blocks, &process->comm);
	if (program == BLOCKS_PROGRAMS)
		return;
	blocks_time(blocks, SPREAD_FRAMES + program, late->interval_ns);
	blocks_count(blocks, COUNT_FRAMES + program, 1);
	blocks_count(blocks, COUNT_FRAME_NS + program, late->interval_ns);
	blocks_count(blocks, COUNT_LATE + program, is_late);
	if (is_late)
		blocks_count(blocks, COUNT_CAUSES + cause_of(late), 1);
}

static void take_wait(struct compare_take *take, const struct wait *wait)
{
	const struct event_role *role = wait->thread->role;
	u64 wait_ns = span_between(wait->from_ns, wait->to_ns);
	struct blocks *blocks = take->blocks;
	u32 number = role && role->role < ROLES ? role->role : ROLE_UNKNOWN, spreads[3], len = 0;

	if (!blocks || wait->thread->bystander)
		return;
	if (!counts(take, wait->thread)) {
		blocks_time(blocks, SPREAD_OTHERS, wait_ns);
		return;
	}
	spreads[len++] = SPREAD_WAITS;
	spreads[len++] = SPREAD_ROLES + number;
	/* Of whom nothing is known has a tier for want of a better one. */
	if (number != ROLE_UNKNOWN && role->tier < TIERS)
		spreads[len++] = SPREAD_TIERS + role->tier;
	blocks_times(blocks, spreads, len, wait_ns);
}

static void take_misses(struct compare_take *take, struct threads *threads, const struct event_header *event)
{
	struct miss found[MISSES_AT_ONCE];
	u32 len = misses_handle(&take->misses, threads, event, found);

	for (u32 i = 0; i < len && take->blocks; i++) {
		if (!counts(take, threads_by_tid(threads, found[i].tid)))
			continue;
		blocks_count(take->blocks, COUNT_MISSES, 1);
		blocks_count(take->blocks, COUNT_CRITICAL_MISSES, tier_of_role(found[i].role) == TIER_LATENCY_CRITICAL);
	}
}

static void take_frames(struct compare_take *take, struct threads *threads, const struct event_header *event)
{
	const struct frame_process *process = NULL;
	struct late_frame late = { 0 };
	bool is_late = frames_handle(&take->frames, threads, event, &late, &process);

	if (event->kind == EVENT_FRAME && process)
		take_frame(take, threads, event, process, &late, is_late);
}

void compare_take_event(struct compare_take *take, struct threads *threads, const struct event_header *event,
			const struct wait *ended)
{
	/* Most events are these two, which are nothing to frames unless one has to be explained. */
	bool is_common = event->kind == EVENT_SWITCH || event->kind == EVENT_WAKEUP;

	if (!is_common || take->frames.explains)
		take_frames(take, threads, event);
	if (!take->no_misses)
		take_misses(take, threads, event);
	if (ended)
		take_wait(take, ended);
	if (event->kind == EVENT_CUDA_LAUNCH && take->blocks && counts(take, threads_by_tid(threads, event->tid)))
		blocks_count(take->blocks, COUNT_LAUNCHES, 1);
}

/* A thread that is hopelessly late misses more than it begins. */
static void count_periods(struct blocks *blocks, const struct thread_clock *clock)
{
	if (!clock)
		return;
	blocks_count(blocks, COUNT_PERIODS, clock->periods > clock->misses ? clock->periods : clock->misses);
	blocks_count(blocks, COUNT_CRITICAL_PERIODS,
		     clock->critical_periods > clock->critical_misses ? clock->critical_periods
								      : clock->critical_misses);
}

void compare_take_piece_ends(struct compare_take *take, struct threads *threads, u64 from_ns, u64 to_ns)
{
	struct blocks *blocks = take->blocks;

	threads_charge(threads, to_ns);
	for (size_t i = 0; blocks && i < threads->len; i++) {
		const struct thread *thread = threads->all[i];
		const struct thread_account *account = &thread->account;

		if (!counts(take, thread))
			continue;
		blocks_count(blocks, COUNT_CPU_NS, account->cpu_ns);
		blocks_count(blocks, COUNT_SWITCHES, account->voluntary + account->involuntary);
		count_periods(blocks, thread->clock);
	}
	if (blocks)
		blocks_piece_ends(blocks, span_between(from_ns, to_ns));
	compare_take_restart(take, threads);
}

void compare_take_restart(struct compare_take *take, struct threads *threads)
{
	threads_restart(threads);
	misses_restart(&take->misses, threads);
	frames_restart(&take->frames);
}
