/* SPDX-License-Identifier: GPL-2.0 */
/* How urgent a thread is at this moment: its role, what it works for, whom it woke, and what takes urgency away again.
 * Pure; bpf/scx_urgency.h and bpf/scx_wake.h gather the inputs and store the answers. */
#ifndef TACTUS_CORE_EFFECTIVE_TIER_H
#define TACTUS_CORE_EFFECTIVE_TIER_H

#include "sched_config.h"
#include "tier.h"

/* The waker of an urgent thread inherits its urgency, since that one waited for it; so does the waker's waker, within
 * bounds. */
struct inherited_urgency {
	u64 until_ns;
	u32 depth; /* through how many wakers it came */
	u32 boost;
};

struct tier_inputs {
	u64 now_ns;
	u64 input_until_ns;	/* it handles an input event until then */
	u64 frame_due_ns;	/* when the frame that it works on is due; 0: none */
	u64 lock_until_ns;	/* it holds a lock that an urgent thread waits for */
	u64 inherited_until_ns; /* see struct inherited_urgency */
	u64 throttled_until_ns;
	u64 burst_ns;  /* CPU time since it last slept */
	u32 raise;     /* RAISE_* of core/sched_config.h: which of these make a thread urgent */
	u32 role_tier; /* by its role */
	u32 role_boost;
	u32 inherited_boost;
	s32 nice;
	u8 is_kernel_thread;
	u8 is_idle_policy;  /* SCHED_IDLE */
	u8 is_batch_policy; /* SCHED_BATCH */
	u8 by_user;	    /* the user said what the thread is */
	u8 may_burn;	    /* urgent by its role, and its user has something left to burn */
	u8 is_own;	    /* of the process that runs the scheduler */
	u8 is_neutral;	    /* nobody is urgent for now but the kernel's own threads */
};

/* What made a thread less urgent than it would be. */
enum tier_limit { TIER_LIMIT_NONE, TIER_LIMIT_BURST, TIER_LIMIT_BUDGET };

struct effective_tier {
	u32 tier;
	u32 boost;
	u32 limit; /* enum tier_limit */
};

/* By its role and by what it works for. */
core_fn struct effective_tier tier_wanted(const struct tier_inputs *in)
{
	struct effective_tier wanted = { .tier = in->role_tier, .boost = in->role_boost };

	if ((in->raise & RAISE_INPUT) && in->input_until_ns > in->now_ns) {
		wanted.tier = TIER_LATENCY_CRITICAL;
		wanted.boost = wanted.boost ? wanted.boost : 1;
	}
	if ((in->raise & RAISE_FRAMES) && tier_frame_presses(in->frame_due_ns, in->now_ns)) {
		wanted.tier = TIER_LATENCY_CRITICAL;
		wanted.boost += TIER_FRAME_BOOST;
	}
	if (wanted.tier != TIER_LATENCY_CRITICAL && in->lock_until_ns > in->now_ns) {
		wanted.tier = TIER_LATENCY_CRITICAL;
		wanted.boost = 1;
	}
	if (wanted.tier != TIER_LATENCY_CRITICAL && in->inherited_until_ns > in->now_ns) {
		wanted.tier = TIER_LATENCY_CRITICAL;
		wanted.boost = in->inherited_boost;
	}
	return wanted;
}

/* Whether it stays urgent however long it has run: its user may burn so much, or somebody urgent waits for its lock,
 * which it had better give back. */
core_fn int tier_keeps_urgency(const struct tier_inputs *in)
{
	return in->may_burn || in->lock_until_ns > in->now_ns;
}

/* Others wait for what the kernel's threads do, but not for those that it made nicer itself: khugepaged puts pages
 * together at nice 19, for many milliseconds at a time. */
core_fn int tier_serves_all(int is_kernel_thread, s32 nice)
{
	return is_kernel_thread && nice <= 0;
}

/* Whether a kernel thread that may run on one CPU alone passes no queue there. One that runs for long without a sleep
 * is not urgent either, and waits in a queue like any other. */
core_fn int tier_is_bound(int is_bound_thread, s32 nice, u64 burst_ns)
{
	return tier_serves_all(is_bound_thread, nice) && burst_ns < TIER_BURST_NS;
}

