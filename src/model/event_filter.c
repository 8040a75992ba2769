// SPDX-License-Identifier: GPL-2.0
/* Filters events as bpf/sched.bpf.c does: a switch passes if one of its two threads is watched, or while a watched one
 * waits for that CPU, since it tells who was in the way. */
#include "event_filter.h"

#include <stdlib.h>
#include <string.h>

#include "../../core/account.h"
#include "../../core/cuda.h"
#include "../base/map.h"
#include "../base/vec.h"

enum { CPUS = 1 << 16, NOT_WAITING = -1, MOST = 1 << 22 };

struct seen_thread {
	u32 pid;
	bool watched;
	bool runs;
	s32 waits_for; /* a CPU, or NOT_WAITING */
};

struct event_filter {
	const struct filter *filter;
	struct name_pattern patterns[FILTER_COMMS_MAX];
	bool by_thread, every_switch;
	struct seen_thread *threads;
	size_t len, room;
	struct map by_tid;  /* index into threads, plus one; one that was seen stays */
	struct map servers; /* processes that others present to */
	u32 waiters[CPUS];  /* watched ones, by CPU */
	bool matched, failed;
};

struct event_filter *event_filter_open(const struct filter *filter, bool every_switch)
{
	struct event_filter *made = calloc(1, sizeof(*made));

	if (!made)
		return NULL;
	made->filter = filter;
	made->every_switch = every_switch;
	made->by_thread = filter->pids_len || filter->comms_len;
	for (u32 i = 0; i < filter->comms_len; i++)
		name_pattern_make(&made->patterns[i], filter->comms[i]);
	return made;
}

void event_filter_close(struct event_filter *filter)
{
	if (!filter)
		return;
	free(filter->threads);
	map_free(&filter->by_tid);
	map_free(&filter->servers);
	free(filter);
}

bool event_filter_matched(const struct event_filter *filter)
{
	return filter->matched || !filter->by_thread;
}

bool event_filter_failed(const struct event_filter *filter)
{
	return filter->failed;
}

static bool cpu_is_watched(const struct event_filter *filter, u32 cpu)
{
	return !filter->filter->has_cpus ||
	       (cpu < SCHED_CPUS_MAX && (filter->filter->cpus[cpu / 64] >> (cpu % 64) & 1));
}

static bool is_wanted(const struct event_filter *filter, u32 pid, const struct comm *comm)
{
	bool wanted = !filter->filter->pids_len;
	char name[COMM_LEN] = "";

	for (u32 i = 0; i < filter->filter->pids_len; i++)
		wanted |= filter->filter->pids[i] == pid;
	if (!wanted || !filter->filter->comms_len)
		return wanted;
	memcpy(name, comm->text, COMM_LEN - 1);
	for (u32 i = 0; i < filter->filter->comms_len; i++)
		if (name_pattern_fits(&filter->patterns[i], name))
			return true;
	return false;
}

static struct seen_thread *thread_of(const struct event_filter *filter, u32 tid)
{
	u32 place = tid ? map_get(&filter->by_tid, tid) : 0;

	return place ? &filter->threads[place - 1] : NULL;
}

static struct seen_thread *meet(struct event_filter *filter, u32 tid)
{
	struct seen_thread *thread = thread_of(filter, tid);

	if (thread || !tid)
		return thread;
	if (filter->len >= MOST || !vec_reserve(filter->threads, filter->room, filter->len + 1, 256) ||
	    !map_set(&filter->by_tid, tid, (u32)filter->len + 1)) {
		filter->failed = true;
		return NULL;
	}
	thread = &filter->threads[filter->len++];
	*thread = (struct seen_thread){ .watched = !filter->by_thread, .waits_for = NOT_WAITING };
	return thread;
}

