// SPDX-License-Identifier: GPL-2.0
/* core/tier.h: what a run costs, where a thread joins the queue, and that both survive a wrapped counter. */
#include "../../core/tier.h"
#include "tap.h"

static u64 worth(u32 weight)
{
	return tier_worth(weight, 1 << GROUP_WORTH_BITS);
}

static void watch_tests(void)
{
	struct urgent_watch watch = { .since_ns = 1000, .awake_ns = TIER_WATCH_NS / 2, .spared = 700 };
	u64 now_ns = 1000 + TIER_WATCH_NS;

	is(urgent_watch_ends(&watch, now_ns - 1), 0, "thread is not judged before the time is over");
	is(watch.spared, 700, "thread not yet judged keeps what was noted");
	is(urgent_watch_ends(&watch, now_ns), 0, "thread that slept half of the time pays nothing");
	is(watch.barred_until_ns, 0, "thread that slept half of the time stays urgent");
	is(watch.spared + watch.awake_ns, 0, "thread that slept half of the time begins anew");
	watch.awake_ns = TIER_WATCH_NS;
	watch.spared = 700;
	now_ns += TIER_WATCH_NS;
	is(urgent_watch_ends(&watch, now_ns), 700, "thread that never slept pays back what it was spared");
	is(watch.barred_until_ns, now_ns + TIER_BARRED_NS,
	   "thread that never slept is barred from urgency for a while");
	watch.awake_ns = 10 * TIER_WATCH_NS;
	is(urgent_watch_ends(&watch, now_ns + 10 * TIER_WATCH_NS), 0,
	   "a time that was not watched to its end tells nothing");
}

static void light_tests(void)
{
	ok(!tier_preempts(TIER_BATCH, 1, TIER_BATCH, ~0ULL, ~0ULL), "light batch thread pushes nobody off");
	ok(tier_preempts(TIER_INTERACTIVE, 1, TIER_BATCH, TIER_LIGHT_NS + 1, 0),
	   "light thread pushes off at once a batch one that has run a while");
	ok(tier_preempts(TIER_INTERACTIVE, 1, TIER_INTERACTIVE, TIER_LIGHT_NS + 1, 0),
	   "light thread pushes off at once an equal that has run a while");
	ok(!tier_preempts(TIER_INTERACTIVE, 1, TIER_BATCH, TIER_LIGHT_NS, 0),
	   "light thread does not push off one as light");
	ok(!tier_preempts(TIER_INTERACTIVE, 1, TIER_LATENCY_CRITICAL, TIER_LIGHT_NS + 1, 0),
	   "light thread does not push off an urgent one");
	ok(!tier_frame_presses(0, 100), "frame without a due time presses nobody");
	ok(!tier_frame_presses(NSEC_PER_SEC, NSEC_PER_SEC - TIER_FRAME_NEAR_NS - 1),
	   "frame that is not due for long presses nobody");
	ok(tier_frame_presses(NSEC_PER_SEC, NSEC_PER_SEC - TIER_FRAME_NEAR_NS), "frame that is nearly due presses");
	ok(tier_frame_presses(NSEC_PER_SEC, NSEC_PER_SEC + TIER_FRAME_LOST_NS - 1), "frame that is just over presses");
	ok(!tier_frame_presses(NSEC_PER_SEC, NSEC_PER_SEC + TIER_FRAME_LOST_NS), "frame that is lost presses nobody");
	is(tier_frame_period_ns(0, 16000), 16000, "first interval of frames is the period");
	is(tier_frame_period_ns(16000, 24000), 17000, "later intervals of frames change the period by an eighth");
	is(tier_frame_period_ns(16000, 2ULL * NSEC_PER_SEC), 16000, "pause does not change the period of frames");
	ok(tier_is_light(TIER_LIGHT_NS, 8ULL * TIER_LIGHT_NS), "half a millisecond in four is light");
	ok(!tier_is_light(TIER_LIGHT_NS, 8ULL * TIER_LIGHT_NS - 8),
	   "more than half a millisecond in four is not light");
	ok(!tier_is_light(TIER_LIGHT_NS + 1, ~0ULL), "longer run is not light, however seldom");
	ok(tier_is_owed(TIER_INTERACTIVE, 1000, 1000, 500), "thread that has had its share is owed a turn");
	ok(!tier_is_owed(TIER_INTERACTIVE, 1001, 1000, 500),
	   "thread that has had more than its share pushes nobody off");
	ok(tier_is_owed(TIER_LATENCY_CRITICAL, 1499, 1000, 500),
	   "urgent thread less than a slice ahead is owed a turn");
	ok(!tier_is_owed(TIER_LATENCY_CRITICAL, 1500, 1000, 500), "urgent thread a slice ahead is owed none");
}

