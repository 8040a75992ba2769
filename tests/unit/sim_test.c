// SPDX-License-Identifier: GPL-2.0
/* src/sim: work is taken out of events, a simulated machine does it again, policies keep their rules, topologies are
 * read.
 */
#include "../../src/model/fidelity.h"
#include "sim_load.h"
#include "tap.h"

enum { MS = NSEC_PER_MSEC, KNOWN_MS = 300 };

struct seen {
	u64 events, last_ns, hash;
	u64 longest_ns[64];
	u64 known_longest_ns[64]; /* since hogs are known as such */
	u64 went_back;
	struct work *work;
	struct compare_run *run;
};

static void see(void *data, const struct event_header *event)
{
	struct seen *seen = data;

	seen->events++;
	seen->went_back += event->time_ns < seen->last_ns;
	seen->last_ns = event->time_ns;
	seen->hash = seen->hash * 31 + event->time_ns + event->tid * 7 + event->kind;
	if (seen->work)
		work_take(seen->work, event);
	if (seen->run)
		compare_run_take(seen->run, event);
}

static void note_wait(void *data, const struct sim_thread *thread, u64 wait_ns)
{
	struct seen *seen = data;
	u32 index = thread->tid - 1000;

	if (index < 64 && wait_ns > seen->longest_ns[index])
		seen->longest_ns[index] = wait_ns;
	if (index < 64 && seen->last_ns > LOAD_START_NS + KNOWN_MS * MS && wait_ns > seen->known_longest_ns[index])
		seen->known_longest_ns[index] = wait_ns;
}

static struct machine run(struct work *work, const struct sim_policy *policy, u32 kernel, struct seen *seen)
{
	static struct sim_topology topology;
	struct sim_params params = { .policy = policy, .kernel = kernel, .raise = RAISE_INPUT, .seed = 1 };
	struct machine machine = { .handle = seen ? see : NULL, .on_wait = seen ? note_wait : NULL, .data = seen };

	sim_topology_flat(&topology, work->cpus_len);
	if (machine_run(&machine, work, &topology, &params))
		exit(1);
	return machine;
}

static u64 ran_ms(const struct machine *machine, u32 thread)
{
	return machine->threads[thread].ran_ns / MS;
}

static void test_shares(const struct sim_policy *policy)
{
	struct load equal = { .cpus = 1, .span_ms = 9000, .len = 3 };
	struct load nice = { .cpus = 1, .span_ms = 9000, .len = 2, .threads = { { .nice = 0 }, { .nice = 5 } } };
	struct work work;
	struct machine machine;

	load_build(&work, &equal);
	machine = run(&work, policy, SCX_KERNEL(6, 18), NULL);
	for (u32 i = 0; i < 3; i++)
		is_between(2900, ran_ms(&machine, i), 3100, "%s: one of three equal hogs gets a third of the CPU",
			   policy->name);
	machine_free(&machine);
	work_free(&work);
	load_build(&work, &nice);
	machine = run(&work, policy, SCX_KERNEL(6, 18), NULL);
	/* 1024 to 335. */
	is_between(6600, ran_ms(&machine, 0), 7000, "%s: beside a hog of nice 5 one of nice 0 has 1024 of 1359 parts",
		   policy->name);
	machine_free(&machine);
	work_free(&work);
}

static u64 longest_of(struct load *load, const struct sim_policy *policy, u32 kernel)
{
	struct work work;
	struct machine machine;
	u64 longest_ns;

	load_build(&work, load);
	machine = run(&work, policy, kernel, NULL);
	longest_ns = machine.counts.longest_wait_ns;
	machine_free(&machine);
	work_free(&work);
	return longest_ns;
}

static struct compare_run *waits_of(struct work *work, const struct sim_policy *policy, u32 kernel)
{
	struct compare_run *result = calloc(1, sizeof(*result));
	struct seen seen = { .run = result };
	struct machine machine;

	compare_run_init(result, work->topology, work->cpus_len, work->first_ns, false);
	machine = run(work, policy, kernel, &seen);
	compare_run_end(result);
	machine_free(&machine);
	return result;
}

