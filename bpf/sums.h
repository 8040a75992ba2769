/* SPDX-License-Identifier: GPL-2.0 */
/* For sched.bpf.c alone: adds up what each thread does, so that a view that looks once a second need not be sent every
 * switch (core/sums.h). While the program asks for sums only, single switches and wake-ups are sent of urgent threads
 * alone, and of whoever ends. */
#ifndef TACTUS_BPF_SUMS_H
#define TACTUS_BPF_SUMS_H

#include "roles.h"
#include "../core/sums.h"

struct sums_state sums_state SEC(".data.sums") = {};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct thread_sums);
} sums SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct recent_runs);
} recent SEC(".maps");

/* Sums of threads that ended; grown where sums are kept. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
} sums_ended SEC(".maps");

static __always_inline bool sums_only(void)
{
	return config.keeps_sums && sums_state.only;
}

/* And works by a timer, perhaps: its single switches are wanted. */
static __always_inline bool is_urgent(const struct task_ctx *thread)
{
	return thread && thread->role.answer.tier == TIER_LATENCY_CRITICAL && !thread->switches_often;
}

static __always_inline void sums_make(struct task_struct *p)
{
	if (config.keeps_sums && !bpf_task_storage_get(&sums, p, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE))
		__sync_fetch_and_add(&sums_state.refused, 1);
}

static __always_inline void sums_switch(struct sched_cpu *cpu, struct task_struct *prev, struct task_struct *next,
					u64 now_ns)
{
	u32 zero = 0;
	struct recent_runs *runs = bpf_map_lookup_elem(&recent, &zero);

	cpu->running_tid = tid_of(next);
	if (runs)
		recent_switch(runs, tid_of(prev), now_ns);
}

static __always_inline void sums_ran(struct task_struct *p, struct task_ctx *thread, u32 kind, u64 waited_ns,
				     u64 now_ns)
{
	u32 zero = 0;
	struct thread_sums *own = bpf_task_storage_get(&sums, p, NULL, 0);
	struct recent_runs *runs = bpf_map_lookup_elem(&recent, &zero);
	struct sums_wait wait = { .wait_ns = waited_ns,
				  .to_ns = now_ns,
				  .kind = kind,
				  .cpu = thread->account.last_cpu,
				  .waker_tid = thread->account.waker_tid };

	if (own && runs)
		sums_waited(own, runs, &wait);
}

static __always_inline void sums_head_of(struct sums_head *head, struct task_struct *p, struct task_ctx *thread,
					 const struct thread_sums *own, u32 has_ended)
{
	head->start_ns = p->start_time;
	head->tid = tid_of(p);
	head->pid = pid_of(p);
	head->cgroup = p->cgroups->dfl_cgrp->kn->id;
	head->role = thread->role.answer.role;
	head->tier = thread->role.answer.tier;
	head->prio = thread->account.prio;
	head->ended = has_ended;
	head->unsent = thread->switches_often;
	head->waker_known = thread->woken_by != 0;
	head->waker_tid = thread->woken_by == EVENT_FLAG_BY_INTERRUPT ? 0 : thread->waker_tid;
	comm_of(p, head->comm.text);
	sums_since(head, own, &thread->account, bpf_ktime_get_ns());
}

/* At its last switch, after its account was brought up to date. */
static __always_inline void sums_end(struct task_struct *p, struct task_ctx *thread)
{
	bool is_wanted = sums_state.only || sums_state.ended;
	struct thread_sums *own = is_wanted ? bpf_task_storage_get(&sums, p, NULL, 0) : NULL;
	struct sums_row *row;

	if (!own)
		return;
	row = bpf_ringbuf_reserve(&sums_ended, sizeof(*row), 0);
	if (!row) {
		__sync_fetch_and_add(&sums_state.refused, 1);
		return;
	}
	__builtin_memset(&row->head, 0, sizeof(row->head));
	sums_head_of(&row->head, p, thread, own, 1);
	__builtin_memcpy(&row->sums, own, sizeof(row->sums));
	bpf_ringbuf_submit(row, BPF_RB_NO_WAKEUP);
}

/* Hands over what threads have done since the last time, and begins anew. A wait that ends at this very moment on
 * another CPU may be left out: it is one of many. */
SEC("iter/task")
int take_sums(struct bpf_iter__task *ctx)
{
	struct task_struct *p = ctx->task;
	struct task_ctx *thread = p ? thread_of(p) : NULL;
	struct thread_sums *own = thread ? bpf_task_storage_get(&sums, p, NULL, 0) : NULL;
	struct sums_head head = {};

	if (!own || thread->ended || !thread->watched)
		return 0;
	if (own->runs == thread->account.runs && own->wakeups == thread->account.wakeups &&
	    !thread->account.run_since_ns)
		return 0;
	sums_head_of(&head, p, thread, own, 0);
	/* Where the kernel's buffer ends between the two, it takes both back and comes here again. */
	if (!bpf_seq_write(ctx->meta->seq, &head, sizeof(head)) && !bpf_seq_write(ctx->meta->seq, own, sizeof(*own))) {
		sums_restart(own, &head);
		thread->switches_often = head.runs > SUMS_OFTEN;
	}
	return 0;
}

#endif
