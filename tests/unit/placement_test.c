// SPDX-License-Identifier: GPL-2.0
/* core/placement.h and core/power.h: which caches are near, which idle CPU suits, how fast a CPU is asked to be; and
 * src/sched/scx_places.c over a made-up sysfs, since no machine at hand has small cores or memory nodes. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../core/power.h"
#include "../../src/base/topology.h"
#include "../../src/sched/scx_places.h"
#include "tap.h"

static char root[] = "/tmp/tactus-placement-XXXXXX";

static void put(const char *text, const char *format, ...)
{
	char path[256];
	va_list args;
	FILE *file;
	int at = snprintf(path, sizeof(path), "%s/", root);

	va_start(args, format);
	vsnprintf(path + at, sizeof(path) - (size_t)at, format, args);
	va_end(args);
	for (char *slash = strchr(path + at, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(path, 0700);
		*slash = '/';
	}
	file = fopen(path, "w");
	if (!file)
		exit(1);
	fputs(text, file);
	fclose(file);
}

static int order_is(const u8 *order, u32 len, const char *want)
{
	char got[256] = "";

	for (u32 i = 0; i < len; i++)
		snprintf(got + strlen(got), sizeof(got) - strlen(got), "%s%u", i ? " " : "", order[i]);
	if (strcmp(got, want))
		printf("# got %s, expected %s\n", got, want);
	return !strcmp(got, want);
}

/* Caches of four CPUs, and one of eight. */
static void balance_tests(void)
{
	u32 own = 2, other = 30, moves = 0;

	ok(!cache_takes_from(0, 4, 0, 4), "nothing is taken from an empty queue");
	ok(!cache_takes_from(3, 4, 4, 4), "nothing is taken where one more waits");
	ok(cache_takes_from(2, 4, 4, 4), "a thread is taken where two more wait for as many CPUs");
	ok(!cache_takes_from(3, 4, 8, 8), "nothing is taken from a queue that is longer for more CPUs");
	ok(cache_takes_from(3, 4, 10, 8), "a thread is taken from a queue that is longer for each of more CPUs");
	ok(!cache_takes_from(~0u, 4, ~0u, 4), "queues as long as can be counted do not overflow");
	while (cache_takes_from(own, 4, other, 4)) {
		own++;
		other--;
		moves++;
	}
	is(moves, 14, "queues of two caches become as long as each other");
	ok(!cache_takes_from(other, 4, own, 4), "what was taken does not go back");
}

static void steal_tests(void)
{
	static const u16 alike[] = { 10, 10, 10, 10 };
	static const u16 nodes[] = { 32, 10, 21, 10, 32, 21 };
	u8 order[8] = { 0 };

	steal_order(alike, 4, 0, order);
	ok(order_is(order, 3, "1 2 3"), "the first of four near caches takes from the second, third and fourth");
	steal_order(alike, 4, 2, order);
	ok(order_is(order, 3, "3 0 1"),
	   "the third of four near caches takes from the fourth first, then from the first");
	steal_order(nodes, 6, 1, order);
	ok(order_is(order, 5, "3 2 5 4 0"),
	   "a cache takes from its own node first, then from nearer nodes, then from far ones");
	order[0] = 77;
	steal_order(alike, 1, 0, order);
	is(order[0], 77, "the only cache takes from none");
}

static u32 rank(int previous, int whole, int small, int is_urgent, u32 power)
{
	struct idle_cpu cpu = { .is_previous = (u8)previous, .is_whole = (u8)whole, .is_small = (u8)small };

	return idle_cpu_rank(&cpu, is_urgent, power);
}

