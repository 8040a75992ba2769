/* SPDX-License-Identifier: GPL-2.0 */
/* Who holds a lock that an urgent thread waits for runs next: found at futex_wait(), by what glibc writes beside the
 * futex of a mutex. A program may write anything there: only a thread of its own process is found by it, and what that
 * one runs is charged to its user's budget as any urgency is. For the scheduler alone. */
#ifndef TACTUS_BPF_SCX_LOCKS_H
#define TACTUS_BPF_SCX_LOCKS_H

#include "scx_queues.h"
#include "scx_urgency.h"

enum {
	HOLDER_LOOKED = 256, /* threads of a queue that are looked at for one */
	MUTEX_CONTENDED = 2, /* glibc's value of a mutex that somebody waits for */
};

/* The head of glibc's pthread_mutex_t. */
struct mutex_head {
	u32 futex;
	u32 count;
	s32 holder; /* its tid in the process's own namespace */
};

struct task_struct *bpf_task_from_pid(s32 pid) __ksym __weak;
/* 6.14: in the namespace of the current thread. */
struct task_struct *bpf_task_from_vpid(s32 pid) __ksym __weak;
void bpf_task_release(struct task_struct *p) __ksym __weak;

static __always_inline struct task_struct *task_by_tid(s32 tid)
{
	if (bpf_ksym_exists(bpf_task_from_vpid))
		return bpf_task_from_vpid(tid);
	return bpf_ksym_exists(bpf_task_from_pid) ? bpf_task_from_pid(tid) : NULL;
}

/* The holder goes before others, on this CPU, as soon as the thread that waits for it sleeps. */
static __always_inline void hurry(struct task_struct *holder, u64 now_ns)
{
	struct task_ctx *thread = thread_of(holder);

	if (!thread || !may_raise(holder, thread))
		return;
	thread->scx.lock_until_ns = now_ns + TIER_LOCK_NS;
	run_on((s32)bpf_get_smp_processor_id())->holder_tid = tid_of(holder);
}

SEC("fentry/futex_wait")
int BPF_PROG(tactus_futex_wait, u32 *futex, unsigned int flags, u32 value)
{
	struct task_struct *current = bpf_get_current_task_btf(), *holder;
	struct task_ctx *thread;
	struct mutex_head head;
	u64 now_ns;

	if (value != MUTEX_CONTENDED || is_neutral || !bpf_ksym_exists(bpf_task_release))
		return 0;
	thread = thread_of(current);
	if (!thread)
		return 0;
	now_ns = bpf_ktime_get_ns();
	if (!lock_hurries(thread->role.answer.tier, &thread->scx.inherited, now_ns) ||
	    bpf_probe_read_user(&head, sizeof(head), futex) || head.holder <= 0)
		return 0;
	holder = task_by_tid(head.holder);
	if (!holder)
		return 0;
	if (pid_of(holder) == pid_of(current) && tid_of(holder) != tid_of(current))
		hurry(holder, now_ns);
	bpf_task_release(holder);
	return 0;
}

/* The thread was woken by the one that held its lock, which is as urgent as before from now on. */
static __always_inline void lock_is_free(struct task_ctx *waker)
{
	struct cpu_run *run = run_on((s32)bpf_get_smp_processor_id());

	if (!waker->scx.lock_until_ns)
		return;
	waker->scx.lock_until_ns = 0;
	run->may_burn = waker->scx.may_burn;
	run->tier = waker->role.answer.tier;
}

/* Moves the holder that is looked for to this CPU, if it waits in that queue. */
static __noinline bool dispatch_holder(u32 queue, s32 cpu)
{
	struct cpu_run *run = run_on(cpu);
	struct task_struct *p;
	bool found = false;

	if (!bpf_ksym_exists(bpf_iter_scx_dsq_new))
		return false;
	run->looked = 0;
	bpf_for_each(scx_dsq, p, queue, 0)
	{
		struct task_ctx *thread;

		if (run->looked++ >= HOLDER_LOOKED)
			break;
		if (tid_of(p) != run->holder_tid)
			continue;
		thread = thread_of(p);
		if (!thread || !may_run_here(p, cpu) || !dsq_move_here(&___it, p, TIER_TURN_NS))
			break;
		thread->scx.tier = TIER_LATENCY_CRITICAL;
		count(SCX_COUNT_HOLDERS);
		found = true;
		break;
	}
	return found;
}

static __always_inline bool dispatch_any_holder(u32 own, u32 shared, s32 cpu)
{
	struct cpu_run *run = run_on(cpu);
	bool found;

	if (!run->holder_tid)
		return false;
	found = dispatch_holder(shared, cpu) || dispatch_holder(own, cpu);
	run->holder_tid = 0;
	return found;
}

#endif
