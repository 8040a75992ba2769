// SPDX-License-Identifier: GPL-2.0
/* src/sim/work_affinity.c and what policies make of it: a thread runs only where it may, as far as a recording shows
 * where that is; on a machine of another size too. "Recorded" is what a simulated machine did: there all is known.
 */
#include "sim_load.h"
#include "tap.h"

enum { MS = NSEC_PER_MSEC };

static const struct sim_policy *const policies[] = { &policy_eevdf, &policy_hints, &policy_tactus, &policy_fifo,
						     &policy_vtime };
enum { POLICIES = sizeof(policies) / sizeof(policies[0]) };

/* Where a thread ran, by bits. */
struct where {
	struct work *work;
	u32 tid;
	u64 cpus;
};

static void see(void *data, const struct event_header *event)
{
	const struct event_switch *to = (const void *)event;
	struct where *where = data;

	if (event->kind == EVENT_SWITCH && to->next_tid == where->tid)
		where->cpus |= 1ULL << event->cpu;
	if (where->work)
		work_take(where->work, event);
}

/* Runs it on so many CPUs; returns where the thread with this tid ran, and its CPU time. */
static u64 run_on(const struct work *work, const struct sim_policy *policy, u32 cpus, u32 tid, struct work *recorded,
		  u64 *ran_ms)
{
	static struct sim_topology topology;
	struct sim_params params = { .policy = policy, .kernel = SCX_KERNEL(7, 2), .raise = RAISE_INPUT, .seed = 1 };
	struct where where = { .work = recorded, .tid = tid };
	struct machine machine = { .handle = see, .data = &where };

	if (recorded)
		work_init(recorded, "7.2", NULL, work->cpus_len, work->first_ns, 0);
	sim_topology_flat(&topology, cpus);
	if (machine_run(&machine, work, &topology, &params) || (recorded && work_end(recorded)))
		exit(1);
	for (u32 i = 0; i < machine.len && ran_ms; i++)
		if (machine.threads[i].tid == tid)
			*ran_ms = machine.threads[i].ran_ns / MS;
	machine_free(&machine);
	return where.cpus;
}

static const struct work_thread *thread_of(const struct work *work, u32 tid)
{
	for (u32 i = 0; i < work->len; i++)
		if (work->threads[i].tid == tid)
			return &work->threads[i];
	exit(1);
}

/* On four CPUs two hogs are bound to CPU 2, and nobody wants the others: each waits beside three idle CPUs. */
static void test_bound(void)
{
	struct load load = { .cpus = 4,
			     .span_ms = 2000,
			     .len = 2,
			     .threads = { { .kind = LOAD_HOG, .pinned_plus = 3 },
					  { .kind = LOAD_HOG, .pinned_plus = 3 } } };

	for (u32 i = 0; i < POLICIES; i++) {
		struct work work, recorded;
		u64 ran_ms = 0, cpus;

		load_build(&work, &load);
		work.tick_ns = 4 * MS;
		cpus = run_on(&work, policies[i], 4, 1000, &recorded, NULL);
		is(cpus, 1 << 2, "%s: thread bound to one CPU runs on that one alone", policies[i]->name);
		is(thread_of(&recorded, 1000)->only_cpu, 2,
		   "%s: of a recording in which a thread waited for its CPU beside idle ones it is taken to be bound",
		   policies[i]->name);
		cpus = run_on(&recorded, &policy_tactus, 4, 1000, NULL, &ran_ms);
		is(cpus, 1 << 2, "recorded under %s, predicted for tactus, a bound thread stays on its CPU",
		   policies[i]->name);
		is_between(900, ran_ms, 1100,
			   "recorded under %s, predicted for tactus, one of two hogs of a CPU has half of it",
			   policies[i]->name);
		work_free(&recorded);
		work_free(&work);
	}
}

/* On four CPUs three hogs may use CPUs 0 and 1 only. */
static void build_set(struct work *work)
{
	struct load load = { .cpus = 4, .span_ms = 3000, .len = 3 };

	load_build(work, &load);
	work->tick_ns = 4 * MS;
	for (u32 i = 0; i < 3; i++) {
		work->threads[i].cpu = i % 2;
		work->threads[i].kept_off = calloc(1, sizeof(u64));
		*work->threads[i].kept_off = 1 << 2 | 1 << 3;
	}
}

static void test_set(void)
{
	for (u32 i = 0; i < POLICIES; i++) {
		struct work work, recorded;
		u64 cpus = 0, predicted = 0, sum_ms = 0, found;

		build_set(&work);
		for (u32 tid = 1000; tid < 1003; tid++)
			cpus |= run_on(&work, policies[i], 4, tid, NULL, NULL);
		is(cpus & ~3ULL, 0, "%s: threads that may use two of four CPUs run on no other", policies[i]->name);
		run_on(&work, policies[i], 4, 1000, &recorded, NULL);
		found = 0;
		for (u32 tid = 1000; tid < 1003; tid++)
			found += thread_of(&recorded, tid)->kept_off
					 ? *thread_of(&recorded, tid)->kept_off == (1 << 2 | 1 << 3)
					 : thread_of(&recorded, tid)->only_cpu >= 0;
		printf("# %s: of three threads %" PRIu64 " were found to be kept off CPUs 2 and 3, or bound to one\n",
		       policies[i]->name, found);
		/* Under the kernel's scheduler two share a CPU, and the third has the other and never waits. */
		is_between(2, found, 3,
			   "%s: CPUs beside which threads waited, and that they never used, are taken for forbidden",
			   policies[i]->name);
		for (u32 tid = 1000; tid < 1003; tid++) {
			u64 ran_ms = 0;

			predicted |= run_on(&recorded, &policy_tactus, 4, tid, NULL, &ran_ms);
			sum_ms += ran_ms;
		}
		is(predicted & ~3ULL, 0,
		   "recorded under %s, predicted for tactus, threads of two CPUs do not use the idle ones",
		   policies[i]->name);
		is_between(5900, sum_ms, 6000,
			   "recorded under %s, predicted for tactus, three hogs fill their two CPUs",
			   policies[i]->name);
		work_free(&recorded);
		work_free(&work);
	}
}

