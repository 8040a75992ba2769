// SPDX-License-Identifier: GPL-2.0
/* The stacks sensor's kernel half: a thread's stacks as it leaves its CPU, and its waker's as that one wakes it, sent
 * when it is back after long enough. Loaded only where stacks are asked for. */
#include "threads.h"
#include "../core/stacks_config.h"

char LICENSE[] SEC("license") = "GPL";

const volatile struct stacks_config stacks_config = {};

/* Stacks that the map had no room for, or another one's place in it; threads that left and found no room. */
u64 stacks_refused = 0;

enum { AWAY_MAX = 16384, WISHES_BYTES = 256 << 10 };

struct {
	__uint(type, BPF_MAP_TYPE_STACK_TRACE);
	__uint(max_entries, STACKS_MAX);
	__uint(key_size, sizeof(u32));
	__uint(value_size, STACK_DEPTH * sizeof(u64));
} stacks SEC(".maps");

/* A thread without a CPU. */
struct away {
	u64 since_ns;
	u64 woken_ns; /* 0: it could run all the time, or has not been woken yet */
	u32 can_run;
	u32 kernel, user;
	u32 waker_tid, waker_pid, waker_kernel, waker_user;
	u32 unused;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, AWAY_MAX);
	__type(key, u32);
	__type(value, struct away);
} away SEC(".maps");

/* Whose names have been asked for. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, STACKS_MAX);
	__type(key, struct stack_wish);
	__type(value, u32);
} wished SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, WISHES_BYTES);
} wishes SEC(".maps");

/* The stack of whoever is on this CPU. A kernel thread has none of a user. */
static __always_inline u32 stack_here(void *ctx, u64 flags)
{
	long id = bpf_get_stackid(ctx, &stacks, flags);

	if (id >= 0)
		return (u32)id;
	if (id != -14 /* EFAULT: there is none */)
		__sync_fetch_and_add(&stacks_refused, 1);
	return STACK_NONE;
}

/* Names are found by the program, while the process is there. */
static __always_inline void wish(u32 pid, u32 stack)
{
	struct stack_wish key = { .pid = pid, .stack = stack }, *sent;
	u32 one = 1;

	if (stack == STACK_NONE || bpf_map_lookup_elem(&wished, &key))
		return;
	sent = bpf_ringbuf_reserve(&wishes, sizeof(*sent), 0);
	if (!sent) {
		__sync_fetch_and_add(&stacks_refused, 1);
		return;
	}
	*sent = key;
	bpf_ringbuf_submit(sent, 0);
	bpf_map_update_elem(&wished, &key, &one, BPF_ANY);
}

static __always_inline void leaves(void *ctx, struct task_struct *p, bool can_run, u64 now_ns)
{
	u32 tid = tid_of(p);
	struct away gone = {
		.since_ns = now_ns, .can_run = can_run, .waker_kernel = STACK_NONE, .waker_user = STACK_NONE
	};

	gone.kernel = stack_here(ctx, 0);
	gone.user = p->flags & PF_KTHREAD ? STACK_NONE : stack_here(ctx, BPF_F_USER_STACK);
	if (bpf_map_update_elem(&away, &tid, &gone, BPF_ANY))
		__sync_fetch_and_add(&stacks_refused, 1);
}

static __always_inline void send_stacks(struct sched_cpu *cpu, u32 cpu_id, struct task_struct *p, struct away *gone,
					u64 now_ns)
{
	struct event_stack *event = EVENT_BEGIN(cpu, cpu_id, STACK, event_stack, now_ns, tid_of(p), false);
	u64 could_run_ns = gone->can_run ? gone->since_ns : gone->woken_ns;

	if (!event)
		return;
	event->off_ns = now_ns - gone->since_ns;
	event->wait_ns = could_run_ns ? now_ns - could_run_ns : 0;
	event->kernel = gone->kernel;
	event->user = gone->user;
	event->waker_tid = gone->waker_tid;
	event->waker_pid = gone->waker_pid;
	event->waker_kernel = gone->waker_kernel;
	event->waker_user = gone->waker_user;
	event_send(cpu, event, sizeof(*event));
	wish(0, gone->kernel);
	wish(pid_of(p), gone->user);
	wish(0, gone->waker_kernel);
	wish(gone->waker_pid, gone->waker_user);
}

static __always_inline void comes(struct sched_cpu *cpu, u32 cpu_id, struct task_struct *p, u64 now_ns)
{
	u32 tid = tid_of(p);
	struct away *gone = bpf_map_lookup_elem(&away, &tid);

	if (!gone)
		return;
	if (now_ns - gone->since_ns >= stacks_config.over_ns)
		send_stacks(cpu, cpu_id, p, gone, now_ns);
	bpf_map_delete_elem(&away, &tid);
}

static __always_inline bool is_watched(struct task_struct *p)
{
	struct task_ctx *thread = tid_of(p) ? thread_of(p) : NULL;

	return thread && thread->watched;
}

SEC("tp_btf/sched_switch")
int BPF_PROG(on_switch_stack, bool preempt, struct task_struct *prev, struct task_struct *next, unsigned int prev_state)
{
	u32 cpu_id = bpf_get_smp_processor_id();
	struct sched_cpu *cpu = cpu_state(cpu_id);
	u64 now_ns;

	if (!cpu || cpu->window != WINDOW_OPEN || !cpu_is_watched(cpu_id))
		return 0;
	now_ns = bpf_ktime_get_ns();
	if (is_watched(prev))
		leaves(ctx, prev, preempt || !prev_state, now_ns);
	if (is_watched(next))
		comes(cpu, cpu_id, next, now_ns);
	return 0;
}

/* What an interrupt meets on its CPU has nothing to do with it: the kernel's part of the stack alone tells. */
SEC("tp_btf/sched_waking")
int BPF_PROG(on_waking_stack, struct task_struct *p)
{
	struct task_struct *current = bpf_get_current_task_btf();
	struct task_ctx *thread = thread_of(p);
	u32 tid = tid_of(p);
	struct away *gone = thread && thread->watched ? bpf_map_lookup_elem(&away, &tid) : NULL;

	if (!gone || gone->woken_ns)
		return 0;
	gone->woken_ns = bpf_ktime_get_ns();
	gone->waker_kernel = stack_here(ctx, 0);
	if (thread->woken_by == EVENT_FLAG_BY_INTERRUPT || !tid_of(current))
		return 0;
	gone->waker_tid = tid_of(current);
	gone->waker_pid = pid_of(current);
	gone->waker_user = current->flags & PF_KTHREAD ? STACK_NONE : stack_here(ctx, BPF_F_USER_STACK);
	return 0;
}
