// SPDX-License-Identifier: GPL-2.0
/* Threads of which nothing is known, beside hogs on a simulated CPU: under tactus none waits much longer at the longest
 * than was measured under the kernel's own scheduler. The kinds are those of bench/latency/unknown.c. */
#include "sim_load.h"
#include "tap.h"

enum { RUNS = 12, SPAN_MS = 8000, WARM_MS = 500, HOGS = 3, PERCENT_MOST = 125, WORST_PERCENT_MOST = 200 };
enum { URGENT_RUN_US = 1000, URGENT_PERIOD_US = 5000 };

/* Who else is there. */
struct scene {
	bool busy_is_batch, has_urgent;
};

struct kind {
	const char *name;
	u32 sleep_least_us, sleep_most_us, run_least_us, run_most_us;
	/* The longest wait under the kernel's own scheduler, as bench/latency measured it in VMs: Linux 7.2.12,
	 * 2026-11-18, the median of eleven boots (docs/benchmarks.md); and beside an urgent thread, four boots. */
	u32 eevdf_us, eevdf_beside_urgent_us;
};
static const struct kind kinds[] = {
	{ "one that wakes seldom for next to nothing", 5000, 60000, 20, 80, 1900, 2450 },
	{ "a worker of a pool", 2000, 50000, 500, 6000, 2600, 3000 },
	{ "one that wants half of its share in parts", 1000, 60000, 1000, 20000, 2200, 2750 },
};
enum { KINDS = sizeof(kinds) / sizeof(kinds[0]), BUSY = 2 };

struct waits_seen {
	u64 from_ns, now_longest_ns[KINDS];
	const struct machine *machine;
};

static void on_wait(void *data, const struct sim_thread *thread, u64 wait_ns)
{
	struct waits_seen *seen = data;
	u32 kind = sim_index(seen->machine, thread) - HOGS;

	if (kind < KINDS && thread->is_woken && seen->machine->now_ns >= seen->from_ns &&
	    wait_ns > seen->now_longest_ns[kind])
		seen->now_longest_ns[kind] = wait_ns;
}

static u64 draw_ns(u64 *state, u64 least_us, u64 most_us)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return (least_us + *state % (most_us - least_us)) * NSEC_PER_USEC;
}

static void set_batch(struct work *work, u32 thread)
{
	struct event_role role = { 0 };

	load_make_urgent(work, thread);
	memcpy(&role, work->kept + work->kept_len - sizeof(role), sizeof(role));
	role.role = ROLE_CPU_BOUND;
	role.tier = TIER_BATCH;
	role.boost = 0;
	memcpy(work->kept + work->kept_len - sizeof(role), &role, sizeof(role));
}

static u32 add_thread(struct work *work, enum work_begin begins)
{
	u32 tid = 1000 + work->len;
	int index = work_add_thread(work, tid, tid, "load", begins);

	work->threads[index].prio = PRIO_NICE_0;
	work->threads[index].start_ns = tid;
	work->threads[index].only_cpu = -1;
	return (u32)index;
}

static void add_urgent(struct work *work, u64 end_ns)
{
	u32 thread = add_thread(work, BEGIN_ASLEEP);
	u64 period_ns = URGENT_PERIOD_US * NSEC_PER_USEC;

	load_make_urgent(work, thread);
	for (u64 at_ns = work->first_ns + period_ns; at_ns < end_ns; at_ns += period_ns) {
		load_step(work, thread, STEP_SLEEP_UNTIL, at_ns, 0);
		load_step(work, thread, STEP_RUN, URGENT_RUN_US * NSEC_PER_USEC, 0);
	}
}

