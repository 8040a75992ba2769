// SPDX-License-Identifier: GPL-2.0
/* The CPUs' accounts alone: counts context switches, busy and idle time of each CPU in an account of its own.
 * Nothing is sent anywhere; the program reads the accounts out of shared memory. */
#include "cpus.h"

char LICENSE[] SEC("license") = "GPL";

SEC("tp_btf/sched_switch")
int BPF_PROG(on_sched_switch, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	return on_switch((u64)prev, (u64)next, next->pid == 0);
}
