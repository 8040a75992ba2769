// SPDX-License-Identifier: GPL-2.0
/* Takes the scheduler out of a recording: what is left of a thread are its bursts, its wake-ups and its sleeps.
 */
#include "work.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../base/vec.h"
#include "weights.h"
#include "work_state.h"

enum {
	STATE_DEADS = 0x80 | 0x20 | 0x10,
	EARLY_NS = NSEC_PER_MSEC, /* a wake-up this long before it slept met it on the way */
};

/* A thread that has this tid from now on. NULL: no memory. */
static struct extracted *meet_new(struct work *work, u32 tid, u32 cpu)
{
	struct work_state *state = work->state;
	int index;

	index = work_add_thread(work, tid, tid, "", BEGIN_ASLEEP);
	if (index < 0 || !vec_reserve(state->threads, state->room, work->len, WORK_FIRST_ROOM) ||
	    !map_set(&state->by_tid, tid, (u32)index + 1)) {
		work->failed = true;
		work->len -= index >= 0;
		return NULL;
	}
	state->threads[index] = (struct extracted){ .index = (u32)index, .cpu = cpu };
	work->threads[index].cpu = cpu;
	return &state->threads[index];
}

/* The state of the thread that has this tid now, made if it is not there. NULL: idle, or no memory. */
static struct extracted *meet(struct work *work, u32 tid, u32 cpu)
{
	u32 place = tid ? map_get(&work->state->by_tid, tid) : 0;

	if (!tid)
		return NULL;
	return place ? &work->state->threads[place - 1] : meet_new(work, tid, cpu);
}

static struct work_thread *work_of(struct work *work, const struct extracted *thread)
{
	return &work->threads[thread->index];
}

static void add(struct work *work, const struct extracted *thread, struct step step)
{
	work_add_step(work, thread->index, step);
}

static void charge(struct work *work, struct extracted *thread, u64 now_ns)
{
	if (thread->doing != DOING_RUN || now_ns <= thread->charged_ns)
		return;
	add(work, thread, (struct step){ .kind = STEP_RUN, .value = now_ns - thread->charged_ns });
	thread->charged_ns = now_ns;
}

static void note_prio(struct work *work, struct extracted *thread, u32 prio)
{
	struct work_thread *to = work_of(work, thread);

	/* 0: not known; and what a recording claims that is none. */
	if (!prio || prio > PRIO_NICE_MOST || prio == thread->prio)
		return;
	if (!thread->prio)
		to->prio = prio;
	else
		add(work, thread, (struct step){ .kind = STEP_PRIO, .value = prio });
	thread->prio = prio;
}

/* It sleeps from here on; what ends that is filled in when it is known. */
static void sleeps(struct work *work, struct extracted *thread, u16 prev_state, u64 now_ns)
{
	thread->doing = DOING_SLEEP;
	thread->slept_ns = now_ns;
	thread->has_sleep = true;
	if (thread->gave_ns)
		add(work, thread, (struct step){ .kind = STEP_GAVE, .value = now_ns - thread->gave_ns });
	thread->gave_ns = 0;
	add(work, thread, (struct step){ .kind = STEP_SLEEP_UNTIL, .state = prev_state, .value = ~0ULL });
	thread->sleep_step = work_of(work, thread)->len - 1;
}

static u32 whole_us(u64 ns)
{
	return ns / 1000 < 0xffffffffu ? (u32)(ns / 1000) : 0xffffffffu;
}

/* What ended its sleep: a thread, or a time. */
static void wakes(struct work *work, struct extracted *thread, u64 now_ns, bool by_thread, u8 flags)
{
	struct work_thread *of = work_of(work, thread);
	struct step *step;

	if (!thread->has_sleep || thread->sleep_step >= of->len)
		return;
	step = &of->steps[thread->sleep_step];
	thread->has_sleep = false;
	step->kind = by_thread ? STEP_SLEEP_SIGNAL : STEP_SLEEP_UNTIL;
	step->value = now_ns;
	step->flags |= flags;
	step->thread = whole_us(now_ns - thread->slept_ns);
	if (by_thread)
		work->edges++;
	else
		work->external++;
}

/* The first that is known of it. */
static void begins(struct work *work, struct extracted *thread, enum work_begin how, u64 now_ns)
{
	if (thread->met)
		return;
	thread->met = true;
	work_of(work, thread)->begins = (u8)how;
	if (how == BEGIN_ASLEEP)
		sleeps(work, thread, 1, work->first_ns < now_ns ? work->first_ns : now_ns);
}

