// SPDX-License-Identifier: GPL-2.0
/* Who gives way to whom on a simulated machine, and when, under tactus: small scenes
 * that random loads would not meet often enough to show that a rule is missing. */
#include "../../src/sim/tactus_state.h"
#include "sim_load.h"
#include "tap.h"

enum { MS = 1000000, WARM_MS = 300, THREADS = LOAD_THREADS_MOST, REALTIME = PRIO_REALTIME_LAST - PRIO_NICE_0 };

struct seen {
	const struct machine *machine;
	u64 longest_ns[THREADS], mean_ns[THREADS], waits[THREADS], throttled_until_ns[THREADS];
	u64 ran_ns[THREADS], switches, moves;
};

static void on_wait(void *data, const struct sim_thread *thread, u64 wait_ns)
{
	struct seen *seen = data;
	u32 index = sim_index(seen->machine, thread);

	if (seen->machine->now_ns < LOAD_START_NS + (u64)WARM_MS * MS || index >= THREADS || !thread->is_woken)
		return;
	seen->longest_ns[index] = wait_ns > seen->longest_ns[index] ? wait_ns : seen->longest_ns[index];
	seen->mean_ns[index] += ((s64)wait_ns - (s64)seen->mean_ns[index]) / (s64)++seen->waits[index];
}

static struct seen play(const struct load *load, u32 discount, u64 slice_ns)
{
	static struct sim_topology topology;
	struct sim_params params = { .policy = &policy_tactus,
				     .kernel = SCX_KERNEL(7, 2),
				     .seed = 1,
				     .discount = discount,
				     .slice_ns = slice_ns };
	struct seen seen = { 0 };
	struct machine machine = { .on_wait = on_wait, .data = &seen };
	struct work work;

	seen.machine = &machine;
	sim_topology_flat(&topology, load->cpus);
	load_build(&work, load);
	work.tick_ns = 4 * MS;
	if (machine_run(&machine, &work, &topology, &params))
		exit(1);
	for (u32 i = 0; i < machine.len && i < THREADS; i++) {
		seen.throttled_until_ns[i] = machine.threads[i].scx->watch.throttled_until_ns;
		seen.ran_ns[i] = machine.threads[i].ran_ns;
	}
	seen.moves = machine.counts.moves;
	seen.switches = machine.counts.switches;
	machine_free(&machine);
	work_free(&work);
	return seen;
}

static void test_burning_undiscounted(void)
{
	struct load load = { .cpus = 1,
			     .span_ms = 1000,
			     .len = 2,
			     .threads = {
				     { .kind = LOAD_HOG },
				     { .kind = LOAD_SLEEPER, .run_us = 9000, .period_us = 500, .is_urgent = 1 } } };

	ok(play(&load, 1, 0).throttled_until_ns[1] > 0,
	   "urgent thread that hardly sleeps is throttled with a discount of 1 too");
	load.threads[1].period_us = 20000;
	is(play(&load, 1, 0).throttled_until_ns[1], 0,
	   "urgent thread that sleeps most of the time is not throttled with a discount of 1");
}

/* Both may run on one CPU of two alone: the one waits in that CPU's own queue while the other runs. */
static void test_own_queue(void)
{
	struct load load = { .cpus = 2,
			     .span_ms = 3000,
			     .len = 2,
			     .threads = { { .kind = LOAD_PERIODIC,
					    .run_us = 9000,
					    .period_us = 39900,
					    .is_urgent = 1,
					    .pinned_plus = 1 },
					  { .kind = LOAD_PERIODIC,
					    .run_us = 900,
					    .period_us = 5000,
					    .is_urgent = 1,
					    .pinned_plus = 1 } } };
	struct seen seen = play(&load, 0, 0);

	printf("# pinned urgent thread behind another: waits %llu us at most\n",
	       (unsigned long long)seen.longest_ns[1] / 1000);
	is_between(0, seen.longest_ns[1] / 1000, (TIER_TURN_NS + TIER_URGENT_SLICE_NS) / 1000,
		   "pinned urgent thread waits for a turn of another one, not until a tick");
}

static struct load beside_hogs(u32 cpus, u32 hogs, struct load_thread waits)
{
	struct load load = { .cpus = cpus, .span_ms = 4000, .len = hogs + 1 };

	for (u32 i = 0; i < hogs; i++)
		load.threads[i].kind = LOAD_HOG;
	load.threads[hogs] = waits;
	return load;
}