static void rank_tests(void)
{
	is(rank(1, 1, 0, 1, POWER_PERFORMANCE), 0, "nothing suits an urgent thread better than its own idle big core");
	ok(rank(0, 1, 0, 1, POWER_SAVE) < rank(1, 0, 0, 1, POWER_SAVE),
	   "an urgent thread goes to an idle core rather than beside a busy sibling, also to save power");
	ok(rank(0, 0, 0, 1, POWER_PERFORMANCE) < rank(1, 1, 1, 1, POWER_PERFORMANCE),
	   "an urgent thread goes beside a sibling on a big core rather than to a small core");
	ok(rank(0, 1, 0, 0, POWER_BALANCED) < rank(1, 0, 0, 0, POWER_BALANCED),
	   "a thread that is not urgent goes to an idle core rather than beside a busy sibling");
	is(rank(1, 1, 1, 0, POWER_PERFORMANCE), rank(1, 1, 0, 0, POWER_PERFORMANCE),
	   "a thread that is not urgent stays on a small core as well as on a big one");
	ok(rank(0, 0, 0, 0, POWER_SAVE) < rank(1, 1, 0, 0, POWER_SAVE),
	   "to save power a thread that is not urgent goes beside a sibling and lets a core sleep");
	ok(rank(0, 1, 1, 0, POWER_SAVE) < rank(1, 0, 0, 0, POWER_SAVE),
	   "to save power a thread that is not urgent goes to a small core");
	ok(!idle_cpu_rank_asks(0, POWER_BALANCED), "what a thread is for does not matter where all cores are alike");
	ok(idle_cpu_rank_asks(1, POWER_BALANCED), "what a thread is for matters where there are small cores");
	ok(idle_cpu_rank_asks(0, POWER_SAVE), "what a thread is for matters to save power");
}

static void capacity_tests(void)
{
	is(capacity_scaled(0, 0), CAPACITY_MOST, "a CPU of which no capacity is known is as big as any");
	is(capacity_scaled(446, 1024), 446, "a capacity in parts of 1024 stays as it is");
	is(capacity_scaled(2600000, 5200000), 512, "a CPU with half of the highest frequency has half of the capacity");
	ok(capacity_is_small(capacity_scaled(4100000, 5200000)),
	   "a core with four fifths of the best frequency is small");
	ok(!capacity_is_small(capacity_scaled(5400000, 5800000)), "a core that is favoured a little less is not small");
}

static void power_tests(void)
{
	struct power_use use = { 0 };
	u64 now_ns = 1000ull * NSEC_PER_SEC;

	is(power_target(POWER_PERFORMANCE, 0, 0), POWER_FULL, "an idle CPU is asked for full speed by performance");
	is(power_target(POWER_BALANCED, 1, 0), POWER_FULL, "a CPU at urgent work is asked for full speed by balanced");
	is(power_target(POWER_BALANCED, 0, 512), 640, "a CPU that is half busy is asked for five eighths by balanced");
	is(power_target(POWER_BALANCED, 0, POWER_FULL), POWER_FULL, "a busy CPU is asked for full speed by balanced");
	is(power_target(POWER_BALANCED, 0, 0), POWER_LEAST, "no CPU is asked for less than a quarter");
	is(power_target(POWER_SAVE, 0, POWER_FULL), POWER_FULL / 4 * 3,
	   "a busy CPU is asked for three quarters by save");
	is(power_target(POWER_SAVE, 1, 0), POWER_FULL / 4 * 3,
	   "urgent work gets three quarters by save, on an idle CPU too");

	use.since_ns = now_ns;
	for (u32 i = 0; i < 40; i++, now_ns += 4 * NSEC_PER_MSEC) {
		power_use_begins(&use, now_ns);
		power_use_goes_on(&use, now_ns + NSEC_PER_MSEC);
	}
	printf("# busy for 1 ms of 4: %u of %u\n", use.busy, (u32)POWER_FULL);
	is_between(230, use.busy, 300, "a CPU that works 1 ms of 4 is taken for a quarter busy");
	for (u32 i = 0; i < 40; i++, now_ns += 4 * NSEC_PER_MSEC)
		power_use_goes_on(&use, now_ns);
	ok(use.busy > 1000, "a CPU whose thread never stops is taken for busy by its ticks");
	power_use_begins(&use, now_ns + NSEC_PER_SEC);
	power_use_goes_on(&use, now_ns + NSEC_PER_SEC + NSEC_PER_MSEC);
	ok(use.busy < 32, "a CPU that was idle for a second is taken for idle");
	power_use_begins(&use, now_ns + 2ull * NSEC_PER_SEC);
	power_use_goes_on(&use, now_ns + 2ull * NSEC_PER_SEC - NSEC_PER_USEC);
	ok(use.busy < 32, "a clock that seems to go back makes no CPU busy");
}

