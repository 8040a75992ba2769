// SPDX-License-Identifier: GPL-2.0
/* What docs/scheduler.md states of the scheduler, over random loads on a simulated machine: nobody starves, shares are
 * those of weights, who is urgent does not wait for who is not, no CPU is idle while somebody waits, nothing goes on
 * for ever. A load that breaks one is made as small as it gets and printed, to be kept below. LOADS=N tries as many. */
#include <time.h>

#include "sim_random_load.h"
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
	CACHE_CPUS = 8,
	LONGER_MS = 16000,
	LONGER_PERCENT = 5,
	LONE_WARM_NS = 10 * NSEC_PER_MSEC,
};

struct measured {
	int error;
	u64 longest_ns;	       /* of all */
	u64 lone_longest_ns;   /* of the first thread, once hogs are known as such */
	u64 urgent_longest_ns; /* of those that are urgent and need little */
	u64 idle_ns;	       /* of CPUs, while a thread waited that might have run there */
	u64 stayed;	       /* how often one was kept on its CPU for moving too often */
	u64 hog_low, hog_high; /* of pure hogs: CPU time by weight, the least and the most */
	u64 hog_turn;	       /* a turn of the lightest, by its weight */
	u32 hogs;
};

/* What events tell: who runs where, and who waits. */
enum { THREADS_MOST = 2 * LOAD_THREADS_MOST, CPUS_MOST = 16, FIRST_TID = 1000 };

struct watch {
	const struct work *work;
	struct measured *measured;
	u32 cpus;
	u32 running[CPUS_MOST]; /* its tid; 0: nobody */
	bool waits[THREADS_MOST];
	u64 since_ns;
};

static bool is_wanted(const struct watch *watch, u32 cpu)
{
	for (u32 i = 0; i < watch->work->len; i++)
		if (watch->waits[i] &&
		    (watch->work->threads[i].only_cpu < 0 || watch->work->threads[i].only_cpu == (s32)cpu))
			return true;
	return false;
}

static void see(void *data, const struct event_header *event)
{
	const struct event_switch *to = (const void *)event;
	struct watch *watch = data;

	if (event->kind != EVENT_SWITCH && event->kind != EVENT_WAKEUP)
		return;
	for (u32 cpu = 0; cpu < watch->cpus && event->time_ns > watch->since_ns; cpu++)
		if (!watch->running[cpu] && is_wanted(watch, cpu))
			watch->measured->idle_ns += event->time_ns - watch->since_ns;
	watch->since_ns = event->time_ns;
	if (event->kind == EVENT_WAKEUP) {
		watch->waits[event->tid - FIRST_TID] = true;
		return;
	}
	watch->running[event->cpu] = to->next_tid;
	if (event->tid)
		watch->waits[event->tid - FIRST_TID] = !to->prev_state;
	if (to->next_tid)
		watch->waits[to->next_tid - FIRST_TID] = false;
}

static void on_wait(void *data, const struct sim_thread *thread, u64 wait_ns)
{
	struct watch *watch = data;

	if (thread->tid == FIRST_TID && thread->is_woken && thread->ran_ns > LONE_WARM_NS &&
	    wait_ns > watch->measured->lone_longest_ns)
		watch->measured->lone_longest_ns = wait_ns;
	/* One that was made nicer is not raised. */
	if (thread->role_tier == TIER_LATENCY_CRITICAL && thread->prio <= PRIO_NICE_0 &&
	    wait_ns > watch->measured->urgent_longest_ns)
		watch->measured->urgent_longest_ns = wait_ns;
}

/* What a hog has of the CPUs where it has its share by weight, and none has more than one CPU: so much for each of its
 * weight, in parts of 2^20. */
static u64 share_by_weight(const struct machine *machine)
{
	u64 weights = 0, cpus = machine->cpus_len, share = 0;
	bool is_full[THREADS_MOST] = { false };

	for (u32 pass = 0; pass <= machine->len; pass++) {
		bool more = false;

		weights = 0;
		for (u32 i = 0; i < machine->len; i++)
			weights += is_full[i] ? 0 : scx_weight_of_prio(machine->threads[i].prio);
		if (!weights || !cpus)
			return ~0ULL >> 32;
		share = (cpus << 20) / weights;
		for (u32 i = 0; i < machine->len; i++)
			if (!is_full[i] && scx_weight_of_prio(machine->threads[i].prio) * share > 1 << 20) {
				is_full[i] = more = true;
				cpus--;
				break;
			}
		if (!more)
			break;
	}
	return share;
}

static void note_hogs(struct measured *measured, const struct machine *machine)
{
	u64 share = share_by_weight(machine);

	measured->hog_low = ~0ULL;
	for (u32 i = 0; i < machine->len; i++) {
		const struct sim_thread *thread = &machine->threads[i];
		u64 weight = scx_weight_of_prio(thread->prio), by_weight = thread->ran_ns * 100 / weight, turn;

		if (!thread->work->goes_on)
			continue;
		measured->hogs++;
		turn = tier_slice_ns(TIER_BATCH, TIER_SLICE_NS) * 100 / weight;
		measured->hog_turn = turn > measured->hog_turn ? turn : measured->hog_turn;
		/* Who is due a whole CPU may have no more, whatever its weight. */
		if (weight * share > 1 << 20)
			continue;
		measured->hog_low = by_weight < measured->hog_low ? by_weight : measured->hog_low;
		measured->hog_high = by_weight > measured->hog_high ? by_weight : measured->hog_high;
	}
}

