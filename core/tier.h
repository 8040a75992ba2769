/* SPDX-License-Identifier: GPL-2.0 */
/* The scheduler's decisions as pure functions: what a run is charged, where a thread joins its queue, slices,
 * deadlines, preemption, and threads that have waited too long. How urgent a thread is: effective_tier.h. bpf/scx.bpf.c
 * gathers the inputs and carries out the answers. */
#ifndef TACTUS_CORE_TIER_H
#define TACTUS_CORE_TIER_H

#include "group.h"

/* How urgently a thread runs. */
enum tier { TIER_BATCH, TIER_INTERACTIVE, TIER_LATENCY_CRITICAL, TIERS };

enum {
	TIER_SLICE_NS = 5 * NSEC_PER_MSEC,
	TIER_URGENT_SLICE_NS = 500 * NSEC_PER_USEC,
	TIER_BURST_NS = 10 * NSEC_PER_MSEC, /* longer without a sleep is not urgent, whatever the role */
	TIER_HOG_NS = 20 * NSEC_PER_MSEC,   /* and longer than this is batch, until the thread sleeps */
	TIER_UNDISTURBED_NS = 2 * NSEC_PER_MSEC,
	TIER_TURNS_NS = 50 *
			NSEC_PER_MSEC, /* for so long after a thread that is no hog began to wait, turns are short */
	TIER_ASKS_WITHIN_NS = 25 * NSEC_PER_MSEC, /* one whose deadline is further away asks for no short turns */
	TIER_TURN_NS = 1 * NSEC_PER_MSEC,
	TIER_HOG_TURN_NS = 700 * NSEC_PER_USEC,	 /* of a hog, while one that is no hog waits */
	TIER_TURN_LEAST_NS = 20 * NSEC_PER_USEC, /* no timer is set for less */
	TIER_LIGHT_NS = 500 * NSEC_PER_USEC,	 /* a thread that ran no longer than this before it slept */
	TIER_LIGHT_LEAST_US = 50,
	TIER_LIGHT_MOST_US = 2000,
	TIER_LIGHT_PARTS = 8,		      /* and no more than this part of the time since it last woke is light */
	TIER_INHERIT_NS = 50 * NSEC_PER_MSEC, /* how long the waker of an urgent thread inherits its urgency */
	TIER_INHERIT_DEPTH = 3,		      /* and through how many wakers in a row */
	TIER_LOCK_NS = 20 * NSEC_PER_MSEC,    /* whoever holds what an urgent thread waits for is urgent for so long */
	TIER_MOVES_PER_SEC = 200, /* a thread that migrated more often stays on its CPU for the rest of the second */
	TIER_WEIGHT_NORMAL = 100, /* sched_ext's weight of a thread at nice 0 */
	TIER_MISS_NS = 2 * NSEC_PER_MSEC, /* an urgent thread that waits longer misses its deadline */
	/* An urgent thread is charged an eighth of its CPU time, so that it may get more than an equal share. So a
	 * batch thread always gets an eighth of what an urgent one of its weight gets. */
	TIER_URGENT_DISCOUNT = 8,
	TIER_DISCOUNT_MOST = 32,
	/* So many slices before its queue's clock an urgent thread may join that slept. With fewer than two it would
	 * get no more than others do, and who is owed time could keep none of it (vtime_owed). */
	TIER_URGENT_CREDIT = 4,
	TIER_CREDIT_LEAST = 2,
	TIER_CREDIT_MOST = 16,
	TIER_INPUT_NS = 20 * NSEC_PER_MSEC,	 /* a thread that handles an input event is urgent for so long */
	TIER_FRAME_NEAR_NS = 4 * NSEC_PER_MSEC,	 /* a thread that works on a frame is urgent so long before it is due */
	TIER_FRAME_LOST_NS = 50 * NSEC_PER_MSEC, /* and so long after that; then the frame is given up */
	TIER_FRAME_BOOST = 2,
	TIER_LONG_QUEUE = 64,  /* where more threads wait for each CPU of a queue, slices get shorter */
	TIER_LOAD_LOOKED = 16, /* of so many threads at the head of a queue */
	TIER_LOAD_URGENT = 8,  /* so many urgent ones are many: none of them gets the discount */
	TIER_SHORTEST_NS = 1 * NSEC_PER_MSEC,
	TIER_WATCH_NS = 100 * NSEC_PER_MSEC,	 /* an urgent thread is watched for so long at a time */
	TIER_AWAKE_PERCENT = 75,		 /* one that is awake for more of that time burns CPU */
	TIER_THROTTLED_NS = NSEC_PER_SEC,	 /* and is throttled, not urgent, for so long */
	TIER_LATE_NS = 1 * NSEC_PER_SEC,	 /* a thread that has waited longer is late, whatever its weight */
	TIER_LATE_EVERY_NS = 50 * NSEC_PER_MSEC, /* so often a CPU dispatches late threads, out of order */
	TIER_LATE_SLICE_NS = 1 * NSEC_PER_MSEC,	 /* for so long: the least share of light threads together */
	TIER_LATE_MOST = 4,			 /* so many at a time: where hundreds are late, each comes in time */
};
#define TIER_CHARGE_MOST_NS (1000ull * NSEC_PER_SEC)
#define TIER_NO_TIMER_NS (~0ull)

