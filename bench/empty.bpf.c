// SPDX-License-Identifier: GPL-2.0
/* The yardstick: a program at sched_switch that does nothing.
 * What it costs is what any program there costs. */
#include "../bpf/kernel.h"

char LICENSE[] SEC("license") = "GPL";

SEC("tp_btf/sched_switch")
int BPF_PROG(empty_switch, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	return 0;
}
