/* SPDX-License-Identifier: GPL-2.0 */
/* How deep the kernel is in interrupts. On x86 it is kept for each CPU in a place that has changed over time, and only
 * kernels with all symbols (CONFIG_KALLSYMS_ALL) let programs read it; elsewhere a program that asks does not load. On
 * arm64 it is kept with whoever is on the CPU. */
#ifndef TACTUS_BPF_INTERRUPT_H
#define TACTUS_BPF_INTERRUPT_H

#include "kernel.h"

enum { IN_INTERRUPT = 0xff0100 }; /* NMI, hardware interrupt, or softirq being served */

/* in_interrupt(): whether this runs in an interrupt. Whoever is on the CPU has nothing to do with it then. */
#ifdef __TARGET_ARCH_arm64

struct thread_info___arm64 {
	u64 preempt_count;
} kernel_type;

static __always_inline bool in_interrupt(void)
{
	struct task_struct *current = bpf_get_current_task_btf();

	return ((struct thread_info___arm64 *)&current->thread_info)->preempt_count & IN_INTERRUPT;
}

#else

struct pcpu_hot {
	int preempt_count;
} kernel_type;
extern const struct pcpu_hot pcpu_hot __ksym __weak;
extern const int __preempt_count __ksym __weak;

static __always_inline bool in_interrupt(void)
{
	if (bpf_ksym_exists(&__preempt_count))
		return *(const int *)bpf_this_cpu_ptr(&__preempt_count) & IN_INTERRUPT;
	if (bpf_ksym_exists(&pcpu_hot))
		return ((const struct pcpu_hot *)bpf_this_cpu_ptr(&pcpu_hot))->preempt_count & IN_INTERRUPT;
	return false;
}

#endif

#endif