/* Virtual time is compared as the kernel compares it: a wrapped counter is still later. */
core_fn int vtime_before(u64 a, u64 b)
{
	return (s64)(a - b) < 0;
}

/* A thread's effective weight among all threads, in parts of 65536: its own weight by the share of its group. */
core_fn u64 tier_effective_weight(u32 weight, u64 group_weight_share)
{
	return (weight ? weight : 1) * (group_weight_share ? group_weight_share : 1);
}

/* The vtime that a run of `ran_ns` is charged: less for a heavy thread than for a light one. What is charged at once
 * has a bound, since a thread that was alone for days must not overflow. */
core_fn u64 vtime_charge(u64 ran_ns, u64 effective_weight)
{
	u64 counted_ns = ran_ns < TIER_CHARGE_MOST_NS ? ran_ns : TIER_CHARGE_MOST_NS;

	return (counted_ns * TIER_WEIGHT_NORMAL << GROUP_SHARE_BITS) / (effective_weight ? effective_weight : 1);
}

/* The same by its tier; an urgent thread is charged one part of `discount`. Where many are urgent, a discount for each
 * would make all others wait for long. */
core_fn u64 tier_charge(u64 ran_ns, u64 effective_weight, u32 tier, u32 discount, int many_urgent)
{
	u64 charge = vtime_charge(ran_ns, effective_weight);

	return tier == TIER_LATENCY_CRITICAL && !many_urgent && discount ? charge / discount : charge;
}

/* Whether a thread may be more urgent than its nice value and policy say. One that was made nicer, or batch, only if
 * the user says so: what a thread seems to be does not outweigh what its owner set. */
core_fn int tier_may_raise(s32 nice, int is_batch, int by_user)
{
	return by_user || (nice <= 0 && !is_batch);
}

/* How an urgent thread uses its urgency: since when, how long it was awake, and the discount it got. */
struct urgent_watch {
	u64 since_ns;
	u64 awake_ns;
	u64 urgent_ns; /* of its CPU time; 0: it was not urgent since, and is not watched */
	u64 spared;
	u64 burnt_ns; /* of its CPU time so much was charged to what its user may burn */
	u64 throttled_until_ns;
};

core_fn int urgent_watch_is_over(const struct urgent_watch *watch, u64 now_ns)
{
	return now_ns - watch->since_ns >= TIER_WATCH_NS;
}

/* It ran for so long while it was urgent, and was spared so much, which is nothing where urgent threads have no
 * discount. */
core_fn void urgent_watch_ran(struct urgent_watch *watch, u64 ran_ns, u64 spared)
{
	watch->urgent_ns += ran_ns;
	watch->spared += spared;
}

core_fn int urgent_watch_is_on(const struct urgent_watch *watch)
{
	return watch->urgent_ns != 0;
}

/* Whether a thread whose watch is over slept too little: it used more than it needed to be on time. */
core_fn int urgent_watch_burns(const struct urgent_watch *watch, u64 now_ns)
{
	u64 span_ns = now_ns - watch->since_ns;

	return urgent_watch_is_over(watch, now_ns) && span_ns < 2 * TIER_WATCH_NS &&
	       watch->awake_ns * 100 > span_ns * TIER_AWAKE_PERCENT;
}

