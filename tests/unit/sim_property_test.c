// SPDX-License-Identifier: GPL-2.0
/* What docs/scheduler.md states of the scheduler, over random loads on a simulated machine: nobody starves, shares are
 * those of weights, who is urgent does not wait for who is not, no CPU is idle while somebody waits, nothing goes on
 * for ever. A load that breaks one is made as small as it gets and printed, to be kept below. LOADS=N tries as many. */
#include <time.h>

#include "sim_load.h"
#include "tap.h"

enum {
	LOADS = 1000,
	SPAN_MS = 1500,
	STARVES_MS = 1300, /* late after a second, looked for each twentieth of one, four at a time */
	URGENT_WAITS_US = TIER_MISS_NS / NSEC_PER_USEC, /* beyond that it counts as a miss */
	IDLE_PERMILLE = 1,
	SHARE_PERCENT =
		12, /* and so many turns of the lightest, which a load that is no longer than this may be off by */
	SHARE_TURNS = 3,
};

struct measured {
	int error;
	u64 longest_ns;	       /* of all */
	u64 urgent_longest_ns; /* of those that are urgent and need little */
	u64 idle_ns;
	u64 stayed;	       /* how often one was kept on its CPU for moving too often */
	u64 hog_low, hog_high; /* of pure hogs: CPU time by weight, the least and the most */
	u64 hog_turn;	       /* a slice by the weight of the lightest */
	u32 hogs;
};

struct watch {
	const struct load *load;
	struct measured *measured;
};

static void on_wait(void *data, const struct sim_thread *thread, u64 wait_ns)
{
	struct watch *watch = data;

	/* One that was made nicer is not raised. */
	if (thread->role_tier == TIER_LATENCY_CRITICAL && thread->prio <= PRIO_NICE_0 &&
	    wait_ns > watch->measured->urgent_longest_ns)
		watch->measured->urgent_longest_ns = wait_ns;
}

static void note_hogs(struct measured *measured, const struct machine *machine)
{
	measured->hog_low = ~0ULL;
	for (u32 i = 0; i < machine->len; i++) {
		const struct sim_thread *thread = &machine->threads[i];
		u64 by_weight = thread->ran_ns * 100 / scx_weight_of_prio(thread->prio);

		if (!thread->work->goes_on)
			continue;
		measured->hogs++;
		if (TIER_SLICE_NS * 100 / scx_weight_of_prio(thread->prio) > measured->hog_turn)
			measured->hog_turn = TIER_SLICE_NS * 100 / scx_weight_of_prio(thread->prio);
		measured->hog_low = by_weight < measured->hog_low ? by_weight : measured->hog_low;
		measured->hog_high = by_weight > measured->hog_high ? by_weight : measured->hog_high;
	}
}

static struct measured measure(const struct load *load, const struct sim_policy *policy)
{
	static struct sim_topology topology;
	struct sim_params params = { .policy = policy, .kernel = SCX_KERNEL(6, 18), .raise = RAISE_INPUT, .seed = 1 };
	struct measured measured = { 0 };
	struct watch watch = { load, &measured };
	struct machine machine = { .on_wait = on_wait, .data = &watch };
	struct work work;

	sim_topology_caches(&topology, load->cpus);
	load_build(&work, load);
	/* As stock kernels have it: with a shorter one an urgent thread would not wait for long even where nothing
	 * preempts. */
	work.tick_ns = 4 * NSEC_PER_MSEC;
	measured.error = machine_run(&machine, &work, &topology, &params);
	measured.longest_ns = machine.counts.longest_wait_ns;
	measured.idle_ns = machine.counts.idle_beside_waiting_ns;
	measured.stayed = machine.counts.stayed;
	if (!measured.error)
		note_hogs(&measured, &machine);
	machine_free(&machine);
	work_free(&work);
	return measured;
}

/* How much of the CPUs the urgent threads want, in parts of 1000 of one. */
static u32 urgent_permille(const struct load *load)
{
	u32 sum = 0;

	for (u32 i = 0; i < load->len; i++) {
		const struct load_thread *thread = &load->threads[i];

		if (thread->is_urgent || thread->is_bound)
			sum += thread->kind == LOAD_HOG || thread->kind == LOAD_PAIR
				       ? 1000
				       : (u32)((u64)thread->run_us * 1000 /
					       (thread->period_us ? thread->period_us : 1));
	}
	return sum;
}

static bool all_hogs_alike(const struct load *load)
{
	for (u32 i = 0; i < load->len; i++)
		if (load->threads[i].kind != LOAD_HOG || load->threads[i].is_urgent || load->threads[i].pinned_plus)
			return false;
	return load->len > 1;
}

