/* SPDX-License-Identifier: GPL-2.0 */
/* How long threads waited for a CPU, where roles are kept: by tier for each CPU, and with each thread for the program,
 * which compares what processes wait while it acts and while it does not. For the sched sensor alone. */
#ifndef TACTUS_BPF_WAITS_H
#define TACTUS_BPF_WAITS_H

#include "roles.h"
#include "../core/tally.h"

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct sched_tally);
} tallies SEC(".maps");

/* By tier only where roles are kept: without them all threads are of one. */
static __always_inline void count_wait(struct task_ctx *thread, u64 waited_ns)
{
	u64 tier = thread->role.answer.tier;
	struct sched_tally *tally;
	u32 zero = 0;

	if (!keeps_roles())
		return;
	thread->turn_wait_ns += waited_ns;
	tally = bpf_map_lookup_elem(&tallies, &zero);
	barrier_var(tier);
	if (tally)
		tally_wait(tally, tier, waited_ns);
}

/* The thread leaves its CPU: to sleep, or since it was preempted, and then its turn goes on. */
static __always_inline void count_turn(struct task_ctx *thread)
{
	if (!keeps_roles() || thread->account.wait_kind != WAIT_NONE)
		return;
	waits_add(&thread->waits, thread->turn_wait_ns);
	thread->turn_wait_ns = 0;
}

/* Hands over what threads have waited since the last time, and begins anew. A wait that ends at this very moment on
 * another CPU may be left out: it is one of many. The kernel's own threads are nobody's process. */
SEC("iter/task")
int take_waits(struct bpf_iter__task *ctx)
{
	struct task_struct *p = ctx->task;
	struct task_ctx *thread = p ? thread_of(p) : NULL;
	struct wait_row row = {};

	if (!thread || thread->ended || !thread->watched || (p->flags & PF_KTHREAD) || !waits_total(&thread->waits))
		return 0;
	row.tid = tid_of(p);
	row.pid = pid_of(p);
	row.tier = thread->role.answer.tier;
	row.has_audience = (u32)role_has_audience(&thread->role);
	comm_of(p, row.comm.text);
	row.waits = thread->waits;
	/* Where the kernel's buffer is full, it comes here again. */
	if (!bpf_seq_write(ctx->meta->seq, &row, sizeof(row)))
		__builtin_memset(&thread->waits, 0, sizeof(thread->waits));
	return 0;
}

/* Until when the threads that `ease` is run over are treated as urgent, since the scheduler made them wait longer. */
u64 ease_until_ns = 0;

SEC("iter/task")
int ease(struct bpf_iter__task *ctx)
{
	struct task_struct *p = ctx->task;
	struct task_ctx *thread = p ? thread_of(p) : NULL;

	if (thread && !thread->ended)
		scx_task_ease(&thread->scx, ease_until_ns);
	return 0;
}

#endif