/* A thread that wants 0.3 of every 5 ms beside three hogs on one CPU: the bench of bench/latency. */
static void test_urgent(void)
{
	struct load load = { .cpus = 1,
			     .span_ms = 4000,
			     .len = 4,
			     .threads = {
				     { 0 },
				     { 0 },
				     { 0 },
				     { .kind = LOAD_PERIODIC, .period_us = 5000, .run_us = 300, .is_urgent = 1 } } };
	struct work work;
	struct compare_run *eevdf, *tactus;
	struct fidelity fidelity;

	load_build(&work, &load);
	work.tick_ns = 4 * MS;
	eevdf = waits_of(&work, &policy_eevdf, SCX_KERNEL(6, 18));
	tactus = waits_of(&work, &policy_tactus, SCX_KERNEL(6, 18));
	fidelity_of(&fidelity, eevdf, tactus);
	printf("# p99 of the urgent thread's waits: eevdf %" PRIu64 " us, tactus %" PRIu64 " us\n",
	       fidelity.roles[ROLE_AUDIO].a_p99_ns / 1000, fidelity.roles[ROLE_AUDIO].b_p99_ns / 1000);
	is_between(2000, fidelity.roles[ROLE_AUDIO].a_p99_ns / 1000, 12000,
		   "under eevdf with 250 ticks a second an urgent thread beside hogs waits for milliseconds");
	is_between(0, fidelity.roles[ROLE_AUDIO].b_p99_ns / 1000, 100,
		   "under tactus an urgent thread beside hogs runs at once");
	compare_run_free(eevdf);
	compare_run_free(tactus);
	free(eevdf);
	free(tactus);
	work_free(&work);
	load.len = 3;
	ok(longest_of(&load, &policy_eevdf, SCX_KERNEL(6, 18)) < longest_of(&load, &policy_fifo, 0),
	   "hogs wait longer for their turns under fifo, whose slices are 20 ms, than under eevdf");
}

/* A thread that wants 2 of every 21 ms beside three hogs, of which nothing is known. With 250 ticks a second it would
 * wait for 4 ms behind whoever has just begun a turn; a timer ends that. */
static void test_turn_timers(void)
{
	struct load load = {
		.cpus = 1,
		.span_ms = 6000,
		.len = 4,
		.threads = { { 0 }, { 0 }, { 0 }, { .kind = LOAD_PERIODIC, .period_us = 21000, .run_us = 2000 } }
	};
	struct seen seen = { 0 };
	struct machine machine;
	struct work work;

	load_build(&work, &load);
	work.tick_ns = 4 * MS;
	machine = run(&work, &policy_tactus, SCX_KERNEL(7, 2), &seen);
	printf("# longest wait of a thread beside hogs that is none: %" PRIu64
	       " us, once they are known as hogs %" PRIu64 "\n",
	       seen.longest_ns[3] / 1000, seen.known_longest_ns[3] / 1000);
	is_between(0, seen.known_longest_ns[3] / 1000, 2 * TIER_HOG_TURN_NS / 1000,
		   "a thread that is no hog waits for no more than two turns of hogs, however long the tick");
	is_between(0, seen.longest_ns[3] / 1000, (2 * TIER_TURN_NS + 100 * NSEC_PER_USEC) / 1000,
		   "a thread that is no hog waits for no more than two turns of those that are not yet known as hogs");
	machine_free(&machine);
	work_free(&work);
}