static void build(struct work *work, u64 seed, const struct scene *scene)
{
	u64 end_ns = LOAD_START_NS + (u64)SPAN_MS * NSEC_PER_MSEC;

	work_init(work, "7.2", NULL, 1, LOAD_START_NS, 0);
	work->last_ns = end_ns;
	work->tick_ns = 4 * NSEC_PER_MSEC;
	for (u32 i = 0; i < HOGS; i++) {
		u32 hog = add_thread(work, BEGIN_RUNNABLE);

		work->threads[hog].goes_on = 1;
		set_batch(work, hog);
	}
	for (u32 i = 0; i < KINDS; i++) {
		const struct kind *kind = &kinds[i];
		u64 state = 88172645463325252ull + (i + seed * KINDS) * 7919;
		u32 thread = add_thread(work, BEGIN_ASLEEP);

		if (i == BUSY && scene->busy_is_batch)
			set_batch(work, thread);
		for (u64 at_ns = work->first_ns, sleep_ns, run_ns; at_ns < end_ns; at_ns += sleep_ns + run_ns) {
			sleep_ns = draw_ns(&state, kind->sleep_least_us, kind->sleep_most_us);
			run_ns = draw_ns(&state, kind->run_least_us, kind->run_most_us);
			load_step(work, thread, STEP_SLEEP_FOR, sleep_ns, 0);
			load_step(work, thread, STEP_RUN, run_ns, 0);
		}
	}
	if (scene->has_urgent)
		add_urgent(work, end_ns);
}

static int by_size(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return x < y ? -1 : x > y;
}

/* The longest wait of each kind, the median of the runs, and the worst of them. */
static void measure(const struct sim_policy *policy, const struct scene *scene, u64 *longest_ns, u64 *worst_ns)
{
	static struct sim_topology topology;
	u64 all[KINDS][RUNS];

	sim_topology_flat(&topology, 1);
	for (u32 run = 0; run < RUNS; run++) {
		struct sim_params params = { .policy = policy, .kernel = SCX_KERNEL(7, 2), .seed = 1 + run };
		struct waits_seen seen = { .from_ns = LOAD_START_NS + (u64)WARM_MS * NSEC_PER_MSEC };
		struct machine machine = { .on_wait = on_wait, .data = &seen };
		struct work work;

		seen.machine = &machine;
		build(&work, run, scene);
		if (machine_run(&machine, &work, &topology, &params))
			exit(1);
		for (u32 i = 0; i < KINDS; i++)
			all[i][run] = seen.now_longest_ns[i];
		machine_free(&machine);
		work_free(&work);
	}
	for (u32 i = 0; i < KINDS; i++) {
		qsort(all[i], RUNS, sizeof(all[i][0]), by_size);
		longest_ns[i] = all[i][RUNS / 2];
		worst_ns[i] = all[i][RUNS - 1];
	}
}

static void test_scene(const struct scene *scene)
{
	u64 eevdf_ns[KINDS], tactus_ns[KINDS], worst_ns[KINDS];

	measure(&policy_eevdf, scene, eevdf_ns, worst_ns);
	measure(&policy_tactus, scene, tactus_ns, worst_ns);
	for (u32 i = 0; i < KINDS; i++) {
		u32 really_us = scene->has_urgent ? kinds[i].eevdf_beside_urgent_us : kinds[i].eevdf_us;
		const char *who = scene->busy_is_batch ? ", beside a busy one that passes for batch" : "",
			   *urgent = scene->has_urgent ? ", beside an urgent one that needs a fifth of the CPU" : "";

		printf("# %s%s%s: longest wait %" PRIu64 " us under eevdf, really %u, %" PRIu64
		       " us under tactus, %" PRIu64 " in the worst run\n",
		       kinds[i].name, who, urgent, eevdf_ns[i] / 1000, really_us, tactus_ns[i] / 1000,
		       worst_ns[i] / 1000);
		is_between(0, tactus_ns[i] / 1000, really_us * PERCENT_MOST / 100,
			   "%s, of which nothing is known%s%s, waits at most 1.25 times as long under tactus as "
			   "was measured under eevdf",
			   kinds[i].name, who, urgent);
		is_between(0, worst_ns[i] / 1000, really_us * WORST_PERCENT_MOST / 100,
			   "%s, of which nothing is known%s%s, waits in the worst of twelve runs at most twice as long "
			   "under "
			   "tactus as was measured under eevdf",
			   kinds[i].name, who, urgent);
	}
}

int main(void)
{
	for (int i = 0; i < 4; i++) {
		struct scene scene = { .busy_is_batch = i & 1, .has_urgent = i >> 1 };

		test_scene(&scene);
	}
	return tap_end();
}
