// SPDX-License-Identifier: GPL-2.0
/* Keys are programs' own numbers: with a seed that no program knows, none can have all of its own in one slot. */
#include "cuda_rows.h"

#include <stdlib.h>

void *cuda_make(struct cuda *cuda, size_t bytes)
{
	void *made = calloc(1, bytes);

	if (!made)
		cuda->failed = true;
	return made;
}

static void *make_row(struct cuda *cuda, size_t bytes)
{
	bool is_full = cuda->rows_most && cuda->rows_len >= cuda->rows_most;
	void *row = is_full ? NULL : cuda_make(cuda, bytes);

	cuda->rows_len += row != NULL;
	cuda->refused += is_full;
	return row;
}

u32 cuda_slot_of(const struct cuda *cuda, u64 key)
{
	key = (key ^ cuda->seed) * 0x9e3779b97f4a7c15ull;
	key = (key ^ key >> 32) * 0xff51afd7ed558ccdull;
	return (u32)(key >> 52) % CUDA_SLOTS;
}

struct cuda_process *cuda_process_of(struct cuda *cuda, const struct threads *threads, const struct event_header *event,
				     u32 pid)
{
	const struct thread *thread = event->tid ? threads_by_tid(threads, event->tid) : NULL;
	struct cuda_process *process;

	if (!pid)
		pid = thread ? thread->pid : event->tid;
	for (process = cuda->processes; process && process->pid != pid;)
		process = process->next;
	if (!process) {
		process = make_row(cuda, sizeof(*process));
		if (!process)
			return NULL;
		process->pid = pid;
		process->next = cuda->processes;
		cuda->processes = process;
	}
	process->last_ns = event->time_ns;
	if (thread)
		process->comm = thread->comm;
	return process;
}

struct cuda_thread *cuda_thread_of(struct cuda *cuda, const struct threads *threads, const struct event_header *event)
{
	struct cuda_thread **slot = &cuda->threads[cuda_slot_of(cuda, event->tid)], *thread;

	for (thread = *slot; thread && thread->tid != event->tid;)
		thread = thread->next;
	if (!thread) {
		thread = make_row(cuda, sizeof(*thread));
		if (!thread)
			return NULL;
		thread->tid = event->tid;
		thread->next = *slot;
		*slot = thread;
		thread->process = cuda_process_of(cuda, threads, event, 0);
	}
	thread->last_ns = event->time_ns;
	if (thread->process)
		thread->process->last_ns = event->time_ns;
	return thread;
}

static void free_kernel(struct cuda_kernel *kernel)
{
	free(kernel->name);
	free(kernel);
}

static void free_process(struct cuda_process *process)
{
	for (u32 slot = 0; slot < CUDA_SLOTS; slot++)
		while (process->allocations[slot]) {
			struct cuda_allocation *next = process->allocations[slot]->next;

			free(process->allocations[slot]);
			process->allocations[slot] = next;
		}
	free(process);
}

/* Takes the rows of a list out of which `goes` says so, and counts them. */
#define TAKE_OUT(list, type, goes, free_one, count)            \
	for (struct type **at = &(list), *row; (row = *at);) { \
		if (!(goes)) {                                 \
			at = &row->next;                       \
			continue;                              \
		}                                              \
		*at = row->next;                               \
		free_one(row);                                 \
		(count)++;                                     \
	}

static void free_what_ioctls_and_gpus_said(struct cuda *cuda)
{
	u32 taken_out = 0;

	TAKE_OUT(cuda->ioctls, cuda_ioctls, true, free, taken_out);
	TAKE_OUT(cuda->errors, cuda_error, true, free, taken_out);
	TAKE_OUT(cuda->xids, cuda_xid, true, free, taken_out);
}

void cuda_free(struct cuda *cuda)
{
	u32 taken_out = 0;

	for (u32 i = 0; i < cuda->functions_len; i++) {
		free(cuda->functions[i].name);
		free(cuda->functions[i].durations);
	}
	free(cuda->functions);
	for (u32 slot = 0; slot < CUDA_SLOTS; slot++) {
		TAKE_OUT(cuda->kernels[slot], cuda_kernel, true, free_kernel, taken_out);
		TAKE_OUT(cuda->threads[slot], cuda_thread, true, free, taken_out);
	}
	free_what_ioctls_and_gpus_said(cuda);
	TAKE_OUT(cuda->processes, cuda_process, true, free_process, taken_out);
	*cuda = (struct cuda){ 0 };
}

static bool thread_goes(const struct cuda_thread *row, const struct threads *threads, u64 since_ns)
{
	return row->last_ns < since_ns || threads_has_ended(threads, row->tid) ||
	       (row->process && threads_has_ended(threads, row->process->pid));
}

/* Kernels of processes that have no row. */
static void forget_kernels(struct cuda *cuda)
{
	struct map known = { 0 };
	u32 taken_out = 0;

	for (const struct cuda_process *process = cuda->processes; process; process = process->next)
		if (!map_set(&known, process->pid, 1))
			goto out;
	for (u32 slot = 0; slot < CUDA_SLOTS; slot++)
		TAKE_OUT(cuda->kernels[slot], cuda_kernel, !map_get(&known, row->pid), free_kernel, taken_out);
	cuda->kernels_len -= taken_out;
out:
	map_free(&known);
}

void cuda_forget(struct cuda *cuda, const struct threads *threads, u64 since_ns)
{
	u32 taken_out = 0;

	for (u32 slot = 0; slot < CUDA_SLOTS; slot++) {
		TAKE_OUT(cuda->threads[slot], cuda_thread, thread_goes(row, threads, since_ns), free, taken_out);
		/* They point to ioctls and processes. */
		for (struct cuda_thread *thread = cuda->threads[slot]; thread; thread = thread->next) {
			thread->len = 0;
			if (thread->process && thread->process->last_ns < thread->last_ns)
				thread->process->last_ns = thread->last_ns;
		}
	}
	free_what_ioctls_and_gpus_said(cuda);
	TAKE_OUT(cuda->processes, cuda_process, row->last_ns < since_ns || threads_has_ended(threads, row->pid),
		 free_process, taken_out);
	cuda->rows_len -= taken_out;
	forget_kernels(cuda);
}
