/* SPDX-License-Identifier: GPL-2.0 */
/* Where a thread that wakes runs: on an idle CPU, near ones first, or on one whose thread it preempts.
 * For the scheduler alone. */
#ifndef TACTUS_BPF_SCX_PLACE_H
#define TACTUS_BPF_SCX_PLACE_H

#include "scx_state.h"

static __always_inline u32 cache_begins(u32 cache)
{
	u64 index = cache;

	barrier_var(index);
	return settings.cache_begins[index < SCX_CACHES_MAX ? index : SCX_CACHES_MAX];
}

static __always_inline u32 cpu_in_caches(u32 at)
{
	u64 index = at;

	barrier_var(index);
	return settings.by_cache[index < SCX_CPUS_MAX ? index : 0];
}

/* Where a CPU of this cache looks after `tries` others. */
static __always_inline u32 cache_to_steal_from(u32 cache, u32 tries)
{
	u64 index = cache % SCX_CACHES_MAX * SCX_CACHES_MAX + tries % SCX_CACHES_MAX;

	barrier_var(index);
	return settings.steal_order[index < SCX_CACHES_MAX * SCX_CACHES_MAX ? index : 0] % SCX_CACHES_MAX;
}

static __always_inline bool is_small(u32 cpu)
{
	u64 index = cpu;

	barrier_var(index);
	return settings.has_small && settings.is_small[index < SCX_CPUS_MAX ? index : 0];
}

static __always_inline u32 next_sibling(u32 cpu)
{
	u64 index = cpu;

	barrier_var(index);
	return settings.next_sibling[index < SCX_CPUS_MAX ? index : 0];
}

static __always_inline bool core_is_idle(u32 cpu)
{
	u32 sibling = cpu, i;

	bpf_for(i, 0, CORE_SIBLINGS_MOST)
	{
		sibling = next_sibling(sibling);
		if (sibling == cpu)
			break;
		if (!run_on((s32)sibling)->is_idle)
			return false;
	}
	return true;
}

/* The idle CPU that suits best among those that share the last-level cache with the thread's previous one. -1: none. */
static __noinline s32 best_idle(struct task_struct *p, s32 prev_cpu, bool is_urgent)
{
	u32 cache = cache_of(prev_cpu), best = ~0u, rank, cpu, i;
	struct idle_cpu idle;
	s32 found = -1;

	bpf_for(i, cache_begins(cache), cache_begins(cache + 1))
	{
		cpu = cpu_in_caches(i);
		if (!run_on((s32)cpu)->is_idle || !bpf_cpumask_test_cpu(cpu, p->cpus_ptr))
			continue;
		idle.is_previous = (s32)cpu == prev_cpu;
		idle.is_whole = core_is_idle(cpu);
		idle.is_small = is_small(cpu);
		rank = idle_cpu_rank(&idle, is_urgent, settings.power);
		if (rank < best) {
			best = rank;
			found = (s32)cpu;
		}
		if (!best)
			break;
	}
	/* Somebody else was quicker, or a thread of another class runs there: the kernel knows better then. */
	return found >= 0 && scx_bpf_test_and_clear_cpu_idle(found) ? found : -1;
}

/* Whether the thread that wakes is urgent, for its place alone. */
static __always_inline bool wakes_urgent(struct task_struct *p)
{
	struct task_ctx *thread = thread_of(p);
	u64 now_ns;

	if (!thread || thread->role.answer.tier == TIER_LATENCY_CRITICAL)
		return thread != NULL;
	now_ns = bpf_ktime_get_ns();
	return thread->scx.inherited.until_ns > now_ns || thread->scx.input_until_ns > now_ns;
}

/* Selects a CPU for a thread that wakes. Where all cores and caches are alike, or none in its cache is idle, that is
 * the kernel's choice: its previous one, whose caches are warm, or a core that is idle with all siblings. */
static __always_inline s32 choose_cpu(struct task_struct *p, s32 prev_cpu, u64 wake_flags, bool *is_idle)
{
	s32 cpu;

	if (settings.ranks_cpus && p->nr_cpus_allowed > 1) {
		cpu = best_idle(p, prev_cpu, idle_cpu_rank_asks(settings.has_small, settings.power) && wakes_urgent(p));
		*is_idle = cpu >= 0;
		if (cpu >= 0)
			return cpu;
	}
	if (bpf_ksym_exists(scx_bpf_select_cpu_dfl))
		return scx_bpf_select_cpu_dfl(p, prev_cpu, wake_flags, is_idle);
	*is_idle = bpf_cpumask_test_cpu((u32)prev_cpu, p->cpus_ptr) && scx_bpf_test_and_clear_cpu_idle(prev_cpu);
	return prev_cpu;
}

static __always_inline u64 burst_on(struct cpu_run *run, u64 ran_ns)
{
	return tier_burst_counted_ns(run->burst_ns + ran_ns, run->may_burn);
}

/* In which tier the thread is now that runs on that CPU. */
static __always_inline u32 tier_on(s32 cpu, u64 now_ns)
{
	struct cpu_run *run = run_on(cpu);

	return tier_now(run->tier, burst_on(run, now_ns - run->since_ns));
}

/* Whether the thread may preempt the one that runs on that CPU. */
static __always_inline bool can_preempt(struct task_ctx *thread, u32 tier, s32 cpu, u64 now_ns)
{
	struct cpu_run *run = run_on(cpu);
	u64 ran_ns = now_ns - run->since_ns;

	return !run->kicked && !run->is_given &&
	       tier_preempts(tier, tier_is_still_light(thread->scx.is_light, thread->scx.burst_ns, settings.light_ns),
			     run->tier, burst_on(run, ran_ns), run->last_burst_ns, ran_ns, settings.light_ns);
}

/* A CPU of the cache whose thread this one may preempt; a big one for an urgent thread, if there is one. -1: none. */
static __noinline s32 victim_in_cache(struct task_struct *p, struct task_ctx *thread, u32 tier, u32 cache, u64 now_ns)
{
	s32 cpu, small = -1;
	u32 i;

	bpf_for(i, cache_begins(cache), cache_begins(cache + 1))
	{
		cpu = (s32)cpu_in_caches(i);
		if (!bpf_cpumask_test_cpu((u32)cpu, p->cpus_ptr) || !can_preempt(thread, tier, cpu, now_ns))
			continue;
		if (tier != TIER_LATENCY_CRITICAL || !is_small((u32)cpu))
			return cpu;
		small = cpu;
	}
	return small;
}

/* A CPU whose thread this one may preempt: its own, else any that shares the queue; and for an urgent thread one of
 * another cache, near ones first, rather than none. -1: none. */
static __always_inline s32 find_victim(struct task_struct *p, struct task_ctx *thread, u32 tier, s32 own_cpu,
				       bool only_own, u64 now_ns)
{
	bool own_is_good = can_preempt(thread, tier, own_cpu, now_ns);
	u32 cache = cache_of(own_cpu), i;
	s32 cpu;

	if (own_is_good && (only_own || tier != TIER_LATENCY_CRITICAL || !is_small((u32)own_cpu)))
		return own_cpu;
	if (only_own || tier == TIER_BATCH || settings.cpus_len == 1)
		return -1;
	cpu = victim_in_cache(p, thread, tier, cache, now_ns);
	if (cpu >= 0 || tier != TIER_LATENCY_CRITICAL || settings.caches_len == 1)
		return cpu;
	bpf_for(i, 0, settings.caches_len - 1)
	{
		cpu = victim_in_cache(p, thread, tier, cache_to_steal_from(cache, i), now_ns);
		if (cpu >= 0)
			break;
	}
	return cpu;
}

#endif
