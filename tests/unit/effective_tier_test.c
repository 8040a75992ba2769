// SPDX-License-Identifier: GPL-2.0
/* core/effective_tier.h: what makes a thread urgent at a moment, what takes that away, and who inherits it. */
#include "../../core/effective_tier.h"
#include "tap.h"

enum { NOW_NS = NSEC_PER_SEC };

static const struct tier_inputs ordinary = {
	.now_ns = NOW_NS,
	.role_tier = TIER_INTERACTIVE,
	.raise = RAISE_INPUT | RAISE_FRAMES,
};

static const struct tier_inputs urgent = { .now_ns = NOW_NS, .role_tier = TIER_LATENCY_CRITICAL, .role_boost = 3 };

static void is_now(struct tier_inputs inputs, u32 tier, u32 boost, u32 limit, const char *name)
{
	struct effective_tier now = tier_effective(&inputs);

	is(now.tier, tier, "%s: the tier", name);
	is(now.boost, boost, "%s: the boost", name);
	is(now.limit, limit, "%s: what limits it", name);
}

static void test_role(void)
{
	struct tier_inputs in = ordinary;

	is_now(in, TIER_INTERACTIVE, 0, TIER_LIMIT_NONE, "thread without a reason for more is as urgent as its role");
	in.role_tier = TIER_BATCH;
	in.role_boost = 1;
	is_now(in, TIER_BATCH, 1, TIER_LIMIT_NONE, "thread with a batch role stays batch and keeps its boost");
	is_now(urgent, TIER_LATENCY_CRITICAL, 3, TIER_LIMIT_NONE, "thread with an urgent role is urgent by its boost");
	in = urgent;
	in.is_own = 1;
	is_now(in, TIER_INTERACTIVE, 0, TIER_LIMIT_NONE,
	       "thread of the scheduler's own process is not urgent by its role");
	in.role_tier = TIER_INTERACTIVE;
	in.inherited_until_ns = NOW_NS + 1;
	is_now(in, TIER_INTERACTIVE, 0, TIER_LIMIT_NONE, "thread of the scheduler's own process inherits no urgency");
	in = urgent;
	in.is_idle_policy = 1;
	is_now(in, TIER_BATCH, 0, TIER_LIMIT_NONE, "thread with the policy idle is batch, whatever its role");
	in.is_kernel_thread = 1;
	is_now(in, TIER_BATCH, 0, TIER_LIMIT_NONE, "kernel thread with the policy idle is batch too");
}

static void test_neutral(void)
{
	struct tier_inputs in = urgent;

	in.is_neutral = 1;
	is_now(in, TIER_INTERACTIVE, 0, TIER_LIMIT_NONE, "thread with an urgent role is not urgent by a neutral one");
	in.inherited_until_ns = in.lock_until_ns = NOW_NS + 1;
	in.may_burn = 1;
	is_now(in, TIER_INTERACTIVE, 0, TIER_LIMIT_NONE, "thread that others wait for is not urgent by a neutral one");
	in.burst_ns = TIER_HOG_NS;
	is_now(in, TIER_BATCH, 0, TIER_LIMIT_NONE, "thread that runs on and on is batch by a neutral scheduler too");
	in = ordinary;
	in.is_neutral = 1;
	in.role_tier = TIER_BATCH;
	is_now(in, TIER_BATCH, 0, TIER_LIMIT_NONE, "thread with a batch role is batch by a neutral scheduler too");
	in.is_kernel_thread = 1;
	is_now(in, TIER_LATENCY_CRITICAL, 0, TIER_LIMIT_NONE, "kernel thread goes first by a neutral scheduler too");
	in.nice = 19;
	is_now(in, TIER_BATCH, 0, TIER_LIMIT_NONE,
	       "kernel thread that the kernel made nicer does not go first by a neutral scheduler either");
	in.is_idle_policy = 1;
	is_now(in, TIER_BATCH, 0, TIER_LIMIT_NONE, "thread with the policy idle is batch by a neutral scheduler too");
	is(tier_credited(TIER_INTERACTIVE, 1), TIER_BATCH, "thread that slept gets no credit by a neutral scheduler");
	is(tier_credited(TIER_LATENCY_CRITICAL, 1), TIER_LATENCY_CRITICAL,
	   "kernel thread that slept gets its credit by a neutral scheduler too");
	is(tier_credited(TIER_INTERACTIVE, 0), TIER_INTERACTIVE,
	   "thread that slept gets its credit while others are urgent");
}

