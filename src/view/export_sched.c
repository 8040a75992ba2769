// SPDX-License-Identifier: GPL-2.0
/* What the scheduler did, as a trace: who runs, who wakes whom, names, roles, long waits with who was in the way,
 * moves, missed deadlines, run queues. */
#include <stdio.h>
#include <string.h>

#include "../model/roles.h"
#include "export_trace.h"
#include "role_words.h"
#include "thread_words.h"

enum { QUEUES_EVERY_NS = 10 * NSEC_PER_MSEC };

static u32 parent_pid_of(const struct threads *threads, const struct thread *thread)
{
	const struct thread *parent = thread->parent_tid ? threads_by_tid(threads, thread->parent_tid) : NULL;

	return parent && parent->pid ? parent->pid : thread->parent_tid;
}

void export_thread_known(struct exporter *exporter, const struct thread *thread, u64 now_ns, u32 cpu)
{
	struct trace_thread known = { .at_ns = now_ns,
				      .cpu = cpu,
				      .tid = thread->tid,
				      .pid = thread->pid,
				      .parent_pid = parent_pid_of(exporter->threads, thread),
				      .comm = &thread->comm };

	if (thread->pid)
		exporter->form->thread(exporter->sink, &known);
}

static void found_running(struct exporter *exporter, u32 cpu, u32 tid, u32 prio, u64 since_ns)
{
	struct trace_switch change = { .at_ns = since_ns,
				       .cpu = cpu,
				       .prev_is_unknown = true,
				       .next_tid = tid,
				       .next_prio = prio,
				       .next_comm = thread_comm(exporter->threads, tid) };

	exporter->form->switched(exporter->sink, &change);
}

void export_running(struct exporter *exporter, u64 now_ns)
{
	for (u32 cpu = 0; cpu < exporter->threads->cpus_len; cpu++) {
		const struct cpu_now *now = &exporter->threads->cpus[cpu];

		if (now->since_ns)
			found_running(exporter, cpu, now->tid, now->prio, now_ns);
	}
}

static bool process_is_over(const struct threads *threads, u32 pid)
{
	for (size_t i = 0; i < threads->len; i++)
		if (threads->all[i]->pid == pid && !threads->all[i]->ended)
			return false;
	return true;
}

/* With its first thread readers take a process for gone, and threads of it that still run for others: so that one ends
 * when all have. */
static void put_end(struct exporter *exporter, const struct event_switch *event, const struct thread *ended)
{
	struct trace_thread gone = { .at_ns = event->head.time_ns, .cpu = event->head.cpu };
	const struct thread *first = threads_by_tid(exporter->threads, ended->pid);
	const struct thread *both[] = { ended == first ? NULL : ended, NULL };

	if (first && first->pid == ended->pid && first->ended && process_is_over(exporter->threads, ended->pid))
		both[1] = first;
	for (u32 i = 0; i < 2; i++) {
		if (!both[i])
			continue;
		gone.tid = both[i]->tid;
		gone.pid = both[i]->pid;
		gone.comm = &both[i]->comm;
		exporter->form->ended(exporter->sink, &gone);
	}
}

static void put_switch(struct exporter *exporter, const struct event_switch *event)
{
	const struct thread *prev = threads_by_tid(exporter->threads, event->head.tid);
	struct trace_switch change = { .at_ns = event->head.time_ns,
				       .cpu = event->head.cpu,
				       .prev_tid = event->head.tid,
				       .next_tid = event->next_tid,
				       .prev_prio = event->prev_prio,
				       .next_prio = event->next_prio,
				       .prev_state = event->prev_state,
				       .preempted = event->head.flags & EVENT_FLAG_PREEMPTED,
				       .prev_comm = event->head.tid && prev ? &prev->comm : NULL,
				       .next_comm = thread_comm(exporter->threads, event->next_tid) };

	exporter->form->switched(exporter->sink, &change);
	if (!(event->prev_state & STATE_DEAD) || !prev || !prev->ended)
		return;
	export_role_ends(exporter, (struct thread *)prev, event->head.time_ns);
	put_end(exporter, event, prev);
}

