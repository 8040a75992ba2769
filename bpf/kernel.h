/* SPDX-License-Identifier: GPL-2.0 */
/* The few kernel types in use, with just the fields in use. Field offsets are relocated at load time against the
 * running kernel's BTF (CO-RE), so neither the build nor the source needs a generated vmlinux.h.
 *
 * Kernels change their fields. So that the next one costs nothing, or one feature:
 * - What is never negative is declared unsigned, whatever the kernel has: a plain read of an unsigned field follows the
 *   kernel's size at no cost. (A signed one is refused where the size differs, since libbpf does not extend signs; and
 *   BPF_CORE_READ does not look at sizes at all.)
 * - What may be negative, what may become a bit field, and numbers in memory that is read by calls go through FIELD and
 *   FIELD_PROBED, which take any size and sign.
 * - What may vanish is asked for by bpf_core_field_exists where it is used, and what is done without it is said there.
 * - Kernel functions and variables are weak. */
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

/* A number of whatever size and sign the kernel has it, also a bit field, by a plain load. libbpf's macro has a
 * variable p of its own. */
#define FIELD(from, field)                                 \
	({                                                 \
		__typeof__(from) field_from = (from);      \
		BPF_CORE_READ_BITFIELD(field_from, field); \
	})

/* The same from where plain loads can't read; 0 where it can't be read. */
#define FIELD_PROBED(from, field)                                 \
	({                                                        \
		__typeof__(from) field_from = (from);             \
		BPF_CORE_READ_BITFIELD_PROBED(field_from, field); \
	})

enum { PF_WQ_WORKER = 0x20, PF_KTHREAD = 0x00200000 };

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

struct work_struct {
	void *func;
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
	unsigned int level;
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

typedef struct {
	unsigned int val;
} kuid_t;

struct user_namespace {
	struct user_namespace *parent;
	kuid_t owner;
} kernel_type;

struct cred {
	kuid_t uid;
	struct user_namespace *user_ns;
} kernel_type;

struct task_struct {
	struct thread_info thread_info;
	unsigned int __state;
	unsigned int flags;
	unsigned int in_execve : 1;
	unsigned int pid;  /* by tid_of */
	unsigned int tgid; /* by pid_of */
	unsigned int on_rq;
	int prio; /* by prio_of */
	int static_prio;
	u64 start_time;
	struct task_struct *real_parent;
	struct css_set *cgroups;
	struct files_struct *files;
	const struct cred *real_cred;
	unsigned int policy;
	unsigned int nr_cpus_allowed;
	unsigned short migration_disabled;
	const struct cpumask *cpus_ptr;
	char comm[COMM_LEN];
	struct sched_entity se;
	struct sched_ext_entity scx;
} kernel_type;

/* The numbers of a thread and of its process, which nearly every program asks for, at every switch: four bytes from the
 * field's place. In a wider field that is its low half, since all machines that this is built for are little-endian.
 * The compiler is kept from making one load of place and field, which would be refused where the field has another
 * size. */
#define LOW_HALF(from, field)                                                                      \
	({                                                                                         \
		const void *half_at = (const void *)(from) + bpf_core_field_offset((from)->field); \
		asm("" : "+r"(half_at));                                                           \
		*(const u32 *)half_at;                                                             \
	})

static __always_inline u32 tid_of(const struct task_struct *p)
{
	return LOW_HALF(p, pid);
}

static __always_inline u32 pid_of(const struct task_struct *p)
{
	return LOW_HALF(p, tgid);
}

/* It may be negative, and is asked for at every switch: a plain load while it has the size that it always had. */
static __always_inline s32 kernel_prio_of(struct task_struct *p)
{
	if (bpf_core_field_size(p->prio) == sizeof(p->prio))
		return p->prio;
	return (s32)FIELD(p, prio);
}

/* The kernel ends the name with zeros up to its end. Plain loads, since kernels that keep their memory to themselves
 * have no call for it. */
static __always_inline void comm_of(struct task_struct *p, char comm[COMM_LEN])
{
	__builtin_memcpy(comm, p->comm, COMM_LEN);
}

/* Whether it has decided to sleep, though it may still be on its CPU. Not known: it has not. */
static __always_inline bool has_left_queue(struct task_struct *p)
{
	return bpf_core_field_exists(p->on_rq) && !FIELD(p, on_rq);
}

/* How long it has had its CPU by the fair class's own books. */
static __always_inline bool keeps_own_time(struct task_struct *p)
{
	return bpf_core_field_exists(p->se.sum_exec_runtime) && bpf_core_field_exists(p->se.prev_sum_exec_runtime);
}

static __always_inline u64 own_time(struct task_struct *p)
{
	return p->se.sum_exec_runtime - p->se.prev_sum_exec_runtime;
}

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
	unsigned int len;
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

/* And sched:sched_process_exec; the low half of `filename` says how far from here the text is. */
struct tracepoint_sched_process_exec {
	u64 common;
	u32 filename;
	s32 pid;
	s32 old_pid;
};

#endif
