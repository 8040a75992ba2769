/* SPDX-License-Identifier: GPL-2.0 */
/* The few kernel types in use, with just the fields in use. Field offsets are relocated at load time against the
 * running kernel's BTF (CO-RE), so neither the build nor the source needs a generated vmlinux.h. */
#ifndef TACTUS_BPF_KERNEL_H
#define TACTUS_BPF_KERNEL_H

#include <linux/bpf.h>
#include <linux/ptrace.h>
#include <stdbool.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

#include "../core/types.h"

#define kernel_type __attribute__((preserve_access_index))

enum { PF_KTHREAD = 0x00200000 };

enum cpuhp_state { CPUHP_ONLINE = 1 }; /* the value is the running kernel's */

struct sched_entity {
	u64 sum_exec_runtime;
	u64 prev_sum_exec_runtime;
} kernel_type;

struct sched_ext_entity {
	u32 flags;
	u32 weight;
	u64 slice;
	u64 dsq_vtime;
} kernel_type;

struct thread_info {
	u32 cpu;
} kernel_type;

struct kernfs_node {
	u64 id;
} kernel_type;

struct cgroup;

struct cgroup_subsys_state {
	struct cgroup *cgroup;
	struct cgroup_subsys_state *parent;
} kernel_type;

struct cgroup {
	struct cgroup_subsys_state self;
	struct kernfs_node *kn;
	int level;
	struct cgroup *ancestors[];
} kernel_type;

struct css_set {
	struct cgroup *dfl_cgrp;
} kernel_type;

struct inode {
	u32 i_rdev;
} kernel_type;

struct path {
	void *mnt;
	void *dentry;
} kernel_type;

struct file {
	struct path f_path;
	struct inode *f_inode;
	void *private_data;
} kernel_type;

struct fdtable {
	unsigned int max_fds;
	struct file **fd;
} kernel_type;

struct files_struct {
	struct fdtable *fdt;
} kernel_type;

struct cpumask {
	unsigned long bits[1];
} kernel_type;

struct task_struct {
	struct thread_info thread_info;
	unsigned int __state;
	unsigned int flags;
	unsigned int in_execve : 1;
	int pid;
	int tgid;
	unsigned int on_rq;
	int prio;
	u64 start_time;
	struct task_struct *real_parent;
	struct css_set *cgroups;
	struct files_struct *files;
	unsigned int policy;
	int nr_cpus_allowed;
	unsigned short migration_disabled;
	const struct cpumask *cpus_ptr;
	char comm[COMM_LEN];
	struct sched_entity se;
	struct sched_ext_entity scx;
} kernel_type;

struct sock_common {
	unsigned short skc_family;
} kernel_type;

struct sock {
	struct sock_common __sk_common;
} kernel_type;

struct socket {
	struct sock *sk;
} kernel_type;

struct sockaddr_un {
	unsigned short sun_family;
} kernel_type;

struct unix_address {
	int len;
	struct sockaddr_un name[];
} kernel_type;

struct unix_sock {
	struct sock sk;
	struct unix_address *addr;
	struct sock *peer;
} kernel_type;

/* A program that is being started. */
struct linux_binprm {
	struct file *file;
	const char *filename;
} kernel_type;

struct seq_file;

struct bpf_iter_meta {
	struct seq_file *seq;
} kernel_type;

struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
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

/* What syscalls:sys_enter_ioctl hands over, by the same promise. */
struct tracepoint_sys_enter_ioctl {
	u64 common;
	u64 syscall;
	u64 fd;
	u64 cmd;
	u64 arg;
};

/* And syscalls:sys_exit_ioctl. */
struct tracepoint_sys_exit_ioctl {
	u64 common;
	u64 syscall;
	s64 result;
};

/* And dma_fence:*; the low halves of the first two say how far from here the texts are. */
struct tracepoint_dma_fence {
	u64 common;
	u32 driver;
	u32 timeline;
	u32 context;
	u32 seqno;
};

/* And gpu_mem:gpu_mem_total. */
struct tracepoint_gpu_mem_total {
	u64 common;
	u32 gpu;
	u32 pid;
	u64 bytes;
};

/* And drm:drm_vblank_event and drm:drm_vblank_event_delivered. */
struct tracepoint_drm_vblank_event {
	u64 common;
	s32 crtc;
	u32 seq;
	s64 time;
};

struct tracepoint_drm_vblank_event_delivered {
	u64 common;
	u64 file;
	s32 crtc;
	u32 seq;
};

/* What nvidia:nvidia_dev_xid hands over; the low halves of `device` and `message` say how far from here the text is. */
struct tracepoint_nvidia_dev_xid {
	u64 common;
	u32 device;
	u32 code;
	u32 message;
};

/* And sched:sched_process_exec; the low half of `filename` says how far from here the text is. */
struct tracepoint_sched_process_exec {
	u64 common;
	u32 filename;
	s32 pid;
	s32 old_pid;
};

#endif
