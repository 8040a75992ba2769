// SPDX-License-Identifier: GPL-2.0
/* core/tier.h: what a run costs, where a thread joins the queue, and that both survive a wrapped counter. */
#include "../../core/tier.h"
#include "tap.h"

static u64 effective_weight(u32 weight)
{
	return tier_effective_weight(weight, 1 << GROUP_SHARE_BITS);
}

static void watch_tests(void)
{
	struct urgent_watch watch = { .since_ns = 1000, .awake_ns = TIER_WATCH_NS / 2, .spared = 700 };
	u64 now_ns = 1000 + TIER_WATCH_NS;

	ok(!urgent_watch_is_over(&watch, now_ns - 1), "watch is not over before its time");
	ok(urgent_watch_is_over(&watch, now_ns), "watch is over when its time is");
	is(urgent_watch_ends(&watch, now_ns - 1, 0), 0, "thread is not judged before the time is over");
	is(watch.spared, 700, "thread not yet judged keeps what was noted");
	is(urgent_watch_ends(&watch, now_ns, 0), 0, "thread that slept half of the time pays nothing");
	is(watch.throttled_until_ns, 0, "thread that slept half of the time stays urgent");
	is(watch.spared + watch.awake_ns, 0, "thread that slept half of the time begins anew");
	watch.awake_ns = TIER_WATCH_NS;
	watch.spared = 700;
	now_ns += TIER_WATCH_NS;
	is(urgent_watch_ends(&watch, now_ns, 0), 700, "thread that never slept pays back what it was spared");
	is(watch.throttled_until_ns, now_ns + TIER_THROTTLED_NS, "thread that never slept is throttled for a while");
	watch.awake_ns = 10 * TIER_WATCH_NS;
	is(urgent_watch_ends(&watch, now_ns + 10 * TIER_WATCH_NS, 0), 0,
	   "a time that was not watched to its end tells nothing");

	watch = (struct urgent_watch){ .since_ns = 1000, .awake_ns = TIER_WATCH_NS, .spared = 700, .burnt_ns = 5 };
	now_ns = 1000 + TIER_WATCH_NS;
	ok(urgent_watch_burns(&watch, now_ns), "thread that never slept in its watch burns");
	is(urgent_watch_uncharged_ns(&watch), TIER_WATCH_NS - 5, "thread is charged once for what it burns");
	is(urgent_watch_ends(&watch, now_ns, 1), 0, "thread that may burn pays nothing back");
	is(watch.throttled_until_ns, 0, "thread that may burn is not throttled");
	is(watch.burnt_ns, 0, "thread that may burn begins anew after its watch");
	watch.spared = 700;
	is(urgent_watch_throttle(&watch, now_ns), 700, "thread that may burn no more pays back what it was spared");
	is(watch.throttled_until_ns, now_ns + TIER_THROTTLED_NS, "thread that may burn no more is throttled");
	ok(tier_burns(TIER_LATENCY_CRITICAL, TIER_BURST_NS), "urgent thread burns from 10 ms without a sleep on");
	ok(!tier_burns(TIER_LATENCY_CRITICAL, TIER_BURST_NS - 1), "urgent thread does not burn before 10 ms");
	ok(!tier_burns(TIER_INTERACTIVE, ~0ULL), "thread that is not urgent burns nothing of its user's");
	is(tier_burst_counted_ns(~0ULL, 0), ~0ULL, "burst of a thread that may not burn counts in full");
	is(tier_now(TIER_LATENCY_CRITICAL, tier_burst_counted_ns(~0ULL, 1)), TIER_LATENCY_CRITICAL,
	   "urgent thread that may burn stays urgent, however long it runs");
}

/* With --discount 1 nothing is spared. */
static void undiscounted_watch_tests(void)
{
	struct urgent_watch watch = { .since_ns = 1000 };

	ok(!urgent_watch_is_on(&watch), "thread that was not urgent is not watched");
	urgent_watch_ran(&watch, TIER_WATCH_NS, 0);
	ok(urgent_watch_is_on(&watch), "urgent thread that is spared nothing is watched");
	urgent_watch_throttle(&watch, 1000);
	ok(!urgent_watch_is_on(&watch), "thread that is throttled is not watched until it is urgent again");
	urgent_watch_ran(&watch, 1, 0);
	urgent_watch_ends(&watch, 1000 + TIER_WATCH_NS, 0);
	ok(!urgent_watch_is_on(&watch), "thread whose watch is over is not watched until it is urgent again");
}

