/* SPDX-License-Identifier: GPL-2.0 */
/* The scheduler's decisions as pure functions: what a run costs a thread and where it joins the queue.
 * bpf/scx.bpf.c gathers their inputs and carries out what they say. */
#ifndef TACTUS_CORE_TIER_H
#define TACTUS_CORE_TIER_H

#include "group.h"

/* How urgently a thread runs. */
enum tier { TIER_BATCH, TIER_INTERACTIVE, TIER_LATENCY_CRITICAL, TIERS };

enum {
	TIER_SLICE_NS = 5 * NSEC_PER_MSEC,
	TIER_URGENT_SLICE_NS = 500 * NSEC_PER_USEC,
	TIER_BURST_NS = 10 * NSEC_PER_MSEC, /* who runs longer without a sleep is not urgent, whatever it says */
	TIER_HOG_NS = 20 * NSEC_PER_MSEC,   /* and who runs longer than this is batch, until it sleeps */
	TIER_UNDISTURBED_NS = 2 * NSEC_PER_MSEC,
	TIER_LIGHT_NS = 500 * NSEC_PER_USEC, /* a thread that ran no longer than this before it slept */
	TIER_LIGHT_PARTS = 8,		     /* and no more than this part of the time since it last woke is light */
	TIER_LENT_NS = 50 * NSEC_PER_MSEC,   /* how long a waker of an urgent thread is as urgent */
	TIER_LENT_DEPTH = 3,		     /* and through how many wakers in a row */
	TIER_MOVES_PER_SEC = 200, /* a thread that moved more often stays where it is for the rest of the second */
	TIER_WEIGHT_NORMAL = 100, /* sched_ext's weight of a thread at nice 0 */
	TIER_MISS_NS = 2 * NSEC_PER_MSEC, /* an urgent thread that waits longer has missed its deadline */
	/* What an urgent thread runs costs it an eighth, so that it may need more than an equal share. So a batch
	 * thread always gets an eighth of what an urgent one of its weight gets. */
	TIER_URGENT_DISCOUNT = 8,
	TIER_INPUT_NS = 20 * NSEC_PER_MSEC,	 /* so long after an input event who handles it is urgent */
	TIER_FRAME_NEAR_NS = 4 * NSEC_PER_MSEC,	 /* so long before a frame is due who makes it is pressed */
	TIER_FRAME_LOST_NS = 50 * NSEC_PER_MSEC, /* and so long after it; then it is given up */
	TIER_FRAME_BOOST = 2,
	TIER_CROWD = 64,	/* where more wait in a queue for each CPU, slices get shorter */
	TIER_CROWD_LOOKED = 16, /* of so many who are first in a queue */
	TIER_CROWD_URGENT = 8,	/* so many urgent ones are a crowd: none of them is spared anything */
	TIER_SHORTEST_NS = 1 * NSEC_PER_MSEC,
	TIER_WATCH_NS = 100 * NSEC_PER_MSEC,	 /* an urgent thread is watched for so long at a time */
	TIER_AWAKE_PERCENT = 75,		 /* who is awake for more of it burns */
	TIER_BARRED_NS = NSEC_PER_SEC,		 /* and is not urgent for so long */
	TIER_LATE_NS = 1 * NSEC_PER_SEC,	 /* whoever has waited longer is late, whatever its weight */
	TIER_LATE_EVERY_NS = 50 * NSEC_PER_MSEC, /* so often a CPU takes some of the late, out of turn */
	TIER_LATE_SLICE_NS = 1 * NSEC_PER_MSEC,	 /* for so long: that is the least share of light threads together */
	TIER_LATE_MOST = 4,			 /* so many at a time: where hundreds are late, each comes in time */
};
#define TIER_CHARGE_MOST_NS (1000ull * NSEC_PER_SEC)

/* Virtual time is compared as the kernel compares it: a wrapped counter is still later. */
core_fn int vtime_before(u64 a, u64 b)
{
	return (s64)(a - b) < 0;
}

/* What a thread's weight is worth among all, in parts of 65536: its own, and what one is worth in its group. */
core_fn u64 tier_worth(u32 weight, u64 group_worth)
{
	return (weight ? weight : 1) * (group_worth ? group_worth : 1);
}

/* A run of `ran_ns` costs a heavy thread less virtual time than a light one. What is charged at once has a bound, since
 * a thread that was alone for days must not overflow. */
core_fn u64 vtime_charge(u64 ran_ns, u64 worth)
{
	u64 counted_ns = ran_ns < TIER_CHARGE_MOST_NS ? ran_ns : TIER_CHARGE_MOST_NS;

	return (counted_ns * TIER_WEIGHT_NORMAL << GROUP_WORTH_BITS) / (worth ? worth : 1);
}

