// SPDX-License-Identifier: GPL-2.0
/* Makes a recording of a busy machine out of nothing: minute FILE [SECONDS [CPUS]]. Hogs, timers, sleepers and pairs
 * that wake each other, on a simulated machine under the kernel's own scheduler; of each CPU some 10,000 events a
 * second. bench/simulate takes it. */
#include <inttypes.h>
#include <stdio.h>

#include "../src/sim/machine.h"
#include "../src/stream/recording.h"
#include "../tests/unit/sim_load.h"

enum { CPUS = 16, SECONDS = 60, GROUPS_PER_CPU = 1 };

/* What one CPU has of threads: it is never idle for long, and half of what it does is short. */
static const struct load_thread group[] = {
	{ .kind = LOAD_HOG },
	{ .kind = LOAD_PERIODIC, .period_us = 5000, .run_us = 300, .is_urgent = 1 },
	{ .kind = LOAD_PERIODIC, .period_us = 16667, .run_us = 4000 },
	{ .kind = LOAD_SLEEPER, .period_us = 700, .run_us = 60 },
	{ .kind = LOAD_SLEEPER, .period_us = 1900, .run_us = 150 },
	{ .kind = LOAD_PAIR, .run_us = 90 },
	{ .kind = LOAD_PAIR, .run_us = 110 },
	{ .kind = LOAD_PAIR, .run_us = 140 },
};

struct out {
	struct recording_writer *writer;
	int error;
};

static void take(void *data, const struct event_header *event)
{
	struct out *out = data;

	if (!out->error)
		out->error = recording_write(out->writer, event);
}

static void add(struct work *work, const struct load_thread *of, u32 cpu, u64 end_ns)
{
	u32 members = of->kind == LOAD_PAIR ? 2 : 1, first = work->len;
	struct load_thread own = *of;

	/* No two machines tick alike. */
	own.period_us += own.period_us * cpu / 97;
	own.run_us += own.run_us * cpu / 61;
	for (u32 m = 0; m < members; m++) {
		u32 tid = 1000 + work->len;
		int index = work_add_thread(work, tid, tid, "minute",
					    of->kind == LOAD_PERIODIC || m ? BEGIN_ASLEEP : BEGIN_RUNNABLE);

		work->threads[index].start_ns = tid;
		work->threads[index].cpu = cpu;
		load_fill(work, &own, (u32)index, end_ns);
		if (of->is_urgent)
			load_make_urgent(work, (u32)index);
	}
	if (members == 2)
		load_fill_pair(work, &own, first, first + 1, end_ns);
}

int main(int argc, char **argv)
{
	static struct sim_topology topology;
	u32 seconds = argc > 2 ? (u32)atoi(argv[2]) : SECONDS, cpus = argc > 3 ? (u32)atoi(argv[3]) : CPUS;
	struct sim_params params = {
		.policy = &policy_eevdf, .kernel = SCX_KERNEL(6, 18), .raise = RAISE_INPUT, .seed = 1
	};
	struct recording_info info = { .kernel = "6.18 made by bench/minute",
				       .mono_start_ns = LOAD_START_NS,
				       .cpus_len = cpus };
	struct out out = { 0 };
	struct machine machine = { .handle = take, .data = &out };
	u64 end_ns = LOAD_START_NS + seconds * (u64)NSEC_PER_SEC;
	struct reason why = { "" };
	struct work work;

	if (argc < 2 || !seconds || !cpus || cpus > SIM_CPUS_MAX) {
		fprintf(stderr, "usage: minute FILE [SECONDS [CPUS]]\n");
		return 2;
	}
	sim_topology_caches(&topology, cpus);
	info.topology = topology.cpus;
	work_init(&work, "6.18", topology.cpus, cpus, LOAD_START_NS, 0);
	work.last_ns = end_ns;
	work.tick_ns = 4 * NSEC_PER_MSEC;
	for (u32 cpu = 0; cpu < cpus; cpu++)
		for (u32 i = 0; i < sizeof(group) / sizeof(*group); i++)
			add(&work, &group[i], cpu, end_ns);
	if (recording_create(&out.writer, argv[1], &info, &why))
		return fail(argv[1], "%s", why.text);
	if (machine_run(&machine, &work, &topology, &params) || out.error)
		return fail(argv[1], "could not be made");
	printf("events=%" PRIu64 " threads=%u\n", recording_events(out.writer), work.len);
	machine_free(&machine);
	work_free(&work);
	return recording_close_writer(out.writer) ? fail(argv[1], "could not be written") : 0;
}