static void test_input(void)
{
	struct tier_inputs in = ordinary;

	in.input_until_ns = NOW_NS + 1;
	is_now(in, TIER_LATENCY_CRITICAL, 1, TIER_LIMIT_NONE,
	       "thread that handles input is urgent with a boost of one");
	in.role_boost = 2;
	is_now(in, TIER_LATENCY_CRITICAL, 2, TIER_LIMIT_NONE, "thread that handles input keeps the boost of its role");
	in.input_until_ns = NOW_NS;
	is_now(in, TIER_INTERACTIVE, 2, TIER_LIMIT_NONE, "thread whose input event is over is as urgent as its role");
	in.input_until_ns = NOW_NS + 1;
	in.raise = RAISE_FRAMES;
	is_now(in, TIER_INTERACTIVE, 2, TIER_LIMIT_NONE, "input event raises nobody where input is not to");
}

static void test_frames(void)
{
	struct tier_inputs in = ordinary;

	in.frame_due_ns = NOW_NS + TIER_FRAME_NEAR_NS;
	is_now(in, TIER_LATENCY_CRITICAL, TIER_FRAME_BOOST, TIER_LIMIT_NONE,
	       "thread whose frame is nearly due is urgent with the boost of frames");
	in.input_until_ns = NOW_NS + 1;
	is_now(in, TIER_LATENCY_CRITICAL, 1 + TIER_FRAME_BOOST, TIER_LIMIT_NONE,
	       "boost of a frame comes on top of the boost of input");
	in.input_until_ns = 0;
	in.raise = RAISE_INPUT;
	is_now(in, TIER_INTERACTIVE, 0, TIER_LIMIT_NONE,
	       "frame that is nearly due raises nobody where frames are not to");
	in.raise = RAISE_FRAMES;
	in.frame_due_ns = NOW_NS + TIER_FRAME_NEAR_NS + 1;
	is_now(in, TIER_INTERACTIVE, 0, TIER_LIMIT_NONE, "frame that is due later raises nobody yet");
}

static void test_inherited(void)
{
	struct tier_inputs in = ordinary;

	in.inherited_until_ns = NOW_NS + 1;
	in.inherited_boost = 5;
	is_now(in, TIER_LATENCY_CRITICAL, 5, TIER_LIMIT_NONE,
	       "waker of an urgent thread is urgent by the inherited boost");
	in.raise = 0;
	is_now(in, TIER_LATENCY_CRITICAL, 5, TIER_LIMIT_NONE,
	       "waker of an urgent thread inherits where neither input nor frames raise");
	in.inherited_until_ns = NOW_NS;
	is_now(in, TIER_INTERACTIVE, 0, TIER_LIMIT_NONE, "inherited urgency ends in time");
	in = urgent;
	in.inherited_until_ns = NOW_NS + 1;
	in.inherited_boost = 5;
	is_now(in, TIER_LATENCY_CRITICAL, 3, TIER_LIMIT_NONE, "urgent thread that inherits keeps its own boost");
}

