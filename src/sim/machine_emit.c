// SPDX-License-Identifier: GPL-2.0
/* What happens on a simulated machine, as the events of a recording.
 */
#include <string.h>

#include "../../core/move.h"
#include "../../core/tier.h"
#include "machine.h"
#include "work_state.h"

#define EVENT_IN_UNION_OF(KIND, name, group, rate, bytes) struct event_##name of_##name;
union any_sim_event {
	struct event_header head;
	EVENT_TABLE(EVENT_IN_UNION_OF)
};
#undef EVENT_IN_UNION_OF

static void hand_over(struct machine *machine, const struct event_header *event)
{
	if (machine->handle)
		machine->handle(machine->data, event);
}

static struct event_header head_of(const struct machine *machine, u32 tid, s32 cpu, enum event_kind kind)
{
	return (struct event_header){
		.time_ns = machine->now_ns, .tid = tid, .cpu = (u16)(cpu >= 0 ? cpu : 0), .kind = (u8)kind
	};
}

/* What the thread, or one that it is a copy of, turns out to be for. One that does not exist yet gets it when it comes.
 */
static void take_role(struct machine *machine, struct sim_thread *thread, const struct work_timed *timed)
{
	struct event_role role;

	if (!thread->was_met) {
		thread->role_at_plus = (u32)(timed - machine->work->timed) + 1;
		return;
	}
	memcpy(&role, machine->work->kept + timed->at, sizeof(role));
	thread->role_tier = role.tier < TIERS ? role.tier : TIER_INTERACTIVE;
	thread->role_boost = role.boost;
	thread->role_evidence = role.evidence;
	role.head.time_ns = machine->now_ns;
	role.head.cpu %= (u16)machine->cpus_len;
	role.head.tid = thread->tid;
	hand_over(machine, &role.head);
}

void machine_emit_thread(struct machine *machine, struct sim_thread *thread, bool is_new)
{
	const struct work_thread *work = thread->work;
	struct event_thread event = { .head = head_of(machine, thread->tid, (s32)work->cpu, EVENT_THREAD),
				      .start_ns = work->start_ns,
				      .pid = work->pid,
				      .parent_tid = work->parent_tid,
				      .comm = work->comm };

	if (thread->was_met)
		return;
	thread->was_met = true;
	event.head.flags = (u8)((is_new ? EVENT_FLAG_NEW : 0) | (work->is_bystander ? EVENT_FLAG_BYSTANDER : 0));
	event.head.cpu %= (u16)machine->cpus_len;
	hand_over(machine, &event.head);
	if (thread->role_at_plus)
		take_role(machine, thread, &machine->work->timed[thread->role_at_plus - 1]);
}

void machine_emit_wakeup(struct machine *machine, const struct sim_thread *thread, const struct sim_thread *waker,
			 s32 cpu, s32 target, bool is_new)
{
	const struct sim_thread *running = cpu >= 0 ? sim_running(machine, cpu) : NULL;
	struct event_wakeup event = { .head = head_of(machine, thread->tid, cpu, EVENT_WAKEUP),
				      .waker_tid = waker     ? waker->tid
						   : running ? running->tid
							     : 0,
				      .target_cpu = (u16)target,
				      .prio = (u16)thread->prio };

	event.head.flags = (u8)((is_new ? EVENT_FLAG_NEW : 0) |
				(waker ? EVENT_FLAG_BY_THREAD : EVENT_FLAG_BY_INTERRUPT));
	hand_over(machine, &event.head);
}

void machine_emit_switch(struct machine *machine, s32 cpu, const struct sim_thread *prev, bool prev_runs,
			 const struct sim_thread *next)
{
	struct event_switch event = { .head = head_of(machine, prev ? prev->tid : 0, cpu, EVENT_SWITCH),
				      .next_tid = next ? next->tid : 0,
				      .prev_state = prev && !prev_runs ? prev->sleep_state : 0,
				      .prev_prio = (u8)(prev ? prev->prio : 121),
				      .next_prio = (u8)(next ? next->prio : 121) };

	hand_over(machine, &event.head);
}

