/* SPDX-License-Identifier: GPL-2.0 */
/* What the kernel half keeps of each thread: its account, whether it is watched, whether it has been introduced.
 * It lives in the thread's own storage, so a reused tid is another thread, and it goes when the thread goes. */
#ifndef TACTUS_BPF_THREADS_H
#define TACTUS_BPF_THREADS_H

#include "ring.h"
#include "../core/procdb.h"
#include "../core/tier.h"

enum doing { DOING_SLEEP, DOING_WAIT, DOING_RUN };

/* The scheduler's part, see scx.bpf.c. It lies here so that one look-up gives role and turn. */
struct turn {
	u64 vtime;	  /* virtual time used, by the clock of its queue */
	u64 charged_ns;	  /* how much of its CPU time has been turned into virtual time */
	u64 burst_ns;	  /* run since it last slept */
	u64 queued_at_ns; /* waits since, 0: it does not */
	u64 lent_until_ns;
	u64 moves_since_ns;
	u64 awake_since_ns;
	u64 input_until_ns; /* an input event is handled by it until then */
	u64 frame_due_ns;   /* of the frame that it is at work for; 0: none */
	u64 last_burst_ns;  /* run before it last slept */
	struct urgent_watch watch;
	u32 moves;
	u32 queue;
	u32 lent_depth;
	u32 lent_boost;
	u32 tier;	    /* that it was queued with */
	s32 cpu;	    /* where it ran last */
	u32 is_late;	    /* taken out of turn */
	u32 is_light;	    /* woken by a clock or a device, for little: see tier_is_light */
	u32 counted_urgent; /* it is counted in its queue's crowd */
	u64 worth;	    /* of its weight among all, see core/tier.h */
	u64 group;	    /* the control group's id; 0: the top */
	u64 group_weight;   /* what the group's sum has of it; 0: it does not want to run */
	u64 granted_ns;	    /* of its group's quota, and not yet run */
	u64 parked_at_ns;   /* it waits for its group's quota since then; 0: it does not */
};

struct kthread {
	struct thread_account account;
	u32 doing;     /* enum doing; kept only where `waiters` is */
	u32 queue_cpu; /* that it waits for */
	u32 watched;
	u32 introduced;
	u32 waker_tid;
	u32 of_command;	       /* the command after `--` or a descendant of it */
	u32 ended;	       /* its account has been handed over, or it had none */
	u32 woken_by;	       /* EVENT_FLAG_BY_* of the last wake-up */
	u64 woken_early_ns;    /* a wake-up that met it on its way to sleep, still on its CPU; 0: none */
	struct comm last_comm; /* its name when the window closed, if it got another since; else empty */
	struct role_state role;
	struct learner learner;
	struct turn turn;
};

/* While a watched thread waits for a CPU, every switch there is sent, of whomever, since it tells who was in the way.
 * Without a filter they all are anyway. */
static __always_inline bool counts_waiters(void)
{
	return (config.emit & EMIT_SCHED) &&
	       (config.filter & (FILTER_PID | FILTER_COMM | FILTER_CGROUP | FILTER_COMMAND));
}

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct kthread);
} threads SEC(".maps");

/* Threads that got no storage: they are in no account. */
u64 refused = 0;

/* Threads with storage: made so far, seen at their last switch, and met by `dump`. A thread is on none of the kernel's
 * lists for a moment before its last switch; these three tell the program whether there is such a one to wait for. */
u64 threads_made = 0, threads_ended = 0, threads_met = 0;

/* The hot paths only look; storage is made at fork and, for threads that are there already, before the window opens,
 * where allocating is safe. */
static __always_inline struct kthread *thread_of(struct task_struct *p)
{
	return bpf_task_storage_get(&threads, p, NULL, 0);
}

/* The same at a hook that has something to tell. Before Linux 6.2 there is no storage to be had while the same CPU is
 * inside another look-up, as when an interrupt came there: what would have been told is left out, and that is counted.
 */
static __always_inline struct kthread *thread_at(struct sched_cpu *cpu, struct task_struct *p)
{
	struct kthread *thread = thread_of(p);

	if (!thread && cpu && cpu->window == WINDOW_OPEN)
		__sync_fetch_and_add(&cpu->unreached, 1);
	return thread;
}

