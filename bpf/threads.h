/* SPDX-License-Identifier: GPL-2.0 */
/* What the kernel half keeps of each thread: its account, whether it is watched, whether its thread info was sent.
 * It lives in the thread's own storage, so a reused tid is another thread, and it goes when the thread goes. */
#ifndef TACTUS_BPF_THREADS_H
#define TACTUS_BPF_THREADS_H

#include "ring.h"
#include "scx_task.h"
#include "../core/procdb.h"
#include "../core/waits.h"

enum doing { DOING_SLEEP, DOING_WAIT, DOING_RUN };

struct task_ctx {
	struct thread_account account;
	u32 doing;     /* enum doing; kept only where `waiters` is */
	u32 queue_cpu; /* that it waits for */
	u32 watched;
	u32 info_sent;
	u32 waker_tid;
	u32 of_command;	       /* the command after `--` or a descendant of it */
	u32 ended;	       /* its account has been handed over, or it had none */
	u32 woken_by;	       /* EVENT_FLAG_BY_* of the last wake-up */
	u64 woken_early_ns;    /* a wake-up that met it on its way to sleep, still on its CPU; 0: none */
	u32 switches_often;    /* see SUMS_OFTEN */
	struct comm last_comm; /* its name when the window closed, if it got another within it or since; else empty */
	u64 turn_wait_ns;      /* since it was woken: see core/waits.h */
	struct waits waits;    /* since the program last took them */
	struct role_state role;
	struct learner learner;
	struct scx_task scx; /* the scheduler's, see scx_task.h */
};

/* While a watched thread waits for a CPU, every switch there is sent, of whomever, since it tells who was in the way.
 * Without a filter they all are anyway. */
static __always_inline bool counts_waiters(void)
{
	return (config.emit & EVENTS_SCHED) &&
	       (config.filter & (FILTER_PID | FILTER_COMM | FILTER_CGROUP | FILTER_COMMAND));
}

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct task_ctx);
} threads SEC(".maps");

/* Threads that got no storage: they are in no account. */
u64 refused = 0;

/* Threads with storage: made so far, seen at their last switch, and met by `dump`. A thread is on none of the kernel's
 * lists for a moment before its last switch; these three show the program whether there is such a one to wait for. */
u64 threads_made = 0, threads_ended = 0, threads_met = 0;

/* Threads of the command after `--` that have not had their last switch yet, and whether its first one has. */
s64 command_threads = 0;
u32 command_has_left = 0;

/* The hot paths only look; storage is made at fork and, for threads that are there already, before the window opens,
 * where allocating is safe. */
static __always_inline struct task_ctx *thread_of(struct task_struct *p)
{
	return bpf_task_storage_get(&threads, p, NULL, 0);
}

/* The same at a hook that has something to send. Before Linux 6.2 there is no storage to be had while the same CPU is
 * inside another look-up, as when an interrupt came there: what would have been sent is left out, and that is counted.
 */