static void wait_for(struct event_filter *filter, struct seen_thread *thread, s32 cpu)
{
	if (thread->waits_for != NOT_WAITING)
		filter->waiters[thread->waits_for]--;
	thread->waits_for = thread->watched ? cpu : NOT_WAITING;
	if (thread->waits_for != NOT_WAITING)
		filter->waiters[thread->waits_for]++;
}

static void watch(struct event_filter *filter, struct seen_thread *thread, bool watched)
{
	thread->watched = watched;
	filter->matched |= watched;
	if (!watched)
		wait_for(filter, thread, NOT_WAITING);
}

static bool is_watched(struct event_filter *filter, u32 tid)
{
	const struct seen_thread *thread = thread_of(filter, tid);

	return thread ? thread->watched : !filter->by_thread;
}

/* Names pass, whosever they are. */
static const struct event_header *pass_thread(struct event_filter *filter, const struct event_thread *event,
					      union any_event *changed)
{
	struct seen_thread *thread = meet(filter, event->head.tid);
	bool watched = !(event->head.flags & EVENT_FLAG_BYSTANDER) && is_wanted(filter, event->pid, &event->comm);

	changed->thread = *event;
	if (!watched)
		changed->head.flags |= EVENT_FLAG_BYSTANDER;
	if (thread) {
		thread->pid = event->pid;
		watch(filter, thread, watched);
	}
	return &changed->head;
}

static const struct event_header *pass_rename(struct event_filter *filter, const struct event_rename *event,
					      union any_event *changed)
{
	struct seen_thread *thread = thread_of(filter, event->head.tid);

	if (!thread)
		return filter->by_thread ? NULL : &event->head;
	changed->rename = *event;
	watch(filter, thread,
	      !(event->head.flags & EVENT_FLAG_BYSTANDER) && is_wanted(filter, thread->pid, &event->comm));
	if (!thread->watched)
		changed->head.flags |= EVENT_FLAG_BYSTANDER;
	return &changed->head;
}

static const struct event_header *pass_tid_change(struct event_filter *filter, const struct event_tid_change *event)
{
	struct seen_thread *from = thread_of(filter, event->old_tid), *to, was;

	if (!from)
		return &event->head;
	was = *from;
	wait_for(filter, from, NOT_WAITING);
	to = meet(filter, event->head.tid);
	if (to) {
		wait_for(filter, to, NOT_WAITING);
		to->pid = event->pid;
		to->watched = was.watched;
		to->runs = was.runs;
		wait_for(filter, to, was.waits_for);
	}
	return &event->head;
}

static const struct event_header *pass_switch(struct event_filter *filter, const struct event_switch *event)
{
	u32 cpu = event->head.cpu;
	bool passes = filter->every_switch || is_watched(filter, event->head.tid) ||
		      is_watched(filter, event->next_tid) || filter->waiters[cpu];
	bool goes_on = (event->head.flags & EVENT_FLAG_PREEMPTED) || !event->prev_state;
	struct seen_thread *prev = meet(filter, event->head.tid), *next;

	if (prev) {
		prev->runs = false;
		wait_for(filter, prev, goes_on ? (s32)cpu : NOT_WAITING);
	}
	next = meet(filter, event->next_tid);
	if (next) {
		next->runs = true;
		wait_for(filter, next, NOT_WAITING);
	}
	return passes && cpu_is_watched(filter, cpu) ? &event->head : NULL;
}

static const struct event_header *pass_wakeup(struct event_filter *filter, const struct event_wakeup *event)
{
	struct seen_thread *thread = meet(filter, event->head.tid);

	if (!thread || !thread->watched)
		return NULL;
	if (!thread->runs && thread->waits_for == NOT_WAITING)
		wait_for(filter, thread, event->target_cpu);
	return cpu_is_watched(filter, event->target_cpu) ? &event->head : NULL;
}

