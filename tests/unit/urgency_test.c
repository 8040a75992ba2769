// SPDX-License-Identifier: GPL-2.0
/* core/urgency.h: what urgency may cost a thread, a user and a group. What comes of it on real threads is tested in
 * tests/hostile. */
#include "../../core/urgency.h"
#include "tap.h"

static void test_looking(void)
{
	struct urgency_watch watch = { 0 };
	struct urgency_use use = urgency_looked(&watch, 5ull * NSEC_PER_SEC, NSEC_PER_SEC, 10ull * NSEC_PER_SEC);

	is(use.cpu_ns, 0, "what a thread used before the first look is not counted");
	is(use.span_ns, 0, "first look has no span");
	use = urgency_looked(&watch, 5ull * NSEC_PER_SEC + 70, NSEC_PER_SEC + 20, 10ull * NSEC_PER_SEC + 200);
	is(use.cpu_ns, 70, "what a thread used between two looks is counted");
	is(use.awake_ns, 90, "thread is awake while it waits for a CPU");
	use = urgency_looked(&watch, 9ull * NSEC_PER_SEC, NSEC_PER_SEC, 10ull * NSEC_PER_SEC + 400);
	is(use.cpu_ns, 200, "a thread uses no more than all of the time");
	is(use.awake_ns, 200, "a thread is awake for no more than all of the time");
	use = urgency_looked(&watch, 0, 0, 11ull * NSEC_PER_SEC);
	is(use.cpu_ns, 0, "CPU time that went back counts as none");
	watch.looked_ns = NSEC_PER_SEC;
	is(urgency_unseen_ns(&watch, NSEC_PER_SEC + 5), 5, "thread that ended unseen counts as if it had burnt");
}

static void test_burning(void)
{
	struct urgency_use half = { 200 * NSEC_PER_MSEC, 100 * NSEC_PER_MSEC, 100 * NSEC_PER_MSEC };
	struct urgency_use most = { 200 * NSEC_PER_MSEC, 160 * NSEC_PER_MSEC, 160 * NSEC_PER_MSEC };
	struct urgency_use waits = { 200 * NSEC_PER_MSEC, 60 * NSEC_PER_MSEC, 200 * NSEC_PER_MSEC };
	struct urgency_use brief = { NSEC_PER_MSEC, NSEC_PER_MSEC, NSEC_PER_MSEC };
	struct urgency_watch watch = { 0 };
	u64 now_ns = NSEC_PER_SEC;

	ok(!urgency_burns(&watch, &half, 1), "thread that sleeps half of the time does not burn");
	ok(urgency_burns(&watch, &most, 1), "thread that sleeps a fifth of the time burns");
	ok(!urgency_burns(&watch, &waits, 0), "thread that is not urgent and gets no CPU does not burn");
	ok(!urgency_burns(&watch, &brief, 1), "span that is too short says nothing of burning");
	ok(urgency_may_burn(16, NSEC_PER_SEC, 2ull * NSEC_PER_SEC), "a user may burn two of sixteen CPUs");
	ok(!urgency_may_burn(16, NSEC_PER_SEC, 2ull * NSEC_PER_SEC + 1),
	   "a user may not burn more than two of sixteen CPUs");
	ok(!urgency_may_burn(4, NSEC_PER_SEC, NSEC_PER_SEC), "a user may not burn one of four CPUs");
	ok(!urgency_is_throttled(&watch, now_ns), "thread is not throttled before it burnt");
	urgency_judge(&watch, 1, now_ns);
	ok(urgency_is_throttled(&watch, now_ns + TIER_THROTTLED_NS - 1), "thread that burnt is throttled for a while");
	now_ns += TIER_THROTTLED_NS;
	ok(!urgency_is_throttled(&watch, now_ns), "thread that burnt is not throttled for ever");
	for (int i = 0; i < 100; i++)
		urgency_judge(&watch, 1, now_ns);
	ok(urgency_is_throttled(&watch, now_ns + 7ull * NSEC_PER_SEC),
	   "thread that burns again and again is throttled for longer");
	now_ns += 8ull * NSEC_PER_SEC;
	ok(!urgency_is_throttled(&watch, now_ns),
	   "thread that burns again and again is throttled for eight seconds at most");
	urgency_judge(&watch, 0, now_ns);
	is(watch.burnt, URGENCY_THROTTLE_DOUBLES, "thread that behaved for one look is not forgiven");
	urgency_judge(&watch, 0, now_ns + 8ull * NSEC_PER_SEC);
	is(watch.burnt, 0, "thread that behaved for as long as it was throttled is forgiven");
}

/* In how many looks one after the other a thread that never sleeps burns, at the first of them or later. */
static u32 looks_until_it_burns(struct urgency_watch *watch, const struct urgency_use *use)
{
	u32 looks = 1;

	while (!urgency_burns(watch, use, 1) && looks < 100)
		looks++;
	return looks;
}

/* A frame loop that was kept from the CPU is awake until it has caught up; one that takes all that it gets never
 * sleeps. */
static void test_waiting(void)
{
	struct urgency_use waits = { 200 * NSEC_PER_MSEC, 60 * NSEC_PER_MSEC, 200 * NSEC_PER_MSEC };
	struct urgency_use sleeps = { 200 * NSEC_PER_MSEC, 60 * NSEC_PER_MSEC, 100 * NSEC_PER_MSEC };
	struct urgency_watch watch = { 0 }, again = { .burnt = URGENCY_THROTTLE_DOUBLES };

	for (int i = 0; i < URGENCY_PATIENT_LOOKS - 1; i++)
		ok(!urgency_burns(&watch, &waits, 1),
		   "urgent thread that others keep from the CPU for %d looks stays urgent", i + 1);
	ok(!urgency_burns(&watch, &sleeps, 1), "urgent thread that has caught up and sleeps stays urgent");
	is(looks_until_it_burns(&watch, &waits), URGENCY_PATIENT_LOOKS,
	   "urgent thread that slept has all its looks again, and burns if it never sleeps in them");
	is(looks_until_it_burns(&again, &waits), 1,
	   "thread that burnt again and again burns at the first look without a sleep");
	ok(urgency_may_burn_awaited(2), "thread that urgent ones wait for may be late with its work on two CPUs");
	ok(!urgency_may_burn_awaited(1), "thread that urgent ones wait for may not burn the only CPU");
}

