/* SPDX-License-Identifier: GPL-2.0 */
/* The accounts of the CPUs: shared memory, the step at a switch, and the step at a window's edge.
 * Included by each object that counts switches, so that every hook counts alike. */
#ifndef TACTUS_BPF_CPUS_H
#define TACTUS_BPF_CPUS_H

#include "kernel.h"
#include "../core/account.h"
#include "../core/cpus_config.h"

/* Set before loading. */
const volatile struct cpus_config config = { .cpus_len = 1 };

/* Grown to cpus_len elements before loading. A plain array, not a per-CPU map: no look-up on the hot path, and the
 * program reads it without a system call. */
struct cpu_account cpus[1] SEC(".data.cpus");

/* Switches on a CPU that has no account. */
u64 refused = 0;

static __always_inline struct cpu_account *this_cpu(void)
{
	u64 index = bpf_get_smp_processor_id();

	/* Older verifiers accept the address only if check and use are of one and the same 64-bit register. */
	barrier_var(index);
	if (index >= config.cpus_len)
		return NULL;
	barrier_var(index);
	return &cpus[index];
}

/* How long the thread on this CPU has had it, where the object can tell. */
static __always_inline u64 ran_so_far(u64 task);

static __always_inline int on_switch(u64 prev, bool prev_is_idle, u64 next, bool next_is_idle)
{
	struct cpu_account *cpu = this_cpu();

	if (!cpu) {
		__sync_fetch_and_add(&refused, 1);
		return 0;
	}
	if (cpu_unseen_switch(cpu, prev))
		cpu_account_repair(cpu, bpf_ktime_get_ns(), prev, prev_is_idle, ran_so_far(prev));
	cpu_account_switch(cpu, next);
	if (cpu_switch_turns(cpu, next_is_idle))
		cpu_account_turn(cpu, bpf_ktime_get_ns(), next_is_idle);
	return 0;
}

/* Run by the program on each CPU in turn (BPF_PROG_TEST_RUN): opens the account at the start and brings it up to date
 * at a reading. It runs with interrupts or at least preemption off, as sched_switch does, so the two never meet. */
SEC("raw_tp")
int snapshot_cpu(void *ctx)
{
	struct cpu_account *cpu = this_cpu();
	u64 now_ns = bpf_ktime_get_ns(), task = bpf_get_current_task();
	u32 tid = (u32)bpf_get_current_pid_tgid();
	u64 running = config.named_by_tid ? tid : task;

	if (!cpu)
		return 0;
	if (!cpu->since_ns) {
		cpu_account_open(cpu, now_ns, running, tid == 0);
		return 0;
	}
	if (cpu_unseen_switch(cpu, running))
		cpu_account_repair(cpu, now_ns, running, tid == 0, ran_so_far(running));
	cpu_account_snapshot(cpu, now_ns);
	return 0;
}

#endif