/* How urgent the thread is, apart from its user's budget. What this program itself does seems urgent, as often as it is
 * woken for a little, and nobody waits for it. */
core_fn struct effective_tier tier_effective(const struct tier_inputs *in)
{
	struct effective_tier now = { .tier = TIER_BATCH };
	u32 tier;

	if (in->is_idle_policy)
		return now;
	if (in->is_neutral) {
		now.tier = tier_serves_all(in->is_kernel_thread, in->nice) ? TIER_LATENCY_CRITICAL
			   : in->role_tier == TIER_BATCH		   ? TIER_BATCH
									   : tier_now(TIER_INTERACTIVE, in->burst_ns);
		return now;
	}
	now = tier_wanted(in);
	if (tier_serves_all(in->is_kernel_thread, in->nice)) {
		now.tier = TIER_LATENCY_CRITICAL;
	} else if (now.tier == TIER_LATENCY_CRITICAL &&
		   (in->is_own || !tier_may_raise(in->nice, in->is_batch_policy, in->by_user))) {
		now.tier = TIER_INTERACTIVE;
		now.boost = 0;
	}
	tier = now.tier == TIER_LATENCY_CRITICAL && in->throttled_until_ns > in->now_ns ? TIER_INTERACTIVE : now.tier;
	tier = tier_now(tier,
			tier_burst_counted_ns(in->burst_ns, tier_keeps_urgency(in) && tier == TIER_LATENCY_CRITICAL));
	if (tier != now.tier) {
		now.tier = tier;
		now.boost = 0;
		now.limit = TIER_LIMIT_BURST;
	}
	return now;
}

/* The tier by which a thread that slept gets its credit. While nobody is urgent it gets none, as by the kernel's own
 * scheduler: with it several that wake together would each go on for so long before one that runs more often, and it
 * would wait nearly as long as while they are urgent. */
core_fn u32 tier_credited(u32 tier, int is_neutral)
{
	return is_neutral && tier != TIER_LATENCY_CRITICAL ? TIER_BATCH : tier;
}

/* Whether the thread's urgency is charged to its user's budget, and watched for burning. Not that of the kernel's
 * threads: one that waits long for a CPU looks as if it burned, and all would wait for whatever it does. */
core_fn int tier_uses_budget(u32 tier, int is_kernel_thread)
{
	return tier == TIER_LATENCY_CRITICAL && !is_kernel_thread;
}

/* An urgent thread whose user's urgent threads have used up what they may together. */
core_fn struct effective_tier tier_over_budget(void)
{
	return (struct effective_tier){ .tier = TIER_INTERACTIVE, .limit = TIER_LIMIT_BUDGET };
}

/* Whether a thread that waits for a lock hurries whoever holds it. */
core_fn int lock_hurries(u32 role_tier, const struct inherited_urgency *inherited, u64 now_ns)
{
	return role_tier == TIER_LATENCY_CRITICAL || inherited->until_ns > now_ns;
}

/* Through how many wakers the urgency of a thread that is woken came; TIER_INHERIT_DEPTH: it has none to pass on. */
core_fn u32 inherit_depth(u32 role_tier, const struct inherited_urgency *inherited, u64 now_ns)
{
	if (role_tier == TIER_LATENCY_CRITICAL)
		return 0;
	return inherited->until_ns > now_ns ? inherited->depth : TIER_INHERIT_DEPTH;
}

/* Whether a waker inherits from a thread whose urgency came through so many. */
core_fn int inherit_passes(u32 depth, int waker_is_kernel_thread, u32 waker_role_tier)
{
	return depth < TIER_INHERIT_DEPTH && !waker_is_kernel_thread && waker_role_tier != TIER_LATENCY_CRITICAL;
}

/* What it inherits. */
core_fn struct inherited_urgency inherit_from(u32 depth, u32 role_boost, u32 inherited_boost, u64 now_ns)
{
	return (struct inherited_urgency){ .until_ns = now_ns + TIER_INHERIT_NS,
					   .depth = depth + 1,
					   .boost = depth ? inherited_boost : role_boost };
}

#endif
