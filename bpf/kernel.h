/* SPDX-License-Identifier: GPL-2.0 */
/* The few kernel types in use, with just the fields in use. Field offsets are relocated at load time against the
 * running kernel's BTF (CO-RE), so neither the build nor the source needs a generated vmlinux.h. */
#ifndef TACTUS_BPF_KERNEL_H
#define TACTUS_BPF_KERNEL_H

#include <linux/bpf.h>
#include <stdbool.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

#include "../core/types.h"

#define kernel_type __attribute__((preserve_access_index))

struct sched_entity {
	u64 sum_exec_runtime;
} kernel_type;

struct sched_ext_entity {
	u32 flags;
	u32 weight;
	u64 slice;
	u64 dsq_vtime;
} kernel_type;

struct task_struct {
	int pid;
	int tgid;
	struct sched_entity se;
	struct sched_ext_entity scx;
} kernel_type;

/* What the classic tracepoint sched:sched_switch hands over. Its layout is part of the kernel's promise to user space
 * (events/sched/sched_switch/format), so it needs no relocation and works without BTF. */
struct tracepoint_sched_switch {
	u64 common;
	char prev_comm[COMM_LEN];
	s32 prev_pid;
	s32 prev_prio;
	long prev_state;
	char next_comm[COMM_LEN];
	s32 next_pid;
	s32 next_prio;
};

#endif
