/* SPDX-License-Identifier: GPL-2.0 */
/* What the scheduler calls in the kernel, for Linux 6.12 and later from one object. Every function is weak and stands
 * under its newest form with the older ones behind it: one that is gone, or whose prototype is another one, counts as
 * absent. A kernel built with a tool that missed some functions describes those with an argument that no program can
 * give (Debian's 7.1 and 7.2 do so for scx_bpf_kick_cpu and some others), so none is sure to be there; which ones the
 * scheduler can't do without is src/sched/scx_kernel.c's to know. */
#ifndef TACTUS_BPF_SCX_CALLS_H
#define TACTUS_BPF_SCX_CALLS_H

#include "scx.h"
#include "../core/scx_config.h"

extern const volatile struct scx_config settings;

s32 scx_bpf_create_dsq(u64 dsq_id, s32 node) __ksym __weak;
s32 scx_bpf_select_cpu_dfl(struct task_struct *p, s32 prev_cpu, u64 wake_flags, bool *is_idle) __ksym __weak;
s32 scx_bpf_pick_idle_cpu(const struct cpumask *allowed, u64 flags) __ksym __weak;
void scx_bpf_kick_cpu(s32 cpu, u64 flags) __ksym __weak;
s32 scx_bpf_dsq_nr_queued(u64 dsq_id) __ksym __weak;
bool scx_bpf_test_and_clear_cpu_idle(s32 cpu) __ksym __weak;
void scx_bpf_cpuperf_set(s32 cpu, u32 perf) __ksym __weak;
void scx_bpf_dump_bstr(char *format, unsigned long long *data, u32 data_len) __ksym __weak;
bool bpf_cpumask_test_cpu(u32 cpu, const struct cpumask *cpumask) __ksym __weak;

/* For bpf_for; as in linux/bpf.h, which may be older than that. */
struct bpf_iter_num {
	u64 opaque[1];
} __attribute__((aligned(8)));

struct bpf_iter_scx_dsq {
	u64 opaque[6];
} __attribute__((aligned(8)));
/* Since 6.2. */
void bpf_rcu_read_lock(void) __ksym __weak;
void bpf_rcu_read_unlock(void) __ksym __weak;
int bpf_iter_scx_dsq_new(struct bpf_iter_scx_dsq *it, u64 dsq_id, u64 flags) __ksym __weak;
struct task_struct *bpf_iter_scx_dsq_next(struct bpf_iter_scx_dsq *it) __ksym __weak;
void bpf_iter_scx_dsq_destroy(struct bpf_iter_scx_dsq *it) __ksym __weak;
/* 6.19; what it returns can be trusted from 7.1 on. */
struct task_struct *scx_bpf_dsq_peek(u64 dsq_id) __ksym __weak;

/* 6.13 renamed these two. */
bool scx_bpf_dispatch_from_dsq(struct bpf_iter_scx_dsq *it, struct task_struct *p, u64 dsq_id,
			       u64 enq_flags) __ksym __weak;
bool scx_bpf_dsq_move(struct bpf_iter_scx_dsq *it, struct task_struct *p, u64 dsq_id, u64 enq_flags) __ksym __weak;
void scx_bpf_dispatch_from_dsq_set_slice(struct bpf_iter_scx_dsq *it, u64 slice) __ksym __weak;
void scx_bpf_dsq_move_set_slice(struct bpf_iter_scx_dsq *it, u64 slice) __ksym __weak;
/* Only for kernels that have quotas, which all have them. */
bool scx_bpf_dsq_move_vtime(struct bpf_iter_scx_dsq *it, struct task_struct *p, u64 dsq_id,
			    u64 enq_flags) __ksym __weak;
void scx_bpf_dsq_move_set_vtime(struct bpf_iter_scx_dsq *it, u64 vtime) __ksym __weak;

/* 6.13 renamed these three. 6.19 gave the first a result and put the last one's arguments into a struct, 7.1 gave the
 * second another argument; the forms before that go in 7.3. A name that ends in a version in the kernel too has a
 * suffix here, which is cut off before it is looked for. */
void scx_bpf_dispatch(struct task_struct *p, u64 dsq_id, u64 slice, u64 enq_flags) __ksym __weak;
void scx_bpf_dsq_insert(struct task_struct *p, u64 dsq_id, u64 slice, u64 enq_flags) __ksym __weak;
bool scx_bpf_dsq_insert___v2___kernel(struct task_struct *p, u64 dsq_id, u64 slice, u64 enq_flags) __ksym __weak;
bool scx_bpf_consume(u64 dsq_id) __ksym __weak;
bool scx_bpf_dsq_move_to_local(u64 dsq_id) __ksym __weak;
bool scx_bpf_dsq_move_to_local___v2___kernel(u64 dsq_id, u64 enq_flags) __ksym __weak;
void scx_bpf_dispatch_vtime(struct task_struct *p, u64 dsq_id, u64 slice, u64 vtime, u64 enq_flags) __ksym __weak;
void scx_bpf_dsq_insert_vtime(struct task_struct *p, u64 dsq_id, u64 slice, u64 vtime, u64 enq_flags) __ksym __weak;
struct scx_bpf_dsq_insert_vtime_args {
	u64 dsq_id;
	u64 slice;
	u64 vtime;
	u64 enq_flags;
}; /* not relocated: the kernel takes it as an argument, so its layout is fixed, and 6.12 does not know it */
bool __scx_bpf_dsq_insert_vtime(struct task_struct *p, struct scx_bpf_dsq_insert_vtime_args *args) __ksym __weak;

