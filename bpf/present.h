/* SPDX-License-Identifier: GPL-2.0 */
/* What is kept of a thread that presents, and its frames as events: for the sensors that see presents.
 * Each has threads of its own; what a thread has presented by is with its role, which they share. */
#ifndef TACTUS_BPF_PRESENT_H
#define TACTUS_BPF_PRESENT_H

#include "roles.h"
#include "../core/frame.h"

/* Threads that got no storage. */
u64 presenters_refused = 0;

struct presenter {
	u64 greatest;	     /* way, see core/frame.h */
	u64 greatest_submit; /* likewise */
	u64 submitted_ns;    /* by it */
	u64 asked_sp;	     /* the stack of a call that asks for a function, while it is under way; 0: none is */
	u64 asked_rank;
	struct report_rate report_rate;
	u64 last_ns; /* the last frame */
	u64 period_ns;
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct presenter);
} presenters SEC(".maps");

static __always_inline struct presenter *presenter_of(struct task_struct *current)
{
	struct presenter *presenter = bpf_task_storage_get(&presenters, current, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);

	if (!presenter)
		__sync_fetch_and_add(&presenters_refused, 1);
	return presenter;
}

/* Its frames are of interest: it is watched, or serves those that are. */
static __always_inline bool emits_frames(const struct task_ctx *thread)
{
	return thread->watched || (thread->role.facts.process & PROCESS_PRESENTED_TO);
}

static __always_inline void send_frame(struct task_struct *current, struct task_ctx *thread,
				       struct presenter *presenter, u64 now_ns)
{
	u32 cpu_id = bpf_get_smp_processor_id();
	struct sched_cpu *cpu = cpu_state(cpu_id);
	u64 last_ns = presenter->last_ns;
	struct event_frame *event;

	presenter->last_ns = now_ns;
	if (config.raise & RAISE_FRAMES) {
		presenter->period_ns = tier_frame_period_ns(presenter->period_ns,
							    last_ns ? span_between(last_ns, now_ns) : 0);
		scx_task_note_frame(&thread->scx, tier_frame_due_ns(presenter->period_ns, now_ns));
	}
	if (!(config.emit & EVENTS_FRAMES) || !emits_frames(thread) || !cpu || cpu->window != WINDOW_OPEN)
		return;
	emit_thread_info(cpu, cpu_id, current, thread, now_ns, 0, true);
	event = EVENT_BEGIN(cpu, cpu_id, FRAME, event_frame, now_ns, tid_of(current), true);
	if (!event)
		return;
	event->interval_ns = last_ns ? span_between(last_ns, now_ns) : 0;
	event->submit_ns = thread->role.submitted_ns ? span_between(thread->role.submitted_ns, now_ns) : 0;
	event->number = thread->role.facts.presents;
	event->api = thread->role.facts.present_api;
	event_send(cpu, event, sizeof(*event));
}

#endif