static const struct event_header *pass_migrate(struct event_filter *filter, const struct event_migrate *event)
{
	struct seen_thread *thread = meet(filter, event->head.tid);

	if (!thread || !thread->watched)
		return NULL;
	if (thread->waits_for != NOT_WAITING)
		wait_for(filter, thread, event->to_cpu);
	return cpu_is_watched(filter, event->from_cpu) || cpu_is_watched(filter, event->to_cpu) ? &event->head : NULL;
}

static const struct event_header *pass_running(struct event_filter *filter, const struct event_header *event)
{
	struct seen_thread *thread = meet(filter, event->tid);

	if (thread) {
		thread->runs = true;
		wait_for(filter, thread, NOT_WAITING);
	}
	return is_watched(filter, event->tid) && cpu_is_watched(filter, event->cpu) ? event : NULL;
}

/* Who serves a watched process counts for its frames. */
static bool passes_frame(struct event_filter *filter, const struct event_header *event)
{
	const struct seen_thread *thread = thread_of(filter, event->tid);

	return is_watched(filter, event->tid) || (thread && map_get(&filter->servers, thread->pid));
}

/* Those that are of no thread, and those of a thread that no switch changes. */
static bool passes_other(struct event_filter *filter, const struct event_header *event)
{
	u32 pid;

	switch (event->kind) {
	case EVENT_FRAME:
		return passes_frame(filter, event);
	case EVENT_SERVED:
		if (!map_set(&filter->servers, ((const struct event_served *)event)->server_pid, 1))
			filter->failed = true;
		return true;
	case EVENT_GPU_MEMORY:
		pid = ((const struct event_gpu_memory *)event)->pid;
		for (u32 i = 0; i < filter->filter->pids_len; i++)
			if (filter->filter->pids[i] == pid)
				return true;
		return !filter->filter->pids_len;
	case EVENT_CUDA_COUNT: /* of all threads together */
		return false;
	case EVENT_CUDA_CALL:
	case EVENT_CUDA_LAUNCH:
	case EVENT_CUDA_IOCTL:
	case EVENT_STACK:
		return is_watched(filter, event->tid) && cpu_is_watched(filter, event->cpu);
	case EVENT_FENCE:
		return is_watched(filter, event->tid);
	case EVENT_CUDA_WORK: /* a kernel thread's, for one that may be watched */
		return is_watched(filter, ((const struct event_cuda_work *)event)->for_tid) &&
		       cpu_is_watched(filter, event->cpu);
	case EVENT_CUDA_NAME:
		return ((const struct event_cuda_name *)event)->what != CUDA_NAMED_RANGE ||
		       (is_watched(filter, event->tid) && cpu_is_watched(filter, event->cpu));
	case EVENT_LOST:
	case EVENT_CUDA_XID:
	case EVENT_DEVICE:
	case EVENT_INPUT:
	case EVENT_STACK_FRAME: /* threads that pass may have it on their stacks */
		return true;
	default:
		return (event->kind == EVENT_VBLANK && !event->tid) || is_watched(filter, event->tid);
	}
}

const struct event_header *event_filter_pass(struct event_filter *filter, const struct event_header *event,
					     union any_event *changed)
{
	switch (event->kind) {
	case EVENT_THREAD:
		return pass_thread(filter, (const struct event_thread *)event, changed);
	case EVENT_RENAME:
		return pass_rename(filter, (const struct event_rename *)event, changed);
	case EVENT_TID_CHANGE:
		return pass_tid_change(filter, (const struct event_tid_change *)event);
	case EVENT_SWITCH:
		return pass_switch(filter, (const struct event_switch *)event);
	case EVENT_WAKEUP:
		return pass_wakeup(filter, (const struct event_wakeup *)event);
	case EVENT_MIGRATE:
		return pass_migrate(filter, (const struct event_migrate *)event);
	case EVENT_SAMPLE:
	case EVENT_UNSEEN_SWITCH:
		return pass_running(filter, event);
	default:
		return passes_other(filter, event) ? event : NULL;
	}
}