static void test_owners_word(void)
{
	struct tier_inputs in = urgent;

	in.nice = 1;
	is_now(in, TIER_INTERACTIVE, 0, TIER_LIMIT_NONE, "urgent thread that was made nicer is interactive");
	in.by_user = 1;
	is_now(in, TIER_LATENCY_CRITICAL, 3, TIER_LIMIT_NONE, "nicer thread that the user named urgent is urgent");
	in = urgent;
	in.nice = -5;
	is_now(in, TIER_LATENCY_CRITICAL, 3, TIER_LIMIT_NONE, "urgent thread that was made less nice is urgent");
	in.is_batch_policy = 1;
	is_now(in, TIER_INTERACTIVE, 0, TIER_LIMIT_NONE, "urgent thread with the policy batch is interactive");
	in.role_tier = TIER_BATCH;
	is_now(in, TIER_BATCH, 3, TIER_LIMIT_NONE, "thread with the policy batch gains nothing by it");
	in.role_tier = TIER_INTERACTIVE;
	in.is_kernel_thread = 1;
	is_now(in, TIER_LATENCY_CRITICAL, 3, TIER_LIMIT_NONE, "kernel thread is urgent, whatever its policy and role");
	in.nice = 19;
	in.is_batch_policy = 0;
	is_now(in, TIER_INTERACTIVE, 3, TIER_LIMIT_NONE, "kernel thread that the kernel made nicer is not urgent");
	ok(tier_is_bound(1, 0, 0), "kernel thread that may run on one CPU alone passes no queue");
	ok(tier_is_bound(1, -20, TIER_BURST_NS - 1), "kernel thread that has not run for long passes no queue");
	ok(!tier_is_bound(1, 0, TIER_BURST_NS), "kernel thread that runs for long waits in a queue");
	ok(!tier_is_bound(1, 1, 0), "kernel thread that the kernel made nicer waits in a queue");
	ok(!tier_is_bound(0, 0, 0), "thread that is not bound waits in a queue");
}

static void test_locks(void)
{
	struct inherited_urgency none = { 0 }, some = { .until_ns = NOW_NS + 1 };

	ok(lock_hurries(TIER_LATENCY_CRITICAL, &none, NOW_NS), "urgent thread hurries who holds its lock");
	ok(lock_hurries(TIER_BATCH, &some, NOW_NS), "thread that inherits urgency hurries who holds its lock");
	ok(!lock_hurries(TIER_INTERACTIVE, &none, NOW_NS), "thread that is not urgent hurries nobody");
	ok(!lock_hurries(TIER_INTERACTIVE, &some, NOW_NS + 1), "thread whose inherited urgency is over hurries nobody");
}

static void test_limits(void)
{
	struct tier_inputs in = urgent;
	struct effective_tier spent = tier_over_budget();

	in.throttled_until_ns = NOW_NS + 1;
	is_now(in, TIER_INTERACTIVE, 0, TIER_LIMIT_BURST,
	       "urgent thread that is throttled is interactive without a boost");
	in.burst_ns = TIER_HOG_NS;
	is_now(in, TIER_BATCH, 0, TIER_LIMIT_BURST, "throttled thread that goes on and on is batch");
	in = urgent;
	in.throttled_until_ns = NOW_NS;
	is_now(in, TIER_LATENCY_CRITICAL, 3, TIER_LIMIT_NONE, "thread is urgent again when its throttling is over");
	in.burst_ns = TIER_BURST_NS;
	is_now(in, TIER_INTERACTIVE, 0, TIER_LIMIT_BURST,
	       "urgent thread in a long burst is interactive without a boost");
	in.may_burn = 1;
	in.burst_ns = 100ull * TIER_HOG_NS;
	is_now(in, TIER_LATENCY_CRITICAL, 3, TIER_LIMIT_NONE,
	       "urgent thread that may burn stays urgent in a long burst");
	in.throttled_until_ns = NOW_NS + 1;
	is_now(in, TIER_BATCH, 0, TIER_LIMIT_BURST,
	       "thread that may burn is batch in a long burst while it is throttled");
	in.throttled_until_ns = 0;
	in.nice = 5;
	is_now(in, TIER_BATCH, 0, TIER_LIMIT_BURST,
	       "thread that was made nicer is batch in a long burst though it may burn");
	in = ordinary;
	in.burst_ns = 100ull * TIER_HOG_NS;
	in.lock_until_ns = NOW_NS + 1;
	is_now(in, TIER_LATENCY_CRITICAL, 1, TIER_LIMIT_NONE,
	       "thread whose lock an urgent one waits for is urgent, however long it has run");
	in.lock_until_ns = NOW_NS;
	is_now(in, TIER_BATCH, 0, TIER_LIMIT_BURST, "thread that has held a lock for too long is urgent no more");
	in.lock_until_ns = NOW_NS + 1;
	in.nice = 5;
	is_now(in, TIER_BATCH, 0, TIER_LIMIT_BURST, "thread that was made nicer is not urgent for its lock");
	in = urgent;
	in.burst_ns = TIER_BURST_NS;
	in.is_kernel_thread = 1;
	is_now(in, TIER_INTERACTIVE, 0, TIER_LIMIT_BURST, "kernel thread in a long burst is interactive too");
	in = ordinary;
	in.role_boost = 1;
	in.throttled_until_ns = NOW_NS + 1;
	is_now(in, TIER_INTERACTIVE, 1, TIER_LIMIT_NONE, "thread that is not urgent loses nothing by being throttled");
	in.burst_ns = TIER_HOG_NS;
	is_now(in, TIER_BATCH, 0, TIER_LIMIT_BURST, "interactive thread that goes on and on is batch without a boost");
	in.role_tier = TIER_BATCH;
	is_now(in, TIER_BATCH, 1, TIER_LIMIT_NONE, "batch thread loses nothing by a long burst");
	ok(tier_uses_budget(TIER_LATENCY_CRITICAL, 0), "urgent thread uses its user's budget");
	ok(!tier_uses_budget(TIER_LATENCY_CRITICAL, 1), "urgent kernel thread uses no budget");
	ok(!tier_uses_budget(TIER_INTERACTIVE, 0), "interactive thread uses no budget");
	is(spent.tier, TIER_INTERACTIVE, "urgent thread over its user's budget is interactive");
	is(spent.boost, 0, "urgent thread over its user's budget has no boost");
	is(spent.limit, TIER_LIMIT_BUDGET, "urgent thread over its user's budget is limited by that budget");
}

