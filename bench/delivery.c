// SPDX-License-Identifier: GPL-2.0
/* From the kernel's time stamp of an event to the program having it: by the ring and its wake-up, and by looking at a
 * counter every 5 ms. Then what sending an event costs, against the same hook when it sends none. The events are frames
 * of a process made here, at moments that repeat nothing. */
#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>

#include "../core/hist.h"
#include "../src/base/loop.h"
#include "../src/base/topology.h"
#include "../src/base/system.h"
#include "../src/model/rules.h"
#include "../src/sensor/sensor_set.h"
#include "../src/sensor/sched.h"
#include "../src/stream/stream.h"
#include "cost.h"

enum {
	FRAMES = 2000,
	GAP_LEAST_US = 1000,
	GAP_SPREAD_US = 8000,
	CALLS = 300000,
	BUDGET_NS = 500,
	P50_MOST_NS = 50 * NSEC_PER_USEC,
	P99_MOST_NS = NSEC_PER_MSEC,
};
#define NOT_NEEDED "launch,gpu,wine,input,socket,sound,learned,names,runtime"

enum way { WAY_RING, WAY_COUNTER, WAY_BATCH };

struct bench {
	struct sensor sched;
	struct sensor_set *sensors;
	struct stream *stream;
	enum way way;
	u64 seen; /* of the counters, when they were last looked at */
	u64 frames;
	struct hist delays_ns;
};

static struct cpu_topology topology[SCHED_CPUS_MAX];

/* Presents into nothing: the call fails at once, and is a call all the same. */
static unsigned (*present)(void *, void *);

static void present_at_odd_moments(void)
{
	unsigned int state = 1;

	for (int i = 0; i < FRAMES; i++) {
		struct timespec gap = { 0 };

		state = state * 1103515245u + 12345u;
		gap.tv_nsec = (GAP_LEAST_US + (long)(state >> 8) % GAP_SPREAD_US) * NSEC_PER_USEC;
		nanosleep(&gap, NULL);
		present(NULL, NULL);
	}
}

static void present_without_pause(int report_fd)
{
	u64 begin_ns = clock_now_ns(), each_ns;

	for (int i = 0; i < CALLS; i++)
		present(NULL, NULL);
	each_ns = (clock_now_ns() - begin_ns) / CALLS;
	if (write(report_fd, &each_ns, sizeof(each_ns)) < 0)
		_exit(1);
}

/* A process that presents when it is told to through the pipe. */
static pid_t make_presenter(int go_fd, int report_fd, bool paced)
{
	pid_t pid = fork();
	char go;

	if (pid)
		return pid;
	if (read(go_fd, &go, 1) != 1)
		_exit(1);
	if (paced)
		present_at_odd_moments();
	else
		present_without_pause(report_fd);
	_exit(0);
}

static void take(void *data, const struct event_header *event)
{
	struct bench *bench = data;

	if (event->kind != EVENT_FRAME)
		return;
	bench->frames++;
	hist_add(&bench->delays_ns, clock_now_ns() - event->time_ns);
}

static u64 produced(const struct bench *bench)
{
	u64 sum = 0;
	u32 len;
	const struct sched_cpu *cpus = sched_cpus(&bench->sched, &len);

	for (u32 cpu = 0; cpu < len; cpu++)
		sum += cpus[cpu].produced + cpus[cpu].produced_irqs_on;
	return sum;
}

static bool on_tick(void *data)
{
	struct bench *bench = data;
	u64 now = bench->way == WAY_COUNTER ? produced(bench) : 0;

	if (bench->way == WAY_COUNTER && now == bench->seen)
		return true;
	bench->seen = now;
	return stream_drain(bench->stream, ~0ULL, false) == 0;
}

static int open_bench(struct bench *bench, enum way way, bool frames)
{
	struct sched_settings settings = { .groups = frames ? EVENTS_FRAMES : 0,
					   .prompt = way == WAY_RING,
					   .role_wakeups = ROLE_WAKEUPS_DEFAULT,
					   .topology = topology,
					   .cpus_len = possible_cpus() };
	struct options options = { 0 };
	struct sensor_settings wishes = { .groups = EVENTS_ROLES | settings.groups,
					  .options = &options,
					  .sched = &bench->sched,
					  .for_sched = &settings };
	const struct sched_cpu *cpus;
	u32 len;

	*bench = (struct bench){ .way = way };
	topology_read(topology, settings.cpus_len < SCHED_CPUS_MAX ? settings.cpus_len : SCHED_CPUS_MAX);
	if (sensor_start(&bench->sched, &sched_kind, &wishes) < 0)
		return fail("bench", "%s", bench->sched.reason.text);
	if (sensor_set_open(&bench->sensors, &wishes) || stream_open(&bench->stream, take, bench))
		return fail("bench", "out of memory");
	sensor_set_start(bench->sensors, &wishes, NOT_NEEDED);
	cpus = sched_cpus(&bench->sched, &len);
	if (stream_add_rings(bench->stream, sched_ring_fds(&bench->sched), cpus, len))
		return fail("bench", "the rings cannot be opened");
	sensor_set_work(bench->sensors, false, 0, stream_put, bench->stream);
	return sched_open_window(&bench->sched);
}

static void close_bench(struct bench *bench)
{
	stream_close(bench->stream);
	sensor_set_close(bench->sensors);
	sensor_stop(&bench->sched);
}