static struct measured measure(const struct load *load, const struct sim_policy *policy)
{
	static struct sim_topology topology;
	struct sim_params params = { .policy = policy,
				     .kernel = SCX_KERNEL(6, 18),
				     .raise = RAISE_INPUT,
				     .seed = 1,
				     .credit = load->credit,
				     .discount = load->discount };
	struct measured measured = { 0 };
	struct work work;
	struct watch watch = { .work = &work, .measured = &measured, .cpus = load->cpus, .since_ns = LOAD_START_NS };
	struct machine machine = { .on_wait = on_wait, .handle = see, .data = &watch };

	sim_topology_caches(&topology, load->cpus);
	load_build(&work, load);
	/* As stock kernels have it: with a shorter one an urgent thread would not wait for long even where nothing
	 * preempts. */
	work.tick_ns = 4 * NSEC_PER_MSEC;
	measured.error = machine_run(&machine, &work, &topology, &params);
	measured.longest_ns = machine.counts.longest_wait_ns;
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

enum property {
	TERMINATES,
	STARVES_NOBODY,
	URGENT_FIRST,
	CONSERVES_WORK,
	SHARES_BY_WEIGHT,
	SHARES_OF_SEVERAL,
	TURNS_END,
	PROPERTIES
};
static const char *const property_names[PROPERTIES] = {
	"nothing goes on for ever without time passing",
	"no thread waits longer than 1.3 s",
	"light urgent threads wait for no thread that is not urgent",
	"no CPU is idle while a thread waits that may run there",
	"hogs get CPU time by their weights",
	"hogs get CPU time of several CPUs by their weights",
	"one that is no hog waits for no more than two turns of hogs",
};

/* On one CPU one thread that needs little, of which nothing is known, and else hogs like any other. */
static bool is_one_beside_hogs(const struct load *load)
{
	const struct load_thread *one = &load->threads[0];

	if (load->cpus > 1 || load->len < 2 || one->kind != LOAD_PERIODIC || one->is_urgent || one->nice ||
	    one->is_bound || one->run_us * 10 > one->period_us)
		return false;
	for (u32 i = 1; i < load->len; i++)
		if (load->threads[i].kind != LOAD_HOG || load->threads[i].nice || load->threads[i].is_urgent ||
		    load->threads[i].is_bound)
			return false;
	return true;
}

static bool shares_hold(const struct load *load, const struct measured *measured)
{
	return !all_hogs_alike(load) || measured->hog_low == ~0ULL ||
	       measured->hog_high * 100 <=
		       measured->hog_low * (100 + SHARE_PERCENT) + 100 * SHARE_TURNS * measured->hog_turn;
}

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
		return urgent_permille(load) > 150 || has_pressing(load) ||
		       measured->urgent_longest_ns <= (u64)URGENT_WAITS_US * NSEC_PER_USEC;
	case CONSERVES_WORK:
		/* One that moved too often stays on its CPU for the rest of the second, by rule. */
		return measured->stayed ||
		       measured->idle_ns * 1000 <= (u64)load->span_ms * NSEC_PER_MSEC * load->cpus * IDLE_PERMILLE;
	case SHARES_BY_WEIGHT:
		return load->cpus > 1 || shares_hold(load, measured);
	case TURNS_END:
		return !is_one_beside_hogs(load) ||
		       measured->lone_longest_ns <= 2 * (u64)TIER_HOG_TURN_NS + 100 * NSEC_PER_USEC;
	default:
		/* In one cache, where there is nothing but turns. */
		return load->cpus == 1 || load->cpus > CACHE_CPUS || measured->stayed || shares_hold(load, measured);
	}
}

