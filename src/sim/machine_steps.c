// SPDX-License-Identifier: GPL-2.0
/* What threads of a simulated machine do: run, wake others, sleep; and realtime threads, which no policy has a say in.
 */
#include "machine.h"

enum { LOOPS_MOST = 256 }; /* of half a recording each: nothing gets further, and a wrong one ends */

/* It can run: where, and who hears of it. */
static void become_runnable(struct machine *machine, struct sim_thread *thread, struct sim_thread *waker, s32 waker_cpu,
			    bool is_new)
{
	bool is_rt;
	s32 cpu;

	thread->prio = thread->next_prio ? thread->next_prio : thread->prio;
	is_rt = thread->prio <= PRIO_REALTIME_LAST;
	thread->state = SIM_RUNNABLE;
	thread->wait_ns = machine->now_ns;
	thread->is_woken = true;
	machine_note_waiting(machine, 1, 0);
	machine->counts.wakeups++;
	cpu = is_rt ? machine_rt_select(machine, thread)
		    : machine->policy->select_cpu(machine, thread, waker_cpu, !waker, is_new);
	machine_emit_wakeup(machine, thread, waker, waker_cpu, cpu, is_new);
	if (is_rt) {
		machine_rt_enqueue(machine, thread, cpu);
		sim_resched(machine, cpu);
	} else {
		machine->policy->enqueue(machine, thread, cpu, true, is_new);
	}
}

void machine_begin(struct machine *machine, struct sim_thread *thread)
{
	become_runnable(machine, thread, NULL, thread->cpu, false);
}

void machine_wake(struct machine *machine, u32 index, struct sim_thread *waker, s32 cpu, bool is_new)
{
	struct sim_thread *thread = &machine->threads[index];
	const struct step *step = thread->step < thread->work->len ? &thread->work->steps[thread->step] : NULL;

	if (thread->state == SIM_GONE)
		return;
	if (is_new) {
		if (thread->state != SIM_UNBORN)
			return;
		machine_emit_thread(machine, thread, true);
		thread->cpu = -1;
		become_runnable(machine, thread, waker, cpu, true);
		return;
	}
	/* The signal that a thread waits for comes from a thread; a timer's end from none. */
	if (thread->state != SIM_ASLEEP || (waker && (!step || step->kind != STEP_SLEEP_SIGNAL))) {
		thread->signals += waker != NULL;
		return;
	}
	if (step && step_is_sleep(step)) {
		if (!waker && step->kind == STEP_SLEEP_SIGNAL)
			return;
		thread->step++;
	}
	become_runnable(machine, thread, waker, cpu, false);
}

/* Until when it sleeps by the clock; a display that it was too late for comes again. */
static u64 clock_end(struct sim_thread *thread, const struct step *step, u64 now_ns)
{
	u64 until_ns = step->value == ~0ULL ? step->value : step->value + thread->shift_ns;
	u64 period_ns = thread->work->vsync_ns;

	if (until_ns <= now_ns && period_ns > 1) {
		u64 late_ns = (now_ns - until_ns) / period_ns * period_ns + period_ns;

		thread->shift_ns += late_ns;
		until_ns += late_ns;
	}
	return until_ns;
}

static u64 next_period(const struct work_thread *work, u64 now_ns)
{
	u64 over_ns = (now_ns % work->period_ns + work->period_ns - work->phase_ns) % work->period_ns;

	return now_ns + work->period_ns - over_ns;
}

static u64 sleep_end(struct sim_thread *thread, const struct step *step, u64 now_ns)
{
	switch (step->kind) {
	case STEP_SLEEP_FOR:
		return now_ns + step->value;
	case STEP_SLEEP_PERIOD:
		return next_period(thread->work, now_ns);
	case STEP_SLEEP_GPU:
		/* A copy gives nothing to a GPU: it sleeps for as long. */
		return thread->gave_ns ? thread->gave_ns + step->value : now_ns + (u64)step->thread * NSEC_PER_USEC;
	default:
		return clock_end(thread, step, now_ns);
	}
}