/* What it runs is charged in full: at its next wake-up it is further ahead than an urgent one may be. */
static void test_not_owed(void)
{
	struct load load = beside_hogs(
		1, 6, (struct load_thread){ .kind = LOAD_SLEEPER, .run_us = 3000, .period_us = 6000, .is_urgent = 1 });
	u64 mean_ns = play(&load, 1, MS).mean_ns[6];

	printf("# urgent thread that has had more than its share: waits %llu us on average\n",
	       (unsigned long long)mean_ns / 1000);
	is_between(0, mean_ns / 1000, 6 * TIER_HOG_TURN_NS / 2 / 1000,
		   "urgent thread that has had more than its share waits for half a round of hogs' short turns on "
		   "average");
}

/* A realtime thread has one of two CPUs nearly all the time. */
static void test_realtime(void)
{
	struct load load = beside_hogs(2, 4,
				       (struct load_thread){ .kind = LOAD_SLEEPER, .run_us = 3000, .period_us = 6000 });
	struct seen seen;

	load.threads[load.len++] = (struct load_thread){
		.kind = LOAD_PERIODIC, .run_us = 97000, .period_us = 100000, .nice = REALTIME, .pinned_plus = 1
	};
	seen = play(&load, 0, 0);
	printf("# beside hogs and a realtime thread: waits %llu us at most\n",
	       (unsigned long long)seen.longest_ns[4] / 1000);
	is_between(0, seen.longest_ns[4] / 1000, TIER_TURN_NS / 1000,
		   "thread that is no hog waits for one short turn of a hog while a realtime thread has the other CPU");
}

/* Nice 19 is a weight of three in a hundred: what it runs puts it far behind the others. */
static void test_far_ahead(void)
{
	struct load load = { .cpus = 1,
			     .span_ms = 4000,
			     .len = 4,
			     .threads = { { .kind = LOAD_HOG },
					  { .kind = LOAD_HOG },
					  { .kind = LOAD_HOG },
					  { .kind = LOAD_SLEEPER, .run_us = 5000, .period_us = 20000, .nice = 19 } } };
	struct seen beside = play(&load, 0, 0), alone;

	load.len = 3;
	alone = play(&load, 0, 0);
	printf("# three hogs switch %llu times in 4 s, %llu times beside a light thread that waits for its turn\n",
	       (unsigned long long)alone.switches, (unsigned long long)beside.switches);
	ok(beside.switches < alone.switches * 2, "hogs do not switch more often for one that is far ahead of them");
}

/* It sleeps and runs for so long, in that CPU's own queue. */
static struct load_thread pinned_sleeper(u32 run_us, u32 period_us)
{
	return (struct load_thread){ .kind = LOAD_SLEEPER, .run_us = run_us, .period_us = period_us, .pinned_plus = 1 };
}

static void add_pinned_hogs(struct load *load, u32 hogs, u32 pinned_plus)
{
	for (u32 i = 0; i < hogs; i++)
		load->threads[load->len++] = (struct load_thread){ .kind = LOAD_HOG, .pinned_plus = pinned_plus };
}

/* Whoever waits in a CPU's own queue counts as in the shared one. */
static void test_own_queue_asks(void)
{
	struct load load = { .cpus = 2, .span_ms = 4000 };
	u64 longest_ns;

	add_pinned_hogs(&load, 2, 1);
	load.threads[load.len++] = pinned_sleeper(4500, 20100);
	load.threads[load.len++] = pinned_sleeper(800, 9300);
	load.threads[load.len++].kind = LOAD_HOG;
	longest_ns = play(&load, 0, 0).longest_ns[3];
	printf("# pinned thread that a timer woke, behind one that is no hog: waits %" PRIu64 " us at most\n",
	       longest_ns / 1000);
	is_between(0, longest_ns / 1000, 2 * TIER_TURN_NS / 1000,
		   "pinned thread that a timer woke waits for short turns of those pinned there, not until a tick");
}

/* It uses up more than its credit each time, by the clock of the queue that it is in. */
static void test_own_turn(void)
{
	u64 worst_ns = 0;

	for (u32 run_us = 9000; run_us <= 18000; run_us += 3000) {
		struct load load = { .cpus = 2, .span_ms = 4000 };
		u64 longest_ns;

		add_pinned_hogs(&load, 3, 1);
		load.threads[load.len++] = pinned_sleeper(run_us, 9300);
		add_pinned_hogs(&load, 3, 2);
		longest_ns = play(&load, 0, 0).longest_ns[3];
		worst_ns = longest_ns > worst_ns ? longest_ns : worst_ns;
	}
	printf("# pinned thread that runs for long at a time: waits %" PRIu64 " us at most\n", worst_ns / 1000);
	is_between(0, worst_ns / 1000, 2 * TIER_TURN_NS / 1000,
		   "thread pinned beside pinned hogs ends its own turn in time, so that it does not wait off more");
}