/* Whoever was made less nice has earlier deadlines, urgent or not: that is what its owner wants. */
static bool has_pressing(const struct load *load)
{
	for (u32 i = 0; i < load->len; i++)
		if (load->threads[i].nice < 0 && !load->threads[i].is_urgent)
			return true;
	return false;
}

static bool has_bound(const struct load *load)
{
	for (u32 i = 0; i < load->len; i++)
		if (load->threads[i].is_bound)
			return true;
	return false;
}

static bool has_pinned(const struct load *load)
{
	for (u32 i = 0; i < load->len; i++)
		if (load->threads[i].pinned_plus && !load->threads[i].is_bound)
			return true;
	return false;
}

enum property { TERMINATES, STARVES_NOBODY, URGENT_FIRST, CONSERVES_WORK, SHARES_BY_WEIGHT, PROPERTIES };
static const char *const property_names[PROPERTIES] = {
	"nothing goes on for ever without time passing",
	"no thread waits longer than 1.3 s",
	"light urgent threads wait for no thread that is not urgent",
	"no CPU is idle while a thread waits that may run there",
	"hogs get CPU time by their weights",
};

/* Whether it is said of such a load at all, and if so whether it holds. */
static bool holds(const struct load *load, const struct measured *measured, enum property property)
{
	switch (property) {
	case TERMINATES:
		return !measured->error;
	case STARVES_NOBODY:
		return measured->longest_ns <= (u64)STARVES_MS * NSEC_PER_MSEC;
	case URGENT_FIRST:
		/* One urgent thread, or few that together want little. */
		return urgent_permille(load) > 150 || has_pinned(load) || has_pressing(load) ||
		       measured->urgent_longest_ns <= (u64)URGENT_WAITS_US * NSEC_PER_USEC;
	case CONSERVES_WORK:
		/* One that moved too often stays on its CPU for the rest of the second, by rule; one that may run
		 * nowhere else waits for its CPU. */
		return has_pinned(load) || has_bound(load) || measured->stayed ||
		       measured->idle_ns * 1000 <= (u64)load->span_ms * NSEC_PER_MSEC * load->cpus * IDLE_PERMILLE;
	default:
		/* On one CPU, where there is nothing but turns. */
		return load->cpus > 1 || !all_hogs_alike(load) || measured->hog_low == ~0ULL ||
		       measured->hog_high * 100 <=
			       measured->hog_low * (100 + SHARE_PERCENT) + 100 * SHARE_TURNS * measured->hog_turn;
	}
}

static u32 chance(u64 *seed, u32 most)
{
	*seed = sim_hash(*seed, 1);
	return (u32)(*seed >> 20) % most;
}

/* What that CPU needs done by the kernel, now and then. */
static void make_bound(struct load_thread *thread, u32 pinned_plus)
{
	thread->kind = LOAD_PERIODIC;
	thread->run_us = 50 + thread->run_us % 200;
	thread->period_us = 5000 + thread->period_us;
	thread->nice = 0;
	thread->is_urgent = 0;
	thread->pinned_plus = pinned_plus;
	thread->is_bound = 1;
}

static struct load random_load(u64 seed)
{
	struct load load = { .span_ms = SPAN_MS };
	bool only_hogs = chance(&seed, 5) == 0;

	load.cpus = only_hogs ? 1 : 1 + chance(&seed, 12);
	load.len = 1 + chance(&seed, LOAD_THREADS_MOST - 1);
	for (u32 i = 0; i < load.len; i++) {
		struct load_thread *thread = &load.threads[i];

		thread->kind = only_hogs ? LOAD_HOG : chance(&seed, LOAD_KINDS);
		thread->period_us = 1000 + chance(&seed, 30) * 777;
		thread->run_us = 50 + chance(&seed, 40) * 97;
		thread->nice = chance(&seed, 3) ? 0 : (s32)chance(&seed, 20) - 10;
		thread->is_urgent = !only_hogs && chance(&seed, 4) == 0;
		if (thread->is_urgent && thread->kind != LOAD_PAIR && chance(&seed, 2)) {
			thread->kind = LOAD_PERIODIC;
			thread->run_us = 50 + chance(&seed, 4) * 50;
			thread->period_us = 5000;
		}
		thread->pinned_plus = chance(&seed, 12) ? 0 : 1 + chance(&seed, load.cpus);
	}
	if (!only_hogs && !chance(&seed, 3))
		for (u32 i = 0; i < load.len && i < 2; i++)
			make_bound(&load.threads[i], 1 + chance(&seed, load.cpus));
	return load;
}