static void crowd_tests(void)
{
	is(tier_charge(8000, worth(100), TIER_LATENCY_CRITICAL, 1), tier_charge(8000, worth(100), TIER_BATCH, 0),
	   "urgent threads among many are spared nothing");
	is(tier_credit_among_ns(TIER_LATENCY_CRITICAL, 5000, 1), tier_credit_ns(TIER_INTERACTIVE, 5000),
	   "urgent threads among many save up no more than others");
	is(tier_credit_among_ns(TIER_LATENCY_CRITICAL, 5000, 0), tier_credit_ns(TIER_LATENCY_CRITICAL, 5000),
	   "urgent threads among few save up more than others");
	is(tier_slice_among_ns(TIER_BATCH, TIER_SLICE_NS, TIER_CROWD), 2ULL * TIER_SLICE_NS,
	   "slice is whole where few wait");
	is(tier_slice_among_ns(TIER_BATCH, TIER_SLICE_NS, 2 * TIER_CROWD), TIER_SLICE_NS,
	   "slice is half as long where twice as many wait");
	is(tier_slice_among_ns(TIER_BATCH, TIER_SLICE_NS, 100000), TIER_SHORTEST_NS,
	   "slice is never too short, however many wait");
	is(tier_slice_among_ns(TIER_LATENCY_CRITICAL, TIER_SLICE_NS, 100000), TIER_URGENT_SLICE_NS,
	   "an urgent one's is short as it is");
}

static void late_tests(void)
{
	ok(tier_is_missed(TIER_LATENCY_CRITICAL, TIER_MISS_NS + 1), "an urgent thread that waits too long has missed");
	ok(!tier_is_missed(TIER_LATENCY_CRITICAL, TIER_MISS_NS),
	   "urgent thread that waits up to the limit has not missed");
	ok(!tier_is_missed(TIER_BATCH, NSEC_PER_SEC), "batch thread has nothing to miss");
	ok(!tier_may_be_late(TIER_LATE_NS / 2, TIER_LATE_NS / 2 - 1),
	   "wait shorter than the limit since the longest seen cannot be late");
	ok(tier_may_be_late(TIER_LATE_NS / 2, TIER_LATE_NS / 2),
	   "wait as long as the limit since the longest seen may be late");
	is(tier_late_bar_ns(0), TIER_LATE_NS, "thread that has waited a second is late");
	is(tier_late_bar_ns(8ull * NSEC_PER_SEC), 6ull * NSEC_PER_SEC,
	   "threads that have waited longest come first where some have waited longer");
}

static void preemption_tests(void)
{
	ok(tier_preempts(TIER_LATENCY_CRITICAL, 0, TIER_BATCH, 0, 0), "an urgent thread pushes a batch one off");
	ok(!tier_preempts(TIER_LATENCY_CRITICAL, 0, TIER_LATENCY_CRITICAL, TIER_BURST_NS - 1, TIER_BURST_NS - 1),
	   "urgent thread never pushes off another urgent one");
	ok(tier_preempts(TIER_LATENCY_CRITICAL, 0, TIER_INTERACTIVE, 0, 0),
	   "urgent thread pushes off an interactive one");
	ok(tier_preempts(TIER_LATENCY_CRITICAL, 0, TIER_LATENCY_CRITICAL, TIER_BURST_NS, TIER_BURST_NS),
	   "urgent thread pushes off an urgent one that burns");
	ok(tier_preempts(TIER_INTERACTIVE, 0, TIER_INTERACTIVE, TIER_HOG_NS, TIER_HOG_NS),
	   "interactive thread pushes off an equal that burns");
	ok(!tier_preempts(TIER_INTERACTIVE, 0, TIER_INTERACTIVE, TIER_HOG_NS - 1, TIER_HOG_NS - 1),
	   "equal threads that do not burn stay");
	ok(tier_preempts(TIER_INTERACTIVE, 0, TIER_BATCH, TIER_UNDISTURBED_NS, TIER_UNDISTURBED_NS),
	   "interactive thread pushes batch off");
	ok(!tier_preempts(TIER_INTERACTIVE, 0, TIER_BATCH, 0, 0),
	   "interactive thread leaves batch alone until that has got something done");
	ok(!tier_preempts(TIER_INTERACTIVE, 0, TIER_INTERACTIVE, TIER_HOG_NS, 0),
	   "interactive thread leaves an equal alone until it has got something done again");
	ok(!tier_preempts(TIER_BATCH, 0, TIER_BATCH, ~0ULL, ~0ULL), "batch thread pushes nobody off");
}