/* What is simulated is a recording: its work, simulated again under the same policy, gives the same. */
static void test_round_trip(const struct sim_policy *policy, u32 cpus)
{
	struct load load = { .cpus = cpus,
			     .span_ms = 3000,
			     .len = 6,
			     .threads = { { 0 },
					  { 0 },
					  { .nice = 5 },
					  { .kind = LOAD_PERIODIC, .period_us = 5000, .run_us = 700, .is_urgent = 1 },
					  { .kind = LOAD_SLEEPER, .period_us = 3000, .run_us = 2000 },
					  { .kind = LOAD_PAIR, .run_us = 400 } } };
	struct work work, again;
	struct compare_run first = { 0 }, *second;
	struct seen seen = { .work = &again, .run = &first };
	struct fidelity fidelity;
	struct machine machine;

	load_build(&work, &load);
	work_init(&again, "6.18", NULL, cpus, work.first_ns, 0);
	compare_run_init(&first, work.topology, cpus, work.first_ns, false);
	machine = run(&work, policy, SCX_KERNEL(6, 18), &seen);
	machine_free(&machine);
	compare_run_end(&first);
	is(seen.went_back, 0, "%s: events come in the order of time", policy->name);
	is(work_end(&again), 0, "%s: work is taken out of what was simulated", policy->name);
	/* Where timers end turns they do not show the tick, and whoever knows it says so with --hz. */
	again.tick_ns = again.tick_ns ? again.tick_ns : work.tick_ns;
	second = waits_of(&again, policy, SCX_KERNEL(6, 18));
	fidelity_of(&fidelity, &first, second);
	printf("# %s: waits differ by %.3f octaves, shares by %.4f, tick %u us\n", policy->name, fidelity.waits,
	       fidelity.shares, again.tick_ns / 1000);
	ok(fidelity.waits < 0.25, "%s: simulated again, waits differ by less than a quarter of an octave",
	   policy->name);
	ok(fidelity.shares < 0.02, "%s: simulated again, shares differ by less than 2 %%", policy->name);
	ok(!fidelity_breaks(&fidelity, &FIDELITY_BOUND), "%s: simulated again, it is within the bound", policy->name);
	compare_run_free(&first);
	compare_run_free(second);
	free(second);
	work_free(&work);
	work_free(&again);
}

/* A kernel thread of one CPU, beside a hog or a thread that wakes at the same moments, and finds the CPU about to look
 * for a thread. */
static void test_bound(bool beside_hog)
{
	struct load load = {
		.cpus = 1,
		.span_ms = 3000,
		.len = 2,
		.threads = { { .kind = beside_hog ? LOAD_HOG : LOAD_PERIODIC, .period_us = 5000, .run_us = 2000 },
			     { .kind = LOAD_PERIODIC, .period_us = 5000, .run_us = 300 } }
	};
	struct seen seen = { 0 };
	struct machine machine;
	struct work work;

	load_build(&work, &load);
	work.tick_ns = 4 * MS;
	work.threads[1].is_kernel = 1;
	work.threads[1].only_cpu = 0;
	machine = run(&work, &policy_tactus, SCX_KERNEL(7, 2), &seen);
	printf("# longest wait of a CPU's kernel thread: %" PRIu64 " us\n", seen.longest_ns[1] / 1000);
	is_between(150, ran_ms(&machine, 1), 180, "a kernel thread of one CPU does its work beside %s",
		   beside_hog ? "a hog" : "one that wakes when it does");
	is_between(0, seen.longest_ns[1] / 1000, 20, "a kernel thread of one CPU runs at once beside %s",
		   beside_hog ? "a hog" : "one that wakes when it does");
	machine_free(&machine);
	work_free(&work);
}

/* Two hogs, and two of another run; the second of those has this name. */
static struct fidelity against_others(const char *name)
{
	struct load load = { .cpus = 1, .span_ms = 3000, .len = 2 };
	struct compare_run *runs[2];
	struct fidelity fidelity;

	for (u32 i = 0; i < 2; i++) {
		struct work work;

		load_build(&work, &load);
		for (u32 t = 0; t < work.len; t++)
			work.threads[t].pid += i * 1000;
		if (i)
			snprintf(work.threads[1].comm.text, sizeof(work.threads[1].comm.text), "%s", name);
		runs[i] = waits_of(&work, &policy_eevdf, SCX_KERNEL(6, 18));
		work_free(&work);
	}
	fidelity_of(&fidelity, runs[0], runs[1]);
	for (u32 i = 0; i < 2; i++) {
		compare_run_free(runs[i]);
		free(runs[i]);
	}
	return fidelity;
}

static void test_names(void)
{
	struct fidelity same = against_others("load"), other = against_others("other");

	printf("# other processes: shares differ by %.3f, by name by %.3f and %.3f\n", same.shares, same.names,
	       other.names);
	ok(same.shares > 0.999, "two runs without a process in common have no CPU time in common by process");
	ok(same.names < 0.001, "two runs whose threads have the same names have the same CPU shares by name");
	is_between(480, (u64)(other.names * 1000), 520,
		   "where one of two equal hogs has another name, half of the CPU time is another name's");
}

/* The 5 ms thread beside three hogs on one CPU, by kernel: between three quarters of the least and five quarters of the
 * most that bench/latency measured in VMs (docs/benchmarks.md). */