static void light_tests(void)
{
	ok(tier_is_still_light(1, TIER_LIGHT_NS, TIER_LIGHT_NS), "thread that was light as it woke is so for as long");
	ok(!tier_is_still_light(1, TIER_LIGHT_NS + 1, TIER_LIGHT_NS),
	   "thread that was light as it woke and has run for longer is not");
	ok(!tier_is_still_light(0, 0, TIER_LIGHT_NS), "thread that was not light as it woke does not become so");
	ok(!tier_preempts(TIER_BATCH, 1, TIER_BATCH, ~0ULL, 0, ~0ULL, TIER_LIGHT_NS),
	   "light batch thread preempts nothing");
	ok(tier_preempts(TIER_INTERACTIVE, 1, TIER_BATCH, TIER_LIGHT_NS + 1, 0, 0, TIER_LIGHT_NS),
	   "light thread preempts at once a batch one that has run a while");
	ok(tier_preempts(TIER_INTERACTIVE, 1, TIER_INTERACTIVE, TIER_LIGHT_NS + 1, 0, 0, TIER_LIGHT_NS),
	   "light thread preempts at once an equal that has run a while");
	ok(!tier_preempts(TIER_INTERACTIVE, 1, TIER_BATCH, TIER_LIGHT_NS, 0, 0, TIER_LIGHT_NS),
	   "light thread does not preempt one as light");
	ok(!tier_preempts(TIER_INTERACTIVE, 1, TIER_LATENCY_CRITICAL, TIER_LIGHT_NS + 1, 0, 0, TIER_LIGHT_NS),
	   "light thread does not preempt an urgent one");
	ok(!tier_frame_presses(0, 100), "frame without a due time presses nobody");
	ok(!tier_frame_presses(NSEC_PER_SEC, NSEC_PER_SEC - TIER_FRAME_NEAR_NS - 1),
	   "frame that is not due for long presses nobody");
	ok(tier_frame_presses(NSEC_PER_SEC, NSEC_PER_SEC - TIER_FRAME_NEAR_NS), "frame that is nearly due presses");
	ok(tier_frame_presses(NSEC_PER_SEC, NSEC_PER_SEC + TIER_FRAME_LOST_NS - 1), "frame that is just over presses");
	ok(!tier_frame_presses(NSEC_PER_SEC, NSEC_PER_SEC + TIER_FRAME_LOST_NS), "frame that is lost presses nobody");
	is(tier_frame_period_ns(0, 16000), 16000, "first interval of frames is the period");
	is(tier_frame_period_ns(16000, 24000), 17000, "later intervals of frames change the period by an eighth");
	is(tier_frame_period_ns(16000, 2ULL * NSEC_PER_SEC), 16000, "pause does not change the period of frames");
	is(tier_frame_due_ns(16000, 100), 16100, "frame after a present is due one period later");
	is(tier_frame_due_ns(0, 100), 0, "frame of a thread without a period is never due");
	ok(tier_is_light(TIER_LIGHT_NS, 8ULL * TIER_LIGHT_NS, TIER_LIGHT_NS), "half a millisecond in four is light");
	ok(!tier_is_light(TIER_LIGHT_NS, 8ULL * TIER_LIGHT_NS - 8, TIER_LIGHT_NS),
	   "more than half a millisecond in four is not light");
	ok(!tier_is_light(TIER_LIGHT_NS + 1, ~0ULL, TIER_LIGHT_NS), "longer run is not light, however seldom");
	ok(tier_is_light(2 * TIER_LIGHT_NS, ~0ULL, 2 * TIER_LIGHT_NS),
	   "run of a millisecond is light where that is the bound");
	ok(!tier_preempts(TIER_INTERACTIVE, 1, TIER_INTERACTIVE, TIER_LIGHT_NS + 1, 0, 0, 2 * TIER_LIGHT_NS),
	   "a light thread does not preempt one that has run for less than the bound");
	ok(tier_is_owed(TIER_INTERACTIVE, 1000, 1000, 500), "thread that has had its share is owed a turn");
	ok(!tier_is_owed(TIER_INTERACTIVE, 1001, 1000, 500),
	   "thread that has had more than its share preempts nothing");
	ok(tier_is_owed(TIER_LATENCY_CRITICAL, 1499, 1000, 500),
	   "urgent thread less than a slice ahead is owed a turn");
	ok(!tier_is_owed(TIER_LATENCY_CRITICAL, 1500, 1000, 500), "urgent thread a slice ahead is owed none");
}

