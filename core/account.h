/* SPDX-License-Identifier: GPL-2.0 */
/* What is counted of the scheduler and how: pure functions over plain records.
 * The kernel half calls them at its hooks; a replay and the unit tests call the same ones. */
#ifndef TACTUS_CORE_ACCOUNT_H
#define TACTUS_CORE_ACCOUNT_H

#include "place.h"
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
core_fn void cpu_account_snapshot(struct cpu_account *cpu, u64 now_ns)
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

/* Whether somebody else is on the CPU than was known: there were unseen switches. */
core_fn int cpu_unseen_switch(const struct cpu_account *cpu, u64 running)
{
	return cpu->running != running && cpu->since_ns;
}

/* Puts right what an unseen switch left behind: `running` is on the CPU, has been for `ran_ns` (~0: not known), and is
 * the idle thread or not. Before that the CPU did what was known of it. How long a CPU has been idle nobody keeps; then
 * all of the time counts as idle, since what is unseen in front of it is mostly short. */
core_fn void cpu_account_repair(struct cpu_account *cpu, u64 now_ns, u64 running, u64 is_idle, u64 ran_ns)
{
	cpu->lost++;
	cpu->running = running;
	if (!is_idle && ran_ns < now_ns && now_ns - ran_ns > cpu->since_ns)
		cpu_account_snapshot(cpu, now_ns - ran_ns);
	cpu->is_idle = is_idle;
}

/* The CPU leaves for `next`. */
core_fn void cpu_account_switch(struct cpu_account *cpu, u64 next)
{
	cpu->switches++;
	cpu->running = next;
}

/* The CPU turns idle or busy. A CPU that came online after the window was opened starts its account here. */
core_fn void cpu_account_turn(struct cpu_account *cpu, u64 now_ns, u64 next_is_idle)
{
	cpu_account_snapshot(cpu, now_ns);
	cpu->since_ns = now_ns;
	cpu->is_idle = next_is_idle;
}

enum {
	ACCOUNT_CPUS = 1024,	/* CPUs past this share a place with a lower one in a thread's set of CPUs */
	ACCOUNT_EWMA_SHIFT = 3, /* moving averages: 7/8 old, 1/8 new */
	STATE_DEAD = 0x80,	/* the kernel's TASK_DEAD, in a switch's prev_state: the thread's last */
};

enum wait_kind { WAIT_NONE, WAIT_WOKEN, WAIT_PREEMPTED };

/* What is counted of one thread. Times are CLOCK_MONOTONIC; 0 means "not now". */
struct thread_account {
	u64 cpu_ns;
	u64 runs;
	u64 run_since_ns;  /* on a CPU since */
	u64 charged_ns;	   /* cpu_ns counts up to here */
	u64 run_avg_ns;	   /* moving average of the length of a run */
	u64 run_dev_ns;	   /* and of its deviation from that */
	u64 wait_since_ns; /* able to run but not running since */
	u64 wake_wait_ns;
	u64 wake_waits;
	u64 preempt_wait_ns;
	u64 preempt_waits;
	u64 wait_max_ns;
	u64 wait_max_at_ns; /* when the longest wait ended */
	u64 wakeups;
	u64 woken_at_ns;
	u64 wake_gap_ns;     /* moving average of the time between wake-ups */
	u64 wake_gap_dev_ns; /* and of its deviation from that */
	u64 voluntary;
	u64 involuntary;
	u64 migrations[DISTANCES];
	u32 wait_kind;
	u32 waker_tid; /* who woke it last */
	u32 last_cpu;
	u32 prio;
	u64 cpus[ACCOUNT_CPUS / 64];
};

core_fn u64 ewma(u64 average, u64 value)
{
	return average - (average >> ACCOUNT_EWMA_SHIFT) + (value >> ACCOUNT_EWMA_SHIFT);
}

core_fn u64 span_between(u64 from_ns, u64 to_ns)
{
	return to_ns > from_ns ? to_ns - from_ns : 0;
}

core_fn u64 thread_wait_ns(const struct thread_account *thread)
{
	return thread->wake_wait_ns + thread->preempt_wait_ns;
}

core_fn u64 thread_migrations(const struct thread_account *thread)
{
	return thread->migrations[DISTANCE_CORE] + thread->migrations[DISTANCE_LLC] +
	       thread->migrations[DISTANCE_NODE] + thread->migrations[DISTANCE_CROSS];
}

/* Whether anything at all happened to the thread. */
core_fn int thread_was_active(const struct thread_account *thread)
{
	return thread->cpu_ns || thread->runs || thread->wakeups || thread->voluntary || thread->involuntary ||
	       thread_migrations(thread);
}

