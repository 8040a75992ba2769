// SPDX-License-Identifier: GPL-2.0
/* core/role.h: who an urgent thread waits for is urgent, through how many threads, and for how long. */
#include "../../core/role_awaited.h"
#include "tap.h"

enum { WINDOWS = 20 };

/* A thread that woke 50 times in a stretch, and was waited for so often. */
static struct behaviour stretch(u64 awaits)
{
	return (struct behaviour){
		.span_ns = ROLE_WINDOW_NS, .cpu_ns = ROLE_WINDOW_NS / 3, .wakeups = 50, .awaits = awaits
	};
}

static void learn(struct role_state *role, const struct behaviour *seen, int windows)
{
	for (int i = 0; i < windows; i++)
		pattern_learn_awaited(&role->pattern, seen);
	role_answers(role);
}

static void test_learning(void)
{
	struct behaviour awaited = stretch(40), rarely = stretch(3), not_mostly = stretch(9), no = stretch(0);
	struct role_state role = { 0 };
	int windows = 0;

	learn(&role, &rarely, WINDOWS);
	is(role.answer.tier, TIER_INTERACTIVE, "thread that is waited for three times in a stretch is not urgent");
	learn(&role, &not_mostly, WINDOWS);
	is(role.answer.tier, TIER_INTERACTIVE,
	   "thread that is waited for in a fifth of its wake-ups at most is not urgent");
	learn(&role, &awaited, 1);
	is(role.answer.tier, TIER_LATENCY_CRITICAL, "thread that is waited for is urgent after one stretch");
	ok(role.facts.has & HAS_AWAITED, "thread that is waited for is known to be");
	learn(&role, &no, 1);
	is(role.answer.tier, TIER_LATENCY_CRITICAL,
	   "thread that was waited for in one stretch only stays urgent in the next one");
	learn(&role, &awaited, WINDOWS);
	learn(&role, &no, 1);
	is(role.answer.tier, TIER_LATENCY_CRITICAL, "thread that is not waited for in one stretch stays urgent");
	for (; role.answer.tier == TIER_LATENCY_CRITICAL && windows < WINDOWS; windows++)
		learn(&role, &no, 1);
	ok(windows >= 8, "thread that nobody waits for any more is urgent for some seconds (%d half ones)", windows);
	ok(windows <= 12, "thread that nobody waits for any more is not urgent for long (%d half seconds)", windows);
	ok(!(role.facts.has & HAS_AWAITED), "thread that nobody waits for any more is known to be such");
}

/* A thread that wakes two thousand times a second is judged twenty times a second. */
static void test_fading_by_time(void)
{
	struct behaviour awaited = stretch(40), no = stretch(0), hindered = stretch(0);
	struct role_state role = { 0 };
	u64 quiet_ns = 0;

	no.span_ns = hindered.span_ns = 50 * NSEC_PER_MSEC;
	no.cpu_ns = hindered.cpu_ns = 10 * NSEC_PER_MSEC;
	hindered.wait_ns = 40 * NSEC_PER_MSEC;
	learn(&role, &awaited, WINDOWS);
	for (; role.answer.tier == TIER_LATENCY_CRITICAL && quiet_ns < 60ull * NSEC_PER_SEC; quiet_ns += no.span_ns)
		learn(&role, &no, 1);
	ok(quiet_ns >= 4ull * NSEC_PER_SEC,
	   "thread that wakes often is urgent for four seconds after the last wait at least (%llu ms)",
	   (unsigned long long)quiet_ns / NSEC_PER_MSEC);
	ok(quiet_ns <= 6ull * NSEC_PER_SEC,
	   "thread that wakes often is urgent for six seconds after the last wait at most (%llu ms)",
	   (unsigned long long)quiet_ns / NSEC_PER_MSEC);
	learn(&role, &awaited, WINDOWS);
	learn(&role, &hindered, 10 * 20);
	is(role.answer.tier, TIER_LATENCY_CRITICAL, "thread that got no CPU for ten seconds is still urgent");
}

static void test_who_is_urgent(void)
{
	struct behaviour awaited = stretch(40);
	struct role_state role = { .facts = { .user_role = ROLE_BACKGROUND } };

	learn(&role, &awaited, WINDOWS);
	is(role.answer.tier, TIER_BATCH, "thread that the user calls background is not urgent though it is waited for");
	role = (struct role_state){ .facts = { .has = HAS_KERNEL_THREAD } };
	learn(&role, &awaited, WINDOWS);
	is(role.answer.tier, TIER_INTERACTIVE, "thread of the kernel's stays what it is though it is waited for");
	role = (struct role_state){ .pattern = { .role = ROLE_CPU_BOUND, .confidence = 90 } };
	learn(&role, &awaited, WINDOWS);
	is(role.answer.tier, TIER_LATENCY_CRITICAL,
	   "thread that takes all the CPU it gets is urgent when it is waited for");
}

static void test_input(void)
{
	struct role_state reads = { .facts = { .input_reads = 20 } }, once = { .facts = { .input_reads = 1 } };
	struct role_state background = { .facts = { .input_reads = 20, .user_role = ROLE_BACKGROUND } };
	struct thread_account account = { 0 };
	struct role_state told = { 0 };

	role_answers(&reads);
	role_answers(&once);
	role_answers(&background);
	ok(role_tells_of_input(&reads), "thread that reads an input device tells those that it wakes");
	ok(!role_tells_of_input(&once), "thread that read a device once tells nobody");
	ok(!role_tells_of_input(&background), "thread that the user calls background tells nobody");
	role_window_begins(&told, &account, NSEC_PER_SEC);
	for (int i = 0; i < 10; i++)
		role_is_awaited(&told, 0, NSEC_PER_SEC);
	account.wakeups = 10;
	role_judge(&told, &account, NSEC_PER_SEC + ROLE_WINDOW_NS);
	role_answers(&told);
	is(told.answer.tier, TIER_LATENCY_CRITICAL,
	   "thread that is told of ten input events in half a second is urgent");
	is(role_urgency_depth(&told), 1, "thread that is told of input events makes urgent whom it waits for");
}