/* Hogs in a CPU's own queue have another clock than one that waits in the shared queue. */
static void test_two_clocks(void)
{
	u64 worst_ns = 0;

	for (u32 run_us = 3000; run_us <= 18000; run_us += 3000) {
		struct load load = { .cpus = 2, .span_ms = 4000 };
		u64 longest_ns;

		add_pinned_hogs(&load, 3, 1);
		load.threads[load.len++] = (struct load_thread){
			.kind = LOAD_SLEEPER, .run_us = run_us, .period_us = 9300, .kept_off = 1 << 1
		};
		longest_ns = play(&load, 0, 0).longest_ns[3];
		worst_ns = longest_ns > worst_ns ? longest_ns : worst_ns;
	}
	printf("# thread of the shared queue beside pinned hogs: waits %" PRIu64 " us at most\n", worst_ns / 1000);
	is_between(0, worst_ns / 1000, TIER_TURN_NS / 1000,
		   "thread of the shared queue waits for one short turn of a pinned hog, whatever their clocks say");
}

/* Urgent threads wait at nearly every look for late ones. */
static void test_late(void)
{
	struct load load = { .cpus = 1,
			     .span_ms = 8000,
			     .len = 3,
			     .threads = { { .kind = LOAD_HOG, .nice = -10 },
					  { .kind = LOAD_HOG, .nice = -10 },
					  { .kind = LOAD_HOG, .nice = 19 } } };
	u64 ran_ns;

	for (u32 i = 0; i < 3; i++)
		load.threads[load.len++] =
			(struct load_thread){ .kind = LOAD_PERIODIC, .run_us = 600, .period_us = 4900, .is_urgent = 1 };
	ran_ns = play(&load, 0, 0).ran_ns[2];
	printf("# thread of little weight that is late each second, beside urgent ones: ran %" PRIu64 " us in 8 s\n",
	       ran_ns / 1000);
	ok(ran_ns >= 4 * (u64)TIER_LATE_SLICE_NS,
	   "thread that has waited for a second runs for its millisecond, though urgent ones wait");
}

/* Two hogs pinned to each CPU, and some that are woken at the same moment. */
static struct load woken_together(u32 cpus, u32 kept_off, u32 len, const u32 (*run_and_period_us)[2])
{
	struct load load = { .cpus = cpus, .span_ms = 3000 };

	for (u32 cpu = 0; cpu < cpus; cpu++)
		add_pinned_hogs(&load, 2, cpu + 1);
	for (u32 i = 0; i < len; i++)
		load.threads[load.len++] = (struct load_thread){ .kind = LOAD_PERIODIC,
								 .run_us = run_and_period_us[i][0],
								 .period_us = run_and_period_us[i][1],
								 .kept_off = kept_off };
	return load;
}

static u64 worst_of_ns(const struct load *load, u32 first)
{
	struct seen seen = play(load, 0, 0);
	u64 worst_ns = 0;

	for (u32 i = first; i < load->len; i++)
		worst_ns = seen.longest_ns[i] > worst_ns ? seen.longest_ns[i] : worst_ns;
	return worst_ns;
}

/* One CPU's hogs have it for themselves, and the clock goes by what these get. */
static void test_confined(void)
{
	static const u32 woken_us[][2] = { { 600, 18000 }, { 2400, 12000 }, { 1200, 6000 } };
	struct load load = woken_together(3, 1 << 0, 3, woken_us);
	struct seen seen = play(&load, 0, 0);
	u64 mean_ns = (seen.mean_ns[6] + seen.mean_ns[7] + seen.mean_ns[8]) / 3;

	printf("# threads that may use two CPUs of three, where most hogs are: wait %" PRIu64 " us on average\n",
	       mean_ns / 1000);
	is_between(
		0, mean_ns / 1000, 3 * TIER_TURN_NS / 1000,
		"threads that may use some CPUs alone wait for few turns on average, though others get more elsewhere");
}