/* What it used of what its user may burn, and was not charged yet. */
core_fn u64 urgent_watch_uncharged_ns(const struct urgent_watch *watch)
{
	return watch->awake_ns > watch->burnt_ns ? watch->awake_ns - watch->burnt_ns : 0;
}

/* It burns and may not: it is throttled for a while. Returns what it has to pay, which is what it was spared. */
core_fn u64 urgent_watch_throttle(struct urgent_watch *watch, u64 now_ns)
{
	u64 pays = watch->spared;

	watch->spared = watch->urgent_ns = 0;
	watch->throttled_until_ns = now_ns + TIER_THROTTLED_NS;
	return pays;
}

/* Decides when the watch is over. Returns what the thread has to pay. */
core_fn u64 urgent_watch_ends(struct urgent_watch *watch, u64 now_ns, int may_burn)
{
	u64 pays = 0;

	if (!urgent_watch_is_over(watch, now_ns))
		return 0;
	if (!may_burn && urgent_watch_burns(watch, now_ns))
		pays = urgent_watch_throttle(watch, now_ns);
	watch->since_ns = now_ns;
	watch->awake_ns = 0;
	watch->burnt_ns = 0;
	watch->spared = watch->urgent_ns = 0;
	return pays;
}

/* A thread that slept gets no more credit than one slice: it joins at most that far before the queue's clock. */
core_fn u64 vtime_join(u64 own_vtime, u64 queue_vtime, u64 slice_ns)
{
	u64 earliest = queue_vtime - slice_ns;

	return vtime_before(own_vtime, earliest) ? earliest : own_vtime;
}

/* A thread whose weight changes keeps its lag in CPU time; in vtime that is more or less now. */
core_fn u64 vtime_reweighed(u64 own_vtime, u64 queue_vtime, u64 old_weight, u64 new_weight)
{
	u64 ahead = vtime_before(own_vtime, queue_vtime) ? 0 : own_vtime - queue_vtime;
	u64 behind = vtime_before(own_vtime, queue_vtime) ? queue_vtime - own_vtime : 0;

	if (!old_weight || !new_weight || old_weight == new_weight)
		return own_vtime;
	ahead = ahead < NSEC_PER_SEC ? ahead : NSEC_PER_SEC;
	behind = behind < NSEC_PER_SEC ? behind : NSEC_PER_SEC;
	return queue_vtime + ahead * old_weight / new_weight - behind * old_weight / new_weight;
}

/* The credit of a thread after a sleep: how far before the queue's clock it may join. An urgent one gets more, so that
 * it is first when it wakes; since all it runs is charged, its share of the CPU stays its weight's. A batch thread gets
 * none, and one of which nothing is known a turn: whoever else wakes waits for all of that. `credit` is that of an
 * urgent one, in slices. */
core_fn u64 tier_credit_ns(u32 tier, u64 slice_ns, u32 credit)
{
	if (tier == TIER_LATENCY_CRITICAL)
		return credit * slice_ns;
	return tier == TIER_BATCH ? 0 : slice_ns < TIER_TURN_NS ? slice_ns : TIER_TURN_NS;
}

/* The same where many are urgent: then none gets more than others. */
core_fn u64 tier_credit_among_ns(u32 tier, u64 slice_ns, u32 credit, int many_urgent)
{
	return tier_credit_ns(tier == TIER_LATENCY_CRITICAL && many_urgent ? TIER_INTERACTIVE : tier, slice_ns, credit);
}

/* How far behind the clock a thread may be that did not sleep. More it could never get back: it may be pinned to one
 * CPU with many others, while the clock goes by what the rest get. A thread that wakes urgently goes before it. */
core_fn u64 vtime_owed(u64 own_vtime, u64 queue_vtime, u64 slice_ns, u32 credit)
{
	return vtime_join(own_vtime, queue_vtime, tier_credit_ns(TIER_LATENCY_CRITICAL, slice_ns, credit) - slice_ns);
}

/* How far behind its clock a queue is, by the deadline of the first that waits there: where threads may run on some
 * CPUs alone, the clock may go by what others get elsewhere. No more than such threads may be owed. */