/* What 'tactus run --credit' and '--discount' set. */
static void settings_tests(void)
{
	const u64 slice = 5000, clock = 100 * slice;

	is(tier_charge(8000, effective_weight(100), TIER_LATENCY_CRITICAL, 2, 0), 4000,
	   "urgent thread with a discount of 2 pays half");
	is(tier_charge(8000, effective_weight(100), TIER_LATENCY_CRITICAL, 1, 0), 8000,
	   "urgent thread with a discount of 1 pays all");
	is(tier_charge(8000, effective_weight(100), TIER_LATENCY_CRITICAL, 0, 0), 8000,
	   "discount of 0 is none, and divides by nothing");
	is(tier_charge(8000, effective_weight(100), TIER_INTERACTIVE, TIER_DISCOUNT_MOST, 0), 8000,
	   "thread that is not urgent gets no discount, however large");
	is(vtime_enqueued(0, clock, TIER_LATENCY_CRITICAL, slice, TIER_CREDIT_MOST, 0, 1, 0),
	   clock - TIER_CREDIT_MOST * slice, "urgent thread that slept joins as early as its credit");
	is(vtime_enqueued(0, clock, TIER_INTERACTIVE, slice, TIER_CREDIT_MOST, 0, 1, 0), clock - slice,
	   "thread that is not urgent joins at most a short slice early, whatever urgent ones get");
	ok(vtime_owed(0, clock, slice, TIER_CREDIT_LEAST) < clock,
	   "thread that did not sleep is owed something by the least credit");
	for (u32 credit = TIER_CREDIT_LEAST; credit <= TIER_CREDIT_MOST; credit++)
		if (!vtime_before(vtime_enqueued(0, clock, TIER_LATENCY_CRITICAL, slice, credit, 0, 1, 0),
				  vtime_owed(0, clock, slice, credit)))
			is(credit, 0, "urgent thread that wakes goes before one that is owed, by each credit");
}

static void many_tests(void)
{
	is(tier_charge(8000, effective_weight(100), TIER_LATENCY_CRITICAL, TIER_URGENT_DISCOUNT, 1),
	   tier_charge(8000, effective_weight(100), TIER_BATCH, TIER_URGENT_DISCOUNT, 0),
	   "urgent threads among many are spared nothing");
	is(tier_credit_among_ns(TIER_LATENCY_CRITICAL, 5000, 4, 1), tier_credit_ns(TIER_INTERACTIVE, 5000, 4),
	   "urgent threads among many save up no more than others");
	is(tier_credit_among_ns(TIER_LATENCY_CRITICAL, 5000, 4, 0), tier_credit_ns(TIER_LATENCY_CRITICAL, 5000, 4),
	   "urgent threads among few save up more than others");
	is(tier_slice_among_ns(TIER_BATCH, TIER_SLICE_NS, TIER_LONG_QUEUE), 2ULL * TIER_SLICE_NS,
	   "slice is whole where few wait");
	is(tier_slice_among_ns(TIER_BATCH, TIER_SLICE_NS, 2 * TIER_LONG_QUEUE), TIER_SLICE_NS,
	   "slice is half as long where twice as many wait");
	is(tier_slice_among_ns(TIER_BATCH, TIER_SLICE_NS, 100000), TIER_SHORTEST_NS,
	   "slice is never too short, however many wait");
	is(tier_slice_among_ns(TIER_LATENCY_CRITICAL, TIER_SLICE_NS, 100000), TIER_URGENT_SLICE_NS,
	   "an urgent one's is short as it is");
}

static void late_tests(void)
{
	ok(tier_misses_deadline(TIER_LATENCY_CRITICAL, TIER_MISS_NS + 1),
	   "an urgent thread that waits too long has missed");
	ok(!tier_misses_deadline(TIER_LATENCY_CRITICAL, TIER_MISS_NS),
	   "urgent thread that waits up to the limit has not missed");
	ok(!tier_misses_deadline(TIER_BATCH, NSEC_PER_SEC), "batch thread has nothing to miss");
	ok(!tier_may_be_late(TIER_LATE_NS / 2, TIER_LATE_NS / 2 - 1),
	   "wait shorter than the limit since the longest seen cannot be late");
	ok(tier_may_be_late(TIER_LATE_NS / 2, TIER_LATE_NS / 2),
	   "wait as long as the limit since the longest seen may be late");
	is(tier_late_threshold_ns(0), TIER_LATE_NS, "thread that has waited a second is late");
	is(tier_late_threshold_ns(8ull * NSEC_PER_SEC), 6ull * NSEC_PER_SEC,
	   "threads that have waited longest come first where some have waited longer");
}

static void late_look_tests(void)
{
	ok(!tier_looks_for_late(1000, 1000 + TIER_LATE_EVERY_NS - 1), "CPU that has just looked does not look again");
	ok(tier_looks_for_late(1000, 1000 + TIER_LATE_EVERY_NS), "CPU looks for late threads every so often");
	ok(!tier_looks_for_late(2000, 1000), "CPU whose clock seems to go back does not look for late threads");
	ok(tier_takes_late(TIER_LATE_NS, TIER_LATE_NS, 0), "thread that has waited as long as the bar is taken");
	ok(!tier_takes_late(TIER_LATE_NS - 1, TIER_LATE_NS, 0),
	   "thread that has waited less than the bar is not taken");
	ok(tier_takes_late(TIER_LATE_NS, TIER_LATE_NS, TIER_LATE_MOST - 1), "last late thread of a look is taken");
	ok(!tier_takes_late(TIER_LATE_NS, TIER_LATE_NS, TIER_LATE_MOST),
	   "late thread beyond the last of a look is not taken");
	is(tier_late_unseen_ns(5), TIER_LATE_NS, "thread behind those that were looked at may be late");
	is(tier_late_unseen_ns(TIER_LATE_NS + 5ull), TIER_LATE_NS + 5ull,
	   "thread behind those that were looked at may have waited as long as they have");
	is(tier_queued_per_cpu(10, 4), 2, "threads of a queue are shared among its CPUs");
	is(tier_queued_per_cpu(10, 0), 10, "queue without CPUs divides nothing by zero");
	ok(tier_are_many_urgent(TIER_LOAD_URGENT), "eight urgent threads are many");
	ok(!tier_are_many_urgent(TIER_LOAD_URGENT - 1), "seven urgent threads are not many");
}