/* From cpu_release alone; 7.1 has SCX_ENQ_IMMED instead. */
u32 scx_bpf_reenqueue_local(void) __ksym __weak;

/* 6.19; before, and until 7.3, a slice is written into the thread. */
bool scx_bpf_task_set_slice(struct task_struct *p, u64 slice) __ksym __weak;

static __always_inline void dsq_insert(struct task_struct *p, u64 dsq_id, u64 slice_ns, u64 enq_flags)
{
	if (bpf_ksym_exists(scx_bpf_dsq_insert___v2___kernel))
		scx_bpf_dsq_insert___v2___kernel(p, dsq_id, slice_ns, enq_flags);
	else if (bpf_ksym_exists(scx_bpf_dsq_insert))
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

/* Moves a thread that an iterator has found to this CPU's local queue, with this slice. */
static __always_inline bool dsq_move_here(struct bpf_iter_scx_dsq *it, struct task_struct *p, u64 slice_ns)
{
	if (bpf_ksym_exists(scx_bpf_dsq_move) && bpf_ksym_exists(scx_bpf_dsq_move_set_slice)) {
		scx_bpf_dsq_move_set_slice(it, slice_ns);
		return scx_bpf_dsq_move(it, p, scx_value(scx_dsq_id_flags, SCX_DSQ_LOCAL), settings.at_once);
	}
	if (!bpf_ksym_exists(scx_bpf_dispatch_from_dsq) || !bpf_ksym_exists(scx_bpf_dispatch_from_dsq_set_slice))
		return false;
	scx_bpf_dispatch_from_dsq_set_slice(it, slice_ns);
	return scx_bpf_dispatch_from_dsq(it, p, scx_value(scx_dsq_id_flags, SCX_DSQ_LOCAL), 0);
}

static __always_inline bool dsq_move_to_local(u64 dsq_id)
{
	if (bpf_ksym_exists(scx_bpf_dsq_move_to_local___v2___kernel))
		return scx_bpf_dsq_move_to_local___v2___kernel(dsq_id, settings.at_once);
	if (bpf_ksym_exists(scx_bpf_dsq_move_to_local))
		return scx_bpf_dsq_move_to_local(dsq_id);
	return bpf_ksym_exists(scx_bpf_consume) && scx_bpf_consume(dsq_id);
}

/* Sets the slice of a thread that runs. Where that is not possible, the kernel gives it its default slice. */
static __always_inline void set_slice(struct task_struct *p, u64 slice_ns)
{
	if (bpf_ksym_exists(scx_bpf_task_set_slice))
		scx_bpf_task_set_slice(p, slice_ns);
	else if (settings.kernel < SCX_KERNEL(7, 3))
		p->scx.slice = slice_ns;
}

/* How far the vtime of the first thread in a queue is from the clock; `none` if the queue is empty. Where the kernel
 * lets no program look, a thread that may be there counts as due at once. */
static __always_inline s64 dsq_first_lag(u64 dsq_id, u64 clock, s64 none)
{
	struct task_struct *first;

	if (settings.kernel >= SCX_KERNEL(7, 1) && bpf_ksym_exists(scx_bpf_dsq_peek)) {
		first = scx_bpf_dsq_peek(dsq_id);
		return first ? (s64)(first->scx.dsq_vtime - clock) : none;
	}
	if (!bpf_ksym_exists(bpf_iter_scx_dsq_new))
		return scx_bpf_dsq_nr_queued(dsq_id) > 0 ? -none : none;
	bpf_for_each(scx_dsq, first, dsq_id, 0) return (s64)(first->scx.dsq_vtime - clock);
	return none;
}

/* Whether CPUs can be kicked. */
static __always_inline bool can_kick(void)
{
	return bpf_ksym_exists(scx_bpf_kick_cpu);
}

static __always_inline void kick(s32 cpu, u64 flags)
{
	if (bpf_ksym_exists(scx_bpf_kick_cpu))
		scx_bpf_kick_cpu(cpu, flags);
}

/* Words, which are a constant, with up to a few numbers, for the dump. */
#define scx_dump(words, ...)                                                 \
	({                                                                   \
		char format[] = words;                                       \
		unsigned long long numbers[] = { __VA_ARGS__ };              \
		if (bpf_ksym_exists(scx_bpf_dump_bstr))                      \
			scx_bpf_dump_bstr(format, numbers, sizeof(numbers)); \
	})

#endif