static void test_passing_on(void)
{
	struct inherited_urgency none = { 0 }, own = { .until_ns = NOW_NS + 1, .depth = 2, .boost = 4 }, waker;

	is(inherit_depth(TIER_LATENCY_CRITICAL, &own, NOW_NS), 0,
	   "urgency of a thread's own role came through no waker");
	is(inherit_depth(TIER_INTERACTIVE, &own, NOW_NS), 2,
	   "inherited urgency came through as many wakers as it says");
	is(inherit_depth(TIER_INTERACTIVE, &own, NOW_NS + 1), TIER_INHERIT_DEPTH,
	   "inherited urgency that is over is not passed on");
	is(inherit_depth(TIER_BATCH, &none, NOW_NS), TIER_INHERIT_DEPTH, "thread without urgency passes none on");
	ok(inherit_passes(0, 0, TIER_BATCH), "waker that is batch inherits");
	ok(inherit_passes(TIER_INHERIT_DEPTH - 1, 0, TIER_INTERACTIVE), "last waker in a row inherits");
	ok(!inherit_passes(TIER_INHERIT_DEPTH, 0, TIER_INTERACTIVE), "waker beyond the last in a row does not inherit");
	ok(!inherit_passes(0, 1, TIER_INTERACTIVE), "kernel thread that wakes another does not inherit");
	ok(!inherit_passes(0, 0, TIER_LATENCY_CRITICAL), "waker whose role is urgent does not inherit");
	waker = inherit_from(0, 3, 4, NOW_NS);
	is(waker.until_ns, NOW_NS + TIER_INHERIT_NS, "inherited urgency lasts for a while");
	is(waker.depth, 1, "first waker is at depth one");
	is(waker.boost, 3, "first waker inherits the boost of the thread's role");
	waker = inherit_from(2, 3, 4, NOW_NS);
	is(waker.depth, 3, "further waker is one deeper");
	is(waker.boost, 4, "waker of a waker inherits the boost that was inherited");
}

int main(void)
{
	test_role();
	test_neutral();
	test_input();
	test_frames();
	test_inherited();
	test_owners_word();
	test_limits();
	test_locks();
	test_passing_on();
	return tap_end();
}
