// SPDX-License-Identifier: GPL-2.0
/* core/tier.h: what a run costs, where a thread joins the queue, and that both survive a wrapped counter. */
#include "../../core/tier.h"
#include "tap.h"

int main(void)
{
	u64 slice = TIER_SLICE_NS;

	is(vtime_charge(1000, 100), 1000, "at nice 0 virtual time is real time");
	is(vtime_charge(1000, 200), 500, "twice the weight, half the cost");
	is(vtime_charge(1000, 1), 100000, "the lightest pays a hundredfold");
	is(vtime_charge(1000, 0), 100000, "a weight of 0 divides nothing by zero");
	is(vtime_join(10 * slice, 11 * slice, slice), 10 * slice, "who lags less than a slice keeps its place");
	is(vtime_join(2 * slice, 11 * slice, slice), 10 * slice, "who slept long saves up one slice");
	is(vtime_join(15 * slice, 11 * slice, slice), 15 * slice, "who is ahead stays ahead");
	is(vtime_join(~0ULL - slice * 9, 5, slice), 5 - slice, "the same across a wrapped counter");
	ok(vtime_before(~0ULL, 3), "a wrapped counter is later");
	ok(!vtime_before(3, ~0ULL), "and not earlier");
	ok(vtime_keeps_turn(5, 9), "who has used less than the first in the queue goes on");
	ok(!vtime_keeps_turn(9, 5), "who has used more does not");
	ok(!vtime_keeps_turn(5, 5), "a tie goes to who waited");
	return tap_end();
}
