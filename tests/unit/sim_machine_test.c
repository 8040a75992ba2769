// SPDX-License-Identifier: GPL-2.0
/* What a simulated machine charges and who is near: busy siblings, moves, distances between memory nodes; and what
 * hints do under the kernel's scheduler. Small loads, of which the truth is computed by hand.
 */
#include "../../core/hints.h"
#include "../../src/sim/weights.h"
#include "sim_load.h"
#include "tap.h"

enum { MS = NSEC_PER_MSEC };

/* Which threads, by index, began to run on each CPU, by bits. */
struct seen {
	u64 ran_on[8];
};

static void see(void *data, const struct event_header *event)
{
	const struct event_switch *to = (const void *)event;
	struct seen *seen = data;

	if (event->kind == EVENT_SWITCH && to->next_tid >= 1000 && to->next_tid < 1064 && event->cpu < 8)
		seen->ran_on[event->cpu] |= 1ULL << (to->next_tid - 1000);
}

static struct machine run_on(const struct work *work, const char *text, const struct sim_policy *policy, u32 kernel,
			     struct seen *seen)
{
	static struct sim_topology topology;
	struct sim_params params = { .policy = policy, .kernel = kernel, .raise = RAISE_INPUT, .seed = 1 };
	struct machine machine = { .handle = seen ? see : NULL, .data = seen };
	struct reason why;

	if (sim_topology_parse(&topology, text, &why) || machine_run(&machine, work, &topology, &params))
		exit(1);
	return machine;
}

/* Threads that begin to run at once, each on its CPU, do that much and sleep for good. */
static void build_bursts(struct work *work, u32 cpus, const u32 *bursts_ms, const s32 *only_cpus, u32 len, u32 span_ms)
{
	work_init(work, "7.2", NULL, cpus, LOAD_START_NS, 0);
	work->last_ns = LOAD_START_NS + (u64)span_ms * MS;
	work->tick_ns = 4 * MS;
	for (u32 i = 0; i < len; i++) {
		u32 tid = 1000 + i;

		work_add_thread(work, tid, tid, "burst", BEGIN_RUNNABLE);
		work->threads[i].start_ns = tid;
		work->threads[i].only_cpu = only_cpus[i];
		work->threads[i].cpu = only_cpus[i] >= 0 ? (u32)only_cpus[i] : 0;
		load_step(work, i, STEP_RUN, (u64)bursts_ms[i] * MS, 0);
		load_step(work, i, STEP_SLEEP_UNTIL, ~0ULL, 0);
	}
}

/* 60 and 100 ms on two CPUs. As siblings at 60 % both do 60 ms in 100, and the second its last 40 ms in 40. */
static void test_siblings(void)
{
	static const struct {
		const char *what, *topology;
		u32 first_ms, second_ms;
	} machines[] = {
		{ "two cores", "cache 2", 60, 100 },
		{ "two threads of a core, each at 60 % beside the other", "cache 1 threads 2\nsmt 60", 100, 140 },
		{ "two threads of a core, each at 50 % beside the other", "cache 1 threads 2\nsmt 50", 120, 160 },
		{ "two threads of a core that do not slow each other", "cache 1 threads 2\nsmt 100", 60, 100 }
	};
	static const u32 bursts_ms[] = { 60, 100 };
	static const s32 cpus[] = { 0, 1 };

	for (u32 i = 0; i < sizeof(machines) / sizeof(machines[0]); i++) {
		struct machine machine;
		struct work work;

		build_bursts(&work, 2, bursts_ms, cpus, 2, 400);
		machine = run_on(&work, machines[i].topology, &policy_eevdf, SCX_KERNEL(7, 2), NULL);
		is(machine.threads[0].ran_ns / MS, machines[i].first_ms, "%s: 60 ms of work take %u", machines[i].what,
		   machines[i].first_ms);
		is_between(machines[i].second_ms - 1, machine.threads[1].ran_ns / MS, machines[i].second_ms,
			   "%s: 100 ms of work take %u", machines[i].what, machines[i].second_ms);
		machine_free(&machine);
		work_free(&work);
	}
}

/* A hog has CPU 0. Who slept there for 5 ms wakes on the idle CPU 1, and what it does at a time, 1 ms, costs 1.5 there
 * the first time; then it stays. */
static void test_moves(void)
{
	static const struct {
		const char *what, *topology;
		u32 ran_us;
	} machines[] = { { "to a sibling", "cache 1 threads 2\nsmt 100\nmove core 500", 1500 },
			 { "within a cache", "cache 2\nmove cache 500", 1500 },
			 { "to another cache", "cache 1\ncache 1\nmove node 500", 1500 },
			 { "to another node", "node\ncache 1\nnode\ncache 1\nmove cross 500", 1500 },
			 { "within a cache, which is free where only moves between nodes cost",
			   "cache 2\nmove cross 500", 1000 } };

	for (u32 i = 0; i < sizeof(machines) / sizeof(machines[0]); i++) {
		struct machine machine;
		struct work work;

		build_bursts(&work, 2, (const u32[]){ 200 }, (const s32[]){ 0 }, 1, 100);
		work_add_thread(&work, 1001, 1001, "moves", BEGIN_ASLEEP);
		work.threads[1].start_ns = 1001;
		load_step(&work, 1, STEP_SLEEP_UNTIL, LOAD_START_NS + 5 * MS, 0);
		load_step(&work, 1, STEP_RUN, MS, 0);
		load_step(&work, 1, STEP_SLEEP_UNTIL, ~0ULL, 0);
		machine = run_on(&work, machines[i].topology, &policy_tactus, SCX_KERNEL(7, 2), NULL);
		is(machine.counts.moves, 1, "a thread that wakes beside a hog moves once, %s", machines[i].what);
		is(machine.threads[1].ran_ns / 1000, machines[i].ran_us, "1 ms of work after a move %s takes %u us",
		   machines[i].what, machines[i].ran_us);
		machine_free(&machine);
		work_free(&work);
	}
}

