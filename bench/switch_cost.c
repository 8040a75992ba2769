// SPDX-License-Identifier: GPL-2.0
/* What the accounting costs at each context switch, as a ratio to an empty program at the same hook in the same run.
 * Both are attached at once, in either order, and see the same switches; the kernel's BPF run-time statistics time
 * them. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../src/sensor/cpus.h"
#include "cost.h"
#include "empty.skel.h"

enum { LOAD_SECONDS = 3, BUDGET_PERCENT = 150 };

/* Two processes on one CPU that wake each other in turn through a pair of pipes: nothing but context switches. */
static void switch_for_a_while(void)
{
	static const char *const load[] = { "timeout", "3",	"taskset", "-c", "0",	      "perf",
					    "bench",   "sched", "pipe",	   "-l", "100000000", NULL };
	pid_t pid = fork();

	if (pid == 0) {
		if (!freopen("/dev/null", "w", stdout) || !freopen("/dev/null", "w", stderr))
			_exit(1);
		execvp(load[0], (char *const *)load);
		_exit(127);
	}
	waitpid(pid, NULL, 0);
}

static int run_once(int empty_first, struct cost *empty, struct cost *accounting)
{
	struct empty_bpf *yardstick = empty_bpf__open_and_load();
	struct sensor sensor;
	struct cost before, after;
	int fd;

	if (!yardstick)
		return fail("bench", "the empty program does not load");
	if (empty_first && empty_bpf__attach(yardstick))
		return fail("bench", "the empty program does not attach");
	if (sensor_start(&sensor, &cpus_kind, NULL) < 0)
		return fail("bench", "%s", sensor.reason.text);
	if (!empty_first && empty_bpf__attach(yardstick))
		return fail("bench", "the empty program does not attach");
	fd = program_fd_by_name("on_sched_switch");
	if (fd < 0)
		return fail("bench", "the accounting program is not in the kernel's list");
	before = cost_so_far(fd);
	switch_for_a_while();
	after = cost_so_far(fd);
	accounting->runs += after.runs - before.runs;
	accounting->time_ns += after.time_ns - before.time_ns;
	after = cost_so_far(bpf_program__fd(yardstick->progs.empty_switch));
	empty->runs += after.runs;
	empty->time_ns += after.time_ns;
	close(fd);
	sensor_stop(&sensor);
	empty_bpf__destroy(yardstick);
	return 0;
}

int main(void)
{
	int stats_fd = bpf_enable_stats(BPF_STATS_RUN_TIME);
	struct cost empty = { 0 }, accounting = { 0 };
	double ratio;

	if (stats_fd < 0)
		return fail("bench", "no BPF run-time statistics: %s", strerror(-stats_fd));
	load_set_verbose(false);
	for (int round = 0; round < 4; round++) {
		fprintf(stderr, "==> round %d of 4, %d s\n", round + 1, LOAD_SECONDS);
		if (run_once(round % 2, &empty, &accounting))
			return EXIT_FAILURE;
	}
	if (!empty.runs || !accounting.runs)
		return fail("bench", "no switches were seen: is 'perf' installed?");
	ratio = ns_a_run(accounting) / ns_a_run(empty);
	printf("PROGRAM AT sched_switch     RUNS  NS A RUN  RATIO\n");
	printf("empty                %11" PRIu64 "  %8.1f   1.00\n", empty.runs, ns_a_run(empty));
	printf("accounting of CPUs   %11" PRIu64 "  %8.1f  %5.2f  (budget %.2f)\n", accounting.runs,
	       ns_a_run(accounting), ratio, BUDGET_PERCENT / 100.0);
	return ratio * 100 <= BUDGET_PERCENT ? EXIT_SUCCESS : EXIT_FAILURE;
}
