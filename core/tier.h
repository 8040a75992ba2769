/* SPDX-License-Identifier: GPL-2.0 */
/* The scheduler's decisions as pure functions: what a run costs a thread and where it joins the queue.
 * bpf/scx.bpf.c gathers their inputs and carries out what they say. */
#ifndef TACTUS_CORE_TIER_H
#define TACTUS_CORE_TIER_H

#include "types.h"

/* How urgently a thread runs. */
enum tier { TIER_BATCH, TIER_INTERACTIVE, TIER_LATENCY_CRITICAL, TIERS };

enum {
	TIER_SLICE_NS = 5 * NSEC_PER_MSEC,
	TIER_WEIGHT_NORMAL = 100, /* sched_ext's weight of a thread at nice 0 */
};

/* Virtual time is compared as the kernel compares it: a wrapped counter is still later. */
core_fn int vtime_before(u64 a, u64 b)
{
	return (s64)(a - b) < 0;
}

/* A run of `ran_ns` costs a heavy thread less virtual time than a light one. */
core_fn u64 vtime_charge(u64 ran_ns, u32 weight)
{
	return ran_ns * TIER_WEIGHT_NORMAL / (weight ? weight : 1);
}

/* A thread that slept may not save up more than one slice: it joins at most that far before the queue's clock. */
core_fn u64 vtime_join(u64 own_vtime, u64 queue_vtime, u64 slice_ns)
{
	u64 earliest = queue_vtime - slice_ns;

	return vtime_before(own_vtime, earliest) ? earliest : own_vtime;
}

/* Whether a thread whose slice is over goes on, given the virtual time of the first in the queue. */
core_fn int vtime_keeps_turn(u64 own_vtime, u64 first_vtime)
{
	return vtime_before(own_vtime, first_vtime);
}

#endif
