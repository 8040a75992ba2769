// SPDX-License-Identifier: GPL-2.0
/* When a GPU has done what it was given: from a fence's beginning to its signal, by the kernel's tracepoints for
 * fences. And how much memory of a GPU is in use, where the driver reports it. Loaded apart, each with its own
 * programs. */
#include "roles.h"

char LICENSE[] SEC("license") = "GPL";

enum { FENCES_MAX = 4096 };

struct fence_key {
	u32 context;
	u32 seqno;
};

struct fence_begun {
	u64 since_ns;
	u32 tid;
	u32 unused;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, FENCES_MAX);
	__type(key, struct fence_key);
	__type(value, struct fence_begun);
} fences SEC(".maps");

/* Fences that the map had no room for. */
u64 fences_refused = 0;

/* Its last beginning counts: it is made first, and handed to the GPU when that is reported. */
static __always_inline int fence_begins(struct tracepoint_dma_fence *fence)
{
	struct task_struct *current = bpf_get_current_task_btf();
	struct fence_key key = { fence->context, fence->seqno };
	struct fence_begun begun = { .since_ns = bpf_ktime_get_ns() }, *known;
	u32 cpu_id = bpf_get_smp_processor_id();
	struct sched_cpu *cpu = cpu_state(cpu_id);
	struct task_ctx *thread = thread_here(current);

	known = bpf_map_lookup_elem(&fences, &key);
	if (known) {
		known->since_ns = begun.since_ns;
		return 0;
	}
	if (!cpu || cpu->window != WINDOW_OPEN || (thread ? !thread->watched : filters_threads()))
		return 0;
	/* Its end comes where this thread is not known. */
	if (thread) {
		emit_thread_info(cpu, cpu_id, current, thread, begun.since_ns, 0, true);
		begun.tid = tid_of(current);
	}
	if (bpf_map_update_elem(&fences, &key, &begun, BPF_ANY))
		__sync_fetch_and_add(&fences_refused, 1);
	return 0;
}

static __always_inline void read_text(struct comm *into, const void *from, u32 where)
{
	bpf_probe_read_kernel_str(into->text, COMM_LEN, from + (where & 0xffff));
}

SEC("tracepoint")
int on_fence_init(struct tracepoint_dma_fence *fence)
{
	return fence_begins(fence);
}

SEC("tracepoint")
int on_fence_emit(struct tracepoint_dma_fence *fence)
{
	return fence_begins(fence);
}

SEC("tracepoint")
int on_fence_signaled(struct tracepoint_dma_fence *fence)
{
	struct fence_key key = { fence->context, fence->seqno };
	struct fence_begun *begun = bpf_map_lookup_elem(&fences, &key);
	u32 cpu_id = bpf_get_smp_processor_id();
	struct sched_cpu *cpu = cpu_state(cpu_id);
	struct event_fence *event;
	u64 now_ns = bpf_ktime_get_ns();

	if (!begun || !cpu || cpu->window != WINDOW_OPEN)
		return 0;
	event = EVENT_BEGIN(cpu, cpu_id, FENCE, event_fence, now_ns, begun->tid, true);
	if (event) {
		event->took_ns = span_between(begun->since_ns, now_ns);
		event->context = key.context;
		event->seqno = key.seqno;
		read_text(&event->driver, fence, fence->driver);
		read_text(&event->timeline, fence, fence->timeline);
		event_send(cpu, event, sizeof(*event));
	}
	bpf_map_delete_elem(&fences, &key);
	return 0;
}

SEC("tracepoint")
int on_fence_destroy(struct tracepoint_dma_fence *fence)
{
	struct fence_key key = { fence->context, fence->seqno };

	bpf_map_delete_elem(&fences, &key);
	return 0;
}

SEC("tracepoint")
int on_memory(struct tracepoint_gpu_mem_total *memory)
{
	u32 cpu_id = bpf_get_smp_processor_id();
	struct sched_cpu *cpu = cpu_state(cpu_id);
	struct event_gpu_memory *event;

	if (!cpu || cpu->window != WINDOW_OPEN || ((config.filter & FILTER_PID) && !pid_is_wanted(memory->pid)))
		return 0;
	event = EVENT_BEGIN(cpu, cpu_id, GPU_MEMORY, event_gpu_memory, bpf_ktime_get_ns(), memory->pid, true);
	if (!event)
		return 0;
	event->bytes = memory->bytes;
	event->gpu = memory->gpu;
	event->pid = memory->pid;
	event_send(cpu, event, sizeof(*event));
	return 0;
}