core_fn u64 queue_behind_ns(s64 first_lag, u64 slice_ns, u32 credit)
{
	u64 most_ns = tier_credit_ns(TIER_LATENCY_CRITICAL, slice_ns, credit) - slice_ns;

	if (first_lag >= (s64)slice_ns)
		return 0;
	return first_lag < (s64)slice_ns - (s64)most_ns ? most_ns : (u64)((s64)slice_ns - first_lag);
}

/* Where a thread joins a queue. One that slept gets a credit by its tier, but goes not behind all others where these
 * are behind the clock; one that did not keeps its lag, within bounds. */
core_fn u64 vtime_enqueued(u64 own_vtime, u64 queue_vtime, u32 tier, u64 slice_ns, u32 credit, int many_urgent,
			   int slept, u64 behind_ns)
{
	u64 credit_ns = tier_credit_among_ns(tier, slice_ns, credit, many_urgent);

	if (slept)
		return vtime_join(own_vtime, queue_vtime, credit_ns > behind_ns ? credit_ns : behind_ns);
	return vtime_owed(own_vtime, queue_vtime, slice_ns, credit);
}

/* By how much one queue's clock advances with another whose threads run on the same CPU. */
core_fn u64 clock_follows(u64 from_vtime, u64 to_vtime, u64 slice_ns, u32 credit)
{
	u64 most = tier_credit_ns(TIER_LATENCY_CRITICAL, slice_ns, credit);

	if (!vtime_before(from_vtime, to_vtime))
		return 0;
	return to_vtime - from_vtime < most ? to_vtime - from_vtime : most;
}

/* Urgent threads have short slices, so that several alternate; batch threads long ones, since each switch costs. */
core_fn u64 tier_slice_ns(u32 tier, u64 slice_ns)
{
	if (tier == TIER_BATCH)
		return 2 * slice_ns;
	return tier == TIER_LATENCY_CRITICAL && slice_ns > TIER_URGENT_SLICE_NS ? TIER_URGENT_SLICE_NS : slice_ns;
}

/* Where very many wait, slices are shorter, so that all run in bearable time. */
core_fn u64 tier_slice_among_ns(u32 tier, u64 slice_ns, u64 waiting_per_cpu)
{
	u64 whole_ns = tier_slice_ns(tier, slice_ns), part_ns;

	if (waiting_per_cpu <= TIER_LONG_QUEUE || whole_ns <= TIER_SHORTEST_NS)
		return whole_ns;
	part_ns = whole_ns * TIER_LONG_QUEUE / waiting_per_cpu;
	return part_ns > TIER_SHORTEST_NS ? part_ns : TIER_SHORTEST_NS;
}

/* The expected length of the next run, for the deadline: a slice, or what was learned of threads of its kind if that is
 * less. A batch thread gets no nearer deadline for being short. */
core_fn u64 tier_expected_ns(u32 tier, u64 learned_run_ns, u64 slice_ns)
{
	u64 least_ns = slice_ns / 8;

	if (tier == TIER_BATCH || !learned_run_ns || learned_run_ns >= slice_ns)
		return slice_ns;
	return learned_run_ns > least_ns ? learned_run_ns : least_ns;
}

/* A queue is ordered by deadlines: the vtime at which the thread would have used up its next slice, nearer by a power
 * of two for each step of boost. */
core_fn u64 tier_deadline(u64 vtime, u64 slice_ns, u64 effective_weight, u32 boost)
{
	return vtime + (vtime_charge(slice_ns, effective_weight) >> (boost < 16 ? boost : 16));
}

/* Whether a thread whose slice has ended keeps running: its deadline would still be the first. `first_lag` is how far
 * the first deadline in the queue is from the queue's clock. */
core_fn int tier_keeps_cpu(u64 deadline, u64 queue_vtime, s64 first_lag)
{
	return (s64)(deadline - queue_vtime) < first_lag;
}

/* How often a thread has migrated in the current second. */
struct move_rate {
	u64 since_ns;
	u32 moves;
	u32 unused;
};

core_fn void move_rate_note(struct move_rate *rate, int moved, u64 now_ns)
{
	if (now_ns - rate->since_ns >= NSEC_PER_SEC) {
		rate->since_ns = now_ns;
		rate->moves = 0;
	}
	if (moved)
		rate->moves++;
}

