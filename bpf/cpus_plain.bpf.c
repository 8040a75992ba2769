// SPDX-License-Identifier: GPL-2.0
/* The CPUs' accounts for kernels without BTF: the same counts from the classic tracepoint.
 * An object of its own, since one with any relocated field cannot be loaded where there is no BTF. */
#include "cpus.h"

char LICENSE[] SEC("license") = "GPL";

static __always_inline u64 ran_so_far(u64 task)
{
	return ~0ULL;
}

SEC("tracepoint/sched/sched_switch")
int on_sched_switch(struct tracepoint_sched_switch *args)
{
	return on_switch((u32)args->prev_pid, args->prev_pid == 0, (u32)args->next_pid, args->next_pid == 0);
}
