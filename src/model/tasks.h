/* SPDX-License-Identifier: GPL-2.0 */
/* Rows for people out of threads' accounts: summed by process if asked for, sorted, scored.
 * No printing here. */
#ifndef TACTUS_MODEL_TASKS_H
#define TACTUS_MODEL_TASKS_H

#include "threads.h"

enum task_order { TASKS_BY_CPU, TASKS_BY_WAIT, TASKS_BY_SWITCHES, TASKS_BY_MIGRATIONS };

/* A thread, or all threads of a process in one. */
struct task {
	const struct thread *first; /* whose tid, name and start are shown */
	u32 threads;
	const struct thread_account *sum; /* the thread's own, or that of all threads of its process */
};

struct tasks {
	struct task *all;
	size_t len;
	struct thread_account *sums; /* of processes */
};

/* Rows of all threads that were active. Returns 0 or -ENOMEM. */
int tasks_from_threads(struct tasks *tasks, const struct threads *threads, bool by_process);
void tasks_sort(struct tasks *tasks, enum task_order order);
void tasks_free(struct tasks *tasks);

/* How many CPUs a thread ran on. */
u32 account_cpus(const struct thread_account *account);

/* How much a thread keeps to its place, 0 to 100: 100 less the share of its runs that began with a move, where a move
 * to a core's sibling counts a quarter, within a cache a half, across caches three quarters and across nodes one. A
 * thread that never ran has 100. */
u32 account_affinity_score(const struct thread_account *account);

#endif