static void test_kernels(void)
{
	static const struct {
		u32 kernel, tick_us, least_us, most_us;
	} measured[] = { { SCX_KERNEL(6, 12), 1000, 1758, 2361 },
			 { SCX_KERNEL(6, 18), 4000, 3675, 3827 },
			 { SCX_KERNEL(7, 2), 4000, 1613, 1830 } };

	for (u32 i = 0; i < sizeof(measured) / sizeof(*measured); i++) {
		struct load load = { .cpus = 1, .span_ms = 8000, .len = 4 };
		struct compare_run *eevdf;
		struct fidelity fidelity;
		struct work work;

		load.threads[3] =
			(struct load_thread){ .kind = LOAD_PERIODIC, .period_us = 5000, .run_us = 300, .is_urgent = 1 };
		load_build(&work, &load);
		work.tick_ns = measured[i].tick_us * NSEC_PER_USEC;
		/* Its timer is not in step with ticks. */
		for (u32 s = 0; s < work.threads[3].len; s += 2)
			work.threads[3].steps[s].value += s / 2 * 13 * NSEC_PER_USEC;
		eevdf = waits_of(&work, &policy_eevdf, measured[i].kernel);
		fidelity_of(&fidelity, eevdf, eevdf);
		printf("# p99 beside three hogs, Linux %u.%u: simulated %" PRIu64 " us, measured %u to %u\n",
		       measured[i].kernel >> 16, measured[i].kernel >> 8 & 255,
		       fidelity.roles[ROLE_AUDIO].a_p99_ns / 1000, measured[i].least_us, measured[i].most_us);
		is_between(measured[i].least_us * 3 / 4, fidelity.roles[ROLE_AUDIO].a_p99_ns / 1000,
			   measured[i].most_us * 5 / 4,
			   "eevdf of Linux %u.%u: p99 beside three hogs is about what was measured",
			   measured[i].kernel >> 16, measured[i].kernel >> 8 & 255);
		compare_run_free(eevdf);
		free(eevdf);
		work_free(&work);
	}
}

/* Two hogs, and a thread that wants 0.3 of every 5 ms. A turn ends after 0.7 ms to the point, but where who had it goes
 * on no timer is set anew for that: from Linux 7.1 on, in one of sixteen waits or so, only a tick ends it. */
static void test_turns_without_timer(void)
{
	struct load load = {
		.cpus = 1,
		.span_ms = 8000,
		.len = 3,
		.threads = { { 0 }, { 0 }, { .kind = LOAD_PERIODIC, .period_us = 5000, .run_us = 300, .is_urgent = 1 } }
	};
	struct compare_run *eevdf;
	struct fidelity fidelity;
	struct work work;

	load_build(&work, &load);
	work.tick_ns = 4 * MS;
	for (u32 s = 0; s < work.threads[2].len; s += 2)
		work.threads[2].steps[s].value += s / 2 * 13 * NSEC_PER_USEC;
	eevdf = waits_of(&work, &policy_eevdf, SCX_KERNEL(7, 2));
	fidelity_of(&fidelity, eevdf, eevdf);
	printf("# beside two hogs, Linux 7.2: p50 %" PRIu64 " us, p99 %" PRIu64 " us\n", fidelity.all.a_p50_ns / 1000,
	       fidelity.all.a_p99_ns / 1000);
	is_between(650, fidelity.all.a_p50_ns / 1000, 750,
		   "eevdf of Linux 7.2: most turns end with their slice of 0.7 ms");
	is_between(2500, fidelity.all.a_p99_ns / 1000, 5000,
		   "eevdf of Linux 7.2: the turn of a thread that is chosen again ends with a tick");
	compare_run_free(eevdf);
	free(eevdf);
	work_free(&work);
}

static void test_determinism(void)
{
	struct load load = { .cpus = 4,
			     .span_ms = 500,
			     .len = 3,
			     .threads = { { 0 }, { .kind = LOAD_PAIR, .run_us = 100 }, { .nice = -3 } } };
	struct seen a = { 0 }, b = { 0 };
	struct machine machine;
	struct work work;

	load_build(&work, &load);
	machine = run(&work, &policy_tactus, 0, &a);
	machine_free(&machine);
	machine = run(&work, &policy_tactus, 0, &b);
	machine_free(&machine);
	is(a.hash, b.hash, "the same work under the same policy gives the same events");
	is(a.events, b.events, "the same work under the same policy gives as many events");
	work_free(&work);
}

