/* SPDX-License-Identifier: GPL-2.0 */
/* What is counted of the scheduler and how: pure functions over plain records.
 * The kernel half calls them at its hooks; a replay and the unit tests call the same ones. */
#ifndef TACTUS_CORE_ACCOUNT_H
#define TACTUS_CORE_ACCOUNT_H

#include "types.h"

/* One CPU's account. Padded to two cache lines: CPUs write theirs at full switch rate, and the prefetcher
 * takes lines in pairs. */
struct cpu_account {
	u64 switches;
	u64 busy_ns;
	u64 idle_ns;
	u64 lost;     /* switches that happened here and were not seen */
	u64 since_ns; /* when the CPU last turned busy or idle; 0: the account is not open */
	u64 running;  /* who runs here now: any number that names a thread and differs between two */
	u64 is_idle;
	u64 unused;
} __attribute__((aligned(128)));

core_fn void cpu_account_open(struct cpu_account *cpu, u64 now_ns, u64 running, u64 is_idle)
{
	cpu->since_ns = now_ns;
	cpu->running = running;
	cpu->is_idle = is_idle;
}

/* Adds the time since the CPU last turned busy or idle. An account that is not open stays empty; a clock that went
 * backwards adds nothing. */
core_fn void cpu_account_settle(struct cpu_account *cpu, u64 now_ns)
{
	u64 span_ns = now_ns > cpu->since_ns ? now_ns - cpu->since_ns : 0;

	if (cpu->since_ns == 0)
		return;
	if (cpu->is_idle)
		cpu->idle_ns += span_ns;
	else
		cpu->busy_ns += span_ns;
	cpu->since_ns = now_ns;
}

/* A switch between two threads that are both idle or both not needs no clock, which is most of its cost: ask this
 * first and read the time only if it says so. */
core_fn int cpu_switch_turns(const struct cpu_account *cpu, u64 next_is_idle)
{
	return cpu->is_idle != next_is_idle || cpu->since_ns == 0;
}

/* The CPU leaves `prev` for `next`. Where prev is not who was known to run here, switches were missed in between. */
core_fn void cpu_account_switch(struct cpu_account *cpu, u64 prev, u64 next)
{
	cpu->switches++;
	if (cpu->running != prev && cpu->since_ns)
		cpu->lost++;
	cpu->running = next;
}

/* The CPU turns idle or busy. A CPU that came online after the window was opened starts its account here. */
core_fn void cpu_account_turn(struct cpu_account *cpu, u64 now_ns, u64 next_is_idle)
{
	cpu_account_settle(cpu, now_ns);
	cpu->since_ns = now_ns;
	cpu->is_idle = next_is_idle;
}

#endif
