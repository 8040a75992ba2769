// SPDX-License-Identifier: GPL-2.0
/* What a recording does not say of threads: whether a timer goes by the clock or from when it was set, which CPU a
 * kernel thread serves; and copies of work.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../../core/event_info.h"
#include "../base/sort.h"
#include "../base/vec.h"
#include "work_state.h"

enum {
	SLEEPS_LOOKED = 512,
	SLEEPS_LEAST = 8,
};

u32 event_kind_bytes(u32 kind)
{
	const struct event_info *info = event_info(kind);

	return info ? info->bytes : 0;
}

bool event_is_own_act(u32 kind)
{
	switch (kind) {
	case EVENT_RENAME:
	case EVENT_EXEC:
	case EVENT_FRAME:
	case EVENT_CUDA_CALL:
	case EVENT_CUDA_LAUNCH:
	case EVENT_CUDA_IOCTL:
	case EVENT_SUBMIT:
	case EVENT_INPUT_WAKE:
	case EVENT_COMMIT:
	case EVENT_TID_CHANGE:
		return true;
	default:
		return false;
	}
}

/* "ksoftirqd/3", "kworker/3:1H", "cpuhp/3"; not "kworker/u8:2". */
s32 kernel_cpu_of(const struct work_thread *thread, u32 cpus_len)
{
	char name[COMM_LEN + 1] = "";
	char *slash, *end;
	unsigned long cpu;

	if (!thread->is_kernel)
		return -1;
	memcpy(name, thread->comm.text, COMM_LEN);
	slash = strrchr(name, '/');
	if (!slash || slash[1] < '0' || slash[1] > '9')
		return -1;
	cpu = strtoul(slash + 1, &end, 10);
	return cpu < cpus_len ? (s32)cpu : -1;
}

static int by_size(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return (x > y) - (x < y);
}

/* How far from their middle the numbers lie, the half of them that is nearest, in parts of 1000 of it. Sorts them. */
static u64 spread_of(u64 *values, u32 len, u64 *middle)
{
	sort_rows(values, len, sizeof(*values), by_size);
	*middle = values[len / 2];
	for (u32 i = 0; i < len; i++)
		values[i] = values[i] > *middle ? values[i] - *middle : *middle - values[i];
	sort_rows(values, len, sizeof(*values), by_size);
	return values[len / 2] * 1000 / (*middle ? *middle : 1);
}

/* A timer that is set when the thread sleeps makes sleeps alike, one that goes by the clock makes wake-ups alike. */
static bool sleeps_for_a_time(struct work_thread *thread)
{
	u64 slept[SLEEPS_LOOKED], apart[SLEEPS_LOOKED], before_ns = 0, slept_ns, apart_ns;
	u64 slept_spread, apart_spread;
	u32 len = 0;

	for (u32 i = 0; i < thread->len && len < SLEEPS_LOOKED; i++) {
		const struct step *step = &thread->steps[i];

		if (!sleep_is_by_interrupt(step) || sleep_is_io(step))
			continue;
		if (before_ns) {
			slept[len] = (u64)step->thread * 1000;
			apart[len++] = step->value - before_ns;
		}
		before_ns = step->value;
	}
	if (len < SLEEPS_LEAST)
		return false;
	slept_spread = spread_of(slept, len, &slept_ns);
	apart_spread = spread_of(apart, len, &apart_ns);
	if (thread->vsync_ns)
		thread->vsync_ns = apart_ns ? apart_ns : 1;
	return slept_spread * 2 < apart_spread && slept_spread < 100;
}

void work_classify_sleeps(struct work_thread *thread)
{
	bool for_a_time = !thread->is_bystander && sleeps_for_a_time(thread) && !thread->vsync_ns;
	bool by_period = !thread->is_bystander && !for_a_time && work_find_period(thread);

	for (u32 i = 1; i < thread->len; i++) {
		struct step *step = &thread->steps[i];

		if (!sleep_is_by_interrupt(step) || thread->is_bystander)
			continue;
		if (by_period && !sleep_is_io(step) && work_is_on_grid(thread, step->value)) {
			step->kind = STEP_SLEEP_PERIOD;
		} else if (for_a_time || sleep_is_io(step)) {
			step->kind = STEP_SLEEP_FOR;
			step->value = (u64)step->thread * 1000;
		} else if (thread->steps[i - 1].kind == STEP_GAVE) {
			step->kind = STEP_SLEEP_GPU;
			step->value = (u64)step->thread * 1000 + thread->steps[i - 1].value;
		}
	}
}

/* By up to so many percent more or less. */
static u64 varied(u64 value, u32 percent, u64 chance)
{
	u64 parts = 2 * (u64)percent + 1;

	return value / 100 * (100 - percent + chance % parts);
}