static void test_budget(void)
{
	struct urgency_account account = { 0 };
	u64 now_ns = 100 * (u64)NSEC_PER_SEC, used_ns = 0;

	is(urgency_budget_ns(1, NSEC_PER_SEC), NSEC_PER_SEC / 4 * 3,
	   "on one CPU a user's urgent threads get most of it");
	is(urgency_budget_ns(8, NSEC_PER_SEC), 4 * (u64)NSEC_PER_SEC, "on eight CPUs a user's urgent threads get half");
	ok(!urgency_is_spent(&account), "account that was never filled is not spent");
	urgency_fill(&account, 2, now_ns);
	urgency_charge(&account, 2, NSEC_PER_SEC / 2);
	ok(!urgency_is_spent(&account), "account is not spent by half of a second's worth");
	urgency_charge(&account, 2, 100 * (u64)NSEC_PER_SEC);
	ok(urgency_is_spent(&account), "account is spent by more than a second's worth");
	urgency_fill(&account, 2, now_ns + NSEC_PER_SEC / 2);
	ok(urgency_is_spent(&account), "account that was overdrawn is spent half a second later");
	urgency_fill(&account, 2, now_ns + 3ull * NSEC_PER_SEC / 2);
	ok(!urgency_is_spent(&account), "debt has a bound and is made up for in seconds");
	/* Two CPUs, all taken by urgent threads whenever the account has something. */
	for (int look = 0; look < 1000; look++) {
		now_ns += URGENCY_LOOK_NS;
		urgency_fill(&account, 2, now_ns);
		if (urgency_is_spent(&account))
			continue;
		urgency_charge(&account, 2, 2 * URGENCY_LOOK_NS);
		used_ns += 2 * URGENCY_LOOK_NS;
	}
	ok(used_ns <= 1000 * urgency_budget_ns(2, URGENCY_LOOK_NS) + 4 * (u64)NSEC_PER_SEC,
	   "who takes all that he gets has no more than the budget in the long run");
}

static void test_choice(void)
{
	u64 used_ns[] = { 70, 20, 10, 5 };

	is(urgency_too_many(used_ns, 4, 105), 0, "no thread has to go within the budget");
	is(urgency_too_many(used_ns, 4, 40), 1, "thread that uses most goes first");
	is(urgency_too_many(used_ns, 4, 15), 2, "no more threads go than must");
	is(urgency_too_many(used_ns, 4, 0), 4, "all threads go where nothing is left");
	is(urgency_too_many(used_ns, 0, 0), 0, "nobody goes where nobody is");
}

/* So many threads burn for so long, each heard of every 4 ms. Returns how much of that they may. */
static u64 burn_ns(u32 cpus, u32 threads, u64 long_ns)
{
	struct urgency_account account = { 0 };
	u64 step_ns = 4 * NSEC_PER_MSEC, may_ns = 0, from_ns = 77ull * NSEC_PER_SEC;

	for (u64 now_ns = from_ns; now_ns < from_ns + long_ns; now_ns += step_ns)
		for (u32 i = 0; i < threads; i++)
			may_ns += urgency_burn_charge(&account, cpus, step_ns, now_ns) ? step_ns : 0;
	return may_ns;
}

static void burn_account_tests(void)
{
	struct urgency_account account = { 0 };
	u64 two_ns, three_ns;

	is(burn_ns(4, 1, NSEC_PER_SEC), 0, "a user of four CPUs may burn none by the account");
	is(burn_ns(8, 1, 10ull * NSEC_PER_SEC), 10ull * NSEC_PER_SEC, "a user of eight CPUs may burn one all the time");
	is(burn_ns(16, 2, 10ull * NSEC_PER_SEC), 20ull * NSEC_PER_SEC,
	   "a user of sixteen CPUs may burn two all the time");
	two_ns = burn_ns(8, 2, 10ull * NSEC_PER_SEC);
	three_ns = burn_ns(8, 64, 10ull * NSEC_PER_SEC);
	printf("# of eight CPUs in 10 s: two threads may burn %llu ms, 64 may burn %llu ms\n",
	       (unsigned long long)two_ns / NSEC_PER_MSEC, (unsigned long long)three_ns / NSEC_PER_MSEC);
	ok(two_ns <= 10ull * NSEC_PER_SEC + URGENCY_LOOK_NS,
	   "two threads may burn no more than one of eight CPUs together");
	ok(three_ns <= 10ull * NSEC_PER_SEC + URGENCY_LOOK_NS,
	   "64 threads may burn no more than one of eight CPUs together");
	ok(urgency_burn_charge(&account, 8, ~0ULL, NSEC_PER_SEC) == 0, "a run of ages is more than a user may burn");
	ok(urgency_burn_charge(&account, 8, 0, 2ull * NSEC_PER_SEC), "a user may burn again after a second");
	ok(urgency_burn_charge(&account, 8, 0, NSEC_PER_SEC), "a clock that seems to go back takes nothing away");
}

int main(void)
{
	test_looking();
	test_burning();
	test_waiting();
	test_budget();
	test_choice();
	burn_account_tests();
	return tap_end();
}
