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

/* An idle CPU that shares the last-level cache with the thread's previous CPU, whole idle cores first. -1: none. */
static __noinline s32 idle_in_cache(struct task_struct *p, s32 prev_cpu)
{
	u32 cache = cache_of(prev_cpu), begin = cache_begins(cache), end = cache_begins(cache + 1), pass, i;
	const struct cpumask *whole = NULL;
	s32 found = -1;
	u64 index;
	u32 cpu;

	if (bpf_ksym_exists(scx_bpf_get_idle_smtmask))
		whole = scx_bpf_get_idle_smtmask();
	bpf_for(pass, whole ? 0 : 1, 2)
	{
		bpf_for(i, begin, end)
		{
			index = i;
			barrier_var(index);
			cpu = settings.by_cache[index < SCX_CPUS_MAX ? index : 0];
			if (!bpf_cpumask_test_cpu(cpu, p->cpus_ptr) ||
			    (!pass && whole && !bpf_cpumask_test_cpu(cpu, whole)))
				continue;
			if (scx_bpf_test_and_clear_cpu_idle((s32)cpu)) {
				found = (s32)cpu;
				break;
			}
		}
		if (found >= 0)
			break;
	}
	if (whole)
		scx_bpf_put_idle_cpumask(whole);
	return found;
}

/* Selects a CPU for a thread that wakes: its previous one, whose caches are warm, if that is idle; else an idle one
 * that shares its last-level cache; else the kernel's choice. */
static __always_inline s32 choose_cpu(struct task_struct *p, s32 prev_cpu, u64 wake_flags, bool *is_idle)
{
	s32 cpu;

	if (settings.caches_len > 1 && p->nr_cpus_allowed > 1) {
		*is_idle = true;
		if (bpf_cpumask_test_cpu((u32)prev_cpu, p->cpus_ptr) && scx_bpf_test_and_clear_cpu_idle(prev_cpu))
			return prev_cpu;
		cpu = idle_in_cache(p, prev_cpu);
		if (cpu >= 0)
			return cpu;
		*is_idle = false;
	}
	if (bpf_ksym_exists(scx_bpf_select_cpu_dfl))
		return scx_bpf_select_cpu_dfl(p, prev_cpu, wake_flags, is_idle);
	*is_idle = bpf_cpumask_test_cpu((u32)prev_cpu, p->cpus_ptr) && scx_bpf_test_and_clear_cpu_idle(prev_cpu);
	return prev_cpu;
}

/* Whether the thread may preempt the one that runs on that CPU, and in which tier that one is now. */
static __always_inline bool can_preempt(struct task_ctx *thread, u32 tier, s32 cpu, u64 now_ns, u32 *other_tier)
{
	struct cpu_run *run = run_on(cpu);
	u64 ran_ns = now_ns - run->since_ns;

	*other_tier = tier_now(run->tier, run->burst_ns + ran_ns);
	return !run->kicked &&
	       tier_preempts(tier, thread->scx.is_light, run->tier, run->burst_ns + ran_ns, run->last_burst_ns, ran_ns);
}

/* A CPU whose thread this one may preempt: its own, else any that shares the queue. -1: none. */
static __always_inline s32 find_victim(struct task_struct *p, struct task_ctx *thread, u32 tier, s32 own_cpu,
				       bool only_own, u64 now_ns, u32 *other_tier)
{
	s32 cpu;

	if (can_preempt(thread, tier, own_cpu, now_ns, other_tier))
		return own_cpu;
	if (only_own || tier == TIER_BATCH || settings.cpus_len == 1)
		return -1;
	bpf_for(cpu, 0, (s32)settings.cpus_len)
	{
		if (cache_of(cpu) == cache_of(own_cpu) && bpf_cpumask_test_cpu((u32)cpu, p->cpus_ptr) &&
		    can_preempt(thread, tier, cpu, now_ns, other_tier))
			return cpu;
	}
	return -1;
}

#endif