static void put_wakeup(struct exporter *exporter, const struct event_wakeup *event)
{
	struct trace_wakeup wakeup = {
		.at_ns = event->head.time_ns,
		.cpu = event->head.cpu,
		.target_cpu = event->target_cpu,
		.tid = event->head.tid,
		.waker_tid = event->waker_tid,
		.prio = event->prio,
		.woken_by = event->head.flags & (EVENT_FLAG_BY_INTERRUPT | EVENT_FLAG_BY_THREAD),
		.is_new = event->head.flags & EVENT_FLAG_NEW,
		.comm = thread_comm(exporter->threads, event->head.tid),
	};

	exporter->form->woken(exporter->sink, &wakeup);
}

static void put_rename(struct exporter *exporter, const struct event_rename *event)
{
	struct trace_thread named = {
		.at_ns = event->head.time_ns, .cpu = event->head.cpu, .tid = event->head.tid, .comm = &event->comm
	};
	const struct thread *thread = threads_by_tid(exporter->threads, event->head.tid);

	named.pid = thread ? thread->pid : 0;
	exporter->form->renamed(exporter->sink, &named);
}

static void change_queue(struct exporter *exporter, u32 cpu, bool more)
{
	struct place *place = export_place(exporter, PLACE_QUEUE, cpu);

	if (!place)
		return;
	if (more)
		place->count++;
	else if (place->count)
		place->count--;
	if (place->count > place->most)
		place->most = place->count;
}

/* Whose queue the thread waits in is what `threads` says after the event. */
static void count_queues(struct exporter *exporter, u32 tid)
{
	struct thread *thread = tid ? threads_by_tid(exporter->threads, tid) : NULL;
	u32 queue = thread && thread->account.wait_since_ns && !thread->bystander ? thread->queue_cpu + 1 : 0;
	struct thread_lanes *lanes = thread && (thread->lanes || queue) ? export_lanes_of(exporter, thread) : NULL;

	if (!lanes || lanes->queued_for == queue)
		return;
	if (lanes->queued_for)
		change_queue(exporter, lanes->queued_for - 1, false);
	if (queue)
		change_queue(exporter, queue - 1, true);
	lanes->queued_for = queue;
}

/* What was the most until now, where that is another than was written. */
void export_queues(struct exporter *exporter)
{
	char name[PLACE_NAME_SIZE];

	for (size_t i = 0; i < exporter->places_len; i++) {
		struct place *place = exporter->places[i];

		if (place->kind != PLACE_QUEUE || (place->is_written && place->most == place->written))
			continue;
		snprintf(name, sizeof(name), "CPU %u run queue", (u32)place->key);
		exporter->form->count(exporter->sink, export_counter(exporter, place, 0, name, "threads"),
				      exporter->queues_ns, place->most);
		place->written = place->most;
		place->is_written = true;
	}
}

static void restart_queues(struct exporter *exporter, u64 now_ns)
{
	for (size_t i = 0; i < exporter->places_len; i++)
		if (exporter->places[i]->kind == PLACE_QUEUE)
			exporter->places[i]->most = exporter->places[i]->count;
	exporter->queues_ns = now_ns;
}

static void remember_wait(struct exporter *exporter, const struct wait *wait, u32 behind_tid, u64 flow)
{
	struct thread_lanes *lanes = export_lanes_of(exporter, (struct thread *)wait->thread);

	if (lanes)
		lanes->waits[lanes->waits_next++ % WAITS_REMEMBERED] = (struct noted_wait){ wait->from_ns, wait->to_ns,
											    behind_tid, flow };
}

