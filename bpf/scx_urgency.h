/* SPDX-License-Identifier: GPL-2.0 */
/* How urgent a thread is at this moment, and what the urgent threads of one user, or of one control group, may run
 * together.
 * For the scheduler alone. The rules are core/effective_tier.h's and core/urgency.h's. */
#ifndef TACTUS_BPF_SCX_URGENCY_H
#define TACTUS_BPF_SCX_URGENCY_H

#include "scx_state.h"
#include "../core/effective_tier.h"
#include "../core/urgency.h"

enum {
	POLICY_BATCH = 3,
	POLICY_IDLE = 5,
	NICE_0_PRIO = 120,
	OWNERS_BITS = 10,
	OWNER_GROUP_LEVEL = 2,	   /* a user's, or a service's; groups further down share its budget, as by hints */
	USER_NAMESPACES_MOST = 33, /* the kernel nests no deeper */
};

/* By a hash of the user, and behind all users by one of the control group: two that collide share a budget. */
struct owner {
	struct bpf_spin_lock lock;
	u32 unused;
	struct urgency_account account;
	struct urgency_account burnt;
};
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 2 << OWNERS_BITS);
	__type(key, u32);
	__type(value, struct owner);
} owners SEC(".maps");

/* The owner of the outermost user namespace that the thread is in: in one of its own a user has many ids. */
static __noinline u32 owner_of(struct task_struct *p)
{
	const struct cred *cred = p->real_cred;
	struct user_namespace *inside = NULL;
	u32 uid = cred->uid.val, i;

	if (bpf_core_field_exists(cred->user_ns) && bpf_core_field_exists(inside->owner)) {
		inside = cred->user_ns;
		bpf_for(i, 0, USER_NAMESPACES_MOST)
		{
			if (!inside || !inside->parent)
				break;
			uid = inside->owner.val;
			inside = inside->parent;
		}
	}
	return uid * 2654435761u >> (32 - OWNERS_BITS);
}

/* The control group of the thread, or the one above it at that level. */
static __noinline u32 group_owner_of(struct task_struct *p)
{
	struct cgroup *group = BPF_CORE_READ(p, cgroups, dfl_cgrp), *top = NULL;
	u64 level = (u64)FIELD_PROBED(group, level), offset;

	if (!level)
		return OWNER_NONE;
	if (level > OWNER_GROUP_LEVEL)
		level = OWNER_GROUP_LEVEL;
	offset = bpf_core_field_offset(struct cgroup, ancestors) + level * sizeof(top);
	bpf_probe_read_kernel(&top, sizeof(top), (char *)group + offset);
	return (1u << OWNERS_BITS) + (u32)(BPF_CORE_READ(top, kn, id) * 0x9e3779b97f4a7c15ull >> (64 - OWNERS_BITS));
}

static __noinline int owner_charge(u32 slot, u64 ran_ns, u64 now_ns)
{
	struct owner *owner = bpf_map_lookup_elem(&owners, &slot);

	if (!owner)
		return 0;
	bpf_spin_lock(&owner->lock);
	urgency_fill(&owner->account, settings.cpus_len, now_ns);
	urgency_charge(&owner->account, settings.cpus_len, ran_ns);
	bpf_spin_unlock(&owner->lock);
	return 0;
}

/* Whether the owner's threads that burn may go on, after one of them has run for so long. */
static __noinline bool owner_may_burn(u32 slot, u64 ran_ns, u64 now_ns)
{
	struct owner *owner = bpf_map_lookup_elem(&owners, &slot);
	bool may;

	if (!owner)
		return true;
	bpf_spin_lock(&owner->lock);
	may = urgency_burn_charge(&owner->burnt, settings.cpus_len, ran_ns, now_ns);
	bpf_spin_unlock(&owner->lock);
	return may;
}

/* So much of urgency is for its user's and its group's account. A thread that has just begun is in no group yet. */
static __always_inline void charge_owners(struct task_struct *p, struct task_ctx *thread, u64 ran_ns)
{
	u64 now_ns = bpf_ktime_get_ns();

	if (thread->scx.group_owner == OWNER_UNKNOWN)
		thread->scx.group_owner = group_owner_of(p);
	owner_charge(thread->scx.owner, ran_ns, now_ns);
	if (thread->scx.group_owner != OWNER_NONE)
		owner_charge(thread->scx.group_owner, ran_ns, now_ns);
}

static __always_inline bool owners_may_burn(const struct task_ctx *thread, u64 ran_ns, u64 now_ns)
{
	bool may = owner_may_burn(thread->scx.owner, ran_ns, now_ns);

	/* The group's is charged in any case. */
	return owner_may_burn(thread->scx.group_owner, ran_ns, now_ns) && may;
}

/* Most have budget left; then no lock is taken. */
static __always_inline bool owner_is_spent(u32 slot, u64 now_ns)
{
	struct owner *owner = bpf_map_lookup_elem(&owners, &slot);

	if (!owner || !urgency_is_spent(&owner->account))
		return false;
	owner_charge(slot, 0, now_ns);
	return urgency_is_spent(&owner->account);
}

static __always_inline s32 nice_of(struct task_struct *p)
{
	return bpf_core_field_exists(p->static_prio) ? p->static_prio - NICE_0_PRIO : 0;
}

static __always_inline bool may_raise(struct task_struct *p, struct task_ctx *thread)
{
	return tier_may_raise(nice_of(p), p->policy == POLICY_BATCH, thread->role.answer.evidence == EVIDENCE_USER);
}

/* How urgent the thread is at this moment. */
static __always_inline u32 tier_of(struct task_struct *p, struct task_ctx *thread, u64 now_ns, u32 *boost)
{
	/* These first: where nothing volatile and no branch comes behind, the compiler loads the rest as needed. */
	u32 raise = config.raise, own_pid = settings.own_pid;
	s32 nice = nice_of(p);
	struct tier_inputs inputs = {
		.now_ns = now_ns,
		.input_until_ns = thread->scx.input_until_ns,
		.frame_due_ns = thread->scx.frame_due_ns,
		.lock_until_ns = thread->scx.lock_until_ns,
		.inherited_until_ns = thread->scx.inherited.until_ns,
		.throttled_until_ns = thread->scx.watch.throttled_until_ns,
		.burst_ns = thread->scx.burst_ns,
		.raise = raise,
		.role_tier = thread->role.answer.tier,
		.role_boost = thread->role.answer.boost,
		.inherited_boost = thread->scx.inherited.boost,
		.nice = nice,
		.is_kernel_thread = (p->flags & PF_KTHREAD) != 0,
		.is_idle_policy = p->policy == POLICY_IDLE,
		.is_batch_policy = p->policy == POLICY_BATCH,
		.by_user = thread->role.answer.evidence == EVIDENCE_USER,
		.may_burn = thread->scx.may_burn != 0,
		.is_own = pid_of(p) == own_pid,
		.is_neutral = is_neutral != 0,
	};
	struct effective_tier now = tier_effective(&inputs);

	if (now.limit == TIER_LIMIT_BURST) {
		count(SCX_COUNT_BURNT);
	} else if (tier_uses_budget(now.tier, inputs.is_kernel_thread) &&
		   (owner_is_spent(thread->scx.owner, now_ns) || owner_is_spent(thread->scx.group_owner, now_ns))) {
		count(SCX_COUNT_SPENT);
		now = tier_over_budget();
	}
	*boost = now.boost;
	return now.tier;
}

#endif