/* Threads that may run anywhere wait too, for less time or beside no idle CPU. */
static void test_free(void)
{
	struct load load = { .cpus = 4,
			     .span_ms = 3000,
			     .len = 8,
			     .threads = { { 0 },
					  { 0 },
					  { 0 },
					  { 0 },
					  { 0 },
					  { .kind = LOAD_PERIODIC, .period_us = 7000, .run_us = 3000 },
					  { .kind = LOAD_SLEEPER, .period_us = 9000, .run_us = 2500 },
					  { .kind = LOAD_PAIR, .run_us = 800 } } };

	for (u32 i = 0; i < POLICIES; i++) {
		struct work work, recorded;

		load_build(&work, &load);
		work.tick_ns = 4 * MS;
		run_on(&work, policies[i], 4, 1000, &recorded, NULL);
		is(recorded.bound, 0, "%s: where no thread is bound, none is taken to be", policies[i]->name);
		is(recorded.kept_off, 0, "%s: where each thread may run anywhere, none is kept off a CPU",
		   policies[i]->name);
		work_free(&recorded);
		work_free(&work);
	}
}

/* A thread of CPU 3 on a machine of two: it runs on one of those. */
static void test_fewer_cpus(void)
{
	struct load load = { .cpus = 4,
			     .span_ms = 1000,
			     .len = 3,
			     .threads = { { .kind = LOAD_HOG, .pinned_plus = 4 },
					  { .kind = LOAD_PERIODIC, .period_us = 5000, .run_us = 500, .pinned_plus = 4 },
					  { 0 } } };

	for (u32 i = 0; i < POLICIES; i++) {
		struct work work;
		u64 ran_ms = 0, cpus;

		load_build(&work, &load);
		cpus = run_on(&work, policies[i], 2, 1001, NULL, &ran_ms);
		is(cpus, 1 << 1, "%s: thread of the fourth of four CPUs has the second of two", policies[i]->name);
		is_between(80, ran_ms, 100, "%s: thread of a CPU that a smaller machine lacks does its work there",
			   policies[i]->name);
		work_free(&work);
	}
}

/* Two copies of a thread of CPU 1 of two, on six CPUs: 1, 3 and 5. */
static void test_copies(void)
{
	struct load load = {
		.cpus = 2, .span_ms = 500, .len = 1, .threads = { { .kind = LOAD_HOG, .pinned_plus = 2 } }
	};
	struct work work;

	load_build(&work, &load);
	is(work_copy(&work, 2, MS, 0, 1), 0, "a bound thread is copied");
	for (u32 copy = 0; copy < 3; copy++)
		is(run_on(&work, &policy_tactus, 6, work.threads[copy].tid, NULL, NULL), 1ULL << (1 + 2 * copy),
		   "copy %u of a thread of the second of two CPUs has a CPU of its own on six", copy);
	work_free(&work);
}

/* A realtime thread goes where it may. */
static void test_realtime(void)
{
	struct load load = {
		.cpus = 3,
		.span_ms = 500,
		.len = 4,
		.threads = { { 0 }, { 0 }, { 0 }, { .kind = LOAD_PERIODIC, .period_us = 5000, .run_us = 500 } }
	};
	struct work work;
	u64 ran_ms = 0, cpus;

	load_build(&work, &load);
	work.threads[3].prio = PRIO_REALTIME_LAST - 10;
	work.threads[3].cpu = 1;
	work.threads[3].kept_off = calloc(1, sizeof(u64));
	*work.threads[3].kept_off = 1 << 0;
	cpus = run_on(&work, &policy_eevdf, 3, work.threads[3].tid, NULL, &ran_ms);
	is(cpus & 1, 0, "realtime thread that may not use the first CPU does not run there");
	is_between(45, ran_ms, 50, "realtime thread that may use two of three busy CPUs runs");
	work_free(&work);
}

/* Two hogs wait and two run as the window opens, a pair on each CPU: nobody has a reason to move. */
static void test_begin(void)
{
	static const enum work_begin begins[] = { BEGIN_RUNNING, BEGIN_RUNNABLE, BEGIN_RUNNABLE, BEGIN_RUNNING };
	struct load load = { .cpus = 2, .span_ms = 1000, .len = 4 };

	for (u32 i = 0; i < 2; i++) {
		struct work work;

		load_build(&work, &load);
		for (u32 t = 0; t < 4; t++) {
			work.threads[t].begins = (u8)begins[t];
			work.threads[t].cpu = t / 2;
		}
		for (u32 t = 0; t < 4; t++)
			is(run_on(&work, policies[i], 2, 1000 + t, NULL, NULL), 1ULL << t / 2,
			   "%s: thread that ran or waited on CPU %u as the window opened does so in the simulation",
			   policies[i]->name, t / 2);
		work_free(&work);
	}
}

int main(void)
{
	test_begin();
	test_bound();
	test_set();
	test_free();
	test_fewer_cpus();
	test_copies();
	test_realtime();
	return tap_end();
}