static void print_load(const struct load *load)
{
	printf("#   { .cpus = %u, .span_ms = %u, .len = %u, .threads = {\n", load->cpus, load->span_ms, load->len);
	for (u32 i = 0; i < load->len; i++)
		printf("#     { %u, %u, %u, %d, %u, %u, %u },\n", load->threads[i].kind, load->threads[i].period_us,
		       load->threads[i].run_us, load->threads[i].nice, load->threads[i].is_urgent,
		       load->threads[i].pinned_plus, load->threads[i].is_bound);
	printf("#   } },\n");
}

static bool breaks(const struct load *load, const struct sim_policy *policy, enum property property)
{
	struct measured measured = measure(load, policy);

	return !holds(load, &measured, property);
}

static bool same_thread(const struct load_thread *a, const struct load_thread *b)
{
	return a->kind == b->kind && a->period_us == b->period_us && a->run_us == b->run_us && a->nice == b->nice &&
	       a->is_urgent == b->is_urgent && a->pinned_plus == b->pinned_plus && a->is_bound == b->is_bound;
}

static bool same_load(const struct load *a, const struct load *b)
{
	if (a->cpus != b->cpus || a->span_ms != b->span_ms || a->len != b->len)
		return false;
	for (u32 i = 0; i < a->len; i++)
		if (!same_thread(&a->threads[i], &b->threads[i]))
			return false;
	return true;
}

/* One step smaller that still breaks it. False: there is none. */
static bool shrink_once(struct load *load, const struct sim_policy *policy, enum property property)
{
	struct load smaller;

	for (u32 i = 0; i < load->len; i++) {
		smaller = *load;
		memmove(&smaller.threads[i], &smaller.threads[i + 1], (smaller.len - i - 1) * sizeof(*smaller.threads));
		smaller.len--;
		if (smaller.len && breaks(&smaller, policy, property)) {
			*load = smaller;
			return true;
		}
	}
	for (u32 i = 0; i < 5; i++) {
		struct load_thread *thread;

		smaller = *load;
		if (!i && load->cpus > 1)
			smaller.cpus--;
		for (u32 t = 0; i && t < smaller.len; t++) {
			thread = &smaller.threads[t];
			if (i == 1)
				thread->nice = 0;
			else if (i == 2)
				thread->pinned_plus = thread->is_bound ? thread->pinned_plus : 0;
			else if (i == 3)
				thread->period_us = (thread->period_us + 999) / 1000 * 1000;
			else
				thread->run_us = (thread->run_us + 99) / 100 * 100;
		}
		if (!same_load(&smaller, load) && breaks(&smaller, policy, property)) {
			*load = smaller;
			return true;
		}
	}
	return false;
}

static void shrink(struct load *load, const struct sim_policy *policy, enum property property)
{
	for (u32 steps = 0; steps < 200 && shrink_once(load, policy, property); steps++)
		;
}

