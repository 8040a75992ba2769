/* SPDX-License-Identifier: GPL-2.0 */
/* The scheduler's operations for control groups: they come, go, change weights and quotas, and threads move between
 * them. What is kept of them is in scx_groups.h and scx_quota.h. */
#ifndef TACTUS_BPF_SCX_CGROUP_OPS_H
#define TACTUS_BPF_SCX_CGROUP_OPS_H

#include "scx_quota.h"

SEC("struct_ops.s/cgroup_init")
s32 BPF_PROG(tactus_cgroup_init, struct cgroup *cgroup, struct scx_cgroup_init_args *args)
{
	struct quota quota = {};

	if (settings.has_quotas && bpf_core_field_exists(args->bw_quota_us))
		quota_set(&quota, args->bw_period_us, args->bw_quota_us, args->bw_burst_us, bpf_ktime_get_ns());
	group_add(cgroup, args->weight, &quota);
	if (settings.has_quotas && quota.quota_ns) {
		count_limited_groups(0, quota.quota_ns);
		start_quota_timer(quota.period_ns);
	}
	return 0;
}

SEC("struct_ops.s/cgroup_exit")
void BPF_PROG(tactus_cgroup_exit, struct cgroup *cgroup)
{
	u64 id = group_id(cgroup);
	struct group *group = bpf_map_lookup_elem(&groups, &id);

	if (group)
		count_limited_groups(group->quota.quota_ns, 0);
	bpf_map_delete_elem(&groups, &id);
}

/* The thread wants to run in neither group while it moves: the kernel takes it out before and puts it back after. */
SEC("struct_ops/cgroup_move")
void BPF_PROG(tactus_cgroup_move, struct task_struct *p, struct cgroup *from, struct cgroup *to)
{
	struct task_ctx *thread = thread_of(p);

	if (!thread)
		return;
	if (thread->scx.granted_ns)
		quota_ran(thread, 0);
	if (thread->scx.group_weight)
		group_thread_leaves(thread->scx.group, thread->scx.group_weight);
	thread->scx.group = group_id(to);
	thread->scx.group_owner = OWNER_UNKNOWN;
	if (thread->scx.group_weight)
		group_thread_joins(thread->scx.group, thread->scx.group_weight);
}

SEC("struct_ops/cgroup_set_weight")
void BPF_PROG(tactus_cgroup_set_weight, struct cgroup *cgroup, u32 weight)
{
	group_reweigh(group_id(cgroup), weight);
}

/* From 6.17 on; before, the scheduler learns of no quota. */
SEC("struct_ops/cgroup_set_bandwidth")
void BPF_PROG(tactus_cgroup_set_bandwidth, struct cgroup *cgroup, u64 period_us, u64 quota_us, u64 burst_us)
{
	u64 id = group_id(cgroup), now_ns = bpf_ktime_get_ns(), was_ns, is_ns;
	struct group *group = id ? bpf_map_lookup_elem(&groups, &id) : NULL;

	if (!group)
		return;
	bpf_spin_lock(&group->lock);
	was_ns = group->quota.quota_ns;
	quota_set(&group->quota, period_us, quota_us, burst_us, now_ns);
	is_ns = group->quota.quota_ns;
	bpf_spin_unlock(&group->lock);
	count_limited_groups(was_ns, is_ns);
	start_quota_timer(is_ns ? group->quota.period_ns : NSEC_PER_SEC);
}

#endif
