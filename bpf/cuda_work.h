/* SPDX-License-Identifier: GPL-2.0 */
/* For cuda.bpf.c alone: work that kernel threads do for a watched process. What its threads queue inside an ioctl or a
 * function of the driver is done for it, whoever does it. The kernel's own queues tell what is queued, begun and done;
 * NVIDIA's are known by the function that queues, and by the function of the driver that is then called. */
#ifndef TACTUS_BPF_CUDA_WORK_H
#define TACTUS_BPF_CUDA_WORK_H

enum { WORKS_QUEUED_MAX = 4096 };

/* By the address of the kernel's work_struct, or of what NVIDIA's function is handed. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, WORKS_QUEUED_MAX);
	__type(key, u64);
	__type(value, struct queued_work);
} works_queued SEC(".maps");

/* Works that found no room, and what could not be read of one. */
u64 works_refused = 0;

static __always_inline void keep_work(const struct here *here, u64 at, u64 function)
{
	struct queued_work work = { .function = function,
				    .since_ns = bpf_ktime_get_ns(),
				    .pid = pid_of(here->current),
				    .tid = tid_of(here->current) };

	if (bpf_map_update_elem(&works_queued, &at, &work, BPF_ANY))
		__sync_fetch_and_add(&works_refused, 1);
}

static __always_inline int queue_work(struct work_struct *work, bool is_interrupt)
{
	struct task_struct *current = bpf_get_current_task_btf();
	struct caller *caller = is_interrupt ? NULL : bpf_task_storage_get(&callers, current, NULL, 0);
	u64 at = (u64)work;
	struct here here;

	if (caller && (caller->ioctl.since_ns || caller->driver_depth) && is_here(&here))
		keep_work(&here, at, (u64)work->func);
	else
		bpf_map_delete_elem(&works_queued, &at); /* it is somebody else's now */
	return 0;
}

static __always_inline void begin_work(u64 at, u64 function)
{
	struct queued_work *work = bpf_map_lookup_elem(&works_queued, &at);
	struct caller *caller;

	if (!work || (function && work->function != function))
		return;
	caller = caller_of(bpf_get_current_task_btf());
	if (caller) {
		caller->work = *work;
		caller->work_at = at;
		caller->work_since_ns = bpf_ktime_get_ns();
	}
	bpf_map_delete_elem(&works_queued, &at);
}

static __always_inline void end_work(struct caller *caller)
{
	struct task_struct *current = bpf_get_current_task_btf();
	u32 cpu_id = bpf_get_smp_processor_id();
	struct sched_cpu *cpu = cpu_state(cpu_id);
	struct task_ctx *thread = thread_at(cpu, current);
	struct queued_work *work = &caller->work;
	u64 now_ns = bpf_ktime_get_ns();
	struct event_cuda_work *event;

	caller->work_at = 0;
	if (!thread || !cpu || cpu->window != WINDOW_OPEN || !cpu_is_watched(cpu_id))
		return;
	emit_thread_info(cpu, cpu_id, current, thread, now_ns, 0, true);
	event = EVENT_BEGIN(cpu, cpu_id, CUDA_WORK, event_cuda_work, now_ns, tid_of(current), true);
	if (!event)
		return;
	event->duration_ns = now_ns - caller->work_since_ns;
	event->queued_ns = caller->work_since_ns - work->since_ns;
	event->pid = work->pid;
	event->for_tid = work->tid;
	__builtin_memset(event->function.text, 0, sizeof(event->function.text));
	BPF_SNPRINTF(event->function.text, sizeof(event->function.text), "%ps", work->function);
	event_send(cpu, event, sizeof(*event));
}

/* A kernel thread is in a function of the driver: an item of NVIDIA's queue, if it was queued with these very words. */
static __always_inline void begin_item(void *ctx, u64 argument, u32 function)
{
	struct task_struct *current = bpf_get_current_task_btf();
	struct caller *caller;

	if (!(current->flags & PF_KTHREAD) || !argument)
		return;
	begin_work(argument, bpf_get_func_ip(ctx));
	caller = bpf_task_storage_get(&callers, current, NULL, 0);
	if (caller && caller->work_at == argument && !caller->work_function)
		caller->work_function = function;
}

static __always_inline void end_item(u32 function)
{
	struct task_struct *current = bpf_get_current_task_btf();
	struct caller *caller;

	if (!(current->flags & PF_KTHREAD))
		return;
	caller = bpf_task_storage_get(&callers, current, NULL, 0);
	if (!caller || !caller->work_at || caller->work_function != function)
		return;
	caller->work_function = 0;
	end_work(caller);
}

/* nv_kthread_q_schedule_q_item(queue, item): the item has its function and what that is handed. */
static __always_inline void queue_item(const struct here *here, u64 item)
{
	u64 words[2] = {};

	if (bpf_probe_read_kernel(words, sizeof(words), (void *)(item + NVIDIA_ITEM_FUNCTION_AT)) || !words[1])
		__sync_fetch_and_add(&works_refused, 1);
	else
		keep_work(here, words[1], words[0]);
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
int BPF_PROG(on_work, struct work_struct *work)
{
	begin_work((u64)work, 0);
	return 0;
}

SEC("tp_btf/workqueue_execute_end")
int BPF_PROG(on_work_end, u64 work)
{
	struct caller *caller = bpf_task_storage_get(&callers, bpf_get_current_task_btf(), NULL, 0);

	if (caller && caller->work_at && caller->work_at == work)
		end_work(caller);
	return 0;
}

#endif