/* The presenter exists before the sensors, so that its library is probed when they are in place. */
static int with_presenter(struct bench *bench, enum way way, bool frames, bool paced, u64 *each_ns)
{
	struct child child = { .gate_fd = -1 };
	struct loop loop = { .tick_ns = way == WAY_COUNTER ? 5 * NSEC_PER_MSEC : 100 * NSEC_PER_MSEC,
			     .prompt = way == WAY_RING,
			     .child = &child,
			     .tick = on_tick,
			     .data = bench };
	int go[2], report[2], error;

	if (pipe(go) || pipe(report))
		return fail("bench", "no pipe: %m");
	child.pid = make_presenter(go[0], report[1], paced);
	error = open_bench(bench, way, frames);
	loop.fd = error || way == WAY_COUNTER ? 0 : stream_fd(bench->stream);
	if (write(go[1], "", 1) != 1 || error)
		return fail("bench", "could not start");
	loop_run(&loop);
	stream_drain(bench->stream, ~0ULL, true);
	if (!paced && read(report[0], each_ns, sizeof(*each_ns)) != (ssize_t)sizeof(*each_ns))
		error = fail("bench", "the presenter said nothing");
	close(go[0]);
	close(go[1]);
	close(report[0]);
	close(report[1]);
	return error;
}

/* What a run of the present's hook has cost on average, in ns. */
static double hook_cost(u64 *runs)
{
	int fd = program_fd_by_name("on_present");
	struct cost cost = cost_so_far(fd);

	if (runs)
		*runs = cost.runs;
	close(fd);
	return ns_a_run(cost);
}

static int measure_delivery(enum way way, const char *name, struct hist *delays_ns)
{
	struct bench bench;
	int error = with_presenter(&bench, way, true, true, NULL);

	if (error)
		return error;
	*delays_ns = bench.delays_ns;
	printf("%-34s %7" PRIu64 " %10.1f %10.1f %10.1f %10.1f\n", name, bench.frames,
	       (double)hist_percentile(delays_ns, 500000) / NSEC_PER_USEC,
	       (double)hist_percentile(delays_ns, 990000) / NSEC_PER_USEC, (double)delays_ns->max / NSEC_PER_USEC,
	       hook_cost(NULL) / NSEC_PER_USEC);
	fflush(stdout);
	close_bench(&bench);
	return bench.frames == FRAMES ? 0 : fail("bench", "%d frames were presented", FRAMES);
}

static int measure_sending(enum way way, bool frames, const char *name, double *cost_ns)
{
	struct bench bench;
	u64 each_ns = 0;
	int error = with_presenter(&bench, way, frames, false, &each_ns);
	u64 runs;

	if (error)
		return error;
	*cost_ns = hook_cost(&runs);
	printf("%-34s %7" PRIu64 " %10.1f %10" PRIu64 "\n", name, runs, *cost_ns, each_ns);
	fflush(stdout);
	close_bench(&bench);
	return 0;
}

int main(void)
{
	void *library = dlopen("libEGL.so.1", RTLD_NOW);
	struct hist ring, counter, batch;
	double none_ns, sent_ns, prompt_ns, load = 0;
	int stats_fd;

	present = library ? (unsigned (*)(void *, void *))dlsym(library, "eglSwapBuffers") : NULL;
	if (!present)
		return fail("bench", "it takes libEGL.so.1, to present by");
	loop_take_signals();
	load_set_verbose(false);
	stats_fd = bpf_enable_stats(BPF_STATS_RUN_TIME);
	if (stats_fd < 0)
		return fail("bench", "no BPF run-time statistics: %s", strerror(-stats_fd));
	getloadavg(&load, 1);
	printf("load average %.1f; on a quiet machine it is the reader alone that is measured\n\n", load);
	printf("%-34s %7s %10s %10s %10s %10s   (us)\n", "FROM TIME STAMP TO PROGRAM, BY", "EVENTS", "P50", "P99",
	       "MAX", "ITS HOOK");
	if (measure_delivery(WAY_RING, "ring, woken at once", &ring) ||
	    measure_delivery(WAY_COUNTER, "a counter, looked at every 5 ms", &counter) ||
	    measure_delivery(WAY_BATCH, "ring, woken when much has come", &batch))
		return EXIT_FAILURE;
	printf("\n%-34s %7s %10s %10s   (ns)\n", "HOOK OF A PRESENT", "RUNS", "A RUN", "A CALL");
	if (measure_sending(WAY_BATCH, false, "that sends nothing", &none_ns) ||
	    measure_sending(WAY_BATCH, true, "that sends an event", &sent_ns) ||
	    measure_sending(WAY_RING, true, "and wakes the reader for it", &prompt_ns))
		return EXIT_FAILURE;
	printf("\nan event costs %.0f ns in the kernel, %.0f ns with its share of wake-ups (budget %d ns)\n",
	       sent_ns - none_ns, prompt_ns - none_ns, BUDGET_NS);
	if (prompt_ns - none_ns > BUDGET_NS || hist_percentile(&ring, 500000) > P50_MOST_NS ||
	    hist_percentile(&ring, 990000) > P99_MOST_NS)
		return fail("bench",
			    "over the budget of %d ns an event, p50 %d us, p99 %d us, at a load average of %.1f",
			    BUDGET_NS, P50_MOST_NS / NSEC_PER_USEC, P99_MOST_NS / NSEC_PER_USEC, load);
	return EXIT_SUCCESS;
}
