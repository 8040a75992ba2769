/* SPDX-License-Identifier: GPL-2.0 */
/* For cuda.bpf.c alone: errors that NVIDIA's driver reports of its GPUs, by its tracepoint nvidia:nvidia_dev_xid. */
#ifndef TACTUS_BPF_CUDA_XID_H
#define TACTUS_BPF_CUDA_XID_H

/* The program has read it from the kernel's description before the tracepoint is hooked. */
struct xid_format xid_format = {};

static __always_inline u32 u32_at(const void *ctx, u32 offset)
{
	u32 number = 0;

	bpf_probe_read_kernel(&number, sizeof(number), ctx + (offset & 0xffff));
	return number;
}

/* The GPU reports an error: whoever it is about, it is sent. */
SEC("tracepoint")
int on_xid(const void *xid)
{
	u32 cpu_id = bpf_get_smp_processor_id();
	struct sched_cpu *cpu = cpu_state(cpu_id);
	struct event_cuda_xid *event;
	u64 at = u32_at(xid, xid_format.message) & 0xffff;

	if (!cpu || cpu->window != WINDOW_OPEN)
		return 0;
	event = EVENT_BEGIN(cpu, cpu_id, CUDA_XID, event_cuda_xid, bpf_ktime_get_ns(), 0, true);
	if (!event)
		return 0;
	event->code = u32_at(xid, xid_format.code);
	event->unused = 0;
	__builtin_memset(event->message.text, 0, sizeof(event->message.text));
	bpf_probe_read_kernel_str(event->message.text, sizeof(event->message.text), (const char *)xid + at);
	event_send(cpu, event, sizeof(*event));
	return 0;
}

#endif
