/* SPDX-License-Identifier: GPL-2.0 */
/* The part of sched_ext in use, for kernels 6.12 and later from one object: the operations table by member name, the
 * constants by name, and each renamed kernel function under its newest name with the older ones behind it. */
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
} kernel_type;

struct scx_exit_task_args;
struct scx_dump_ctx;

/* Members are matched by name at load time, so the order is ours and what is not used is not here. */
struct sched_ext_ops {
	s32 (*select_cpu)(struct task_struct *p, s32 prev_cpu, u64 wake_flags);
	void (*enqueue)(struct task_struct *p, u64 enq_flags);
	void (*dispatch)(s32 cpu, struct task_struct *prev);
	void (*running)(struct task_struct *p);
	void (*stopping)(struct task_struct *p, bool runnable);
	void (*enable)(struct task_struct *p);
	void (*disable)(struct task_struct *p);
	s32 (*init_task)(struct task_struct *p, struct scx_init_task_args *args);
	void (*exit_task)(struct task_struct *p, struct scx_exit_task_args *args);
	s32 (*cgroup_init)(struct cgroup *cgroup, struct scx_cgroup_init_args *args);
	void (*cgroup_exit)(struct cgroup *cgroup);
	void (*cgroup_move)(struct task_struct *p, struct cgroup *from, struct cgroup *to);
	void (*cgroup_set_weight)(struct cgroup *cgroup, u32 weight);
	void (*cpu_online)(s32 cpu);
	void (*cpu_offline)(s32 cpu);
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
enum scx_dsq_id_flags { SCX_DSQ_LOCAL = 1 };
enum scx_ent_flags { SCX_TASK_QUEUED = 1 };
enum scx_enq_flags { SCX_ENQ_WAKEUP = 1, SCX_ENQ_HEAD = 2, SCX_ENQ_PREEMPT = 4 };
enum scx_wake_flags { SCX_WAKE_TTWU = 1 };
enum scx_kick_flags { SCX_KICK_IDLE = 1, SCX_KICK_PREEMPT = 2 };
#define scx_value(type, name) bpf_core_enum_value(enum type, name)

s32 scx_bpf_create_dsq(u64 dsq_id, s32 node) __ksym;
s32 scx_bpf_select_cpu_dfl(struct task_struct *p, s32 prev_cpu, u64 wake_flags, bool *is_idle) __ksym;

s32 scx_bpf_pick_idle_cpu(const struct cpumask *allowed, u64 flags) __ksym;
void scx_bpf_kick_cpu(s32 cpu, u64 flags) __ksym;
s32 scx_bpf_dsq_nr_queued(u64 dsq_id) __ksym;
bool scx_bpf_test_and_clear_cpu_idle(s32 cpu) __ksym;
const struct cpumask *scx_bpf_get_idle_smtmask(void) __ksym;
void scx_bpf_put_idle_cpumask(const struct cpumask *idle) __ksym;
void scx_bpf_dump_bstr(char *format, unsigned long long *data, u32 data_len) __ksym __weak;
void scx_bpf_exit_bstr(s64 code, char *format, unsigned long long *data, u32 data_len) __ksym;
bool bpf_cpumask_test_cpu(u32 cpu, const struct cpumask *cpumask) __ksym;

/* For bpf_for; as in linux/bpf.h, which may be older than that. */
struct bpf_iter_num {
	u64 opaque[1];
} __attribute__((aligned(8)));

struct bpf_iter_scx_dsq {
	u64 opaque[6];
} __attribute__((aligned(8)));
int bpf_iter_scx_dsq_new(struct bpf_iter_scx_dsq *it, u64 dsq_id, u64 flags) __ksym __weak;
struct task_struct *bpf_iter_scx_dsq_next(struct bpf_iter_scx_dsq *it) __ksym __weak;
void bpf_iter_scx_dsq_destroy(struct bpf_iter_scx_dsq *it) __ksym __weak;

enum scx_dsq_iter_flags { SCX_DSQ_ITER_REV = 1 };
/* 6.13 renamed these two. */
bool scx_bpf_dispatch_from_dsq(struct bpf_iter_scx_dsq *it, struct task_struct *p, u64 dsq_id,
			       u64 enq_flags) __ksym __weak;
bool scx_bpf_dsq_move(struct bpf_iter_scx_dsq *it, struct task_struct *p, u64 dsq_id, u64 enq_flags) __ksym __weak;
void scx_bpf_dispatch_from_dsq_set_slice(struct bpf_iter_scx_dsq *it, u64 slice) __ksym __weak;
void scx_bpf_dsq_move_set_slice(struct bpf_iter_scx_dsq *it, u64 slice) __ksym __weak;

/* 6.13 renamed these three; 6.19 put the last one's arguments into a struct. */
void scx_bpf_dispatch(struct task_struct *p, u64 dsq_id, u64 slice, u64 enq_flags) __ksym __weak;
void scx_bpf_dsq_insert(struct task_struct *p, u64 dsq_id, u64 slice, u64 enq_flags) __ksym __weak;
bool scx_bpf_consume(u64 dsq_id) __ksym __weak;
bool scx_bpf_dsq_move_to_local(u64 dsq_id) __ksym __weak;
void scx_bpf_dispatch_vtime(struct task_struct *p, u64 dsq_id, u64 slice, u64 vtime, u64 enq_flags) __ksym __weak;
void scx_bpf_dsq_insert_vtime(struct task_struct *p, u64 dsq_id, u64 slice, u64 vtime, u64 enq_flags) __ksym __weak;
struct scx_bpf_dsq_insert_vtime_args {
	u64 dsq_id;
	u64 slice;
	u64 vtime;
	u64 enq_flags;
}; /* not relocated: the kernel takes it as an argument, so its layout is fixed, and 6.12 does not know it */
bool __scx_bpf_dsq_insert_vtime(struct task_struct *p, struct scx_bpf_dsq_insert_vtime_args *args) __ksym __weak;

static __always_inline void dsq_insert(struct task_struct *p, u64 dsq_id, u64 slice_ns, u64 enq_flags)
{
	if (bpf_ksym_exists(scx_bpf_dsq_insert))
		scx_bpf_dsq_insert(p, dsq_id, slice_ns, enq_flags);
	else if (bpf_ksym_exists(scx_bpf_dispatch))
		scx_bpf_dispatch(p, dsq_id, slice_ns, enq_flags);
}

static __always_inline void dsq_insert_vtime(struct task_struct *p, u64 dsq_id, u64 slice_ns, u64 vtime, u64 enq_flags)
{
	if (bpf_ksym_exists(__scx_bpf_dsq_insert_vtime)) {
		struct scx_bpf_dsq_insert_vtime_args args = {
			.dsq_id = dsq_id,
			.slice = slice_ns,
			.vtime = vtime,
			.enq_flags = enq_flags,
		};

		__scx_bpf_dsq_insert_vtime(p, &args);
	} else if (bpf_ksym_exists(scx_bpf_dsq_insert_vtime)) {
		scx_bpf_dsq_insert_vtime(p, dsq_id, slice_ns, vtime, enq_flags);
	} else if (bpf_ksym_exists(scx_bpf_dispatch_vtime)) {
		scx_bpf_dispatch_vtime(p, dsq_id, slice_ns, vtime, enq_flags);
	}
}

/* Moves a thread that an iterator has found to this CPU, for so long. */
static __always_inline bool dsq_move_here(struct bpf_iter_scx_dsq *it, struct task_struct *p, u64 slice_ns)
{
	if (bpf_ksym_exists(scx_bpf_dsq_move)) {
		scx_bpf_dsq_move_set_slice(it, slice_ns);
		return scx_bpf_dsq_move(it, p, scx_value(scx_dsq_id_flags, SCX_DSQ_LOCAL), 0);
	}
	if (!bpf_ksym_exists(scx_bpf_dispatch_from_dsq))
		return false;
	scx_bpf_dispatch_from_dsq_set_slice(it, slice_ns);
	return scx_bpf_dispatch_from_dsq(it, p, scx_value(scx_dsq_id_flags, SCX_DSQ_LOCAL), 0);
}

static __always_inline bool dsq_move_to_local(u64 dsq_id)
{
	if (bpf_ksym_exists(scx_bpf_dsq_move_to_local))
		return scx_bpf_dsq_move_to_local(dsq_id);
	return bpf_ksym_exists(scx_bpf_consume) && scx_bpf_consume(dsq_id);
}

/* Words, which are a constant, with up to a few numbers: for the dump, and as the last message. */
#define scx_dump(words, ...)                                                 \
	({                                                                   \
		char format[] = words;                                       \
		unsigned long long numbers[] = { __VA_ARGS__ };              \
		if (bpf_ksym_exists(scx_bpf_dump_bstr))                      \
			scx_bpf_dump_bstr(format, numbers, sizeof(numbers)); \
	})
#define scx_leave(code, words, ...)                                               \
	({                                                                        \
		char format[] = words;                                            \
		unsigned long long numbers[] = { __VA_ARGS__ };                   \
		scx_bpf_exit_bstr((s64)(code), format, numbers, sizeof(numbers)); \
	})

#endif
