/* SPDX-License-Identifier: GPL-2.0 */
/* How fast a CPU is asked to be: a target for the kernel's frequency governor, by the power profile, by whether it runs
 * an urgent thread, and by how busy it was. Pure; bpf/scx_power.h keeps the account. */
#ifndef TACTUS_CORE_POWER_H
#define TACTUS_CORE_POWER_H

#include "placement.h"

enum {
	POWER_FULL = 1024,			/* the kernel's SCX_CPUPERF_ONE */
	POWER_SPAN_NS = 16 * NSEC_PER_MSEC,	/* how busy a CPU was is counted over so long, as the kernel does */
	POWER_STEP = 64,			/* targets are multiples of this, so that small changes are none */
	POWER_LEAST = 256,			/* no CPU is asked for less */
	POWER_SAVE_MOST = POWER_FULL / 4 * 3,	/* nor for more, to save power */
	POWER_SAVE_URGENT = POWER_FULL / 4 * 3, /* so an urgent thread's work takes up to a third longer then */
};

/* What a CPU did: its busy time in the current span, and its busy part of the last ones, of POWER_FULL. */
struct power_use {
	u64 since_ns;
	u64 busy_ns;
	u64 counted_ns; /* busy time is counted until then */
	u32 busy;
	u32 target; /* that was asked for last */
};

/* The CPU begins to be busy. */
core_fn void power_use_begins(struct power_use *use, u64 now_ns)
{
	use->counted_ns = now_ns;
}

/* The CPU was busy until now. */
core_fn void power_use_goes_on(struct power_use *use, u64 now_ns)
{
	u64 span_ns = now_ns - use->since_ns, part;

	/* CPUs' clocks may differ by a little: the time may seem to be before. */
	if ((s64)(now_ns - use->counted_ns) > 0)
		use->busy_ns += now_ns - use->counted_ns;
	use->counted_ns = now_ns;
	if ((s64)span_ns < (s64)POWER_SPAN_NS)
		return;
	if (use->busy_ns > span_ns)
		use->busy_ns = span_ns;
	part = use->busy_ns * POWER_FULL / span_ns;
	/* A CPU that was idle for long has nothing of before; else the last span counts for half. */
	use->busy = (u32)(span_ns >= 4ull * POWER_SPAN_NS ? part : (use->busy + part) / 2);
	use->since_ns = now_ns;
	use->busy_ns = 0;
}

/* What the CPU is asked for while it runs such a thread. A quarter more than it seems to need, as the kernel's own
 * governor does, so that a load that grows is seen to grow. */
core_fn u32 power_target(u32 power, int is_urgent, u32 busy)
{
	u32 target = busy + busy / 4;

	if (power == POWER_PERFORMANCE || (is_urgent && power == POWER_BALANCED))
		return POWER_FULL;
	if (is_urgent)
		return POWER_SAVE_URGENT;
	target = (target + POWER_STEP - 1) / POWER_STEP * POWER_STEP;
	if (target < POWER_LEAST)
		return POWER_LEAST;
	if (power == POWER_SAVE)
		return target < POWER_SAVE_MOST ? target : POWER_SAVE_MOST;
	return target < POWER_FULL ? target : POWER_FULL;
}

#endif