/* A long wait, and on the track of who had the CPU meanwhile, that it was in the way; an arrow joins the two. */
static void put_wait(struct exporter *exporter, const struct wait *wait)
{
	u32 tid = wait->thread->tid, behind_tid = 0;
	enum culprit culprit = history_culprit(&exporter->frames.history, wait->cpu, wait->from_ns, wait->to_ns,
					       &behind_tid);
	bool has_behind = culprit == CULPRIT_THREAD && behind_tid != tid;
	u64 flow = has_behind ? ++exporter->last_flow : 0;
	char who[THREAD_WORDS_SIZE], behind[THREAD_WORDS_SIZE], waker[THREAD_WORDS_SIZE], name[EXPORT_NAME_SIZE];
	struct trace_arg args[] = { NUMBER_ARG("cpu", wait->cpu), NUMBER_ARG("behind_tid", has_behind ? behind_tid : 0),
				    TEXT_ARG("began", wait->kind == WAIT_WOKEN ? "woken" : "preempted"),
				    TEXT_ARG("waker", waker) };
	struct trace_mark mark = { .from_ns = wait->from_ns > exporter->from_ns ? wait->from_ns : exporter->from_ns,
				   .to_ns = wait->to_ns,
				   .name = name,
				   .name_is_rare = true,
				   .category = "wait",
				   .flow = flow,
				   ARGS(args) };

	thread_words(who, exporter->threads, tid, THREAD_TIGHT);
	thread_words(behind, exporter->threads, behind_tid, THREAD_TIGHT);
	thread_words(waker, exporter->threads, wait->waker_tid, THREAD_TIGHT);
	if (wait->kind != WAIT_WOKEN)
		mark.args_len--;
	if (has_behind)
		snprintf(name, sizeof(name), "waited behind %s", behind);
	else
		snprintf(name, sizeof(name), "waited for CPU %u%s", wait->cpu,
			 culprit == CULPRIT_IDLE ? ", which was idle" : "");
	export_mark(exporter, tid, LANE_WAITS, &mark);
	if (!has_behind)
		return;
	snprintf(name, sizeof(name), "in the way of %s", who);
	mark.args_len = 1;
	export_mark(exporter, behind_tid, LANE_IN_THE_WAY, &mark);
	remember_wait(exporter, wait, behind_tid, flow);
}

void export_miss(struct exporter *exporter, const struct miss *miss)
{
	char behind[THREAD_WORDS_SIZE];
	struct trace_arg args[] = { NUMBER_ARG("late_ns", miss->verdict.late_ns),
				    NUMBER_ARG("period_ns", miss->verdict.period_ns),
				    NUMBER_ARG("periods", miss->verdict.periods), NUMBER_ARG("cpu", miss->cpu),
				    TEXT_ARG("behind", behind) };
	struct trace_mark mark = { .from_ns = miss->verdict.expected_ns,
				   .to_ns = miss->verdict.actual_ns,
				   .name = miss->verdict.kind == MISS_OVERRAN ? "overran its period" : "ran too late",
				   .category = "miss",
				   ARGS(args) };

	thread_words(behind, exporter->threads, miss->behind_tid, THREAD_TIGHT);
	if (miss->culprit != CULPRIT_THREAD)
		mark.args_len--;
	export_mark(exporter, miss->tid, LANE_MISSES, &mark);
}

void export_move(struct exporter *exporter, const struct move *move)
{
	char name[EXPORT_NAME_SIZE], by[THREAD_WORDS_SIZE];
	struct trace_arg args[] = { TEXT_ARG("cause", move_cause_name(move->cause)),
				    TEXT_ARG("distance", distance_name(move->distance)), TEXT_ARG("by", by),
				    NUMBER_ARG("to_run_ns", move->to_run_ns) };
	struct trace_mark mark = {
		.from_ns = move->at_ns, .is_instant = true, .name = name, .category = "move", ARGS(args)
	};

	thread_words(by, exporter->threads, move->by_tid, THREAD_TIGHT);
	snprintf(name, sizeof(name), "CPU %u to CPU %u", move->from_cpu, move->to_cpu);
	if (move->after != MOVE_RAN)
		mark.args_len--;
	export_mark(exporter, move->tid, LANE_MOVES, &mark);
}

static void put_role_until(struct exporter *exporter, struct thread *thread, struct thread_lanes *lanes, bool of_tier,
			   u64 now_ns)
{
	u64 *since_ns = of_tier ? &lanes->tier_since_ns : &lanes->role_since_ns;
	const struct event_role *role = &lanes->role;
	char why[ROLE_WORDS_SIZE];
	struct trace_arg args[] = { TEXT_ARG("evidence", evidence_name(role->evidence)), TEXT_ARG("why", why),
				    NUMBER_ARG("confidence", role->confidence) };
	struct trace_arg boost[] = { NUMBER_ARG("boost", role->boost) };
	struct trace_mark mark = { .from_ns = *since_ns,
				   .to_ns = now_ns,
				   .name = of_tier ? tier_name(role->tier) : role_name(role->role),
				   .category = "role",
				   ARGS(args) };

	if (!*since_ns)
		return;
	role_words(why, role);
	if (of_tier) {
		mark.args = boost;
		mark.args_len = 1;
	}
	export_mark(exporter, thread->tid, of_tier ? LANE_TIER : LANE_ROLE, &mark);
	*since_ns = 0;
}