static __always_inline u32 tid_of(struct task_struct *p)
{
	return (u32)p->pid;
}

/* The kernel's prio plus one, see core/event.h. */
static __always_inline u32 prio_of(struct task_struct *p)
{
	return (u32)(kernel_prio_of(p) + 1);
}

static __always_inline bool cpu_is_watched(u32 cpu)
{
	u64 index = cpu;

	if (!(config.filter & FILTER_CPUS))
		return true;
	/* Older verifiers do not see a bound that the compiler has folded away. */
	barrier_var(index);
	index %= SCHED_CPUS_MAX;
	return config.cpus[index / 64] >> (index % 64) & 1;
}

static __always_inline bool comm_is(const char *comm)
{
	for (int i = 0; i < COMM_LEN; i++) {
		if (comm[i] != config.comm.text[i])
			return false;
		if (!comm[i])
			break;
	}
	return true;
}

static __always_inline bool in_cgroup(struct task_struct *p)
{
	struct cgroup *group = BPF_CORE_READ(p, cgroups, dfl_cgrp), *ancestor = NULL;
	/* By hand: the relocation of a member cannot have a variable index. */
	u64 offset = bpf_core_field_offset(struct cgroup, ancestors) + (u64)config.cgroup_level * sizeof(ancestor);

	if (FIELD_PROBED(group, level) < config.cgroup_level)
		return false;
	bpf_probe_read_kernel(&ancestor, sizeof(ancestor), (char *)group + offset);
	return BPF_CORE_READ(ancestor, kn, id) == config.cgroup_id;
}

/* Whether the filters want this thread: all of those that are set must. */
static __always_inline bool is_wanted(struct task_struct *p, struct kthread *thread, const char *comm)
{
	if ((config.filter & FILTER_PID) && (u32)p->tgid != config.pid)
		return false;
	if ((config.filter & FILTER_COMMAND) && !thread->of_command)
		return false;
	if ((config.filter & FILTER_COMM) && !comm_is(comm))
		return false;
	return !(config.filter & FILTER_CGROUP) || in_cgroup(p);
}

static __always_inline struct kthread *thread_make(struct task_struct *p, bool inherits)
{
	struct kthread *thread = bpf_task_storage_get(&threads, p, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
	char comm[COMM_LEN] = {};

	if (!thread) {
		__sync_fetch_and_add(&refused, 1);
		return NULL;
	}
	__sync_fetch_and_add(&threads_made, 1);
	comm_of(p, comm);
	thread->of_command = (config.filter & FILTER_COMMAND) && (inherits || (u32)p->tgid == config.pid);
	thread->watched = is_wanted(p, thread, comm);
	return thread;
}

/* A thread may be put into a cgroup at any time, so that filter is asked anew. One whose answer changes is introduced
 * again. */
static __noinline __attribute__((unused)) int refresh(struct task_struct *p, struct kthread *thread)
{
	char comm[COMM_LEN] = {};
	u32 watched;

	if (!thread || !(config.filter & FILTER_CGROUP))
		return 0;
	comm_of(p, comm);
	watched = is_wanted(p, thread, comm);
	if (thread->watched != watched)
		thread->introduced = 0;
	thread->watched = watched;
	return 0;
}

static __always_inline void fill_thread(struct event_thread *event, struct task_struct *p)
{
	event->start_ns = p->start_time;
	event->pid = (u32)p->tgid;
	event->parent_tid = (u32)p->real_parent->pid;
	comm_of(p, event->comm.text);
}

/* Sends who a thread is, once, before its first event. One that is not watched but takes part in an event of one that
 * is gets introduced as a bystander: it has a name and no account. */
static __always_inline void introduce(struct sched_cpu *cpu, u32 cpu_id, struct task_struct *p, struct kthread *thread,
				      u64 now_ns, u8 flags, bool slowly)
{
	struct event_thread *event;

	if (thread->introduced)
		return;
	event = EVENT_BEGIN(cpu, cpu_id, THREAD, event_thread, now_ns, tid_of(p), slowly);
	if (!event)
		return;
	thread->introduced = 1;
	event->head.flags = flags | (thread->watched ? 0 : EVENT_FLAG_BYSTANDER);
	fill_thread(event, p);
	event_send(cpu, event, sizeof(*event));
}

#endif