/* The same by how urgent it ran. Where many are urgent, sparing each would keep all others waiting for long. */
core_fn u64 tier_charge(u64 ran_ns, u64 worth, u32 tier, int many_urgent)
{
	u64 charge = vtime_charge(ran_ns, worth);

	return tier == TIER_LATENCY_CRITICAL && !many_urgent ? charge / TIER_URGENT_DISCOUNT : charge;
}

/* An urgent thread as it is watched: since when, how long it was awake, and what it was spared. */
struct urgent_watch {
	u64 since_ns;
	u64 awake_ns;
	u64 spared;
	u64 barred_until_ns;
};

/* Looks back when the time is over. Whoever slept too little took more than it needed to be on time: it pays back what
 * it was spared, and is not urgent for a while. Returns what it has to pay. */
core_fn u64 urgent_watch_ends(struct urgent_watch *watch, u64 now_ns)
{
	u64 span_ns = now_ns - watch->since_ns, pays = 0;

	if (span_ns < TIER_WATCH_NS)
		return 0;
	if (span_ns < 2 * TIER_WATCH_NS && watch->awake_ns * 100 > span_ns * TIER_AWAKE_PERCENT) {
		pays = watch->spared;
		watch->barred_until_ns = now_ns + TIER_BARRED_NS;
	}
	watch->since_ns = now_ns;
	watch->awake_ns = 0;
	watch->spared = 0;
	return pays;
}

/* A thread that slept may not save up more than one slice: it joins at most that far before the queue's clock. */
core_fn u64 vtime_join(u64 own_vtime, u64 queue_vtime, u64 slice_ns)
{
	u64 earliest = queue_vtime - slice_ns;

	return vtime_before(own_vtime, earliest) ? earliest : own_vtime;
}

/* A thread whose weight changes keeps what it is owed, or owes, in time on a CPU; in virtual time that is more or less
 * now.
 */
core_fn u64 vtime_reweighed(u64 own_vtime, u64 queue_vtime, u64 old_worth, u64 new_worth)
{
	u64 ahead = vtime_before(own_vtime, queue_vtime) ? 0 : own_vtime - queue_vtime;
	u64 behind = vtime_before(own_vtime, queue_vtime) ? queue_vtime - own_vtime : 0;

	if (!old_worth || !new_worth || old_worth == new_worth)
		return own_vtime;
	ahead = ahead < NSEC_PER_SEC ? ahead : NSEC_PER_SEC;
	behind = behind < NSEC_PER_SEC ? behind : NSEC_PER_SEC;
	return queue_vtime + ahead * old_worth / new_worth - behind * old_worth / new_worth;
}

/* How far before the queue's clock a thread may join after a sleep. An urgent one may save up more, so that it goes
 * first when it wakes; since all it runs is charged, its share of the CPU stays its weight's. A batch thread saves up
 * nothing. */
core_fn u64 tier_credit_ns(u32 tier, u64 slice_ns)
{
	return tier == TIER_LATENCY_CRITICAL ? 4 * slice_ns : tier == TIER_INTERACTIVE ? slice_ns : 0;
}

/* The same where many are urgent: then none may save up more than others. */
core_fn u64 tier_credit_among_ns(u32 tier, u64 slice_ns, int many_urgent)
{
	return tier_credit_ns(tier == TIER_LATENCY_CRITICAL && many_urgent ? TIER_INTERACTIVE : tier, slice_ns);
}

/* How far behind the clock a thread may be that did not sleep. More it could never get back: it may run on one CPU
 * only, say, where it has many rivals, while the clock goes by what others get. Who wakes urgently goes before it. */
core_fn u64 vtime_owed(u64 own_vtime, u64 queue_vtime, u64 slice_ns)
{
	return vtime_join(own_vtime, queue_vtime, tier_credit_ns(TIER_LATENCY_CRITICAL, slice_ns) - slice_ns);
}

/* By how much one clock follows another that threads on the same CPU go by. */
core_fn u64 clock_follows(u64 from_vtime, u64 to_vtime, u64 slice_ns)
{
	u64 most = tier_credit_ns(TIER_LATENCY_CRITICAL, slice_ns);

	if (!vtime_before(from_vtime, to_vtime))
		return 0;
	return to_vtime - from_vtime < most ? to_vtime - from_vtime : most;
}

/* Urgent threads have short slices, so that several take turns; batch threads long ones, since each turn costs. */
core_fn u64 tier_slice_ns(u32 tier, u64 slice_ns)
{
	if (tier == TIER_BATCH)
		return 2 * slice_ns;
	return tier == TIER_LATENCY_CRITICAL && slice_ns > TIER_URGENT_SLICE_NS ? TIER_URGENT_SLICE_NS : slice_ns;
}

/* Where very many wait, each gets less at a time, so that all get something in bearable time. */
core_fn u64 tier_slice_among_ns(u32 tier, u64 slice_ns, u64 waiting_per_cpu)
{
	u64 whole_ns = tier_slice_ns(tier, slice_ns), part_ns;

	if (waiting_per_cpu <= TIER_CROWD || whole_ns <= TIER_SHORTEST_NS)
		return whole_ns;
	part_ns = whole_ns * TIER_CROWD / waiting_per_cpu;
	return part_ns > TIER_SHORTEST_NS ? part_ns : TIER_SHORTEST_NS;
}