/* Two nodes of two caches of two cores of two siblings; the second node's cores are small. */
static void places_tests(void)
{
	static struct scx_config config = { .cpus_len = 16 };
	struct cpu_topology topology[16];

	for (u32 cpu = 0; cpu < 16; cpu++) {
		topology[cpu] = (struct cpu_topology){
			.core = (u16)(cpu / 2 * 2), .llc = (u16)(cpu / 4 * 4), .node = cpu < 8 ? 0 : 2, .known = 1
		};
		put(cpu < 8 ? "1024\n" : "446\n", "cpu/cpu%u/cpu_capacity", cpu);
	}
	put("10 21\n", "node/node0/distance");
	put("21 10\n", "node/node2/distance");
	scx_places_fill(&config, topology, root);
	is(config.caches_len, 4, "four caches are numbered");
	ok(order_is(config.steal_order, 3, "1 2 3"), "the first cache takes from its own node's other first");
	ok(order_is(config.steal_order + 3 * SCX_CACHES_MAX, 3, "2 0 1"),
	   "the last cache takes from its own node's other first");
	is(config.next_sibling[4], 5, "a CPU is linked to its sibling");
	is(config.next_sibling[5], 4, "siblings are linked in a ring");
	ok(config.has_small, "a machine with cores of less than half of the capacity has small ones");
	ok(!config.is_small[7], "a core with half of the capacity or more is not small");
	ok(config.is_small[8], "cores with less than half of the capacity are small");
	ok(config.ranks_cpus, "CPUs are ranked where there are several caches");

	put("nonsense\n", "cpu/cpu3/cpu_capacity");
	put("\n", "node/node0/distance");
	config = (struct scx_config){ .cpus_len = 16 };
	scx_places_fill(&config, topology, root);
	ok(!config.has_small, "no core is small where one has no capacity that can be read");
	ok(order_is(config.steal_order, 3, "1 2 3"), "an empty list of distances leaves the own node the nearest");

	for (u32 cpu = 0; cpu < 4; cpu++) {
		topology[cpu] = (struct cpu_topology){ .core = (u16)cpu, .known = 1 };
		put(cpu < 2 ? "5200000\n" : "3900000\n", "cpu/cpu%u/cpufreq/cpuinfo_max_freq", cpu);
	}
	config = (struct scx_config){ .cpus_len = 4 };
	scx_places_fill(&config, topology, root);
	ok(config.is_small[2], "cores are small by their frequency where there is no capacity");
	ok(!config.is_small[1], "cores of a high frequency are not small where there is no capacity");
	ok(config.next_sibling[2] == 2, "a core without siblings has none");
	config = (struct scx_config){ .cpus_len = 4 };
	scx_places_fill(&config, topology, "/nowhere");
	is(config.caches_len, 1, "a machine that tells of no caches has one");
	ok(!config.ranks_cpus, "where all CPUs are alike the kernel's choice is taken");
	config = (struct scx_config){ .cpus_len = 4, .power = POWER_SAVE };
	scx_places_fill(&config, topology, "/nowhere");
	ok(config.ranks_cpus, "to save power CPUs are ranked on any machine");
}

int main(void)
{
	char command[64];

	if (!mkdtemp(root))
		return 1;
	balance_tests();
	steal_tests();
	rank_tests();
	capacity_tests();
	power_tests();
	places_tests();
	snprintf(command, sizeof(command), "rm -r %s", root);
	if (system(command))
		return 1;
	return tap_end();
}