void machine_emit_move(struct machine *machine, const struct sim_thread *thread, s32 from, s32 to, bool wakes)
{
	struct event_migrate event = { .head = head_of(machine, thread->tid, to, EVENT_MIGRATE),
				       .from_cpu = (u16)from,
				       .to_cpu = (u16)to };

	event.head.flags = (u8)(MOVE_KNOWN | (wakes ? MOVE_WAKING : 0));
	hand_over(machine, &event.head);
}

void machine_emit_samples(struct machine *machine, bool closing)
{
	for (u32 cpu = 0; cpu < machine->cpus_len; cpu++) {
		const struct sim_thread *thread = sim_running(machine, (s32)cpu);
		struct event_sample event = { .head = head_of(machine, thread ? thread->tid : 0, (s32)cpu,
							      EVENT_SAMPLE),
					      .prio = thread ? thread->prio : 121 };

		event.head.flags = closing ? EVENT_FLAG_CLOSING : 0;
		hand_over(machine, &event.head);
	}
}

/* Frames of a loop that goes round are counted on. */
static void number_frame(struct sim_thread *thread, struct event_frame *frame)
{
	if (thread->loops != thread->numbered_loops) {
		thread->numbered_loops = thread->loops;
		thread->numbers = thread->number + 1 - frame->number;
	}
	frame->number += thread->numbers;
	thread->number = frame->number;
}

static void note_frame(struct sim_thread *thread, u64 now_ns)
{
	u64 interval_ns = thread->frame_ns ? now_ns - thread->frame_ns : 0;

	thread->frame_period_ns = tier_frame_period_ns(thread->frame_period_ns, interval_ns);
	thread->frame_due_ns = tier_frame_due_ns(thread->frame_period_ns, now_ns);
	thread->frame_ns = now_ns;
}

/* What depends on when others of its kind came. */
static void set_right(struct machine *machine, struct sim_thread *thread, union any_sim_event *event)
{
	u64 now_ns = machine->now_ns;

	switch (event->head.kind) {
	case EVENT_FRAME:
		number_frame(thread, &event->of_frame);
		event->of_frame.interval_ns = thread->frame_ns ? now_ns - thread->frame_ns
							       : event->of_frame.interval_ns;
		event->of_frame.submit_ns = thread->submit_ns ? now_ns - thread->submit_ns : 0;
		note_frame(thread, now_ns);
		break;
	case EVENT_COMMIT:
		event->of_commit.number += thread->numbers;
		break;
	case EVENT_CUDA_LAUNCH:
		thread->gave_ns = now_ns;
		break;
	case EVENT_SUBMIT:
		thread->gave_ns = now_ns;
		event->of_submit.interval_ns = thread->submit_ns ? now_ns - thread->submit_ns : 0;
		thread->submit_ns = now_ns;
		break;
	case EVENT_INPUT_WAKE:
		thread->input_ns = now_ns;
		break;
	case EVENT_TID_CHANGE:
		thread->tid = event->head.tid;
		break;
	default:
		break;
	}
}

void machine_emit_kept(struct machine *machine, struct sim_thread *thread, u64 at, s32 cpu)
{
	union any_sim_event event;
	const struct event_header *kept = (const void *)(machine->work->kept + at);

	memcpy(&event, kept, event_kind_bytes(kept->kind));
	set_right(machine, thread, &event);
	event.head.time_ns = machine->now_ns;
	event.head.tid = thread->tid;
	event.head.cpu = (u16)(cpu >= 0 ? cpu : 0);
	hand_over(machine, &event.head);
}

void machine_emit_timed(struct machine *machine, const struct work_timed *timed)
{
	struct sim_thread *thread = timed->thread ? &machine->threads[timed->thread - 1] : NULL;
	const struct event_header *kept = (const void *)(machine->work->kept + timed->at);
	union any_sim_event event;

	if (kept->kind == EVENT_ROLE && thread) {
		take_role(machine, thread, timed);
		for (u32 copy = thread->work->next_copy; copy; copy = machine->work->threads[copy - 1].next_copy)
			take_role(machine, &machine->threads[copy - 1], timed);
		return;
	}
	if (thread && !thread->was_met)
		return;
	memcpy(&event, kept, event_kind_bytes(kept->kind));
	event.head.time_ns = machine->now_ns;
	event.head.cpu %= (u16)machine->cpus_len;
	if (thread && kept->kind != EVENT_TID_CHANGE)
		event.head.tid = thread->tid;
	hand_over(machine, &event.head);
}
