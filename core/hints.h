/* SPDX-License-Identifier: GPL-2.0 */
/* What the kernel's own scheduler is told about a thread, given how urgent it is: a slice, a nice value, a clamp.
 * Pure; src/sched/hints.c carries it out and takes it back. */
#ifndef TACTUS_CORE_HINTS_H
#define TACTUS_CORE_HINTS_H

#include "tier.h"

enum {
	HINT_SLICE_LEAST_NS = 100 * NSEC_PER_USEC, /* the kernel's own limits of a custom slice */
	HINT_SLICE_MOST_NS = 100 * NSEC_PER_MSEC,
	HINT_SLICE_BATCH_NS = HINT_SLICE_MOST_NS,     /* with less an urgent thread waits for it now and then */
	HINT_SLICE_BATCH_KEPT_NS = 4 * NSEC_PER_MSEC, /* but where slices are kept that would be too long */
	HINT_SLICE_URGENT_MOST_NS = 1 * NSEC_PER_MSEC,
	HINT_SLICE_PARTS = 5,
	HINT_SLICE_SELF_NS = 3500 * NSEC_PER_USEC, /* tactus's own: longer than any urgent one's, shorter than batch */
	/* The least that does it: beside four hogs on its CPU a thread that needs 2 of every 5 ms has them within its
	 * period most of the time, with -5 it has not; one that needs 1 of 5 ms is as soon as with -20. And programs
	 * that want to be urgent themselves ask for -10 to -20: those are told apart. */
	HINT_NICE_URGENT = -9,
	HINT_NICE_SELF = -20,	 /* tactus must take hints away from whoever has them */
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
	u32 slices;	    /* custom slices: Linux 6.12 and later */
	u32 clamps;	    /* uclamp */
	u32 keeps;	    /* who has the CPU keeps it for all of its slice: before Linux 6.17 */
	u32 presses;	    /* nice values may become more pressing: that takes a privilege */
	u64 usual_slice_ns; /* the kernel's default slice, with custom ones; such a one is told as 0 */
};

/* An urgent thread's slice is a part of what it does at a time: shorter than any that a thread has by itself, and of
 * two urgent threads the one with less to do goes first. */
core_fn u64 hint_slice_ns(u64 burst_ns)
{
	u64 slice_ns = burst_ns / HINT_SLICE_PARTS;

	if (slice_ns > HINT_SLICE_URGENT_MOST_NS)
		return HINT_SLICE_URGENT_MOST_NS;
	return slice_ns < HINT_SLICE_LEAST_NS ? HINT_SLICE_LEAST_NS : slice_ns - slice_ns % HINT_SLICE_LEAST_NS;
}

/* A short slice gives an urgent thread an early deadline; a long one makes batch threads, once on the CPU, yield to
 * anybody whose deadline is earlier and keeps them from each other's way. But whoever has had more than his share must
 * wait, however early his deadline is, and who wakes has nothing saved up: a thread that loses the CPU in the midst of
 * its work waits until a batch thread has had what it is owed, and then for the next tick. The more a thread weighs the
 * less that is, so an urgent one gets a pressing nice value. Where slices are kept it waits for all of a batch
 * thread's. Batch threads keep their nice value: unlike a slice or a pressing one, a nicer one would pass to all that
 * they start, and stay there. For the same reason who has been made nicer keeps his nice value, whatever he is:
 * children of a thread with a pressing one start at 0. `burst_ns`: what the thread runs at a time. */
core_fn struct hint hint_for(const struct hint *own, u32 tier, u64 burst_ns, const struct hint_means *means)
{
	struct hint hint = *own;

	if (tier == TIER_LATENCY_CRITICAL) {
		if (means->slices)
			hint.slice_ns = hint_slice_ns(burst_ns);
		if (means->presses && own->nice <= 0 && own->nice > HINT_NICE_URGENT)
			hint.nice = HINT_NICE_URGENT;
		if (means->clamps && own->clamp_min < HINT_CLAMP_URGENT)
			hint.clamp_min = HINT_CLAMP_URGENT;
	} else if (tier == TIER_BATCH && means->slices) {
		hint.slice_ns = means->keeps ? HINT_SLICE_BATCH_KEPT_NS : HINT_SLICE_BATCH_NS;
	}
	if (hint.slice_ns == means->usual_slice_ns)
		hint.slice_ns = 0;
	return hint;
}

/* Whether a thread may be made more urgent than its owner made it. One that was made nicer, or batch, only by the
 * user's word: what a thread seems to be does not outweigh what its owner said. */
core_fn int hint_may_raise(const struct hint *own, int is_batch, int by_user)
{
	return by_user || (own->nice <= 0 && !is_batch);
}

/* Whether a thread that started then, in the kernel's ticks since boot, can be one that was there at that time. Ticks
 * are rounded down. */
core_fn int hint_is_of(u64 start_ticks, u64 ticks_per_sec, u64 known_ns)
{
	return start_ticks / ticks_per_sec * NSEC_PER_SEC +
		       start_ticks % ticks_per_sec * (NSEC_PER_SEC / ticks_per_sec) <=
	       known_ns;
}

core_fn int hint_same(const struct hint *a, const struct hint *b)
{
	return a->slice_ns == b->slice_ns && a->nice == b->nice && a->clamp_min == b->clamp_min;
}

/* What a thread gets back: each part that is still as it was given. What somebody else has changed is his. */
core_fn struct hint hint_returned(const struct hint *now, const struct hint *before, const struct hint *given)
{
	struct hint hint = *now;

	if (now->slice_ns == given->slice_ns)
		hint.slice_ns = before->slice_ns;
	if (now->nice == given->nice)
		hint.nice = before->nice;
	if (now->clamp_min == given->clamp_min)
		hint.clamp_min = before->clamp_min;
	return hint;
}

#endif