static void test_fidelity_refuses(void)
{
	struct load load = { .cpus = 1,
			     .span_ms = 3000,
			     .len = 3,
			     .threads = { { 0 }, { 0 }, { .kind = LOAD_PERIODIC, .period_us = 4000, .run_us = 500 } } };
	struct compare_run *eevdf, *fifo;
	struct fidelity fidelity;
	struct work work;

	load_build(&work, &load);
	eevdf = waits_of(&work, &policy_eevdf, SCX_KERNEL(6, 18));
	fifo = waits_of(&work, &policy_fifo, 0);
	fidelity_of(&fidelity, eevdf, fifo);
	printf("# fifo instead of eevdf: waits differ by %.2f octaves\n", fidelity.waits);
	ok(fidelity_breaks(&fidelity, &FIDELITY_BOUND), "another policy than the recorded one is beyond the bound");
	compare_run_free(eevdf);
	compare_run_free(fifo);
	free(eevdf);
	free(fifo);
	work_free(&work);
}

/* Events by hand: A runs, wakes B, and sleeps for a timer. */
static void test_work(void)
{
	struct event_switch to_a = { { 1000, 0, 0, EVENT_SWITCH, 0 }, 10, 0, 121, 121 };
	struct event_wakeup wake_b = { { 3000, 11, 0, EVENT_WAKEUP, EVENT_FLAG_BY_THREAD }, 10, 0, 121 };
	struct event_switch a_to_b = { { 5000, 10, 0, EVENT_SWITCH, 0 }, 11, 1, 121, 121 };
	struct event_switch b_to_idle = { { 9000, 11, 0, EVENT_SWITCH, 0 }, 0, 1, 121, 121 };
	struct event_wakeup wake_a = { { 20000, 10, 0, EVENT_WAKEUP, EVENT_FLAG_BY_INTERRUPT }, 0, 0, 121 };
	const struct work_thread *a, *b;
	struct work work;

	work_init(&work, "6.18", NULL, 1, 0, 0);
	work_take(&work, &to_a.head);
	work_take(&work, &wake_b.head);
	work_take(&work, &a_to_b.head);
	work_take(&work, &b_to_idle.head);
	work_take(&work, &wake_a.head);
	is(work_end(&work), 0, "events become work");
	is(work.len, 2, "two threads are met");
	a = &work.threads[0];
	b = &work.threads[1];
	is(a->steps[0].value, 2000, "a thread runs until it wakes another");
	is(a->steps[1].kind, STEP_WAKE, "thread that wakes another does so after its burst");
	is(a->steps[2].value, 2000, "thread that woke another runs on until it sleeps");
	is(a->steps[3].kind, STEP_SLEEP_UNTIL, "a sleep that an interrupt ends lasts until its time");
	is(a->steps[3].value, 20000, "time that a sleep lasts until is that of the wake-up");
	is(b->steps[0].kind, STEP_SLEEP_SIGNAL, "a thread that was woken by another sleeps until that does it");
	is(b->steps[1].value, 4000, "thread that was woken runs after its wake-up");
	is(work.edges, 1, "work with a single wake-up by a thread has one edge");
	work_free(&work);
}

