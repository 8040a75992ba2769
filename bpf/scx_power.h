/* SPDX-License-Identifier: GPL-2.0 */
/* How fast each CPU is asked to be, by core/power.h. By the profile performance the kernel's own target stays, which is
 * full speed, and nothing of this is called. For the scheduler alone. */
#ifndef TACTUS_BPF_SCX_POWER_H
#define TACTUS_BPF_SCX_POWER_H

#include "scx_place.h"

static __always_inline void ask_for_speed(struct cpu_run *run, s32 cpu, u32 tier)
{
	u32 target = power_target(settings.power, tier >= TIER_LATENCY_CRITICAL, run->power.busy);

	if (target == run->power.target || !bpf_ksym_exists(scx_bpf_cpuperf_set))
		return;
	run->power.target = target;
	count(SCX_COUNT_SPEEDS);
	scx_bpf_cpuperf_set(cpu, target);
}

static __always_inline void power_on_running(struct cpu_run *run, s32 cpu, u64 now_ns)
{
	if (settings.power == POWER_PERFORMANCE)
		return;
	power_use_begins(&run->power, now_ns);
	ask_for_speed(run, cpu, run->tier);
}

static __always_inline void power_on_tick(struct cpu_run *run, s32 cpu, u64 now_ns)
{
	if (settings.power == POWER_PERFORMANCE)
		return;
	power_use_goes_on(&run->power, now_ns);
	ask_for_speed(run, cpu, tier_on(cpu, now_ns));
}

static __always_inline void power_on_stopping(s32 cpu)
{
	if (settings.power != POWER_PERFORMANCE)
		power_use_goes_on(&run_on(cpu)->power, bpf_ktime_get_ns());
}

#endif