static void leaves_cpu(struct work *work, const struct event_switch *event, u64 now_ns)
{
	struct extracted *thread = meet(work, event->head.tid, event->head.cpu);
	bool can_run = !event->prev_state || event->head.flags & EVENT_FLAG_PREEMPTED;

	if (!thread)
		return;
	if (!thread->met) {
		begins(work, thread, BEGIN_RUNNING, now_ns);
		thread->doing = DOING_RUN;
		thread->charged_ns = work->first_ns < now_ns ? work->first_ns : now_ns;
	}
	charge(work, thread, now_ns);
	note_prio(work, thread, event->prev_prio);
	if (!can_run && event->prev_state & STATE_DEADS) {
		add(work, thread, (struct step){ .kind = STEP_EXIT, .state = event->prev_state });
		thread->doing = DOING_NOTHING;
		return;
	}
	/* What becomes of a bystander is not in the recording. */
	if (can_run && work_of(work, thread)->is_bystander) {
		sleeps(work, thread, 1, now_ns);
		return;
	}
	if (can_run || (thread->early_ns && now_ns - thread->early_ns < EARLY_NS)) {
		thread->doing = DOING_WAIT;
		thread->waits_ns = now_ns;
		thread->woken = false;
	} else {
		sleeps(work, thread, event->prev_state, now_ns);
	}
	thread->early_ns = 0;
}

static void takes_cpu(struct work *work, const struct event_switch *event, u64 now_ns)
{
	struct extracted *thread = meet(work, event->next_tid, event->head.cpu);
	struct work_cpu *cpu = &work->state->cpus[event->head.cpu];

	cpu->tid = event->next_tid;
	cpu->since_ns = now_ns;
	cpu->known = true;
	if (!thread)
		return;
	begins(work, thread, work_of(work, thread)->is_bystander ? BEGIN_ASLEEP : BEGIN_RUNNABLE, now_ns);
	if (thread->doing == DOING_SLEEP)
		wakes(work, thread, now_ns, false, STEP_FLAG_INTERRUPT);
	if (thread->doing == DOING_WAIT) {
		work_vote_pinned(work, thread, event->head.cpu, now_ns);
		work_note_delay(work, thread, event);
		work_note_turn(work->state, thread, event);
	}
	note_prio(work, thread, event->next_prio);
	work_note_cpu(work, thread, event->head.cpu);
	thread->cpu = event->head.cpu;
	thread->ran = true;
	thread->doing = DOING_RUN;
	thread->charged_ns = now_ns;
	thread->early_ns = 0;
	work_of(work, thread)->cpu = thread->cpus_seen ? work_of(work, thread)->cpu : event->head.cpu;
}

static void take_switch(struct work *work, const struct event_switch *event)
{
	if (event->head.cpu >= work->cpus_len)
		return;
	leaves_cpu(work, event, event->head.time_ns);
	takes_cpu(work, event, event->head.time_ns);
}

/* A wake-up on another CPU is told there, a moment later: its waker may have left its own by then. */
static void add_wake(struct work *work, struct extracted *waker, struct step step, u64 now_ns)
{
	struct work_thread *of = work_of(work, waker);
	u32 at;

	charge(work, waker, now_ns);
	if (waker->doing == DOING_SLEEP && waker->has_sleep && waker->sleep_step < of->len) {
		at = waker->sleep_step++;
		at -= at && of->steps[at - 1].kind == STEP_GAVE;
	} else if (waker->doing == DOING_NOTHING && of->len) {
		at = of->len - 1;
	} else {
		at = of->len;
	}
	work_insert_step(work, waker->index, at, step);
}

/* Who woke it: NULL if no thread did. Older recordings do not say whether an interrupt came while a thread ran; then a
 * thread of the same process did it itself, or its parent. */
static struct extracted *waker_of(struct work *work, const struct event_wakeup *event, const struct extracted *woken)
{
	struct extracted *waker = event->head.flags & EVENT_FLAG_BY_INTERRUPT
					  ? NULL
					  : meet(work, event->waker_tid, event->head.cpu);
	const struct work_thread *of = waker ? work_of(work, waker) : NULL, *to = work_of(work, woken);

	if (!waker || !waker->met || waker->index == woken->index)
		return NULL;
	if (event->head.flags & (EVENT_FLAG_BY_THREAD | EVENT_FLAG_NEW))
		return waker;
	if (waker->doing != DOING_RUN)
		return NULL;
	return of->pid == to->pid || of->tid == to->parent_tid ? waker : NULL;
}

