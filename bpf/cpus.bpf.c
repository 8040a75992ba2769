// SPDX-License-Identifier: GPL-2.0
/* The CPUs' accounts alone: counts context switches, busy and idle time of each CPU in an account of its own.
 * Nothing is sent anywhere; the program reads the accounts out of shared memory. */
#include "cpus.h"

enum { PRIO_FAIR_FIRST = 100 }; /* the kernel's MAX_RT_PRIO */

char LICENSE[] SEC("license") = "GPL";

/* The fair class keeps it; of other classes it is not known. */
static __always_inline u64 ran_so_far(u64 task)
{
	struct task_struct *p = bpf_get_current_task_btf();

	if ((u64)p != task || !keeps_own_time(p) || kernel_prio_of(p) < PRIO_FAIR_FIRST)
		return ~0ULL;
	return own_time(p);
}

SEC("tp_btf/sched_switch")
int BPF_PROG(on_sched_switch, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	return on_switch((u64)prev, tid_of(prev) == 0, (u64)next, tid_of(next) == 0);
}