/* Counting begins anew; what the thread is doing goes on. */
core_fn void thread_restart(struct thread_account *thread)
{
	struct thread_account begun = {
		.run_since_ns = thread->run_since_ns,
		.charged_ns = thread->charged_ns,
		.run_avg_ns = thread->run_avg_ns,
		.run_dev_ns = thread->run_dev_ns,
		.wait_since_ns = thread->wait_since_ns,
		.woken_at_ns = thread->woken_at_ns,
		.wake_gap_ns = thread->wake_gap_ns,
		.wake_gap_dev_ns = thread->wake_gap_dev_ns,
		.wait_kind = thread->wait_kind,
		.waker_tid = thread->waker_tid,
		.last_cpu = thread->last_cpu,
		.prio = thread->prio,
	};
	u32 slot = thread->last_cpu % ACCOUNT_CPUS;

	if (thread->run_since_ns)
		begun.cpus[slot / 64] = 1ULL << (slot % 64);
	*thread = begun;
}

/* The thread gets a CPU. Returns how long it waited for it, 0 if it did not. */
core_fn u64 thread_run_begins(struct thread_account *thread, u64 now_ns, u32 cpu, u32 prio)
{
	u32 slot = cpu % ACCOUNT_CPUS;
	u64 wait_ns = thread->wait_since_ns ? span_between(thread->wait_since_ns, now_ns) : 0;

	if (thread->wait_kind == WAIT_WOKEN) {
		thread->wake_wait_ns += wait_ns;
		thread->wake_waits++;
	} else if (thread->wait_kind == WAIT_PREEMPTED) {
		thread->preempt_wait_ns += wait_ns;
		thread->preempt_waits++;
	}
	if (wait_ns > thread->wait_max_ns) {
		thread->wait_max_ns = wait_ns;
		thread->wait_max_at_ns = now_ns;
	}
	thread->wait_kind = WAIT_NONE;
	thread->wait_since_ns = 0;
	thread->run_since_ns = now_ns;
	thread->charged_ns = now_ns;
	thread->last_cpu = cpu;
	thread->prio = prio;
	thread->cpus[slot / 64] |= 1ULL << (slot % 64);
	return wait_ns;
}

/* The thread was found on a CPU at the start of the window; since when is not known and does not count. */
core_fn void thread_run_found(struct thread_account *thread, u64 now_ns, u32 cpu, u32 prio)
{
	thread->wait_kind = WAIT_NONE;
	thread->wait_since_ns = 0;
	thread_run_begins(thread, now_ns, cpu, prio);
}

/* Brings cpu_ns up to now for a thread that is on a CPU. */
core_fn void thread_charge(struct thread_account *thread, u64 now_ns)
{
	if (!thread->run_since_ns)
		return;
	thread->cpu_ns += span_between(thread->charged_ns, now_ns);
	thread->charged_ns = now_ns;
}

/* The thread leaves the CPU. `state` and `preempted` are the kernel's: a thread that was pushed off on its way to sleep
 * has a state and was preempted; it can still run, so it waits and the switch was not its own will. */
core_fn void thread_run_ends(struct thread_account *thread, u64 now_ns, u32 state, int preempted, u32 prio)
{
	u64 ran_ns = span_between(thread->run_since_ns, now_ns);
	u64 off_ns = ran_ns > thread->run_avg_ns ? ran_ns - thread->run_avg_ns : thread->run_avg_ns - ran_ns;

	if (thread->run_since_ns) {
		thread_charge(thread, now_ns);
		thread->run_dev_ns = thread->runs ? ewma(thread->run_dev_ns, off_ns) : 0;
		thread->run_avg_ns = thread->runs ? ewma(thread->run_avg_ns, ran_ns) : ran_ns;
		thread->runs++;
	}
	thread->run_since_ns = 0;
	thread->prio = prio;
	if (preempted || state == 0) {
		thread->involuntary++;
		thread->wait_kind = WAIT_PREEMPTED;
		thread->wait_since_ns = now_ns;
	} else {
		thread->voluntary++;
		thread->wait_kind = WAIT_NONE;
		thread->wait_since_ns = 0;
	}
}

/* The thread is made able to run. One that is on a CPU or waits for one already is not woken: it was on its way to
 * sleep and turned back. */
core_fn void thread_woken(struct thread_account *thread, u64 now_ns, u32 waker_tid, u32 prio)
{
	thread->waker_tid = waker_tid;
	thread->prio = prio;
	if (thread->run_since_ns || thread->wait_since_ns)
		return;
	if (thread->woken_at_ns) {
		u64 gap_ns = span_between(thread->woken_at_ns, now_ns), average = thread->wake_gap_ns;
		u64 off_ns = gap_ns > average ? gap_ns - average : average - gap_ns;

		thread->wake_gap_dev_ns = average ? ewma(thread->wake_gap_dev_ns, off_ns) : 0;
		thread->wake_gap_ns = average ? ewma(average, gap_ns) : gap_ns;
	}
	thread->woken_at_ns = now_ns;
	thread->wakeups++;
	thread->wait_kind = WAIT_WOKEN;
	thread->wait_since_ns = now_ns;
}

core_fn void thread_moved(struct thread_account *thread, enum distance distance)
{
	if ((u32)distance < DISTANCES)
		thread->migrations[distance]++;
}

#endif
