// SPDX-License-Identifier: GPL-2.0
/* Work as it is kept: threads, their steps, events that are handed on.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../base/vec.h"
#include "work_state.h"

int work_init(struct work *work, const char *kernel, const struct cpu_topology *topology, u32 cpus_len, u64 start_ns,
	      u64 wall_start_ns)
{
	*work = (struct work){ .cpus_len = cpus_len, .first_ns = start_ns, .wall_start_ns = wall_start_ns };
	strncpy(work->kernel, kernel, sizeof(work->kernel) - 1);
	work->topology = calloc(cpus_len ? cpus_len : 1, sizeof(*work->topology));
	work->state = calloc(1, sizeof(*work->state));
	if (work->state)
		work->state->cpus = calloc(cpus_len ? cpus_len : 1, sizeof(*work->state->cpus));
	if (!work->topology || !work->state || !work->state->cpus) {
		work_free(work);
		return -ENOMEM;
	}
	if (topology)
		memcpy(work->topology, topology, cpus_len * sizeof(*topology));
	work->last_ns = start_ns;
	return 0;
}

void work_free_state(struct work *work)
{
	if (!work->state)
		return;
	map_free(&work->state->by_tid);
	free(work->state->cpus);
	for (u32 i = 0; i < work->len && i < work->state->room; i++)
		work_forget_cpus(&work->state->threads[i]);
	free(work->state->threads);
	free(work->state);
	work->state = NULL;
}

void work_free_thread(struct work_thread *thread)
{
	free(thread->steps);
	free(thread->kept_off);
}

void work_free(struct work *work)
{
	work_free_state(work);
	for (u32 i = 0; i < work->len; i++)
		work_free_thread(&work->threads[i]);
	free(work->threads);
	free(work->kept);
	free(work->timed);
	free(work->topology);
	*work = (struct work){ 0 };
}

int work_add_thread(struct work *work, u32 tid, u32 pid, const char *comm, enum work_begin begins)
{
	struct work_thread *thread;

	if (work->len >= WORK_THREADS_MOST || !vec_reserve(work->threads, work->room, work->len + 1, WORK_FIRST_ROOM)) {
		work->failed = true;
		return -ENOMEM;
	}
	thread = &work->threads[work->len];
	*thread = (struct work_thread){ .tid = tid, .pid = pid, .only_cpu = -1, .prio = 121, .begins = (u8)begins };
	strncpy(thread->comm.text, comm, COMM_LEN - 1);
	return (int)work->len++;
}

bool work_add_step(struct work *work, u32 thread, struct step step)
{
	struct work_thread *to = &work->threads[thread];
	struct step *last = to->len ? &to->steps[to->len - 1] : NULL;

	if (step.kind == STEP_RUN && last && last->kind == STEP_RUN) {
		last->value += step.value;
		return true;
	}
	if (!vec_reserve(to->steps, to->room, to->len + 1, 8)) {
		work->failed = true;
		return false;
	}
	to->steps[to->len++] = step;
	return true;
}

void work_insert_step(struct work *work, u32 thread, u32 at, struct step step)
{
	struct work_thread *to = &work->threads[thread];

	if (!vec_reserve(to->steps, to->room, to->len + 1, 8)) {
		work->failed = true;
		return;
	}
	memmove(to->steps + at + 1, to->steps + at, (to->len - at) * sizeof(*to->steps));
	to->steps[at] = step;
	to->len++;
}

u64 work_keep(struct work *work, const struct event_header *event)
{
	u32 bytes = event_kind_bytes(event->kind);
	u64 at = work->kept_len;

	if (!vec_reserve(work->kept, work->kept_room, work->kept_len + bytes, 4096)) {
		work->failed = true;
		return 0;
	}
	memcpy(work->kept + at, event, bytes);
	work->kept_len += bytes;
	return at;
}