static void take_wakeup(struct work *work, const struct event_wakeup *event)
{
	struct extracted *thread = meet(work, event->head.tid, event->target_cpu), *waker;
	bool is_new = event->head.flags & EVENT_FLAG_NEW;
	u64 now_ns = event->head.time_ns;
	u32 index;

	if (!thread || (thread->doing == DOING_WAIT && thread->met))
		return;
	if (thread->doing == DOING_RUN) {
		thread->early_ns = now_ns;
		return;
	}
	index = thread->index;
	waker = meet(work, event->waker_tid, event->head.cpu) ? waker_of(work, event, &work->state->threads[index])
							      : NULL;
	thread = &work->state->threads[index];
	begins(work, thread, is_new && waker ? BEGIN_NEW : BEGIN_ASLEEP, now_ns);
	note_prio(work, thread, event->prio);
	wakes(work, thread, now_ns, waker != NULL,
	      !waker				? STEP_FLAG_INTERRUPT
	      : work_of(work, waker)->is_kernel ? STEP_FLAG_BY_KERNEL
						: 0);
	if (waker)
		add_wake(work, waker,
			 (struct step){ .kind = STEP_WAKE, .thread = index, .flags = is_new ? STEP_FLAG_NEW : 0 },
			 now_ns);
	thread->doing = DOING_WAIT;
	thread->waits_ns = now_ns;
	thread->woken = true;
	thread->met_idle = event->target_cpu < work->cpus_len && work->state->cpus[event->target_cpu].known &&
			   !work->state->cpus[event->target_cpu].tid;
}

static void take_sample(struct work *work, const struct event_sample *event)
{
	struct extracted *thread = meet(work, event->head.tid, event->head.cpu);
	u64 now_ns = event->head.time_ns;

	if (event->head.cpu >= work->cpus_len)
		return;
	if (!(event->head.flags & EVENT_FLAG_CLOSING)) {
		struct work_cpu *cpu = &work->state->cpus[event->head.cpu];

		*cpu = (struct work_cpu){ .tid = event->head.tid, .since_ns = now_ns, .known = true };
		if (!thread)
			return;
		begins(work, thread, BEGIN_RUNNING, now_ns);
		note_prio(work, thread, (u32)event->prio);
		thread->doing = DOING_RUN;
		thread->cpu = event->head.cpu;
		thread->ran = true;
		work_of(work, thread)->cpu = event->head.cpu;
		thread->charged_ns = now_ns;
		return;
	}
	if (thread)
		charge(work, thread, now_ns);
}

static void take_unseen(struct work *work, const struct event_unseen_switch *event)
{
	struct event_switch seen = { .head = event->head, .next_tid = event->head.tid, .prev_state = 1 };
	struct extracted *thread;

	if (event->head.cpu >= work->cpus_len || work->state->cpus[event->head.cpu].tid == event->head.tid)
		return;
	seen.head.tid = work->state->cpus[event->head.cpu].tid;
	seen.head.flags = 0;
	thread = seen.head.tid ? meet(work, seen.head.tid, event->head.cpu) : NULL;
	if (!thread || thread->doing != DOING_RUN)
		seen.head.tid = 0;
	take_switch(work, &seen);
}

static void take_thread(struct work *work, const struct event_thread *event)
{
	u32 place = map_get(&work->state->by_tid, event->head.tid);
	struct extracted *thread;
	struct work_thread *to;

	/* A reused tid is another thread. */
	if (place && work->threads[place - 1].start_ns && work->threads[place - 1].start_ns != event->start_ns)
		thread = meet_new(work, event->head.tid, event->head.cpu);
	else
		thread = meet(work, event->head.tid, event->head.cpu);
	if (!thread)
		return;
	to = work_of(work, thread);
	if (to->start_ns)
		return;
	to->pid = event->pid;
	to->parent_tid = event->parent_tid;
	to->start_ns = event->start_ns ? event->start_ns : 1;
	to->comm = event->comm;
	to->is_bystander = (event->head.flags & EVENT_FLAG_BYSTANDER) != 0;
	to->is_kernel = event->parent_tid == 2 || event->head.tid == 2;
}

/* The name that it has as the window opens. */
static void take_name(struct work *work, const struct event_rename *event)
{
	u32 place = map_get(&work->state->by_tid, event->head.tid);

	if (place)
		work->threads[place - 1].comm = event->comm;
}

static void take_timed(struct work *work, const struct event_header *event, const struct extracted *thread)
{
	if (!vec_reserve(work->timed, work->timed_room, work->timed_len + 1, WORK_FIRST_ROOM)) {
		work->failed = true;
		return;
	}
	work->timed[work->timed_len++] = (struct work_timed){ .time_ns = event->time_ns,
							      .at = work_keep(work, event),
							      .thread = thread ? thread->index + 1 : 0 };
}