static void test_topology(void)
{
	static struct sim_topology topology;
	struct reason why;
	static const char *const wrong[] = { "",	   "cache",
					     "cache 0",	   "cache 2\ndistance 0 1 20",
					     "cache 600",  "cache 2 threads 9",
					     "smt 5",	   "distance 0 1",
					     "move far 3", "core 3",
					     "node 3",	   "cache 2 capacity 2000" };

	is(sim_topology_parse(&topology,
			      "node # first\ncache 4 threads 2\nnode\ncache 2 capacity 400\nsmt 55\ndistance 0 1 32",
			      &why),
	   0, "a topology file of two nodes is read");
	is(topology.cpus_len, 10, "topology of two caches has ten CPUs");
	ok(topology.cpus[1].core != topology.cpus[2].core, "threads of different cores do not share one");
	ok(topology.cpus[0].core == topology.cpus[1].core, "two threads share a core");
	is(topology.next_sibling[0], 1, "siblings know each other");
	is(topology.capacity[9], 400, "small cores are small");
	is(topology.distances[1][0], 32, "distances go both ways");
	is(topology.smt_percent, 55, "a busy sibling takes what is said");
	for (u32 i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		ok(sim_topology_parse(&topology, wrong[i], &why) < 0, "topology '%s' is refused: %s", wrong[i],
		   why.text);
}

/* A hog on a small core gets less done: its work of 100 ms takes 250. */
/* Ten hogs begin at once on two caches of two CPUs each, eight of them in the queue of the first. No CPU is ever idle.
 */
static void test_caches_share(void)
{
	static struct sim_topology topology;
	struct sim_params params = {
		.policy = &policy_tactus, .kernel = SCX_KERNEL(7, 2), .raise = RAISE_INPUT, .seed = 1
	};
	struct load load = { .cpus = 4, .span_ms = 6000, .len = 10 };
	struct machine machine = { 0 };
	u64 least_ms = ~0ull, most_ms = 0;
	struct reason why;
	struct work work;

	load_build(&work, &load);
	is(sim_topology_parse(&topology, "cache 2\ncache 2", &why), 0, "a topology of two caches is read");
	is(machine_run(&machine, &work, &topology, &params), 0, "a machine of two caches runs");
	for (u32 i = 0; i < load.len; i++) {
		u64 ran = ran_ms(&machine, i);

		least_ms = ran < least_ms ? ran : least_ms;
		most_ms = ran > most_ms ? ran : most_ms;
	}
	ok(most_ms * 10 <= least_ms * 12, "hogs of two caches have the same within a fifth: %llu to %llu ms",
	   (unsigned long long)least_ms, (unsigned long long)most_ms);
	machine_free(&machine);
	work_free(&work);
}

static void test_speed(void)
{
	static struct sim_topology topology;
	struct sim_params params = { .policy = &policy_eevdf, .seed = 1 };
	struct machine machine = { 0 };
	struct reason why;
	struct work work;

	work_init(&work, "6.18", NULL, 1, LOAD_START_NS, 0);
	work.last_ns = LOAD_START_NS + 1000 * (u64)MS;
	work_add_thread(&work, 5, 5, "x", BEGIN_RUNNABLE);
	load_step(&work, 0, STEP_RUN, 100 * MS, 0);
	sim_topology_parse(&topology, "cache 1 capacity 512", &why);
	is(machine_run(&machine, &work, &topology, &params), 0, "a machine of one small core runs");
	is(machine.threads[0].ran_ns / MS, 200, "at half the capacity work takes twice as long");
	machine_free(&machine);
	work_free(&work);
}

static void test_copies(void)
{
	struct load load = { .cpus = 2,
			     .span_ms = 1000,
			     .len = 2,
			     .threads = {
				     { .kind = LOAD_PAIR, .run_us = 500 },
				     { .kind = LOAD_PERIODIC, .period_us = 2000, .run_us = 100, .is_urgent = 1 } } };
	struct machine machine;
	struct work work;

	load_build(&work, &load);
	is(work_copy(&work, 3, MS, 10, 1), 0, "work is copied three times");
	is(work.len, 12, "work of three threads copied four times has twelve");
	machine = run(&work, &policy_tactus, 0, NULL);
	ok(machine.threads[3].ran_ns > 0, "first of a copied pair runs");
	ok(machine.threads[4].ran_ns > 0, "second of a copied pair, which the first wakes, runs");
	is(machine.threads[5].role_tier, TIER_LATENCY_CRITICAL, "a copy is as urgent as what it is a copy of");
	machine_free(&machine);
	work_truncate(&work, 3);
	is(work.len, 3, "copies go again");
	work_free(&work);
}

int main(void)
{
	static const struct sim_policy *const policies[] = { &policy_eevdf, &policy_tactus };

	test_work();
	for (u32 i = 0; i < 2; i++) {
		test_shares(policies[i]);
		test_round_trip(policies[i], 1);
	}
	/* With a queue for each CPU it is chance where a hog begins, and half a CPU hangs on it. */
	test_round_trip(&policy_tactus, 2);
	test_round_trip(&policy_vtime, 2);
	test_urgent();
	test_turn_timers();
	test_kernels();
	test_turns_without_timer();
	test_determinism();
	test_fidelity_refuses();
	test_topology();
	test_caches_share();
	test_speed();
	test_copies();
	test_names();
	test_bound(false);
	test_bound(true);
	return tap_end();
}
