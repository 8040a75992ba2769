/* SPDX-License-Identifier: GPL-2.0 */
/* For cuda.bpf.c alone: work that kernel threads do for a watched process, whose threads had it queued inside an ioctl
 * or a function of the driver. The kernel's own queues tell what is queued, begun and done. NVIDIA's queues have
 * threads of their own, which tell nothing: one that is woken there works for who woke it, until it sleeps again. */
#ifndef TACTUS_BPF_CUDA_WORK_H
#define TACTUS_BPF_CUDA_WORK_H

enum { WORKS_QUEUED_MAX = 4096, WORK_WOKEN = 1 };

/* By the address of the kernel's work_struct. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, WORKS_QUEUED_MAX);
	__type(key, u64);
	__type(value, struct queued_work);
} works_queued SEC(".maps");

/* Works that found no room. */
u64 works_refused = 0;

/* Whether a watched thread is in the driver here. */
static __always_inline bool is_in_driver(struct here *here)
{
	struct caller *caller = bpf_task_storage_get(&callers, bpf_get_current_task_btf(), NULL, 0);

	return caller && (caller->ioctl.since_ns || caller->driver_depth) && is_here(here);
}

static __always_inline struct queued_work work_of(const struct here *here, u64 function)
{
	return (struct queued_work){ .function = function,
				     .since_ns = bpf_ktime_get_ns(),
				     .pid = pid_of(here->current),
				     .tid = tid_of(here->current) };
}

static __always_inline int queue_work(struct work_struct *queued, bool is_interrupt)
{
	u64 at = (u64)queued;
	struct queued_work work;
	struct here here;

	if (is_interrupt || !is_in_driver(&here)) {
		bpf_map_delete_elem(&works_queued, &at); /* it is somebody else's now */
		return 0;
	}
	work = work_of(&here, (u64)queued->func);
	if (bpf_map_update_elem(&works_queued, &at, &work, BPF_ANY))
		__sync_fetch_and_add(&works_refused, 1);
	return 0;
}

static __always_inline void send_work(struct caller *caller, u64 duration_ns, u64 now_ns, bool irqs_on)
{
	struct task_struct *current = bpf_get_current_task_btf();
	u32 cpu_id = bpf_get_smp_processor_id();
	struct sched_cpu *cpu = cpu_state(cpu_id);
	struct task_ctx *thread = thread_at(cpu, current);
	struct queued_work *work = &caller->work;
	struct event_cuda_work *event;

	caller->work_at = 0;
	if (!thread || !cpu || cpu->window != WINDOW_OPEN || !cpu_is_watched(cpu_id))
		return;
	emit_thread_info(cpu, cpu_id, current, thread, now_ns, 0, irqs_on);
	event = EVENT_BEGIN(cpu, cpu_id, CUDA_WORK, event_cuda_work, now_ns, tid_of(current), irqs_on);
	if (!event)
		return;
	event->duration_ns = duration_ns;
	event->queued_ns = span_between(work->since_ns, caller->work_since_ns);
	event->pid = work->pid;
	event->for_tid = work->tid;
	__builtin_memset(event->function.text, 0, sizeof(event->function.text));
	if (work->function)
		BPF_SNPRINTF(event->function.text, sizeof(event->function.text), "%ps", work->function);
	else
		bpf_probe_read_kernel_str(event->function.text, COMM_LEN, current->comm);
	event_send(cpu, event, sizeof(*event));
}

SEC("tp_btf/workqueue_queue_work")
int BPF_PROG(on_work_queued, u64 wanted_cpu, void *pool, struct work_struct *work)
{
	return queue_work(work, in_interrupt());
}

SEC("tp_btf/workqueue_queue_work")
int BPF_PROG(on_work_queued_blind, u64 wanted_cpu, void *pool, struct work_struct *work)
{
	return queue_work(work, false);
}

SEC("tp_btf/workqueue_execute_start")
int BPF_PROG(on_work, u64 at)
{
	struct queued_work *work = bpf_map_lookup_elem(&works_queued, &at);
	struct caller *caller = work ? caller_of(bpf_get_current_task_btf()) : NULL;

	if (!caller)
		return 0;
	caller->work = *work;
	caller->work_at = at;
	caller->work_since_ns = bpf_ktime_get_ns();
	bpf_map_delete_elem(&works_queued, &at);
	return 0;
}

SEC("tp_btf/workqueue_execute_end")
int BPF_PROG(on_work_end, u64 at)
{
	struct caller *caller = bpf_task_storage_get(&callers, bpf_get_current_task_btf(), NULL, 0);
	u64 now_ns = bpf_ktime_get_ns();

	if (caller && at && caller->work_at == at)
		send_work(caller, now_ns - caller->work_since_ns, now_ns, true);
	return 0;
}

/* Threads of NVIDIA's modules are called nv_queue, nvidia-..., UVM ...; in tests any kernel thread stands for them. An
 * interrupt wakes none of these but through one of its own. */
static __always_inline bool works_for_nvidia(struct task_struct *p)
{
	if (!(p->flags & PF_KTHREAD) || p->flags & PF_WQ_WORKER)
		return false;
	return cuda.stand_in || (p->comm[0] == 'n' && p->comm[1] == 'v') ||
	       (p->comm[0] == 'U' && p->comm[1] == 'V' && p->comm[2] == 'M');
}

SEC("tp_btf/sched_waking")
int BPF_PROG(on_worker_woken, struct task_struct *p)
{
	struct caller *worker;
	struct here here;

	if (!works_for_nvidia(p) || !is_in_driver(&here))
		return 0;
	worker = caller_of(p);
	/* What is queued while it works is part of that. */
	if (!worker || worker->work_at)
		return 0;
	worker->work = work_of(&here, 0);
	worker->work_since_ns = 0;
	worker->work_cpu_ns = p->se.sum_exec_runtime;
	worker->work_at = WORK_WOKEN;
	return 0;
}

SEC("tp_btf/sched_switch")
int BPF_PROG(on_worker_switch, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	struct caller *worker;

	if (works_for_nvidia(next)) {
		worker = bpf_task_storage_get(&callers, next, NULL, 0);
		if (worker && worker->work_at == WORK_WOKEN && !worker->work_since_ns)
			worker->work_since_ns = bpf_ktime_get_ns();
	}
	if (!preempt && works_for_nvidia(prev) && prev->__state) {
		worker = bpf_task_storage_get(&callers, prev, NULL, 0);
		if (worker && worker->work_at == WORK_WOKEN && worker->work_since_ns)
			send_work(worker, prev->se.sum_exec_runtime - worker->work_cpu_ns, bpf_ktime_get_ns(), false);
	}
	return 0;
}

#endif