/* True: it sleeps from now on. */
static bool fall_asleep(struct machine *machine, struct sim_thread *thread, const struct step *step)
{
	u64 until_ns;

	if (step->kind == STEP_SLEEP_SIGNAL) {
		if (!thread->signals)
			return true;
		thread->signals--;
		return false;
	}
	until_ns = sleep_end(thread, step, machine->now_ns);
	if (until_ns <= machine->now_ns)
		return false;
	machine_timer_add(machine, sim_index(machine, thread), until_ns);
	return true;
}

static void leave(struct machine *machine, struct sim_thread *thread, s32 cpu, u16 state, bool ends)
{
	thread->state = ends ? SIM_GONE : SIM_ASLEEP;
	thread->sleep_state = state ? state : 1;
	if (cpu >= 0 && thread->prio > PRIO_REALTIME_LAST)
		machine->policy->sleeps(machine, thread, cpu, ends);
}

/* One that becomes a realtime thread, or no longer is one, is so when it next wakes: policies hold nobody who changes
 * sides in the midst of a run. */
static void take_prio(struct sim_thread *thread, u32 prio)
{
	if ((prio <= PRIO_REALTIME_LAST) == (thread->prio <= PRIO_REALTIME_LAST))
		thread->prio = prio;
	thread->next_prio = prio;
}

/* It has done all that it did in the recording, and does over and over. */
static void go_round(struct sim_thread *thread)
{
	const struct work_thread *work = thread->work;

	if (!work->loop_to || thread->step != work->loop_to || thread->loops >= LOOPS_MOST)
		return;
	thread->step = work->loop_from;
	thread->loops++;
	thread->shift_ns += work->loop_ns;
}

bool machine_advance(struct machine *machine, struct sim_thread *thread, s32 cpu)
{
	for (;; thread->step++) {
		const struct step *step;

		machine->livelock_steps++;
		go_round(thread);
		if (thread->step >= thread->work->len) {
			if (thread->work->goes_on) {
				thread->left_ns = ~0ULL >> 1;
				return true;
			}
			leave(machine, thread, cpu, 1, false);
			return false;
		}
		step = &thread->work->steps[thread->step];
		switch (step->kind) {
		case STEP_RUN:
			if (!step->value)
				break;
			thread->left_ns = step->value;
			thread->step++;
			return true;
		case STEP_WAKE:
			machine_wake(machine, step->thread, thread, cpu, step->flags & STEP_FLAG_NEW);
			break;
		case STEP_EMIT:
			machine_emit_kept(machine, thread, step->value, cpu);
			break;
		case STEP_GAVE:
			break;
		case STEP_PRIO:
			take_prio(thread, (u32)step->value);
			break;
		case STEP_EXIT:
			leave(machine, thread, cpu, step->state, true);
			return false;
		default:
			if (!fall_asleep(machine, thread, step))
				break;
			leave(machine, thread, cpu, step->state, false);
			return false;
		}
	}
}

/* Its own CPU, an idle one, or the one whose thread matters least. */
s32 machine_rt_select(const struct machine *machine, const struct sim_thread *thread)
{
	s32 best = thread->only_cpu >= 0 ? thread->only_cpu : thread->cpu >= 0 ? thread->cpu : 0;
	u32 best_prio = 0;

	if (thread->only_cpu >= 0 || sim_is_idle(machine, best))
		return best;
	for (u32 cpu = 0; cpu < machine->cpus_len; cpu++) {
		const struct sim_thread *running = sim_running(machine, (s32)cpu);
		u32 prio = running ? running->prio : ~0u;

		if (!sim_may_run(thread, (s32)cpu))
			continue;
		if (machine->rt_first[cpu] != NO_THREAD)
			prio = 0;
		if (prio > best_prio) {
			best_prio = prio;
			best = (s32)cpu;
		}
	}
	return best;
}

void machine_rt_enqueue(struct machine *machine, struct sim_thread *thread, s32 cpu)
{
	u32 *link = &machine->rt_first[cpu];

	while (*link != NO_THREAD && machine->threads[*link].prio <= thread->prio)
		link = &machine->threads[*link].rt_next;
	thread->rt_next = *link;
	*link = sim_index(machine, thread);
}