static __always_inline struct task_ctx *thread_at(struct sched_cpu *cpu, struct task_struct *p)
{
	struct task_ctx *thread = thread_of(p);

	if (!thread && cpu && cpu->window == WINDOW_OPEN)
		__sync_fetch_and_add(&cpu->unreached, 1);
	return thread;
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

static __always_inline bool pid_is_wanted(u32 pid)
{
	for (u32 i = 0; i < FILTER_PIDS_MAX && i < config.pids_len; i++)
		if (pid == config.pids[i])
			return true;
	return false;
}

static __always_inline bool comm_is_wanted(const char *comm)
{
	for (u32 i = 0; i < FILTER_COMMS_MAX && i < config.comms_len; i++)
		if (name_pattern_fits((const struct name_pattern *)&config.comms[i], comm))
			return true;
	return false;
}

static __always_inline bool in_cgroup(struct cgroup *group, u32 group_level, u64 id, u64 level)
{
	struct cgroup *ancestor = NULL;
	/* By hand: the relocation of a member cannot have a variable index. */
	u64 offset = bpf_core_field_offset(struct cgroup, ancestors) + level * sizeof(ancestor);

	if (group_level < level)
		return false;
	bpf_probe_read_kernel(&ancestor, sizeof(ancestor), (char *)group + offset);
	return BPF_CORE_READ(ancestor, kn, id) == id;
}

static __always_inline bool cgroup_is_wanted(struct task_struct *p)
{
	struct cgroup *group = BPF_CORE_READ(p, cgroups, dfl_cgrp);
	u32 level = (u32)FIELD_PROBED(group, level);

	for (u32 i = 0; i < FILTER_CGROUPS_MAX && i < config.cgroups_len; i++)
		if (in_cgroup(group, level, config.cgroups[i].id, config.cgroups[i].level))
			return true;
	return false;
}

/* Whether the filters want this thread: all of those that are set must. */
static __always_inline bool is_wanted(struct task_struct *p, struct task_ctx *thread, const char *comm)
{
	if ((config.filter & FILTER_PID) && !pid_is_wanted(pid_of(p)))
		return false;
	if ((config.filter & FILTER_COMMAND) && !thread->of_command)
		return false;
	if ((config.filter & FILTER_COMM) && !comm_is_wanted(comm))
		return false;
	return !(config.filter & FILTER_CGROUP) || cgroup_is_wanted(p);
}

static __always_inline struct task_ctx *thread_make(struct task_struct *p, bool inherits)
{
	struct task_ctx *thread = bpf_task_storage_get(&threads, p, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
	char comm[COMM_LEN] = {};

	if (!thread) {
		__sync_fetch_and_add(&refused, 1);
		return NULL;
	}
	__sync_fetch_and_add(&threads_made, 1);
	comm_of(p, comm);
	thread->of_command = (config.filter & FILTER_COMMAND) && (inherits || pid_of(p) == config.command_pid);
	if (thread->of_command)
		__sync_fetch_and_add(&command_threads, 1);
	thread->watched = is_wanted(p, thread, comm);
	return thread;
}

static __always_inline void leaves_command(struct task_struct *p, const struct task_ctx *thread)
{
	if (!thread->of_command)
		return;
	__sync_fetch_and_add(&command_threads, -1);
	if (tid_of(p) == config.command_pid)
		command_has_left = 1;
}

/* A thread may be put into a cgroup at any time, so that filter is asked anew. One whose answer changes has its
 * thread info sent again. */
static __noinline __attribute__((unused)) int refresh(struct task_struct *p, struct task_ctx *thread)
{
	char comm[COMM_LEN] = {};
	u32 watched;

	if (!thread || !(config.filter & FILTER_CGROUP))
		return 0;
	comm_of(p, comm);
	watched = is_wanted(p, thread, comm);
	if (thread->watched != watched)
		thread->info_sent = 0;
	thread->watched = watched;
	return 0;
}

static __always_inline void fill_thread(struct event_thread *event, struct task_struct *p)
{
	event->start_ns = p->start_time;
	event->pid = pid_of(p);
	event->parent_tid = tid_of(p->real_parent);
	comm_of(p, event->comm.text);
}

/* Sends who a thread is, once, before its first event. One that is not watched but takes part in an event of one that
 * is has its info sent as a bystander: it has a name and no account. */
static __always_inline void emit_thread_info(struct sched_cpu *cpu, u32 cpu_id, struct task_struct *p,
					     struct task_ctx *thread, u64 now_ns, u8 flags, bool irqs_on)
{
	struct event_thread *event;

	if (thread->info_sent)
		return;
	event = EVENT_BEGIN(cpu, cpu_id, THREAD, event_thread, now_ns, tid_of(p), irqs_on);
	if (!event)
		return;
	thread->info_sent = 1;
	event->head.flags = flags | (thread->watched ? 0 : EVENT_FLAG_BYSTANDER);
	fill_thread(event, p);
	event_send(cpu, event, sizeof(*event));
}

#endif
