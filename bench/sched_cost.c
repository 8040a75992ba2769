// SPDX-License-Identifier: GPL-2.0
/* What each hook of the sched sensor costs a run, keeping accounts, sending events, or both, and how that grows with
 * the number of threads: a ring of threads that wake each other in turn, from 10 to 10,000. */
#include <inttypes.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "../src/base/loop.h"
#include "../src/base/topology.h"
#include "../src/base/system.h"
#include "../src/sensor/sched.h"
#include "../src/sensor/sensor_set.h"
#include "cost.h"

enum { MOST_THREADS = 10000, ROUND_NS = 2 * NSEC_PER_SEC, STACK_BYTES = 64 << 10 };

static sem_t turns[MOST_THREADS];
static atomic_bool over;
static int threads_len;

static void *take_turns(void *data)
{
	long own = (long)data;

	while (!atomic_load_explicit(&over, memory_order_relaxed)) {
		sem_wait(&turns[own]);
		sem_post(&turns[(own + 1) % threads_len]);
	}
	return NULL;
}

/* Lets `len` threads take turns for a while. Few tokens go round, so that most threads sleep. */
static int load(int len, u64 span_ns)
{
	static pthread_t threads[MOST_THREADS];
	u64 until_ns = clock_now_ns() + span_ns;
	pthread_attr_t attr;
	int made = 0;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	threads_len = len;
	atomic_store(&over, false);
	for (int i = 0; i < len; i++)
		sem_init(&turns[i], 0, i % (len / 2 > 4 ? len / 4 : 2) == 0);
	while (made < len && pthread_create(&threads[made], &attr, take_turns, (void *)(long)made) == 0)
		made++;
	while (made == len && clock_now_ns() < until_ns)
		usleep(10000);
	atomic_store(&over, true);
	for (int i = 0; i < made; i++)
		sem_post(&turns[i]);
	for (int i = 0; i < made; i++)
		pthread_join(threads[i], NULL);
	pthread_attr_destroy(&attr);
	return made == len ? 0 : fail("bench", "only %d of %d threads could be made", made, len);
}

static int measure(const char *name, bool account, bool emit, int len)
{
	static const char *const programs[] = { "on_sched_switch", "on_sched_wakeup", "on_sched_waking" };
	static struct cpu_topology topology[1024];
	struct sched_settings settings = {
		.account = account, .groups = emit ? EVENTS_SCHED : 0, .topology = topology, .cpus_len = possible_cpus()
	};
	const struct sensor_settings given = { .for_sched = &settings };
	struct cost before[3], costs[3];
	struct sensor sensor;
	int fds[3], error;

	topology_read(topology, settings.cpus_len < 1024 ? settings.cpus_len : 1024);
	if (sensor_start(&sensor, &sched_kind, &given) < 0)
		return fail("bench", "%s", sensor.reason.text);
	sched_open_window(&sensor);
	for (int i = 0; i < 3; i++) {
		fds[i] = program_fd_by_name(programs[i]);
		before[i] = cost_so_far(fds[i]);
	}
	error = load(len, ROUND_NS);
	for (int i = 0; i < 3; i++) {
		struct cost after = cost_so_far(fds[i]);

		costs[i] = (struct cost){ after.runs - before[i].runs, after.time_ns - before[i].time_ns };
		close(fds[i]);
	}
	sched_close_window(&sensor);
	printf("%-22s %7d %12" PRIu64 " %10.1f %10.1f %10.1f\n", name, len, costs[0].runs, ns_a_run(costs[0]),
	       ns_a_run(costs[1]), ns_a_run(costs[2]));
	fflush(stdout);
	sensor_stop(&sensor);
	return error;
}

int main(void)
{
	static const int sizes[] = { 10, 100, 1000, 10000 };
	int stats_fd = bpf_enable_stats(BPF_STATS_RUN_TIME), failed = 0;

	if (stats_fd < 0)
		return fail("bench", "no BPF run-time statistics: %s", strerror(-stats_fd));
	load_set_verbose(false);
	printf("%-22s %7s %12s %10s %10s %10s   (ns a run)\n", "KEEPING", "THREADS", "SWITCHES", "SWITCH", "WAKEUP",
	       "WAKING");
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		failed |= measure("accounts", true, false, sizes[i]);
	/* Nobody reads the rings here: once they are full, what is measured is a refused event. */
	failed |= measure("events", false, true, 100);
	failed |= measure("accounts and events", true, true, 100);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
