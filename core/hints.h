/* SPDX-License-Identifier: GPL-2.0 */
/* What the kernel's own scheduler is told about a thread, given how urgent it is: a slice, a nice value, a clamp.
 * Pure; src/sched/hints.c carries it out and takes it back. */
#ifndef TACTUS_CORE_HINTS_H
#define TACTUS_CORE_HINTS_H

#include "tier.h"

enum {
	HINT_SLICE_LEAST_NS = 100 * NSEC_PER_USEC, /* the kernel's own limits of a custom slice */
	HINT_SLICE_MOST_NS = 100 * NSEC_PER_MSEC,
	HINT_NICE_URGENT = -5,
	HINT_NICE_BATCH = 5,
	HINT_CLAMP_URGENT = 512, /* of 1024: an urgent thread's CPU runs at half speed at least */
};

/* What a thread has: its owner's choice, or what it was told. */
struct hint {
	u64 slice_ns; /* 0: the kernel's default */
	s32 nice;
	u32 clamp_min; /* 0: none */
};

/* What the machine takes. */
struct hint_means {
	u32 slices; /* custom slices: Linux 6.12 and later */
	u32 clamps; /* uclamp */
};

/* A short slice gives an urgent thread an early deadline; a long one makes batch threads, once on the CPU, yield to
 * anybody whose deadline is earlier and keeps them from each other's way. Measured, that does far more than nice does,
 * so nice changes only where there are no custom slices. Nobody's own nice value is made more pressing by being batch.
 */
core_fn struct hint hint_for(const struct hint *own, u32 tier, const struct hint_means *means)
{
	struct hint hint = *own;

	if (tier == TIER_LATENCY_CRITICAL) {
		if (means->slices)
			hint.slice_ns = HINT_SLICE_LEAST_NS;
		else if (own->nice > HINT_NICE_URGENT)
			hint.nice = HINT_NICE_URGENT;
		if (means->clamps && own->clamp_min < HINT_CLAMP_URGENT)
			hint.clamp_min = HINT_CLAMP_URGENT;
	} else if (tier == TIER_BATCH) {
		if (means->slices)
			hint.slice_ns = HINT_SLICE_MOST_NS;
		else if (own->nice < HINT_NICE_BATCH)
			hint.nice = HINT_NICE_BATCH;
	}
	return hint;
}

core_fn int hint_same(const struct hint *a, const struct hint *b)
{
	return a->slice_ns == b->slice_ns && a->nice == b->nice && a->clamp_min == b->clamp_min;
}

#endif