/* Whether it has migrated so often that it had better stay. */
core_fn int move_rate_is_high(const struct move_rate *rate, u64 now_ns)
{
	return rate->moves > TIER_MOVES_PER_SEC && now_ns - rate->since_ns < NSEC_PER_SEC;
}

/* A thread's tier after its burst so far, the CPU time since it last slept. */
core_fn u32 tier_now(u32 tier, u64 burst_ns)
{
	if (burst_ns >= TIER_HOG_NS)
		return TIER_BATCH;
	return tier == TIER_LATENCY_CRITICAL && burst_ns >= TIER_BURST_NS ? TIER_INTERACTIVE : tier;
}

/* Whether an urgent thread has run on for so long that it stays urgent only if its user may burn. */
core_fn int tier_burns(u32 tier, u64 burst_ns)
{
	return tier == TIER_LATENCY_CRITICAL && burst_ns >= TIER_BURST_NS;
}

/* A burst as it counts: that of a thread that may burn makes it no less urgent. */
core_fn u64 tier_burst_counted_ns(u64 burst_ns, int may_burn)
{
	return may_burn && burst_ns >= TIER_BURST_NS ? TIER_BURST_NS - 1 : burst_ns;
}

/* Whether a frame that is due then makes its thread urgent now. 0: there is none. */
core_fn int tier_frame_presses(u64 due_ns, u64 now_ns)
{
	return due_ns && now_ns + TIER_FRAME_NEAR_NS >= due_ns && now_ns < due_ns + TIER_FRAME_LOST_NS;
}

/* The period of frames, by what it was so far and the last interval; a pause is not one. */
core_fn u64 tier_frame_period_ns(u64 period_ns, u64 interval_ns)
{
	if (!interval_ns || interval_ns > NSEC_PER_SEC)
		return period_ns;
	return period_ns ? (period_ns * 7 + interval_ns) / 8 : interval_ns;
}

/* When the frame after one that was presented now is due; 0: unknown, since there is no period yet. */
core_fn u64 tier_frame_due_ns(u64 period_ns, u64 now_ns)
{
	return period_ns ? now_ns + period_ns : 0;
}

/* Whether a thread that starts to run has missed its deadline. */
core_fn int tier_misses_deadline(u32 tier, u64 wait_ns)
{
	return tier == TIER_LATENCY_CRITICAL && wait_ns > TIER_MISS_NS;
}

/* Whether a thread in a queue can be late, given the longest wait at the last look, and how long ago that was. */
core_fn int tier_may_be_late(u64 longest_ns, u64 since_ns)
{
	return longest_ns + since_ns >= TIER_LATE_NS;
}

/* Whether a CPU that last looked for late threads then has to do so again. */
core_fn int tier_looks_for_late(u64 last_ns, u64 now_ns)
{
	return now_ns > last_ns && now_ns - last_ns >= TIER_LATE_EVERY_NS;
}

/* How long a thread must have waited to be dispatched out of order, given the longest wait at the last look: among many
 * late ones those that have waited longest come first, wherever in the queue they are. */
core_fn u64 tier_late_threshold_ns(u64 longest_ns)
{
	u64 threshold_ns = longest_ns / 4 * 3;

	return threshold_ns > TIER_LATE_NS ? threshold_ns : TIER_LATE_NS;
}

/* Whether a late thread is dispatched out of order, given how many this look has dispatched. */
core_fn int tier_takes_late(u64 wait_ns, u64 threshold_ns, u32 taken)
{
	return wait_ns >= threshold_ns && taken < TIER_LATE_MOST;
}

/* The longest wait in a queue that is too long for one look, given the wait of the last thread seen: those behind it
 * may be late. */
core_fn u64 tier_late_unseen_ns(u64 wait_ns)
{
	return wait_ns > TIER_LATE_NS ? wait_ns : TIER_LATE_NS;
}

/* How many threads of a queue wait for each of its CPUs. */
core_fn u32 tier_queued_per_cpu(u32 queued, u32 cpus)
{
	return queued / (cpus ? cpus : 1);
}

/* Whether so many threads, of those that wait for a CPU or of those that are first in its queue and urgent, are enough
 * for many urgent ones. */
core_fn int tier_are_many_urgent(u32 threads)
{
	return threads >= TIER_LOAD_URGENT;
}

