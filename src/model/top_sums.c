// SPDX-License-Identifier: GPL-2.0
/* Adds what the kernel half has counted to the turn that goes on, as if each switch had come by.
 */
#include "top_sums.h"

void top_sums_begin(struct top *top)
{
	top->by_sums = true;
}

void top_sums_end(struct top *top, struct threads *threads, u64 now_ns)
{
	top->by_sums = false;
	for (u32 cpu = 0; cpu < top->cpus_len; cpu++)
		if (top->cpus[cpu].seen)
			top->cpus[cpu].since_ns = now_ns;
	/* What the switches were that nobody saw is not known. */
	threads_lost_sight(threads);
	top->miss_model.losses++;
}

static void keep_longest(struct top *top, const struct threads *threads, const struct top_thread *thread,
			 const struct sums_wait *wait)
{
	u32 waker_tid = wait->kind == WAIT_WOKEN ? wait->waker_tid : 0;

	top->waits[top->waits_taken++ % TOP_LONG_WAITS] =
		(struct top_wait){ .to_ns = wait->to_ns,
				   .wait_ns = wait->wait_ns,
				   .tid = thread->tid,
				   .cpu = wait->cpu,
				   .comm = thread->comm,
				   .kind = (enum wait_kind)wait->kind,
				   .culprit = !wait->has_behind	 ? CULPRIT_UNKNOWN
					      : wait->behind_tid ? CULPRIT_THREAD
								 : CULPRIT_IDLE,
				   .behind_tid = wait->behind_tid,
				   .waker_tid = waker_tid,
				   .behind_comm = top_comm_of(threads, wait->behind_tid),
				   .waker_comm = top_comm_of(threads, waker_tid) };
}

void top_sums_add(struct top *top, const struct threads *threads, const struct sums_row *row)
{
	const struct sums_head *head = &row->head;
	const struct thread_sums *sums = &row->sums;
	struct top_thread *thread = top_meet(top, head->tid, head->pid, head->start_ns, &head->comm);

	if (head->unsent)
		misses_lost_sight(threads, head->tid);
	top->now.wakeups += head->wakeups;
	top->now.moves += head->moves;
	if (!thread)
		return;
	thread->now.cpu_ns += head->cpu_ns;
	thread->now.runs += head->runs;
	thread->now.wakeups += head->wakeups;
	thread->now.moves += head->moves;
	thread->prio = head->prio;
	if (top->frozen)
		return;
	if (!top_waits_add_sums(&thread->waits, sums))
		top->refused++;
	if (sums->longest.wait_ns >= TOP_LONG_NS)
		keep_longest(top, threads, thread, &sums->longest);
	if (sums->behind_ns)
		top_add_other(thread->culprits, TOP_CULPRITS, threads, sums->behind_tid, sums->behind_ns);
	if (head->wakeups) {
		thread->wakers_unsure |= !head->waker_known;
		top_add_other(thread->wakers, TOP_WAKERS, threads, head->waker_tid, TOP_WAKER_AMOUNT);
	}
}

void top_sums_add_cpu(struct top *top, u32 cpu, u64 busy_ns, u64 switches, u32 tid)
{
	struct top_cpu *one = cpu < top->cpus_len ? &top->cpus[cpu] : NULL;

	top->now.switches += switches;
	if (!one || (!switches && !busy_ns && !one->seen))
		return;
	one->seen = true;
	one->busy_ns += busy_ns;
	one->switches += switches;
	one->tid = tid;
}