static bool breaks(const struct load *load, const struct sim_policy *policy, enum property property)
{
	struct measured measured = measure(load, policy);

	return !holds(load, &measured, property);
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
	for (u32 i = 0; i < 6; i++) {
		struct load_thread *thread;

		smaller = *load;
		if (!i && load->cpus > 1)
			smaller.cpus--;
		if (i == 5)
			smaller.credit = smaller.discount = 0;
		for (u32 t = 0; i && i < 5 && t < smaller.len; t++) {
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
	/* Hogs of an eighth of the usual weight: a turn is much of what they get. */
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
	  .len = 4,
	  .threads = { { LOAD_HOG, 0, 0, 0, 0, 0 },
		       { LOAD_HOG, 0, 0, 9, 0, 0 },
		       { LOAD_HOG, 0, 0, 9, 0, 0 },
		       { LOAD_HOG, 0, 0, 0, 0, 0 } } },
	{ .cpus = 1,
	  .span_ms = SPAN_MS,
	  .len = 2,
	  .threads = { { LOAD_PERIODIC, 5000, 2000, 0, 0, 0 }, { LOAD_PERIODIC, 5000, 300, 0, 0, 1, 1 } } },
	/* Beside one that is due more than a CPU, one of nice 4 had 2.5 times as much as some of nice 0, and one waited
	 * for half a second: they preempted each other until two of them stayed on one CPU. */
	{ .cpus = 7,
	  .span_ms = SPAN_MS,
	  .len = 8,
	  .threads = { { .nice = 0 },
		       { .nice = 0 },
		       { .nice = 4 },
		       { .nice = 0 },
		       { .nice = 0 },
		       { .nice = 0 },
		       { .nice = 0 },
		       { .nice = -9 } } },
	/* One of nice 7 had twice its part. */
	{ .cpus = 4,
	  .span_ms = SPAN_MS,
	  .len = 6,
	  .threads = { { .nice = 4 }, { .nice = 7 }, { .nice = 0 }, { .nice = 0 }, { .nice = 0 }, { .nice = 0 } } },
	{ .cpus = 5,
	  .span_ms = SPAN_MS,
	  .len = 10,
	  .threads = { { .nice = 6 }, { .nice = 0 }, { .nice = 0 }, { .nice = 0 }, { .nice = -2 } } },
};

static void test_kept(void)
{
	for (u32 i = 0; i < sizeof(kept) / sizeof(*kept); i++) {
		struct measured measured = measure(&kept[i], &policy_tactus);

		for (u32 property = 0; property < PROPERTIES; property++)
			ok(holds(&kept[i], &measured, property), "kept load %u: %s", i, property_names[property]);
	}
}

/* What hogs of little weight lack is a few turns once, not a part of all: over a longer time it is next to nothing. */
static void test_kept_longer(void)
{
	for (u32 i = 0; i < sizeof(kept) / sizeof(*kept); i++) {
		struct load load = kept[i];
		struct measured measured;

		if (!all_hogs_alike(&load))
			continue;
		load.span_ms = LONGER_MS;
		measured = measure(&load, &policy_tactus);
		printf("# kept load %u for %u ms: hogs %" PRIu64 " to %" PRIu64 " ms by weight\n", i, LONGER_MS,
		       measured.hog_low / NSEC_PER_MSEC, measured.hog_high / NSEC_PER_MSEC);
		ok(measured.hog_high * 100 <= measured.hog_low * (100 + LONGER_PERCENT),
		   "kept load %u: in 16 s hogs get CPU time by their weights within 5 %%", i);
	}
}

/* What does not hold, and is not asserted of random loads: while two of little weight are not yet known as hogs, turns
 * are short for them; the others change CPUs at the end of each, more than 200 times, and stay for the rest of the
 * second. */
static const struct load known[] = {
	{ .cpus = 6,
	  .span_ms = SPAN_MS,
	  .len = 9,
	  .threads = { { .nice = 7 },
		       { .nice = 8 },
		       { .nice = 0 },
		       { .nice = 0 },
		       { .nice = 0 },
		       { .nice = 0 },
		       { .nice = 0 },
		       { .nice = -9 },
		       { .nice = 0 } },
	  .credit = 3,
	  .discount = 6 },
};

static void print_known(void)
{
	for (u32 i = 0; i < sizeof(known) / sizeof(*known); i++) {
		struct measured measured = measure(&known[i], &policy_tactus);

		printf("# known %u: hogs %" PRIu64 " to %" PRIu64 " ms by weight, the longest wait %" PRIu64 " ms\n", i,
		       measured.hog_low / NSEC_PER_MSEC, measured.hog_high / NSEC_PER_MSEC,
		       measured.longest_ns / NSEC_PER_MSEC);
	}
}

static void test_policy(const struct sim_policy *policy, u32 loads, u32 properties, u64 seed)
{
	u32 broke[PROPERTIES] = { 0 };
	struct measured worst = { 0 };
	u64 worst_lone_ns = 0;

	for (u32 i = 0; i < loads; i++) {
		struct load load = random_load(sim_hash(seed, i), SPAN_MS);
		struct measured measured = measure(&load, policy);

		if (is_one_beside_hogs(&load) && measured.lone_longest_ns > worst_lone_ns)
			worst_lone_ns = measured.lone_longest_ns;
		if (measured.longest_ns > worst.longest_ns)
			worst.longest_ns = measured.longest_ns;
		if (urgent_permille(&load) <= 150 && !has_pressing(&load) &&
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
	printf("# %s, %u loads: longest wait %" PRIu64 " ms, of light urgent threads %" PRIu64
	       " us, of one beside hogs %" PRIu64 " us\n",
	       policy->name, loads, worst.longest_ns / NSEC_PER_MSEC, worst.urgent_longest_ns / 1000,
	       worst_lone_ns / 1000);
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
	test_kept_longer();
	print_known();
	test_policy(&policy_tactus, loads, (1 << PROPERTIES) - 1, seed ? (u64)atoll(seed) : 1);
	test_policy(&policy_eevdf, loads / 8, 1 << TERMINATES | 1 << STARVES_NOBODY | 1 << SHARES_BY_WEIGHT, 2);
	test_policy(&policy_vtime, loads / 8, 1 << TERMINATES, 3);
	return tap_end();
}