/* Two kinds of hogs in one queue, more for each CPU where one wakes. */
static void test_halves(void)
{
	struct load load = { .cpus = 4, .span_ms = 4000, .len = 9 };
	u64 mean_ns;

	for (u32 i = 0; i < 8; i++)
		load.threads[i].kept_off = i < 5 ? 3 : 12;
	load.threads[8] =
		(struct load_thread){ .kind = LOAD_SLEEPER, .run_us = 1500, .period_us = 8300, .kept_off = 3 };
	mean_ns = play(&load, 0, 0).mean_ns[8];
	printf("# one that may use two CPUs of four, beside hogs confined to either half: waits %" PRIu64
	       " us on average\n",
	       mean_ns / 1000);
	is_between(0, mean_ns / 1000, 5 * TIER_TURN_NS / 1000,
		   "thread that may use half of the CPUs does not wait until hogs there have caught up with the other "
		   "half's");
}

/* The timer of the CPU that they ran on is set by the first that wakes. */
static void test_timers_of_others(void)
{
	static const u32 masked_us[][2] = { { 1500, 22000 }, { 1500, 11000 } },
			 free_us[][2] = { { 1200, 5000 }, { 600, 15000 } };
	struct load load = woken_together(3, 1 << 0, 2, masked_us);
	u64 worst_ns = worst_of_ns(&load, 6);

	printf("# two that wake together and may not use CPU 0: wait %" PRIu64 " us at most\n", worst_ns / 1000);
	is_between(0, worst_ns / 1000, 2 * TIER_TURN_NS / 1000,
		   "thread that wakes has the turn ended of a CPU that it may run on, not of another");
	load = woken_together(4, 1 << 0, 2, free_us);
	worst_ns = worst_of_ns(&load, 9);
	printf("# second of two that wake together: waits %" PRIu64 " us at most\n", worst_ns / 1000);
	is_between(0, worst_ns / 1000, TIER_TURN_NS / 1000,
		   "second of two that wake together has the turn ended of another CPU than the first");
}

/* Who wakes where one runs that is no hog, both in a CPU's own queue. */
static void test_own_queue_timers(void)
{
	struct load load = { .cpus = 2, .span_ms = 3000, .len = 3 };
	u64 worst_ns;

	load.threads[0] = pinned_sleeper(5600, 4800);
	load.threads[1] = pinned_sleeper(2400, 8900);
	worst_ns = worst_of_ns(&load, 0);
	printf("# two that run for long at a time, pinned to one CPU: wait %" PRIu64 " us at most\n", worst_ns / 1000);
	is_between(0, worst_ns / 1000, 2 * TIER_TURN_NS / 1000,
		   "pinned thread that is no hog gives way in a turn to one that a timer woke and is pinned there too");
	load = (struct load){ .cpus = 2, .span_ms = 3000 };
	add_pinned_hogs(&load, 1, 1);
	load.threads[load.len++] = pinned_sleeper(6000, 20500);
	load.threads[load.len++] = pinned_sleeper(2800, 10200);
	load.len++;
	worst_ns = worst_of_ns(&load, 1);
	printf("# the same beside a hog: wait %" PRIu64 " us at most\n", worst_ns / 1000);
	is_between(0, worst_ns / 1000, TIER_TURN_NS / 1000,
		   "timer that is set for a later end is set anew for a pinned thread that a timer woke");
}

/* Each has run for longer than a light thread does when its first turn is over. */
static void test_no_storm(void)
{
	struct load load = { .cpus = 7, .span_ms = 1500, .len = 8 };
	struct seen seen;

	load.threads[2].nice = 4;
	load.threads[7].nice = -9;
	seen = play(&load, 0, 0);
	printf("# eight hogs that begin together on seven CPUs: %" PRIu64 " switches and %" PRIu64
	       " moves in 1.5 s, the hogs of nice 0 have %" PRIu64 " and %" PRIu64 " ms\n",
	       seen.switches, seen.moves, seen.ran_ns[0] / MS, seen.ran_ns[3] / MS);
	ok(seen.switches < 1000, "hogs whose first turn is over do not preempt each other for ever");
}

int main(void)
{
	test_burning_undiscounted();
	test_own_queue();
	test_own_queue_asks();
	test_own_queue_timers();
	test_own_turn();
	test_two_clocks();
	test_not_owed();
	test_realtime();
	test_far_ahead();
	test_late();
	test_confined();
	test_halves();
	test_timers_of_others();
	test_no_storm();
	return tap_end();
}