/* Loads that broke something once, made small. */
static const struct load kept[] = {
	/* Two urgent threads that wake at the same moment: only one preempts. */
	{ .cpus = 1,
	  .span_ms = SPAN_MS,
	  .len = 3,
	  .threads = { { LOAD_PERIODIC, 5000, 200, 0, 1, 0 },
		       { LOAD_PAIR, 2000, 200, 0, 0, 0 },
		       { LOAD_PERIODIC, 5000, 100, 0, 1, 0 } } },
	/* Equal deadlines: each was kicked for the other, for ever, where an interrupt took no time. */
	{ .cpus = 1,
	  .span_ms = SPAN_MS,
	  .len = 4,
	  .threads = { { LOAD_PAIR, 17000, 600, 0, 1, 0 },
		       { LOAD_SLEEPER, 5000, 1800, 0, 0, 0 },
		       { LOAD_PAIR, 22000, 2900, 0, 0, 0 },
		       { LOAD_SLEEPER, 6000, 2500, 0, 0, 0 } } },
	/* Threads that move too often are kept on their CPUs while others are idle. */
	{ .cpus = 4,
	  .span_ms = SPAN_MS,
	  .len = 4,
	  .threads = { { LOAD_PAIR, 24000, 1200, 0, 1, 0 },
		       { LOAD_PAIR, 19000, 1300, 0, 0, 0 },
		       { LOAD_SLEEPER, 3000, 2600, 0, 0, 0 },
		       { LOAD_PAIR, 22000, 1400, 0, 1, 0 } } },
	/* Two that woke at one moment: the first was given an idle CPU, and the second preempted what had run there
	 * before, went before the first, and let it wait beside idle CPUs. */
	{ .cpus = 3,
	  .span_ms = SPAN_MS,
	  .len = 5,
	  .threads = { { LOAD_PERIODIC, 6000, 1200, 0, 1, 0 },
		       { LOAD_PERIODIC, 6000, 400, 0, 0, 0 },
		       { LOAD_HOG, 4000, 1300, 0, 0, 0 },
		       { LOAD_PERIODIC, 10000, 2700, 0, 0, 0 },
		       { LOAD_SLEEPER, 4000, 1100, 0, 0, 0 } } },
	/* Hogs of a ninth of the usual weight: a turn is much of what they get. */
	{ .cpus = 1,
	  .span_ms = SPAN_MS,
	  .len = 7,
	  .threads = { { LOAD_HOG, 0, 0, 9, 0, 0 },
		       { LOAD_HOG, 0, 0, 8, 0, 0 },
		       { LOAD_HOG, 0, 0, 0, 0, 0 },
		       { LOAD_HOG, 0, 0, 0, 0, 0 },
		       { LOAD_HOG, 0, 0, 0, 0, 0 },
		       { LOAD_HOG, 0, 0, 7, 0, 0 },
		       { LOAD_HOG, 0, 0, 0, 0, 0 } } },
	/* A kernel thread of a CPU that was about to look for a thread: the simulator crashed. */
	{ .cpus = 1,
	  .span_ms = SPAN_MS,
	  .len = 2,
	  .threads = { { LOAD_PERIODIC, 5000, 2000, 0, 0, 0 }, { LOAD_PERIODIC, 5000, 300, 0, 0, 1, 1 } } },
};

static void test_kept(void)
{
	for (u32 i = 0; i < sizeof(kept) / sizeof(*kept); i++) {
		struct measured measured = measure(&kept[i], &policy_tactus);

		for (u32 property = 0; property < PROPERTIES; property++)
			ok(holds(&kept[i], &measured, property), "kept load %u: %s", i, property_names[property]);
	}
}

static void test_policy(const struct sim_policy *policy, u32 loads, u32 properties, u64 seed)
{
	u32 broke[PROPERTIES] = { 0 };
	struct measured worst = { 0 };

	for (u32 i = 0; i < loads; i++) {
		struct load load = random_load(sim_hash(seed, i));
		struct measured measured = measure(&load, policy);

		if (measured.longest_ns > worst.longest_ns)
			worst.longest_ns = measured.longest_ns;
		if (urgent_permille(&load) <= 150 && !has_pinned(&load) && !has_pressing(&load) &&
		    measured.urgent_longest_ns > worst.urgent_longest_ns)
			worst.urgent_longest_ns = measured.urgent_longest_ns;
		for (u32 property = 0; property < PROPERTIES; property++) {
			if (!(properties >> property & 1) || holds(&load, &measured, property) || broke[property]++)
				continue;
			shrink(&load, policy, property);
			measured = measure(&load, policy);
			printf("# %s: not so that %s: longest %" PRIu64 " us, urgent %" PRIu64 " us, idle %" PRIu64
			       " us, hogs %" PRIu64 " to %" PRIu64 " ms, by\n",
			       policy->name, property_names[property], measured.longest_ns / 1000,
			       measured.urgent_longest_ns / 1000, measured.idle_ns / 1000,
			       measured.hog_low / NSEC_PER_MSEC, measured.hog_high / NSEC_PER_MSEC);
			print_load(&load);
			break;
		}
	}
	printf("# %s, %u loads: longest wait %" PRIu64 " ms, of light urgent threads %" PRIu64 " us\n", policy->name,
	       loads, worst.longest_ns / NSEC_PER_MSEC, worst.urgent_longest_ns / 1000);
	for (u32 property = 0; property < PROPERTIES; property++)
		if (properties >> property & 1)
			is(broke[property], 0, "%s, %u random loads: %s", policy->name, loads,
			   property_names[property]);
}

int main(void)
{
	const char *wanted = getenv("LOADS"), *seed = getenv("SEED");
	u32 loads = wanted ? (u32)atoi(wanted) : LOADS;

	test_kept();
	test_policy(&policy_tactus, loads, (1 << PROPERTIES) - 1, seed ? (u64)atoll(seed) : 1);
	test_policy(&policy_eevdf, loads / 8, 1 << TERMINATES | 1 << STARVES_NOBODY | 1 << SHARES_BY_WEIGHT, 2);
	test_policy(&policy_vtime, loads / 8, 1 << TERMINATES, 3);
	return tap_end();
}
