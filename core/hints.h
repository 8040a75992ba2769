/* SPDX-License-Identifier: GPL-2.0 */
/* The hint that the kernel's own scheduler gets for a thread, given how urgent it is: a slice, a nice value, a clamp.
 * Pure; src/sched/hints.c carries it out and takes it back. */
#ifndef TACTUS_CORE_HINTS_H
#define TACTUS_CORE_HINTS_H

#include "urgency.h"

enum {
	HINT_SLICE_LEAST_NS = 100 * NSEC_PER_USEC, /* the kernel's own limits of a custom slice */
	HINT_SLICE_MOST_NS = 100 * NSEC_PER_MSEC,
	HINT_SLICE_URGENT_MOST_NS = 1 * NSEC_PER_MSEC,
	HINT_SLICE_PARTS = 5,
	/* The least that does it: beside four hogs on its CPU a thread that needs 2 of every 5 ms has them within its
	 * period most of the time, with -5 it has not; one that needs 1 of 5 ms is as soon as with -20. And programs
	 * that want to be urgent themselves ask for -10 to -20: those are told apart. */
	HINT_NICE_URGENT = -9,
	HINT_NICE_SELF_LATE = -20,    /* tactus's own, while others keep it from its work */
	HINT_SELF_LATE_LOOKS = 3,     /* they do where the next look comes after the time of so many */
	HINT_SELF_PRESSES_LOOKS = 10, /* and it is believed for the time of so many */
	HINT_CLAMP_URGENT = 512,      /* of 1024: an urgent thread's CPU runs at half speed at least */
};

/* What a thread has: its owner's choice, or the hint it was given. */
struct hint {
	u64 slice_ns; /* 0: the kernel's default */
	s32 nice;
	u32 clamp_min; /* 0: none */
};

/* What the machine takes. */
struct hint_means {
	u32 slices;	    /* custom slices: Linux 6.12 and later */
	u32 clamps;	    /* uclamp */
	u32 presses;	    /* nice values may become more pressing: that takes a privilege */
	u64 usual_slice_ns; /* the kernel's default slice, with custom ones; such a one is noted as 0 */
};

/* The longest slice of an urgent thread: shorter than the one that every thread has by itself. */
core_fn u64 hint_slice_most_ns(u64 usual_slice_ns)
{
	u64 most_ns = usual_slice_ns / 4 * 3;

	return most_ns && most_ns < HINT_SLICE_URGENT_MOST_NS ? most_ns : HINT_SLICE_URGENT_MOST_NS;
}

/* tactus's own: longer than any urgent one's, shorter than what others have. */
core_fn u64 hint_slice_self_ns(u64 usual_slice_ns)
{
	return usual_slice_ns / 8 * 7;
}

/* Until when tactus itself presses, given its last look and this one. It weighs no more than others as a rule: EEVDF
 * pays a thread back by the average of all, and a heavy one holds that back for all while it runs and as long as it
 * sleeps on credit. With nice -20 an urgent thread waited up to 6.8 ms beside three hogs, without tactus 3.3. But it
 * must be there to take hints away from whoever has them, so it presses once others made it late. What it `ran_ns`
 * itself since the last look does not count: that is what it does at its start, when nobody keeps it from its work. */
core_fn u64 hint_self_presses_until_ns(u64 until_ns, u64 looked_ns, u64 now_ns, u64 ran_ns)
{
	if (!looked_ns || now_ns - looked_ns < ran_ns + HINT_SELF_LATE_LOOKS * (u64)URGENCY_LOOK_NS)
		return until_ns;
	return now_ns + HINT_SELF_PRESSES_LOOKS * (u64)URGENCY_LOOK_NS;
}

core_fn s32 hint_nice_self(s32 own_nice, int presses)
{
	return presses && own_nice > HINT_NICE_SELF_LATE ? HINT_NICE_SELF_LATE : own_nice;
}

/* An urgent thread's slice is a part of what it does at a time, so that of two urgent threads the one with less to do
 * goes first. */
core_fn u64 hint_slice_ns(u64 burst_ns, u64 usual_slice_ns)
{
	u64 slice_ns = burst_ns / HINT_SLICE_PARTS, most_ns = hint_slice_most_ns(usual_slice_ns);

	if (slice_ns > most_ns)
		slice_ns = most_ns;
	return slice_ns < HINT_SLICE_LEAST_NS ? HINT_SLICE_LEAST_NS : slice_ns - slice_ns % HINT_SLICE_LEAST_NS;
}

/* Only urgent threads get hints. A short slice gives one an early deadline. But whoever has had more than his share
 * must wait, however early his deadline is: a thread that loses the CPU in the midst of its work waits until others
 * have had what they are owed. The more a thread weighs the less that is, so it gets a pressing nice value.
 *
 * A long slice for batch threads would help the urgent ones too, by making the others' deadlines late. But a thread may
 * be owed up to twice its slice, and all that nothing is known of pays: with slices of 100 ms such a thread waited 150
 * ms where EEVDF alone has 10, with twice the usual slice still twice as long (bench/latency/unknown.c). Nor do batch
 * threads get a nicer value: unlike a slice or a pressing one, it would pass to all that they start, and stay there.
 * For the same reason who has been made nicer keeps his nice value, whatever he is: children of a thread with a
 * pressing one start at 0. `burst_ns`: what the thread runs at a time. */
core_fn struct hint hint_for(const struct hint *own, u32 tier, u64 burst_ns, const struct hint_means *means)
{
	struct hint hint = *own;

	if (tier != TIER_LATENCY_CRITICAL)
		return hint;
	if (means->slices)
		hint.slice_ns = hint_slice_ns(burst_ns, means->usual_slice_ns);
	if (means->presses && own->nice <= 0 && own->nice > HINT_NICE_URGENT)
		hint.nice = HINT_NICE_URGENT;
	if (means->clamps && own->clamp_min < HINT_CLAMP_URGENT)
		hint.clamp_min = HINT_CLAMP_URGENT;
	return hint;
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

/* What a thread gets back: each part that is still as it was given. What somebody else has changed is his; but who was
 * made pressing may choose anything less pressing by himself, so what he could not have chosen without that, which is
 * less than `least_nice`, goes back too. */
core_fn struct hint hint_returned(const struct hint *now, const struct hint *before, const struct hint *given,
				  s32 least_nice)
{
	int is_kept = given->nice < before->nice && now->nice < before->nice && now->nice < least_nice;
	struct hint hint = *now;

	if (now->slice_ns == given->slice_ns)
		hint.slice_ns = before->slice_ns;
	if (now->nice == given->nice || is_kept)
		hint.nice = before->nice;
	if (now->clamp_min == given->clamp_min)
		hint.clamp_min = before->clamp_min;
	return hint;
}

#endif