static void move_rate_tests(void)
{
	struct move_rate rate = { .since_ns = 1000 };
	u64 end_ns = 1000 + NSEC_PER_SEC;

	for (u32 i = 0; i < TIER_MOVES_PER_SEC; i++)
		move_rate_note(&rate, 1, end_ns - 1);
	is(rate.moves, TIER_MOVES_PER_SEC, "moves within a second add up");
	ok(!move_rate_is_high(&rate, end_ns - 1), "thread that moved up to the limit may move on");
	move_rate_note(&rate, 0, end_ns - 1);
	is(rate.moves, TIER_MOVES_PER_SEC, "run on the same CPU is no move");
	move_rate_note(&rate, 1, end_ns - 1);
	ok(move_rate_is_high(&rate, end_ns - 1), "thread that moved more often than the limit stays");
	ok(!move_rate_is_high(&rate, end_ns), "thread that moved too often stays only until the second is over");
	move_rate_note(&rate, 1, end_ns);
	is(rate.moves, 1, "new second counts moves anew");
	is(rate.since_ns, end_ns, "new second begins with its first move");
}

static void enqueue_tests(void)
{
	u64 slice = TIER_SLICE_NS, clock = 1000 * slice;

	is(vtime_enqueued(0, clock, TIER_LATENCY_CRITICAL, slice, 4, 0, 1, 0), clock - 4 * slice,
	   "urgent thread that slept joins by its credit before the clock");
	is(vtime_enqueued(0, clock, TIER_LATENCY_CRITICAL, slice, 4, 1, 1, 0), clock - TIER_TURN_NS,
	   "urgent thread that slept joins by one turn before the clock where many are urgent");
	is(vtime_enqueued(0, clock, TIER_INTERACTIVE, slice, 4, 0, 1, 0), clock - TIER_TURN_NS,
	   "thread of which nothing is known that slept joins by one turn before the clock");
	is(vtime_enqueued(0, clock, TIER_INTERACTIVE, TIER_TURN_NS / 2, 4, 0, 1, 0), clock - TIER_TURN_NS / 2,
	   "thread that slept joins by one slice before the clock where slices are shorter than a turn");
	is(queue_behind_ns((s64)slice, slice, 4), 0, "queue whose first is due as the clock says is not behind it");
	is(queue_behind_ns(-(s64)slice, slice, 4), 2 * slice,
	   "queue is as far behind its clock as its first thread is");
	is(queue_behind_ns(-100 * (s64)slice, slice, 4), 3 * slice, "queue is no further behind than one may be owed");
	is(queue_behind_ns(0x7fffffffffffffffLL, slice, 4), 0, "empty queue is not behind its clock");
	is(vtime_enqueued(0, clock, TIER_INTERACTIVE, slice, 4, 0, 1, 2 * slice), clock - 2 * slice,
	   "thread that slept joins beside the first where all that wait are behind the clock");
	is(vtime_enqueued(clock - slice, clock, TIER_INTERACTIVE, slice, 4, 0, 1, 2 * slice), clock - slice,
	   "thread that slept keeps what it has had too much where all that wait are behind the clock");
	is(vtime_enqueued(0, clock, TIER_BATCH, slice, 4, 0, 1, 0), clock,
	   "batch thread that slept joins at the clock");
	is(vtime_enqueued(0, clock, TIER_BATCH, slice, 4, 0, 0, 0), clock - 3 * slice,
	   "thread that did not sleep keeps what it is owed, whatever its tier");
	ok(tier_preempts_own_cpu(1, 1, TIER_LATENCY_CRITICAL, 0), "urgent thread that wakes tries its own CPU first");
	ok(tier_preempts_own_cpu(1, 1, TIER_INTERACTIVE, 1), "light thread that wakes tries its own CPU first");
	ok(!tier_preempts_own_cpu(1, 1, TIER_INTERACTIVE, 0), "other threads that wake do not try their own CPU first");
	ok(!tier_preempts_own_cpu(0, 1, TIER_LATENCY_CRITICAL, 1),
	   "thread that does not wake does not try its own CPU first");
	ok(!tier_preempts_own_cpu(1, 0, TIER_LATENCY_CRITICAL, 1),
	   "thread that has had more than its share does not try its own CPU first");
	ok(tier_gives_way(TIER_BATCH), "batch thread gives way to urgent ones");
	ok(tier_gives_way(TIER_INTERACTIVE), "interactive thread gives way to urgent ones");
	ok(!tier_gives_way(TIER_LATENCY_CRITICAL), "urgent thread gives way to nobody");
	ok(!tier_gives_way(TIERS), "thread that can't be preempted gives way to nobody");
	ok(tier_keeps_cpu(1099, 1000, 100), "thread whose deadline is before the first in the queue goes on");
	ok(!tier_keeps_cpu(1100, 1000, 100), "thread whose deadline is that of the first in the queue does not go on");
	ok(tier_keeps_cpu(5, ~0ULL - 5, 12), "thread goes on by its deadline across a wrapped counter");
	ok(!tier_keeps_cpu(900, 1000, -200), "thread does not go on before one that is further behind");
}