/* Whether a thread that wakes needs so little that it may preempt at once, although nothing more is known of it: how
 * long its last burst was, and how long ago it woke for that. */
core_fn int tier_is_light(u64 last_burst_ns, u64 wake_gap_ns, u64 light_ns)
{
	return last_burst_ns <= light_ns && wake_gap_ns / TIER_LIGHT_PARTS >= last_burst_ns;
}

/* Whether one that was light when it woke still is. One that has run for longer and waits again, since its turn is
 * over, would preempt another such one, and that one it, for ever. */
core_fn int tier_is_still_light(int was_light, u64 burst_ns, u64 light_ns)
{
	return was_light && burst_ns <= light_ns;
}

/* Whether a thread has not had more than its share, by its queue's clock: only such a one preempts, so that many
 * threads that each need little do not take all. An urgent one may be a slice ahead. */
core_fn int tier_is_owed(u32 tier, u64 vtime, u64 queue_vtime, u64 slice_ns)
{
	return vtime_before(vtime, queue_vtime + (tier == TIER_LATENCY_CRITICAL ? slice_ns : 1));
}

/* Whether a thread that wakes may preempt the one that runs, given that one's burst and how long it has had the CPU:
 * one that is less urgent, and, unless the need is great, not before that one has got something done. Of two urgent
 * ones that which needs little goes before one that needs more, by its last burst or by this one: a sound buffer need
 * not wait for a frame, nor for somebody who burns, and the frame loses next to nothing. */
core_fn int tier_preempts(u32 tier, int is_light, u32 running_tier, u64 running_burst_ns, u64 running_last_ns,
			  u64 ran_ns, u64 light_ns)
{
	u32 running = tier_now(running_tier, running_burst_ns);

	if (tier == TIER_LATENCY_CRITICAL)
		return running < TIER_LATENCY_CRITICAL || (running == TIER_LATENCY_CRITICAL && is_light &&
							   (running_burst_ns > light_ns || running_last_ns > light_ns));
	if (tier != TIER_INTERACTIVE)
		return 0;
	if (is_light && running < TIER_LATENCY_CRITICAL && running_burst_ns > light_ns)
		return 1;
	return running == TIER_BATCH && ran_ns >= TIER_UNDISTURBED_NS;
}

/* Where a thread goes that may run on its CPU alone and does what that CPU needs done, as the kernel's bound threads
 * do. */
enum tier_bound { TIER_BOUND_LAST, TIER_BOUND_FIRST, TIER_BOUND_PREEMPTS };

/* One that wakes goes before all that waits, and before what runs and is not urgent, whose slice may be long. Not
 * before a thread that is about to take the CPU; and who was preempted, or has used up its slice, goes behind whom that
 * was done for. */
core_fn u32 tier_bound_joins(int wakes, int preemptor_comes, u32 running_tier)
{
	if (!wakes || preemptor_comes)
		return TIER_BOUND_LAST;
	return running_tier < TIER_LATENCY_CRITICAL ? TIER_BOUND_PREEMPTS : TIER_BOUND_FIRST;
}

/* Whether a thread that runs in this tier gives way to urgent ones that wait. TIERS: nothing takes its CPU away. */
core_fn int tier_gives_way(u32 running_tier)
{
	return running_tier < TIER_LATENCY_CRITICAL;
}

/* Whether a thread that waits asks for short turns: one that is no hog, whatever was learned of its kind, and whose
 * deadline is so near that they bring it to the CPU. A light one, or one that is far ahead, waits for a second at
 * times: all the others would only switch more often. An urgent one asks if it may not preempt, see tier_is_owed. */
core_fn int tier_asks_for_turns(u32 tier, int is_owed, u64 burst_ns, u64 deadline, u64 queue_vtime)
{
	return (tier < TIER_LATENCY_CRITICAL || !is_owed) && burst_ns < TIER_HOG_NS &&
	       vtime_before(deadline, queue_vtime + TIER_ASKS_WITHIN_NS);
}

/* Whether a thread that runs gives up the rest of its slice when the tick comes: it is not urgent, has got something
 * done, and not long ago one that asks for turns and could not preempt it began to wait. So that one waits for a short
 * turn of each thread before it, and not for a long slice of each. Who is first is then decided as at a slice's end. */