static bool copy_thread(struct work *work, u32 from, u32 offset, u64 late_ns, u32 percent, u64 seed)
{
	const struct work_thread *of = &work->threads[from];
	int index = work_add_thread(work, of->tid + offset * 1000000, of->pid + offset * 1000000, "",
				    (enum work_begin)of->begins);
	struct work_thread *to;

	if (index < 0)
		return false;
	of = &work->threads[from];
	to = &work->threads[index];
	to->comm = of->comm;
	to->prio = of->prio;
	to->cpu = of->cpu;
	/* On a machine that is larger by as many CPUs, each copy has its own. */
	to->only_cpu = of->only_cpu < 0 ? -1 : of->only_cpu + (s32)(offset * work->cpus_len);
	to->goes_on = of->goes_on;
	to->start_ns = of->start_ns + offset;
	to->parent_tid = of->parent_tid;
	to->vsync_ns = of->vsync_ns;
	to->period_ns = of->period_ns;
	to->phase_ns = of->period_ns ? (of->phase_ns + late_ns) % of->period_ns : 0;
	to->loop_ns = of->loop_ns;
	to->next_copy = of->next_copy;
	work->threads[from].next_copy = (u32)index + 1;
	for (u32 i = 0; i < of->len; i++) {
		struct step step = work->threads[from].steps[i];

		/* A copy has fewer steps. */
		if (i == of->loop_from)
			to->loop_from = to->len;
		if (of->loop_to && i == of->loop_to)
			to->loop_to = to->len;
		if (step.kind == STEP_RUN)
			step.value = varied(step.value, percent, sim_hash(seed, i));
		if (step.kind == STEP_SLEEP_UNTIL && step.value != ~0ULL)
			step.value += late_ns;
		if (step.kind == STEP_WAKE)
			step.flags |= STEP_FLAG_COPY;
		if (step.kind != STEP_EMIT && !work_add_step(work, (u32)index, step))
			return false;
	}
	return true;
}

/* Wakes of copies are among copies: of the n-th, those of the n-th. */
static void lead_wakes(struct work *work, u32 from, u32 to, const u32 *copy_of)
{
	for (u32 i = from; i < to; i++)
		for (u32 s = 0; s < work->threads[i].len; s++) {
			struct step *step = &work->threads[i].steps[s];

			if (step->kind != STEP_WAKE || !(step->flags & STEP_FLAG_COPY))
				continue;
			step->flags &= (u8)~STEP_FLAG_COPY;
			/* The kernel's own threads are not copied: what would wake one is nothing. */
			if (copy_of[step->thread])
				step->thread = copy_of[step->thread] - 1;
			else
				*step = (struct step){ .kind = STEP_RUN };
		}
}

/* What a kernel thread ended comes at its time in a copy. */
static void free_signals(struct work *work, u32 thread)
{
	for (u32 s = 0; s < work->threads[thread].len; s++) {
		struct step *step = &work->threads[thread].steps[s];

		if (step->kind == STEP_SLEEP_SIGNAL && step->flags & STEP_FLAG_BY_KERNEL) {
			step->kind = STEP_SLEEP_FOR;
			step->value = (u64)step->thread * 1000;
		}
	}
}

int work_copy(struct work *work, u32 copies, u64 jitter_ns, u32 percent, u64 seed)
{
	u32 len = work->len, *copy_of = calloc(len ? len : 1, sizeof(*copy_of));
	int error = copy_of ? 0 : -ENOMEM;

	for (u32 copy = 1; copy <= copies && !error; copy++) {
		u64 late_ns = jitter_ns ? sim_hash(seed, copy) % jitter_ns : 0;
		u32 first = work->len;

		memset(copy_of, 0, len * sizeof(*copy_of));
		for (u32 i = 0; i < len && !error; i++) {
			if (work->threads[i].is_kernel || work->threads[i].is_bystander)
				continue;
			if (!copy_thread(work, i, copy, late_ns, percent, sim_hash(seed + copy, i)))
				error = -ENOMEM;
			else
				copy_of[i] = work->len;
		}
		if (error)
			break;
		lead_wakes(work, first, work->len, copy_of);
		for (u32 i = first; i < work->len; i++)
			free_signals(work, i);
	}
	free(copy_of);
	return error;
}

void work_truncate(struct work *work, u32 len)
{
	for (u32 i = len; i < work->len; i++)
		work_free_thread(&work->threads[i]);
	for (u32 i = 0; i < len && i < work->len; i++)
		work->threads[i].next_copy = 0;
	work->len = len < work->len ? len : work->len;
}