static void preemption_tests(void)
{
	ok(tier_preempts(TIER_LATENCY_CRITICAL, 0, TIER_BATCH, 0, 0, 0, TIER_LIGHT_NS),
	   "an urgent thread preempts a batch one");
	ok(tier_preempts(TIER_LATENCY_CRITICAL, 1, TIER_LATENCY_CRITICAL, TIER_LIGHT_NS + 1, 0, TIER_LIGHT_NS + 1,
			 TIER_LIGHT_NS),
	   "an urgent thread that needs little preempts an urgent one that has run for longer than that");
	ok(!tier_preempts(TIER_LATENCY_CRITICAL, 1, TIER_LATENCY_CRITICAL, TIER_LIGHT_NS, 0, TIER_LIGHT_NS,
			  TIER_LIGHT_NS),
	   "an urgent thread that needs little does not preempt an urgent one that has run as little");
	ok(tier_preempts(TIER_LATENCY_CRITICAL, 1, TIER_LATENCY_CRITICAL, 0, TIER_LIGHT_NS + 1, 0, TIER_LIGHT_NS),
	   "an urgent thread that needs little preempts an urgent one that has just begun and needs more each time");
	ok(!tier_preempts(TIER_LATENCY_CRITICAL, 0, TIER_LATENCY_CRITICAL, 0, TIER_LIGHT_NS + 1, 0, TIER_LIGHT_NS),
	   "an urgent thread that needs more does not preempt an urgent one that has just begun");
	ok(!tier_preempts(TIER_LATENCY_CRITICAL, 1, TIERS, TIER_LIGHT_NS + 1, 0, TIER_LIGHT_NS + 1, TIER_LIGHT_NS),
	   "an urgent thread that needs little preempts no thread that cannot be preempted");
	ok(!tier_preempts(TIER_LATENCY_CRITICAL, 0, TIER_LATENCY_CRITICAL, TIER_BURST_NS - 1, 0, TIER_BURST_NS - 1,
			  TIER_LIGHT_NS),
	   "urgent thread never preempts another urgent one");
	ok(tier_preempts(TIER_LATENCY_CRITICAL, 0, TIER_INTERACTIVE, 0, 0, 0, TIER_LIGHT_NS),
	   "urgent thread preempts an interactive one");
	ok(tier_preempts(TIER_LATENCY_CRITICAL, 0, TIER_LATENCY_CRITICAL, TIER_BURST_NS, 0, TIER_BURST_NS,
			 TIER_LIGHT_NS),
	   "urgent thread preempts an urgent one that burns");
	ok(tier_preempts(TIER_INTERACTIVE, 0, TIER_INTERACTIVE, TIER_HOG_NS, 0, TIER_HOG_NS, TIER_LIGHT_NS),
	   "interactive thread preempts an equal that burns");
	ok(!tier_preempts(TIER_INTERACTIVE, 0, TIER_INTERACTIVE, TIER_HOG_NS - 1, 0, TIER_HOG_NS - 1, TIER_LIGHT_NS),
	   "equal threads that do not burn stay");
	ok(tier_preempts(TIER_INTERACTIVE, 0, TIER_BATCH, TIER_UNDISTURBED_NS, 0, TIER_UNDISTURBED_NS, TIER_LIGHT_NS),
	   "interactive thread preempts batch");
	ok(!tier_preempts(TIER_INTERACTIVE, 0, TIER_BATCH, 0, 0, 0, TIER_LIGHT_NS),
	   "interactive thread leaves batch alone until that has got something done");
	ok(!tier_preempts(TIER_INTERACTIVE, 0, TIER_INTERACTIVE, TIER_HOG_NS, 0, 0, TIER_LIGHT_NS),
	   "interactive thread leaves an equal alone until it has got something done again");
	ok(!tier_preempts(TIER_BATCH, 0, TIER_BATCH, ~0ULL, 0, ~0ULL, TIER_LIGHT_NS), "batch thread preempts nothing");
}