core_fn int tier_ends_turn(u32 running_tier, u64 ran_ns, u64 turns_until_ns, u64 now_ns)
{
	return tier_gives_way(running_tier) && turns_until_ns > now_ns && ran_ns >= TIER_TURN_NS;
}

/* After how long a timer ends the turn of a thread that runs, given how many wait that ask for turns, how many of these
 * a timer or a device woke, and how many urgent ones; 0: the tick does. A hog's turn ends for whoever is no hog. One
 * that is no hog gives way to those that woke by themselves, not to those that it may have woken, which gain nothing by
 * going before it: programs that wake each other all the time would only switch more often. */
core_fn u64 tier_turn_ns(u32 running_tier, u64 burst_ns, u32 asking, u32 asking_timed, u32 urgent)
{
	if (running_tier == TIER_LATENCY_CRITICAL)
		return urgent ? TIER_TURN_NS : 0;
	if (running_tier == TIER_BATCH)
		return (burst_ns >= TIER_HOG_NS ? asking : asking_timed) ? TIER_HOG_TURN_NS : 0;
	return running_tier == TIER_INTERACTIVE && asking_timed ? TIER_TURN_NS : 0;
}

/* Whether a timer ends the turn of a thread that runs for its own sake, where hogs wait: it runs for long at a time, by
 * its last burst or by this one, and is no hog. What it has had too much by the next tick it would wait for as it
 * wakes, as often as there are hogs. One that is known as batch, and that a timer or a device wakes, is no hog either.
 */
core_fn int tier_times_own_turn(u32 running_tier, int by_timer, u64 burst_ns, u64 last_burst_ns)
{
	if (running_tier == TIER_BATCH)
		return by_timer && burst_ns < TIER_HOG_NS && last_burst_ns >= TIER_HOG_TURN_NS &&
		       last_burst_ns < TIER_HOG_NS;
	return running_tier == TIER_INTERACTIVE && (burst_ns >= TIER_HOG_TURN_NS || last_burst_ns >= TIER_HOG_TURN_NS);
}

/* How long that turn is: its credit and a hog's turn more. */
core_fn u64 tier_own_turn_ns(u64 vtime, u64 queue_vtime)
{
	return TIER_HOG_TURN_NS + (vtime_before(vtime, queue_vtime) ? queue_vtime - vtime : 0);
}

core_fn u64 tier_turn_left_ns(u64 turn_ns, u64 ran_ns)
{
	return ran_ns + TIER_TURN_LEAST_NS < turn_ns ? turn_ns - ran_ns : TIER_TURN_LEAST_NS;
}

/* Whether a CPU's timer is set for a turn that ends in so long, given when it fires; 0: it is not set. One that was set
 * for a later end comes too late for who woke by himself since: programs that wake each other all the time would only
 * switch more often for it. One that should have fired long ago was lost. */
core_fn int tier_sets_timer(u64 timer_ns, u64 left_ns, u64 now_ns, u32 asking_timed)
{
	u64 ends_ns = now_ns + left_ns;

	return left_ns && timer_ns != TIER_NO_TIMER_NS &&
	       (timer_ns + TIER_TURNS_NS < ends_ns || (asking_timed && timer_ns > ends_ns + TIER_TURN_LEAST_NS));
}

/* The vtime by which a thread whose turn is over is compared with the first of its queue. Credit counts for one turn at
 * a time among those that are no hogs: else one would use up all of it while the other waits. */
core_fn u64 tier_turn_vtime(u64 vtime, u64 queue_vtime, int first_asks)
{
	return first_asks && vtime_before(vtime, queue_vtime) ? queue_vtime : vtime;
}

/* Whether a thread that is enqueued looks first whether it may preempt the one on its own CPU, which takes neither a
 * queue nor an interrupt. When a thread wakes, idle CPUs have been looked for; else there may be one. */
core_fn int tier_preempts_own_cpu(int wakes, int is_owed, u32 tier, int is_light)
{
	return wakes && is_owed && (tier == TIER_LATENCY_CRITICAL || is_light);
}

/* A vtime by one queue's clock, converted to another's. */
core_fn u64 vtime_moved(u64 vtime, u64 from_clock, u64 to_clock)
{
	return vtime - from_clock + to_clock;
}

#endif
