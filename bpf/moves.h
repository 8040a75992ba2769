/* SPDX-License-Identifier: GPL-2.0 */
/* What is known when a thread is moved, for core/move.h to tell the cause by. */
#ifndef TACTUS_BPF_MOVES_H
#define TACTUS_BPF_MOVES_H

#include "threads.h"
#include "../core/move.h"

enum { TASK_WAKING = 0x200, STOPPER_PRIO = 0 };

static __always_inline bool may_run_on(struct task_struct *p, u32 cpu)
{
	u64 word = 0, at;

	if (!bpf_core_field_exists(p->cpus_ptr))
		return true;
	at = (u64)p->cpus_ptr + (u64)cpu / 64 * sizeof(word);
	/* What can't be read bars nothing. */
	if (bpf_probe_read_kernel(&word, sizeof(word), (void *)at))
		return true;
	return word >> (cpu % 64) & 1;
}

static __always_inline u8 move_facts(struct task_struct *p, u32 from)
{
	struct task_struct *current = bpf_get_current_task_btf();
	struct sched_cpu *left = cpu_state(from);
	u32 facts = MOVE_KNOWN;

	facts |= bpf_core_field_exists(p->__state) && p->__state == TASK_WAKING ? MOVE_WAKING : 0;
	facts |= may_run_on(p, from) ? 0 : MOVE_NOT_ALLOWED;
	facts |= left && left->goes ? MOVE_CPU_GOES : 0;
	facts |= bpf_core_field_exists(p->in_execve) && FIELD(p, in_execve) ? MOVE_IN_EXEC : 0;
	facts |= (current->flags & PF_KTHREAD) && kernel_prio_of(current) == STOPPER_PRIO ? MOVE_STOPPED : 0;
	return (u8)facts;
}

#endif
