/* SPDX-License-Identifier: GPL-2.0 */
/* The part of sched_ext in use, for kernels 6.12 and later from one object: the operations table by member name and the
 * constants by name. What the scheduler calls is in scx_calls.h. */
#ifndef TACTUS_BPF_SCX_H
#define TACTUS_BPF_SCX_H

#include "interrupt.h"
#include "kernel.h"

enum scx_exit_kind { SCX_EXIT_NONE };

struct scx_exit_info {
	enum scx_exit_kind kind;
	s64 exit_code;
	const char *reason;
	char *msg;
	char *dump;
} kernel_type;

struct scx_init_task_args {
	struct cgroup *cgroup; /* only where control groups have weights */
} kernel_type;

struct scx_cgroup_init_args {
	u32 weight;
	u64 bw_period_us; /* from 6.17 on */
	u64 bw_quota_us;
	u64 bw_burst_us;
} kernel_type;

struct scx_exit_task_args;
struct scx_cpu_release_args;
struct scx_dump_ctx;

/* Members are matched by name at load time, so the order is ours and what is not used is not here. */
struct sched_ext_ops {
	s32 (*select_cpu)(struct task_struct *p, s32 prev_cpu, u64 wake_flags);
	void (*enqueue)(struct task_struct *p, u64 enq_flags);
	void (*dispatch)(s32 cpu, struct task_struct *prev);
	void (*tick)(struct task_struct *p);
	void (*running)(struct task_struct *p);
	void (*stopping)(struct task_struct *p, bool runnable);
	void (*cpu_release)(s32 cpu, struct scx_cpu_release_args *args);
	void (*enable)(struct task_struct *p);
	void (*disable)(struct task_struct *p);
	s32 (*init_task)(struct task_struct *p, struct scx_init_task_args *args);
	void (*exit_task)(struct task_struct *p, struct scx_exit_task_args *args);
	s32 (*cgroup_init)(struct cgroup *cgroup, struct scx_cgroup_init_args *args);
	void (*cgroup_exit)(struct cgroup *cgroup);
	void (*cgroup_move)(struct task_struct *p, struct cgroup *from, struct cgroup *to);
	void (*cgroup_set_weight)(struct cgroup *cgroup, u32 weight);
	void (*cgroup_set_bandwidth)(struct cgroup *cgroup, u64 period_us, u64 quota_us, u64 burst_us);
	void (*dump)(struct scx_dump_ctx *ctx);
	void (*dump_cpu)(struct scx_dump_ctx *ctx, s32 cpu, bool idle);
	void (*dump_task)(struct scx_dump_ctx *ctx, struct task_struct *p);
	s32 (*init)(void);
	void (*exit)(struct scx_exit_info *info);
	u64 flags;
	u32 timeout_ms;
	u32 exit_dump_len;
	char name[128];
};

/* The values are the running kernel's: only the names matter here. */
enum scx_dsq_id_flags { SCX_DSQ_LOCAL = 1, SCX_DSQ_LOCAL_ON = 2 };
enum scx_ent_flags { SCX_TASK_QUEUED = 1 };
enum scx_enq_flags { SCX_ENQ_WAKEUP = 1, SCX_ENQ_HEAD = 2, SCX_ENQ_PREEMPT = 4, SCX_ENQ_LAST = 8 };
enum scx_wake_flags { SCX_WAKE_TTWU = 1 };
enum scx_kick_flags { SCX_KICK_IDLE = 1, SCX_KICK_PREEMPT = 2 };
enum scx_dsq_iter_flags { SCX_DSQ_ITER_REV = 1 };
#define scx_value(type, name) bpf_core_enum_value(enum type, name)

#endif