int main(void)
{
	u64 slice = TIER_SLICE_NS;

	is(vtime_charge(1000, worth(100)), 1000, "at nice 0 virtual time is real time");
	is(vtime_charge(1000, worth(200)), 500, "twice the weight, half the cost");
	is(vtime_charge(1000, worth(1)), 100000, "lightest thread pays a hundredfold");
	is(vtime_charge(1000, worth(0)), 100000, "a weight of 0 divides nothing by zero");
	is(vtime_join(10 * slice, 11 * slice, slice), 10 * slice, "thread that lags less than a slice keeps its place");
	is(vtime_join(2 * slice, 11 * slice, slice), 10 * slice, "thread that slept long saves up one slice");
	is(vtime_join(15 * slice, 11 * slice, slice), 15 * slice, "thread that is ahead stays ahead");
	is(vtime_join(~0ULL - slice * 9, 5, slice), 5 - slice,
	   "thread that slept long saves up one slice across a wrapped counter");
	ok(vtime_before(~0ULL, 3), "a wrapped counter is later");
	ok(!vtime_before(3, ~0ULL), "wrapped counter is not earlier");
	preemption_tests();
	light_tests();
	is(tier_now(TIER_LATENCY_CRITICAL, TIER_BURST_NS), TIER_INTERACTIVE, "urgent thread that burns is not urgent");
	is(tier_now(TIER_LATENCY_CRITICAL, TIER_BURST_NS - 1), TIER_LATENCY_CRITICAL,
	   "thread that has not burnt its burst is urgent");
	is(tier_now(TIER_BATCH, 0), TIER_BATCH, "batch thread is batch");
	is(tier_now(TIER_INTERACTIVE, TIER_HOG_NS), TIER_BATCH, "interactive thread that goes on and on is batch");
	is(tier_charge(8000, worth(100), TIER_LATENCY_CRITICAL, 0) * TIER_URGENT_DISCOUNT,
	   tier_charge(8000, worth(100), TIER_BATCH, 0), "an urgent thread pays an eighth");
	is(tier_charge(8000, worth(200), TIER_LATENCY_CRITICAL, 0) * 2,
	   tier_charge(8000, worth(100), TIER_LATENCY_CRITICAL, 0), "weight means the same among the urgent");
	crowd_tests();
	watch_tests();
	ok(tier_deadline(0, slice, worth(100), 3) * 8 == tier_deadline(0, slice, worth(100), 0),
	   "a boost of 3 is an eighth of the time");
	ok(tier_deadline(0, slice, worth(200), 0) < tier_deadline(0, slice, worth(100), 0),
	   "a heavy thread's deadline is nearer");
	is(tier_deadline(7, slice, worth(100), 200), tier_deadline(7, slice, worth(100), 16),
	   "boost never shifts a deadline too far");
	ok(tier_credit_ns(TIER_LATENCY_CRITICAL, slice) > tier_credit_ns(TIER_INTERACTIVE, slice),
	   "urgent thread may save up more than others");
	is(tier_credit_ns(TIER_BATCH, slice), 0, "batch thread may save up nothing");
	late_tests();
	ok(vtime_charge(~0ULL, worth(100)) == TIER_CHARGE_MOST_NS, "charge never overflows");
	is(vtime_charge(1000, tier_worth(100, 1 << (GROUP_WORTH_BITS - 1))), 2000,
	   "thread of half the worth is charged twice");
	ok(tier_slice_ns(TIER_LATENCY_CRITICAL, slice) < slice, "urgent slices are shorter than usual");
	ok(tier_slice_ns(TIER_BATCH, slice) > slice, "batch slices are longer than usual");
	is(vtime_reweighed(100, 40, worth(100), worth(200)), 70,
	   "thread that owes owes half as much virtual time at twice the weight");
	is(vtime_reweighed(40, 100, worth(200), worth(100)), 100 - 120,
	   "thread that is owed is owed twice as much at half the weight");
	is(vtime_reweighed(~0ULL, 5, worth(100), worth(300)), 3, "across a wrapped counter too");
	is(vtime_reweighed(7, 5, 0, worth(300)), 7, "first weight of a thread changes nothing");
	ok(!vtime_before(vtime_owed(0, 1000 * slice, slice),
			 vtime_join(0, 1000 * slice, tier_credit_ns(TIER_LATENCY_CRITICAL, slice)) + 1),
	   "thread is never owed so much that it goes before an urgent one that wakes");
	is(vtime_owed(999 * slice, 1000 * slice, slice), 999 * slice, "thread that is owed little keeps it");
	is(clock_follows(100, 130, slice), 30, "a clock follows another");
	is(clock_follows(130, 100, slice), 0, "clock never follows another back");
	is(clock_follows(0, 1000 * slice, slice), 4 * slice, "clock never follows another by leaps");
	is(clock_follows(~0ULL, 3, slice), 4, "across a wrapped counter too");
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