/* How long the next run will be, for the deadline: a slice, or what was learned of the thread's kind if that is less. A
 * batch thread gets nothing nearer by being short. */
core_fn u64 tier_expected_ns(u32 tier, u64 learned_run_ns, u64 slice_ns)
{
	u64 least_ns = slice_ns / 8;

	if (tier == TIER_BATCH || !learned_run_ns || learned_run_ns >= slice_ns)
		return slice_ns;
	return learned_run_ns > least_ns ? learned_run_ns : least_ns;
}

/* A queue is in the order of deadlines: the virtual time at which the thread would have used up its next slice, nearer
 * by a power of two for each step of boost. */
core_fn u64 tier_deadline(u64 vtime, u64 slice_ns, u64 worth, u32 boost)
{
	return vtime + (vtime_charge(slice_ns, worth) >> (boost < 16 ? boost : 16));
}

/* What a thread's tier amounts to, given how long it has run since it last slept. */
core_fn u32 tier_now(u32 tier, u64 burst_ns)
{
	if (burst_ns >= TIER_HOG_NS)
		return TIER_BATCH;
	return tier == TIER_LATENCY_CRITICAL && burst_ns >= TIER_BURST_NS ? TIER_INTERACTIVE : tier;
}

/* Whether a frame that is due then presses now. 0: there is none. */
core_fn int tier_frame_presses(u64 due_ns, u64 now_ns)
{
	return due_ns && now_ns + TIER_FRAME_NEAR_NS >= due_ns && now_ns < due_ns + TIER_FRAME_LOST_NS;
}

/* How long from one frame to the next, by what it was so far and the last one; a pause is none. */
core_fn u64 tier_frame_period_ns(u64 period_ns, u64 interval_ns)
{
	if (!interval_ns || interval_ns > NSEC_PER_SEC)
		return period_ns;
	return period_ns ? (period_ns * 7 + interval_ns) / 8 : interval_ns;
}

/* Whether a thread that gets its CPU now waited for it longer than it may. */
core_fn int tier_is_missed(u32 tier, u64 wait_ns)
{
	return tier == TIER_LATENCY_CRITICAL && wait_ns > TIER_MISS_NS;
}

/* Whether somebody in a queue can be late, given the longest wait that was found when somebody last looked, and how
 * long ago that was. */
core_fn int tier_may_be_late(u64 longest_ns, u64 since_ns)
{
	return longest_ns + since_ns >= TIER_LATE_NS;
}

/* How long a thread must have waited to be taken out of turn, given the longest wait that was found when somebody last
 * looked: among many late ones those that have waited longest come first, wherever in the queue they are. */
core_fn u64 tier_late_bar_ns(u64 longest_ns)
{
	u64 bar_ns = longest_ns / 4 * 3;

	return bar_ns > TIER_LATE_NS ? bar_ns : TIER_LATE_NS;
}

/* Whether a thread that wakes needs so little that it may have it at once, although nothing more is known of it: it ran
 * for so long before it last slept, and woke for that so long ago. */
core_fn int tier_is_light(u64 last_burst_ns, u64 wake_gap_ns)
{
	return last_burst_ns <= TIER_LIGHT_NS && wake_gap_ns / TIER_LIGHT_PARTS >= last_burst_ns;
}

/* Whether a thread has not had more than its share, by its queue's clock: only such a one pushes others off, so that
 * many threads that each need little do not take all. An urgent one may be a slice ahead. */
core_fn int tier_is_owed(u32 tier, u64 vtime, u64 queue_vtime, u64 slice_ns)
{
	return vtime_before(vtime, queue_vtime + (tier == TIER_LATENCY_CRITICAL ? slice_ns : 1));
}

/* Whether a thread that wakes may push off the one that runs, which has run so long since it last slept and so long
 * since it got the CPU: only one that is less urgent, so never an urgent one; and not before that one has got something
 * done, if the need is not great. */
core_fn int tier_preempts(u32 tier, int is_light, u32 running_tier, u64 running_burst_ns, u64 ran_ns)
{
	u32 running = tier_now(running_tier, running_burst_ns);

	if (tier == TIER_LATENCY_CRITICAL)
		return running < TIER_LATENCY_CRITICAL;
	if (tier != TIER_INTERACTIVE)
		return 0;
	if (is_light && running < TIER_LATENCY_CRITICAL && running_burst_ns > TIER_LIGHT_NS)
		return 1;
	return running == TIER_BATCH && ran_ns >= TIER_UNDISTURBED_NS;
}

/* Virtual time that one queue's clock has measured, by another queue's. */
core_fn u64 vtime_moved(u64 vtime, u64 from_clock, u64 to_clock)
{
	return vtime - from_clock + to_clock;
}

#endif