/* Whether the period of a frame loop is found in two seconds: every other frame overruns and makes no wake-up, and two
 * interrupts of five meet a thread of its process. */
static int is_found(u64 period_ns, u32 seed, int knows_interrupts)
{
	struct timer timer = { 0 };

	for (u64 at_ns = 0; at_ns < 2ull * NSEC_PER_SEC; at_ns += period_ns) {
		seed = seed * 1103515245 + 12345;
		if ((seed >> 16) % 2)
			continue;
		seed = seed * 1103515245 + 12345;
		if (!role_is_woken_within(knows_interrupts, (seed >> 16) % 5 < 2))
			timer_heard(&timer, NSEC_PER_SEC + at_ns + 50 * NSEC_PER_USEC);
	}
	return timer.gap_ns + period_ns / 50 > period_ns && timer.gap_ns < period_ns + period_ns / 50;
}

static void test_interrupts(void)
{
	u32 heard = 0, missed = 0;

	for (u32 seed = 1; seed <= 100; seed++) {
		heard += (u32)is_found(6944000, seed, 1);
		missed += (u32)is_found(6944000, seed, 0);
	}
	printf("# found in two seconds: %u of 100, without those that meet its own process %u\n", heard, missed);
	ok(heard >= 95, "period of a late frame loop is found though its timer interrupts threads of its own process");
	ok(missed < heard, "interrupts that meet its own process are needed for that");
	ok(role_is_woken_within(0, 1), "thread that another of its process wakes is woken from within");
	ok(!role_is_woken_within(0, 0), "thread that another process wakes is woken from outside");
}

static void test_depth(void)
{
	struct role_state feeds = { .facts = { .gpu_submits = 20 } }, periodic = { .pattern = { .timely = 90 } };
	struct role_state by_clock = { .pattern = { .timely = 90 },
				       .timer = { .periods = 20, .gap_ns = NSEC_PER_MSEC, .gap_dev_ns = 10 } };
	struct thread_account account = { 0 };
	struct role_state one = { 0 }, two = { 0 };
	u64 now_ns = NSEC_PER_SEC;

	role_answers(&feeds);
	role_answers(&periodic);
	role_answers(&by_clock);
	role_answers(&one);
	is(role_urgency_depth(&feeds), 0, "thread that feeds a GPU is urgent by itself");
	is(role_urgency_depth(&by_clock), 0, "thread with a timer of its own is urgent by itself");
	is(role_urgency_depth(&periodic), AWAITED_DEPTH_MOST,
	   "thread that only wakes regularly makes nobody else urgent");
	is(role_urgency_depth(&one), AWAITED_DEPTH_MOST, "thread that is not urgent makes nobody else so");
	one.pattern.awaited = two.pattern.awaited = 95;
	role_is_awaited(&one, role_urgency_depth(&feeds), now_ns);
	role_window_begins(&one, &account, now_ns);
	role_answers(&one);
	role_answers(&two);
	is(role_urgency_depth(&one), 1, "thread that a feeding one waits for is urgent through one");
	role_is_awaited(&two, role_urgency_depth(&one), now_ns);
	role_is_awaited(&two, 2, now_ns);
	role_window_begins(&two, &account, now_ns);
	is(role_urgency_depth(&two), 2,
	   "thread that is waited for through one and through two is so through the fewer");
	/* From now on they only wait for each other. */
	for (int i = 0; i < 2; i++) {
		if (role_urgency_depth(&two) < AWAITED_DEPTH_MOST)
			role_is_awaited(&one, role_urgency_depth(&two), now_ns);
		role_window_begins(&one, &account, now_ns);
		if (role_urgency_depth(&one) < AWAITED_DEPTH_MOST)
			role_is_awaited(&two, role_urgency_depth(&one), now_ns);
		role_window_begins(&two, &account, now_ns);
	}
	is(role_urgency_depth(&one), AWAITED_DEPTH_MOST,
	   "two threads that wait for each other alone do not keep one urgent");
}

static void test_audience(void)
{
	struct role_state presents = { .facts = { .presents = 20 } },
			  trains = { .facts = { .gpu_submits = 20, .gpu_driver = GPU_CUDA } };
	struct role_state by_rule = { .facts = { .user_role = ROLE_AUDIO } },
			  sounds = { .pattern = { .role = ROLE_AUDIO, .confidence = 80 } };

	role_answers(&presents);
	role_answers(&trains);
	role_answers(&by_rule);
	role_answers(&sounds);
	ok(role_has_audience(&presents), "thread that presents has an audience");
	ok(role_has_audience(&sounds), "thread that runs like one for sound has an audience");
	ok(!role_has_audience(&trains), "thread that feeds a GPU by CUDA and presents nothing has no audience");
	ok(!role_has_audience(&by_rule), "thread that only a rule calls urgent has no audience");
}

int main(void)
{
	test_learning();
	test_fading_by_time();
	test_who_is_urgent();
	test_depth();
	test_input();
	test_interrupts();
	test_audience();
	return tap_end();
}