static void take_other(struct work *work, const struct event_header *event)
{
	u32 place = event->tid ? map_get(&work->state->by_tid, event->tid) : 0;
	struct extracted *thread = place ? &work->state->threads[place - 1] : NULL;

	if (event->kind == EVENT_TID_CHANGE) {
		place = map_get(&work->state->by_tid, ((const struct event_tid_change *)event)->old_tid);
		thread = place ? &work->state->threads[place - 1] : NULL;
		if (thread)
			map_set(&work->state->by_tid, event->tid, place);
	}
	if (event->kind == EVENT_VBLANK && thread)
		work_of(work, thread)->vsync_ns = 1;
	if (!event_is_own_act(event->kind) || !thread || thread->doing != DOING_RUN) {
		take_timed(work, event, thread);
		return;
	}
	charge(work, thread, event->time_ns);
	add(work, thread, (struct step){ .kind = STEP_EMIT, .value = work_keep(work, event) });
	if (event_gives_to_gpu(event->kind))
		thread->gave_ns = event->time_ns;
}

/* What a lead-in tells is how things stand as the window opens: nothing of it is work. */
static void begin_thread(struct work *work, struct extracted *thread)
{
	struct work_thread *of = work_of(work, thread);

	of->len = 0;
	of->prio = thread->prio ? thread->prio : of->prio;
	thread->has_sleep = false;
	thread->early_ns = 0;
	work_forget_cpus(thread);
	if (!thread->met)
		return;
	of->cpu = thread->cpu;
	switch (thread->doing) {
	case DOING_RUN:
		of->begins = BEGIN_RUNNING;
		thread->charged_ns = work->first_ns;
		break;
	case DOING_WAIT:
		of->begins = BEGIN_RUNNABLE;
		break;
	case DOING_SLEEP:
		of->begins = BEGIN_ASLEEP;
		sleeps(work, thread, 1, work->first_ns);
		break;
	default:
		of->begins = BEGIN_ASLEEP;
		add(work, thread, (struct step){ .kind = STEP_EXIT, .state = 0x80 });
	}
}

static void open_window(struct work *work)
{
	struct work_state *state = work->state;

	state->is_open = true;
	for (u32 i = 0; i < work->len; i++)
		begin_thread(work, &state->threads[i]);
	work->idle.len = work->preempt.len = 0;
	work->idle.seen = work->preempt.seen = 0;
	work->edges = work->external = 0;
	state->turns = 0;
	memset(state->turn_cos, 0, sizeof(state->turn_cos));
	memset(state->turn_sin, 0, sizeof(state->turn_sin));
}

/* Who a thread is, and what it is for; what it did then is over. */
static bool tells_of_before(const struct event_header *event)
{
	return event->kind == EVENT_TID_CHANGE || !event_is_own_act(event->kind);
}

void work_take(struct work *work, const struct event_header *event)
{
	if (!work->state->is_open && event->time_ns >= work->first_ns)
		open_window(work);
	work->events++;
	if (event->time_ns > work->last_ns)
		work->last_ns = event->time_ns;
	switch (event->kind) {
	case EVENT_SWITCH:
		take_switch(work, (const void *)event);
		break;
	case EVENT_WAKEUP:
		take_wakeup(work, (const void *)event);
		break;
	case EVENT_SAMPLE:
		take_sample(work, (const void *)event);
		break;
	case EVENT_UNSEEN_SWITCH:
		take_unseen(work, (const void *)event);
		break;
	case EVENT_THREAD:
		take_thread(work, (const void *)event);
		break;
	case EVENT_DECISION:
		work->decisions++;
		break;
	case EVENT_LOST:
		work->lost += ((const struct event_lost *)event)->count;
		break;
	case EVENT_MIGRATE:
	case EVENT_STACK:
	case EVENT_STACK_FRAME:
	case EVENT_EFFECT:
		break;
	case EVENT_RENAME:
		if (!work->state->is_open)
			take_name(work, (const void *)event);
		else
			take_other(work, event);
		break;
	default:
		if (work->state->is_open || tells_of_before(event))
			take_other(work, event);
	}
}

static void end_thread(struct work *work, struct extracted *thread)
{
	struct work_thread *of = work_of(work, thread);

	charge(work, thread, work->last_ns);
	of->goes_on = thread->doing == DOING_RUN || thread->doing == DOING_WAIT;
	if (!of->is_bystander)
		work_find_loop(of, work->first_ns, work->last_ns);
	if (!thread->met)
		sleeps(work, thread, 1, work->last_ns);
	work_find_cpus(work, thread);
	work_classify_sleeps(of);
}

int work_end(struct work *work)
{
	struct work_state *state = work->state;

	if (!state)
		return 0;
	for (u32 i = 0; i < work->len && !work->failed; i++)
		end_thread(work, &state->threads[i]);
	work->tick_ns = work_tick_of(state);
	delays_sort(&work->idle);
	delays_sort(&work->preempt);
	work_free_state(work);
	return work->failed ? -ENOMEM : 0;
}
