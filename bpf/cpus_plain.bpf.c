// SPDX-License-Identifier: GPL-2.0
/* The CPUs' accounts for kernels without BTF: the same counts from the classic tracepoint.
 * An object of its own, since one with any relocated field cannot be loaded where there is no BTF. */
#include "cpus.h"

char LICENSE[] SEC("license") = "GPL";

SEC("tracepoint/sched/sched_switch")
int on_sched_switch(struct tracepoint_sched_switch *args)
{
	return on_switch((u32)args->prev_pid, (u32)args->next_pid, args->next_pid == 0);
}