static void bound_tests(void)
{
	is(tier_bound_joins(1, 0, TIER_BATCH), TIER_BOUND_PREEMPTS, "bound kernel thread that wakes preempts a hog");
	is(tier_bound_joins(1, 0, TIER_INTERACTIVE), TIER_BOUND_PREEMPTS,
	   "bound kernel thread that wakes preempts a thread of which nothing is known");
	is(tier_bound_joins(1, 0, TIER_LATENCY_CRITICAL), TIER_BOUND_FIRST,
	   "bound kernel thread that wakes is next after an urgent thread");
	is(tier_bound_joins(1, 0, TIERS), TIER_BOUND_FIRST,
	   "bound kernel thread that wakes is next after one that can't be preempted");
	is(tier_bound_joins(1, 1, TIER_BATCH), TIER_BOUND_LAST,
	   "bound kernel thread that wakes does not overtake a thread that preempts");
	is(tier_bound_joins(0, 0, TIER_BATCH), TIER_BOUND_LAST,
	   "bound kernel thread that was preempted goes on after the one that preempted it");
	ok(tier_preempts(TIER_LATENCY_CRITICAL, 1, TIER_LATENCY_CRITICAL, TIER_LIGHT_NS + 1, 0, 0, TIER_LIGHT_NS),
	   "urgent thread that needs little preempts a bound kernel thread that has run for longer");
}

static void turn_tests(void)
{
	u64 ran_ns = TIER_TURN_NS, now_ns = NSEC_PER_SEC, clock = ~0ULL - 5;

	ok(tier_asks_for_turns(TIER_INTERACTIVE, 1, 0, clock, clock),
	   "interactive thread that waits asks for short turns");
	ok(tier_asks_for_turns(TIER_BATCH, 1, 0, clock, clock),
	   "thread that was learned to be batch and has just begun asks for short turns");
	ok(!tier_asks_for_turns(TIER_BATCH, 1, TIER_HOG_NS, clock, clock),
	   "thread that goes on and on asks for no short turns");
	ok(!tier_asks_for_turns(TIER_LATENCY_CRITICAL, 1, 0, clock, clock),
	   "urgent thread asks for no turns, it preempts");
	ok(tier_asks_for_turns(TIER_LATENCY_CRITICAL, 0, 0, clock, clock),
	   "urgent thread that has had more than its share, and so preempts nobody, asks for short turns");
	ok(tier_asks_for_turns(TIER_INTERACTIVE, 0, 0, clock + TIER_ASKS_WITHIN_NS - 1, clock),
	   "thread whose deadline is near asks for short turns");
	ok(!tier_asks_for_turns(TIER_INTERACTIVE, 0, 0, clock + TIER_ASKS_WITHIN_NS, clock),
	   "thread whose deadline is far away asks for no short turns");
	ok(tier_ends_turn(TIER_BATCH, ran_ns, now_ns + 1, now_ns),
	   "batch thread that has got something done ends its turn while an interactive one waits");
	ok(tier_ends_turn(TIER_INTERACTIVE, ran_ns, now_ns + 1, now_ns),
	   "interactive thread that has got something done ends its turn while another waits");
	ok(!tier_ends_turn(TIER_BATCH, ran_ns, now_ns, now_ns), "thread keeps its slice while only batch threads wait");
	ok(!tier_ends_turn(TIER_BATCH, ran_ns - 1, now_ns + 1, now_ns),
	   "thread that has got nothing done keeps its slice");
	ok(!tier_ends_turn(TIER_LATENCY_CRITICAL, ran_ns, now_ns + 1, now_ns), "urgent thread keeps its slice");
	ok(!tier_ends_turn(TIERS, ~0ULL, now_ns + 1, now_ns), "thread that nothing may interrupt keeps its slice");
}

