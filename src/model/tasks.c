// SPDX-License-Identifier: GPL-2.0
/* Sums, sorts and scores threads' accounts.
 * Orders are total, so that two equal accounts always come out in the same order. */
#include "tasks.h"

#include <errno.h>
#include <stdlib.h>

#include "../base/sort.h"

static void add_account(struct thread_account *sum, const struct thread_account *one)
{
	sum->cpu_ns += one->cpu_ns;
	sum->wake_wait_ns += one->wake_wait_ns;
	sum->wake_waits += one->wake_waits;
	sum->preempt_wait_ns += one->preempt_wait_ns;
	sum->preempt_waits += one->preempt_waits;
	sum->wakeups += one->wakeups;
	sum->voluntary += one->voluntary;
	sum->involuntary += one->involuntary;
	/* Averages are weighted by how many runs they stand for. */
	if (sum->runs + one->runs) {
		double runs = (double)(sum->runs + one->runs);

		sum->run_avg_ns = (u64)(((double)sum->run_avg_ns * (double)sum->runs +
					 (double)one->run_avg_ns * (double)one->runs) /
					runs);
		sum->run_dev_ns = (u64)(((double)sum->run_dev_ns * (double)sum->runs +
					 (double)one->run_dev_ns * (double)one->runs) /
					runs);
	}
	sum->runs += one->runs;
	for (int i = 0; i < DISTANCES; i++)
		sum->migrations[i] += one->migrations[i];
	for (size_t i = 0; i < sizeof(sum->cpus) / sizeof(sum->cpus[0]); i++)
		sum->cpus[i] |= one->cpus[i];
	if (one->wait_max_ns > sum->wait_max_ns) {
		sum->wait_max_ns = one->wait_max_ns;
		sum->wait_max_at_ns = one->wait_max_at_ns;
	}
	if (one->woken_at_ns > sum->woken_at_ns) {
		sum->woken_at_ns = one->woken_at_ns;
		sum->waker_tid = one->waker_tid;
	}
}

static int by_process_then_tid(const void *a, const void *b)
{
	const struct thread *x = ((const struct task *)a)->first, *y = ((const struct task *)b)->first;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	/* The process's first thread leads, if it was seen. */
	if ((x->tid == x->pid) != (y->tid == y->pid))
		return x->tid == x->pid ? -1 : 1;
	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	return x->start_ns < y->start_ns ? -1 : x->start_ns > y->start_ns;
}

/* Returns 0 or -ENOMEM. */
static int join_processes(struct tasks *tasks)
{
	size_t kept = 0, processes = 0;

	sort_rows(tasks->all, tasks->len, sizeof(*tasks->all), by_process_then_tid);
	for (size_t i = 0; i < tasks->len; i++)
		processes += i == 0 || tasks->all[i].first->pid != tasks->all[i - 1].first->pid;
	tasks->sums = calloc(processes ? processes : 1, sizeof(*tasks->sums));
	if (!tasks->sums)
		return -ENOMEM;
	for (size_t i = 0; i < tasks->len; i++) {
		const struct thread_account *one = tasks->all[i].sum;

		if (kept && tasks->all[kept - 1].first->pid == tasks->all[i].first->pid) {
			tasks->all[kept - 1].threads++;
		} else {
			tasks->all[kept] = tasks->all[i];
			tasks->all[kept].sum = &tasks->sums[kept];
			kept++;
		}
		add_account(&tasks->sums[kept - 1], one);
	}
	tasks->len = kept;
	return 0;
}

int tasks_from_threads(struct tasks *tasks, const struct threads *threads, bool by_process)
{
	int error = 0;

	*tasks = (struct tasks){ .all = calloc(threads->len ? threads->len : 1, sizeof(*tasks->all)) };
	if (!tasks->all)
		return -ENOMEM;
	for (size_t i = 0; i < threads->len; i++) {
		const struct thread *thread = threads->all[i];

		if (thread->bystander || !thread_was_active(&thread->account))
			continue;
		tasks->all[tasks->len++] = (struct task){ .first = thread, .threads = 1, .sum = &thread->account };
	}
	if (by_process)
		error = join_processes(tasks);
	if (error)
		tasks_free(tasks);
	return error;
}

static u64 order_key(const struct task *task, enum task_order order)
{
	switch (order) {
	case TASKS_BY_WAIT:
		return thread_wait_ns(task->sum);
	case TASKS_BY_SWITCHES:
		return task->sum->voluntary + task->sum->involuntary;
	case TASKS_BY_MIGRATIONS:
		return thread_migrations(task->sum);
	default:
		return task->sum->cpu_ns;
	}
}

static int by_key(const void *a, const void *b, void *order)
{
	u64 x = order_key(a, *(enum task_order *)order), y = order_key(b, *(enum task_order *)order);

	return x != y ? (x > y ? -1 : 1) : by_process_then_tid(a, b);
}

void tasks_sort(struct tasks *tasks, enum task_order order)
{
	sort_rows_by(tasks->all, tasks->len, sizeof(*tasks->all), by_key, &order);
}

void tasks_free(struct tasks *tasks)
{
	free(tasks->all);
	free(tasks->sums);
	*tasks = (struct tasks){ 0 };
}

u32 account_cpus(const struct thread_account *account)
{
	u32 cpus = 0;

	for (size_t i = 0; i < sizeof(account->cpus) / sizeof(account->cpus[0]); i++)
		cpus += (u32)__builtin_popcountll(account->cpus[i]);
	return cpus;
}

u32 account_affinity_score(const struct thread_account *account)
{
	u64 quarters = 0, runs = account->runs;

	for (int i = 0; i < DISTANCES; i++)
		quarters += account->migrations[i] * (u64)(i + 1);
	if (!runs || !quarters)
		return 100;
	/* A thread can be moved more than once between two runs. */
	return quarters >= runs * 4 ? 0 : (u32)(100 - quarters * 100 / (runs * 4));
}
