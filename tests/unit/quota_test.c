// SPDX-License-Identifier: GPL-2.0
/* core/quota.h: what a control group may run in a period, what it owes and what it saves up. */
#include "../../core/quota.h"
#include "tap.h"

#define MS ((u64)NSEC_PER_MSEC)

static struct quota quota_of(u64 period_ms, u64 quota_ms, u64 burst_ms, u64 now_ns)
{
	struct quota quota = { 0 };

	quota_set(&quota, period_ms * 1000, quota_ms * 1000, burst_ms * 1000, now_ns);
	return quota;
}

static void test_one_period(void)
{
	struct quota quota = quota_of(100, 20, 0, 1000);

	is(quota_grants(&quota, 5 * MS, 1000), 5 * MS, "a slice that fits is granted whole");
	quota_take(&quota, 5 * MS);
	quota_take(&quota, 12 * MS);
	is(quota_grants(&quota, 5 * MS, 2000), 3 * MS, "a slice that does not fit is granted as far as it does");
	quota_take(&quota, 3 * MS);
	is(quota_grants(&quota, 5 * MS, 3000), 0, "a group that has had its quota gets nothing");
	is(quota_wait_ns(&quota, 1000 + 40 * MS), 60 * MS, "a group without debt waits until the period is over");
	is(quota_grants(&quota, 5 * MS, 1000 + 100 * MS - 1), 0, "nothing comes before the period is over");
	is(quota_grants(&quota, 50 * MS, 1000 + 100 * MS), 20 * MS, "the next period brings the same again");
	is(quota_wait_ns(&quota, 1000 + 100 * MS), 0, "nobody waits while something is left");
	quota_take(&quota, 20 * MS - 1000);
	is(quota_grants(&quota, 5 * MS, 1000 + 101 * MS), QUOTA_LEAST_NS, "no slice is shorter than the least one");
}

static void test_debt(void)
{
	struct quota quota = quota_of(100, 20, 0, 0);

	quota_take(&quota, 20 * MS);
	quota_reconcile(&quota, 20 * MS, 5 * MS);
	is(quota.left_ns, 15 * MS, "what was granted and not run is given back");
	quota_reconcile(&quota, 0, 60 * MS);
	is(quota.left_ns, -45 * (s64)MS, "what was run beyond the quota is owed");
	is(quota_wait_ns(&quota, 10 * MS), 290 * MS, "a debt of two periods and a bit is paid when the third begins");
	is(quota_grants(&quota, 5 * MS, 200 * MS), 0, "a debt takes the quota of the next periods");
	is(quota_grants(&quota, 50 * MS, 300 * MS), 15 * MS, "after a debt what is left of the period is granted");
	quota_reconcile(&quota, 500 * MS, 0);
	is(quota.left_ns, 20 * MS, "no refund makes more of it than a period has");
}

static void test_burst(void)
{
	struct quota quota = quota_of(100, 20, 30, 0);

	is(quota_grants(&quota, 100 * MS, 0), 20 * MS, "a fresh group has saved up nothing");
	is(quota_grants(&quota, 100 * MS, 100 * MS), 40 * MS, "what a period left over is saved up");
	is(quota_grants(&quota, 100 * MS, 900 * MS), 50 * MS, "no more is saved up than the burst allows");
	is(quota_grants(&quota, 100 * MS, (u64)NSEC_PER_SEC * 86400 * 1000), 50 * MS, "years of sleep save up no more");
}

static void test_change(void)
{
	struct quota quota = quota_of(100, 20, 0, 0);

	quota_reconcile(&quota, 0, 500 * MS);
	quota_set(&quota, 100000, 40000, 0, 50 * MS);
	is(quota.left_ns, -40 * (s64)MS, "a new limit forgives what exceeds a period of it");
	quota_set(&quota, 100000, QUOTA_UNLIMITED_US, 0, 60 * MS);
	is(quota_grants(&quota, 77 * MS, 60 * MS), 77 * MS, "a group without a limit is granted everything");
	is(quota_wait_ns(&quota, 60 * MS), 0, "a group without a limit never waits");
	quota_take(&quota, 5000 * MS);
	quota_reconcile(&quota, 0, 5000 * MS);
	quota_set(&quota, 50000, 10000, 0, 70 * MS);
	is(quota_grants(&quota, 77 * MS, 70 * MS), 10 * MS, "what ran without a limit is not owed under the next");
	quota_set(&quota, 0, 10000, 0, 80 * MS);
	is(quota.quota_ns, 0, "a period of nothing is no limit");
	quota_set(&quota, 100000, QUOTA_UNLIMITED_US - 1, QUOTA_UNLIMITED_US, 80 * MS);
	is(quota_grants(&quota, 77 * MS, 80 * MS + 100000 * 100 * MS), 77 * MS, "absurd amounts do not wrap around");
}

static void test_looks(void)
{
	is(quota_timer_every_ns(100 * MS), 25 * MS, "a usual period is looked at four times");
	is(quota_timer_every_ns(1000 * MS), QUOTA_TIMER_MOST_NS, "a long period is looked at no less often than any");
	is(quota_timer_every_ns(1 * MS), QUOTA_LEAST_NS,
	   "a short period is looked at no more often than a least slice takes");
	is(quota_timer_next_ns(25 * MS, 999 * MS), QUOTA_TIMER_BUSY_NS,
	   "where somebody was kept waiting in the last second the next look is soon");
	is(quota_timer_next_ns(25 * MS, 1000 * MS), 25 * MS, "where nobody was for a second there is time");
	is(quota_timer_next_ns(2 * MS, 5 * MS), 2 * MS, "a look that is due sooner anyway stays so");
}

/* What comes out in the end: hogs in a group of a fifth of a CPU, whose slices end at a tick of 4 ms. */
static void test_long_run(void)
{
	struct quota quota = quota_of(100, 20, 0, 0);
	u64 now_ns = 0, got_ns = 0, granted_ns, ran_ns;

	while (now_ns < 100ull * NSEC_PER_SEC) {
		granted_ns = quota_grants(&quota, 10 * MS, now_ns);
		if (!granted_ns) {
			now_ns += quota_wait_ns(&quota, now_ns);
			continue;
		}
		quota_take(&quota, granted_ns);
		ran_ns = (granted_ns / (4 * MS) + 1) * 4 * MS;
		now_ns += ran_ns;
		got_ns += ran_ns;
		quota_reconcile(&quota, granted_ns, ran_ns);
	}
	is_between(19900, got_ns / MS, 20100, "in the long run the share is the quota, however coarse the ticks");
}

static void test_parked(void)
{
	is(quota_parked_slice_ns(3 * MS, 2 * QUOTA_LONGEST_NS), 3 * MS, "parked thread runs what its quota grants");
	is(quota_parked_slice_ns(0, QUOTA_LONGEST_NS), 0, "parked thread waits up to the limit");
	is(quota_parked_slice_ns(0, QUOTA_LONGEST_NS + 1), QUOTA_LEAST_NS,
	   "thread that was parked for too long runs a little all the same");
	is(quota_timer_delay_ns(5 * MS), 5 * MS, "timer fires when somebody may go on");
	is(quota_timer_delay_ns(0), QUOTA_SOONEST_NS, "timer never fires at once");
}

int main(void)
{
	test_one_period();
	test_debt();
	test_burst();
	test_change();
	test_looks();
	test_long_run();
	test_parked();
	return tap_end();
}