static void timed_turn_tests(void)
{
	u64 slice = TIER_SLICE_NS, clock = 100 * slice;

	is(tier_turn_ns(TIER_BATCH, TIER_HOG_NS, 1, 0, 0), TIER_HOG_TURN_NS,
	   "hog's turn ends by a timer for whoever is no hog");
	is(tier_turn_ns(TIER_BATCH, TIER_HOG_NS, 0, 0, 0), 0, "hog's turn ends with a tick while only hogs wait");
	is(tier_turn_ns(TIER_BATCH, 0, 9, 0, 0), 0, "no timer is set for batch threads that wake each other");
	is(tier_turn_ns(TIER_BATCH, 0, 9, 1, 0), TIER_HOG_TURN_NS,
	   "turn of a batch thread that is no hog ends by a timer for one that a timer woke");
	is(tier_turn_ns(TIER_INTERACTIVE, 0, 9, 0, 0), 0, "no timer is set for threads that wake each other");
	is(tier_turn_ns(TIER_INTERACTIVE, 0, 1, 1, 0), TIER_TURN_NS,
	   "turn of a thread that is no hog ends by a timer for one that a timer woke");
	is(tier_turn_ns(TIER_LATENCY_CRITICAL, 0, 9, 9, 0), 0, "urgent thread's turn ends for urgent ones alone");
	is(tier_turn_ns(TIER_LATENCY_CRITICAL, 0, 0, 0, 1), TIER_TURN_NS,
	   "urgent thread's turn ends for an urgent one");
	is(tier_turn_ns(TIERS, 0, 9, 9, 9), 0, "turn of a thread that nothing may interrupt ends by no timer");
	ok(tier_times_own_turn(TIER_INTERACTIVE, 1, 0, TIER_HOG_TURN_NS), "thread that runs long at a time is timed");
	ok(tier_times_own_turn(TIER_INTERACTIVE, 1, TIER_HOG_TURN_NS, 0), "thread that has run long by now is timed");
	ok(!tier_times_own_turn(TIER_INTERACTIVE, 1, 0, 0), "thread that runs shortly is not timed");
	ok(tier_times_own_turn(TIER_BATCH, 1, 0, slice), "batch thread that sleeps is timed for its own sake");
	ok(!tier_times_own_turn(TIER_BATCH, 1, TIER_HOG_NS, slice),
	   "batch thread that has run on and on by now is not timed");
	ok(!tier_times_own_turn(TIER_BATCH, 1, 0, TIER_HOG_NS),
	   "batch thread that ran on and on last time is not timed");
	ok(!tier_times_own_turn(TIER_BATCH, 0, 0, slice), "batch thread that another thread woke is not timed");
	ok(!tier_times_own_turn(TIER_BATCH, 1, slice, 0), "batch thread that has not slept yet is not timed");
	is(tier_own_turn_ns(clock - slice, clock), slice + TIER_HOG_TURN_NS,
	   "thread with credit has that for its turn");
	is(tier_own_turn_ns(clock + slice, clock), TIER_HOG_TURN_NS, "thread that is ahead has a short turn");
	is(tier_turn_left_ns(TIER_TURN_NS, 0), TIER_TURN_NS, "turn that begins has all of its time left");
	is(tier_turn_left_ns(TIER_TURN_NS, ~0ULL >> 1), TIER_TURN_LEAST_NS, "turn that is over ends at once");
	is(tier_sets_timer(0, TIER_TURN_NS, clock, 1), 1, "timer that is not set is set for a turn that ends");
	is(tier_sets_timer(0, 0, clock, 1), 0, "timer is not set for a turn that ends with the tick");
	is(tier_sets_timer(clock + TIER_TURN_NS, TIER_TURN_NS, clock, 1), 0, "timer that is set is not set again");
	is(tier_sets_timer(clock + 2 * TIER_TURN_NS, TIER_TURN_NS, clock, 1), 1,
	   "timer that is set for a later end is set for an earlier one");
	is(tier_sets_timer(clock + 2 * TIER_TURN_NS, TIER_TURN_NS, clock, 0), 0,
	   "timer that is set for a later end is left where only threads wait that others woke");
	is(tier_sets_timer(clock + TIER_TURN_NS / 2, TIER_TURN_NS, clock, 1), 0,
	   "timer that is set for an earlier end is left, and looks when it fires");
	is(tier_sets_timer(clock - 2 * TIER_TURNS_NS, TIER_TURN_NS, clock, 1), 1, "timer that was lost is set again");
	is(tier_sets_timer(TIER_NO_TIMER_NS, TIER_TURN_NS, clock, 1), 0,
	   "timer that the kernel had no room for is not set");
	is(tier_turn_vtime(clock - slice, clock, 1), clock, "credit counts for one turn where another asks");
	is(tier_turn_vtime(clock - slice, clock, 0), clock - slice, "credit counts on before hogs");
	is(tier_turn_vtime(clock + slice, clock, 1), clock + slice, "thread that is ahead stays ahead after its turn");
}

