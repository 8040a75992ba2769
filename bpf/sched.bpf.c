// SPDX-License-Identifier: GPL-2.0
/* The sched sensor's kernel half: counts context switches, busy and idle time of each CPU in an account of its own.
 * Nothing is sent anywhere; the program reads the accounts out of shared memory. */
#include "kernel.h"
#include "../core/account.h"

char LICENSE[] SEC("license") = "GPL";

/* Set before loading: how many accounts there are, and whether threads are named by tid (where the hook gives no
 * pointer) instead of by their task_struct's address. */
const volatile u32 cpus_len = 1;
const volatile bool named_by_tid = false;

/* Grown to cpus_len elements before loading. A plain array, not a per-CPU map: no look-up on the hot path, and the
 * program reads it without a system call. */
struct cpu_account cpus[1] SEC(".data.cpus");

/* Switches on a CPU that has no account. */
u64 refused = 0;

static __always_inline struct cpu_account *this_cpu(void)
{
	u32 cpu = bpf_get_smp_processor_id();

	return cpu < cpus_len ? &cpus[cpu] : NULL;
}

static __always_inline int on_switch(u64 prev, u64 next, bool next_is_idle)
{
	struct cpu_account *cpu = this_cpu();

	if (!cpu) {
		__sync_fetch_and_add(&refused, 1);
		return 0;
	}
	cpu_account_switch(cpu, prev, next);
	if (cpu_switch_turns(cpu, next_is_idle))
		cpu_account_turn(cpu, bpf_ktime_get_ns(), next_is_idle);
	return 0;
}

SEC("tp_btf/sched_switch")
int BPF_PROG(switch_btf, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	return on_switch((u64)prev, (u64)next, next->pid == 0);
}

SEC("tracepoint/sched/sched_switch")
int switch_tracepoint(struct tracepoint_sched_switch *args)
{
	return on_switch((u32)args->prev_pid, (u32)args->next_pid, args->next_pid == 0);
}

/* Run by the program on each CPU in turn (BPF_PROG_TEST_RUN): opens the account at the start of a window and settles
 * it at the end. It runs with interrupts off, as sched_switch does, so the two never meet. */
SEC("raw_tp")
int settle(void *ctx)
{
	struct cpu_account *cpu = this_cpu();
	u64 now_ns = bpf_ktime_get_ns();
	u32 tid = (u32)bpf_get_current_pid_tgid();

	(void)ctx;
	if (!cpu)
		return 0;
	if (cpu->since_ns)
		cpu_account_settle(cpu, now_ns);
	else
		cpu_account_open(cpu, now_ns, named_by_tid ? tid : bpf_get_current_task(), tid == 0);
	return 0;
}