/* Three nodes of a CPU each, two threads in the queues of the second and third. The first CPU has nothing to do after
 * 3 ms, and takes from the nearer one. */
static void test_distances(void)
{
	static const struct {
		const char *topology;
		u64 near;
	} machines[] = {
		{ "node\ncache 1\nnode\ncache 1\nnode\ncache 1\ndistance 0 1 40\ndistance 0 2 12", 1 << 2 | 1 << 4 },
		{ "node\ncache 1\nnode\ncache 1\nnode\ncache 1\ndistance 0 1 12\ndistance 0 2 40", 1 << 1 | 1 << 3 }
	};
	static const u32 bursts_ms[] = { 3, 200, 200, 200, 200 };
	static const s32 at[] = { 0, 1, 2, 1, 2 };

	for (u32 i = 0; i < 2; i++) {
		struct seen seen = { 0 };
		struct machine machine;
		struct work work;

		build_bursts(&work, 3, bursts_ms, at, 5, 15);
		for (u32 t = 0; t < 5; t++)
			work.threads[t].only_cpu = -1;
		machine = run_on(&work, machines[i].topology, &policy_tactus, SCX_KERNEL(7, 2), &seen);
		printf("# on the first CPU ran 0x%" PRIx64 "\n", seen.ran_on[0]);
		ok(seen.ran_on[0] & machines[i].near, "a CPU without work takes a thread of the node that is %s nearer",
		   i ? "now" : "first");
		is(seen.ran_on[0] & ~1ULL & ~machines[i].near, 0,
		   "a CPU without work takes none of the node that is farther, where a nearer one has some");
		machine_free(&machine);
		work_free(&work);
	}
}

static u64 ran_ms_of_first(struct work *work, const struct sim_policy *policy, u32 kernel, u64 *slice_ns)
{
	struct machine machine = run_on(work, "cache 1", policy, kernel, NULL);
	u64 ran_ms = machine.threads[0].ran_ns / MS;

	if (slice_ns)
		*slice_ns = machine.threads[0].fair.slice_ns;
	machine_free(&machine);
	return ran_ms;
}

/* Two hogs, the first urgent: with hints it has the weight of nice -9. */
static void test_hints(void)
{
	struct load hogs = { .cpus = 1, .span_ms = 4000, .len = 2, .threads = { { .is_urgent = 1 }, { 0 } } };
	struct load timer = { .cpus = 1,
			      .span_ms = 1000,
			      .len = 2,
			      .threads = { { .kind = LOAD_PERIODIC, .period_us = 5000, .run_us = 2000, .is_urgent = 1 },
					   { 0 } } };
	u64 heavy = weight_of_prio(PRIO_NICE_0 + HINT_NICE_URGENT), usual = weight_of_prio(PRIO_NICE_0), slice_ns;
	struct work work;

	load_build(&work, &hogs);
	is_between(1980, ran_ms_of_first(&work, &policy_eevdf, SCX_KERNEL(7, 2), NULL), 2020,
		   "urgent hog without hints has half of a CPU beside another hog");
	is_between(4000 * heavy / (heavy + usual) - 40, ran_ms_of_first(&work, &policy_hints, SCX_KERNEL(7, 2), NULL),
		   4000 * heavy / (heavy + usual) + 40, "urgent hog with hints has the share of nice %d",
		   HINT_NICE_URGENT);
	work.threads[0].is_kernel = 1;
	is_between(1980, ran_ms_of_first(&work, &policy_hints, SCX_KERNEL(7, 2), NULL), 2020,
		   "a kernel thread gets no hint");
	work.threads[0].is_kernel = 0;
	work.threads[0].prio = PRIO_NICE_0 + 5;
	is_between(4000 * weight_of_prio(PRIO_NICE_0 + 5) / (weight_of_prio(PRIO_NICE_0 + 5) + usual) - 40,
		   ran_ms_of_first(&work, &policy_hints, SCX_KERNEL(7, 2), NULL),
		   4000 * weight_of_prio(PRIO_NICE_0 + 5) / (weight_of_prio(PRIO_NICE_0 + 5) + usual) + 40,
		   "thread that was made nicer keeps its nice value, urgent or not");
	work_free(&work);
	load_build(&work, &timer);
	ran_ms_of_first(&work, &policy_hints, SCX_KERNEL(7, 2), &slice_ns);
	is(slice_ns / 1000, 2000 / HINT_SLICE_PARTS, "an urgent thread with hints has a slice of a fifth of its 2 ms");
	ran_ms_of_first(&work, &policy_hints, SCX_KERNEL(6, 11), &slice_ns);
	is(slice_ns / 1000, 750, "before Linux 6.12 there are no slices of its own, and it has the usual one");
	ran_ms_of_first(&work, &policy_eevdf, SCX_KERNEL(7, 2), &slice_ns);
	is(slice_ns / 1000, 700, "an urgent thread without hints has the usual slice");
	work_free(&work);
}

int main(void)
{
	test_siblings();
	test_moves();
	test_distances();
	test_hints();
	return tap_end();
}