int main(void)
{
	u64 slice = TIER_SLICE_NS;

	is(vtime_charge(1000, effective_weight(100)), 1000, "at nice 0 virtual time is real time");
	is(vtime_charge(1000, effective_weight(200)), 500, "twice the weight, half the cost");
	is(vtime_charge(1000, effective_weight(1)), 100000, "lightest thread pays a hundredfold");
	is(vtime_charge(1000, effective_weight(0)), 100000, "a weight of 0 divides nothing by zero");
	is(vtime_join(10 * slice, 11 * slice, slice), 10 * slice, "thread that lags less than a slice keeps its place");
	is(vtime_join(2 * slice, 11 * slice, slice), 10 * slice, "thread that slept long saves up one slice");
	is(vtime_join(15 * slice, 11 * slice, slice), 15 * slice, "thread that is ahead stays ahead");
	is(vtime_join(~0ULL - slice * 9, 5, slice), 5 - slice,
	   "thread that slept long saves up one slice across a wrapped counter");
	ok(vtime_before(~0ULL, 3), "a wrapped counter is later");
	ok(!vtime_before(3, ~0ULL), "wrapped counter is not earlier");
	preemption_tests();
	light_tests();
	bound_tests();
	turn_tests();
	timed_turn_tests();
	is(tier_now(TIER_LATENCY_CRITICAL, TIER_BURST_NS), TIER_INTERACTIVE, "urgent thread that burns is not urgent");
	is(tier_now(TIER_LATENCY_CRITICAL, TIER_BURST_NS - 1), TIER_LATENCY_CRITICAL,
	   "thread that has not burnt its burst is urgent");
	is(tier_now(TIER_BATCH, 0), TIER_BATCH, "batch thread is batch");
	is(tier_now(TIER_INTERACTIVE, TIER_HOG_NS), TIER_BATCH, "interactive thread that goes on and on is batch");
	is(tier_charge(8000, effective_weight(100), TIER_LATENCY_CRITICAL, TIER_URGENT_DISCOUNT, 0) *
		   TIER_URGENT_DISCOUNT,
	   tier_charge(8000, effective_weight(100), TIER_BATCH, TIER_URGENT_DISCOUNT, 0),
	   "an urgent thread pays an eighth");
	is(tier_charge(8000, effective_weight(200), TIER_LATENCY_CRITICAL, TIER_URGENT_DISCOUNT, 0) * 2,
	   tier_charge(8000, effective_weight(100), TIER_LATENCY_CRITICAL, TIER_URGENT_DISCOUNT, 0),
	   "weight means the same among the urgent");
	many_tests();
	watch_tests();
	undiscounted_watch_tests();
	ok(tier_deadline(0, slice, effective_weight(100), 3) * 8 == tier_deadline(0, slice, effective_weight(100), 0),
	   "a boost of 3 is an eighth of the time");
	ok(tier_deadline(0, slice, effective_weight(200), 0) < tier_deadline(0, slice, effective_weight(100), 0),
	   "a heavy thread's deadline is nearer");
	is(tier_deadline(7, slice, effective_weight(100), 200), tier_deadline(7, slice, effective_weight(100), 16),
	   "boost never shifts a deadline too far");
	ok(tier_credit_ns(TIER_LATENCY_CRITICAL, slice, 4) > tier_credit_ns(TIER_INTERACTIVE, slice, 4),
	   "urgent thread may save up more than others");
	is(tier_credit_ns(TIER_BATCH, slice, 4), 0, "batch thread may save up nothing");
	late_tests();
	late_look_tests();
	move_rate_tests();
	enqueue_tests();
	ok(vtime_charge(~0ULL, effective_weight(100)) == TIER_CHARGE_MOST_NS, "charge never overflows");
	is(vtime_charge(1000, tier_effective_weight(100, 1 << (GROUP_SHARE_BITS - 1))), 2000,
	   "thread of half the effective weight is charged twice");
	ok(tier_slice_ns(TIER_LATENCY_CRITICAL, slice) < slice, "urgent slices are shorter than usual");
	ok(tier_slice_ns(TIER_BATCH, slice) > slice, "batch slices are longer than usual");
	is(vtime_reweighed(100, 40, effective_weight(100), effective_weight(200)), 70,
	   "thread that owes owes half as much virtual time at twice the weight");
	is(vtime_reweighed(40, 100, effective_weight(200), effective_weight(100)), 100 - 120,
	   "thread that is owed is owed twice as much at half the weight");
	is(vtime_reweighed(~0ULL, 5, effective_weight(100), effective_weight(300)), 3, "across a wrapped counter too");
	is(vtime_reweighed(7, 5, 0, effective_weight(300)), 7, "first weight of a thread changes nothing");
	ok(!vtime_before(vtime_owed(0, 1000 * slice, slice, 4),
			 vtime_join(0, 1000 * slice, tier_credit_ns(TIER_LATENCY_CRITICAL, slice, 4)) + 1),
	   "thread is never owed so much that it goes before an urgent one that wakes");
	is(vtime_owed(999 * slice, 1000 * slice, slice, 4), 999 * slice, "thread that is owed little keeps it");
	is(clock_follows(100, 130, slice, 4), 30, "a clock follows another");
	is(clock_follows(130, 100, slice, 4), 0, "clock never follows another back");
	is(clock_follows(0, 1000 * slice, slice, 4), 4 * slice, "clock never follows another by leaps");
	is(clock_follows(~0ULL, 3, slice, 4), 4, "across a wrapped counter too");
	settings_tests();
	is(vtime_moved(105, 100, 900), 905, "a place is kept from one clock to another");
	is(tier_expected_ns(TIER_INTERACTIVE, 0, 800), 800,
	   "a thread of which nothing was learned is expected to run a slice");
	is(tier_expected_ns(TIER_INTERACTIVE, 300, 800), 300,
	   "thread whose kind runs shortly is expected to run so long");
	is(tier_expected_ns(TIER_LATENCY_CRITICAL, 1, 800), 100, "expected run is an eighth of a slice at least");
	is(tier_expected_ns(TIER_INTERACTIVE, 9000, 800), 800, "expected run is one slice at most");
	is(tier_expected_ns(TIER_BATCH, 300, 800), 800, "batch gets nothing nearer by that");
	return tap_end();
}