void export_role_ends(struct exporter *exporter, struct thread *thread, u64 now_ns)
{
	if (!thread->lanes)
		return;
	put_role_until(exporter, thread, thread->lanes, false, now_ns);
	put_role_until(exporter, thread, thread->lanes, true, now_ns);
}

/* A slice until the role or the tier is another one. */
void export_role(struct exporter *exporter, struct thread *thread, const struct event_role *event, u64 now_ns)
{
	struct thread_lanes *lanes = export_lanes_of(exporter, thread);

	if (!lanes)
		return;
	if (event->role != lanes->role.role)
		put_role_until(exporter, thread, lanes, false, now_ns);
	if (event->tier != lanes->role.tier || event->boost != lanes->role.boost)
		put_role_until(exporter, thread, lanes, true, now_ns);
	if (!lanes->role_since_ns)
		lanes->role_since_ns = now_ns;
	if (!lanes->tier_since_ns)
		lanes->tier_since_ns = now_ns;
	lanes->role = *event;
}

/* At its end, or the window's, a thread's role may be news as well: from when on is not known. */
static void put_role(struct exporter *exporter, struct thread *thread, const struct event_role *event)
{
	const struct thread_lanes *lanes = thread->lanes;
	bool is_closing = event->head.flags & EVENT_FLAG_CLOSING;

	if (is_closing && lanes && !lanes->role_since_ns && lanes->role.head.time_ns &&
	    lanes->role.role == event->role && lanes->role.tier == event->tier)
		return;
	export_role(exporter, thread, event, event->head.time_ns);
	if (is_closing)
		export_role_ends(exporter, thread, event->head.time_ns);
}

static void put_kind(struct exporter *exporter, const struct event_header *event)
{
	const struct event_unseen_switch *unseen = (const struct event_unseen_switch *)event;
	struct thread *thread = event->tid ? threads_by_tid(exporter->threads, event->tid) : NULL;

	switch (event->kind) {
	case EVENT_SWITCH:
		put_switch(exporter, (const struct event_switch *)event);
		count_queues(exporter, ((const struct event_switch *)event)->next_tid);
		break;
	case EVENT_WAKEUP:
		put_wakeup(exporter, (const struct event_wakeup *)event);
		break;
	case EVENT_SAMPLE:
		if (!(event->flags & EVENT_FLAG_CLOSING))
			found_running(exporter, event->cpu, event->tid, (u32)((const struct event_sample *)event)->prio,
				      event->time_ns);
		break;
	case EVENT_UNSEEN_SWITCH:
		found_running(exporter, event->cpu, event->tid, thread ? thread->account.prio : 0, unseen->since_ns);
		break;
	case EVENT_THREAD:
	case EVENT_TID_CHANGE:
		if (thread)
			export_thread_known(exporter, thread, event->time_ns, event->cpu);
		break;
	case EVENT_RENAME:
		put_rename(exporter, (const struct event_rename *)event);
		break;
	case EVENT_ROLE:
		if (thread)
			put_role(exporter, thread, (const struct event_role *)event);
		break;
	case EVENT_LOST:
		exporter->form->lost(exporter->sink, event->cpu, event->time_ns);
		break;
	default:
		return;
	}
	count_queues(exporter, event->tid);
}

void export_sched(struct exporter *exporter, const struct event_header *event, const struct wait *ended)
{
	bool is_time = event->time_ns > exporter->queues_ns && event->time_ns - exporter->queues_ns >= QUEUES_EVERY_NS;

	/* What the event changes belongs to the time behind it. */
	if (is_time)
		export_queues(exporter);
	put_kind(exporter, event);
	if (is_time)
		restart_queues(exporter, event->time_ns);
	if (ended && exporter->over_ns && ended->to_ns > ended->from_ns &&
	    ended->to_ns - ended->from_ns > exporter->over_ns)
		put_wait(exporter, ended);
}
