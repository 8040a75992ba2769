// SPDX-License-Identifier: GPL-2.0
/* Jobs of a GPU that is none, for machines without one: gpu_jobs JOBS STALLED. Three system calls with arguments that
 * the kernel refuses stand for a job that is queued (kcmp), goes to its ring (get_mempolicy) and is done
 * (set_mempolicy_home_node); a test shows tactus their tracepoints as those of gpu_scheduler. The arguments are the
 * job's fence, then where the names of ring and device are, and these. Each waits 2 ms, runs 3 ms, and 5 ms are idle
 * behind it; the job number STALLED runs 200 ms. Prints what it measured itself. */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { JOBS_MOST = 1000, CONTEXT = 71, ARGUMENTS_AT = 16, RING_ARGUMENT = 3, DEVICE_ARGUMENT = 4, REFUSED = 0xdead };

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void pause_ms(int ms)
{
	nanosleep(&(struct timespec){ ms / 1000, ms % 1000 * 1000000l }, NULL);
}

static uint64_t text(const char *of)
{
	uint64_t packed = 0;

	memcpy(&packed, of, strlen(of));
	return packed;
}

static int by_length(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static void tell(const char *what, uint64_t *spans_ns, int len)
{
	qsort(spans_ns, (size_t)len, sizeof(*spans_ns), by_length);
	printf("%s %" PRIu64 " %" PRIu64 "\n", what, spans_ns[(len + 1) / 2 - 1], spans_ns[len - 1]);
}

int main(int argc, char **argv)
{
	static uint64_t queued_ns[JOBS_MOST], ran_ns[JOBS_MOST], idle_ns[JOBS_MOST];
	int jobs = argc > 1 ? atoi(argv[1]) : 0, stalled = argc > 2 ? atoi(argv[2]) : 0;
	uint64_t where = (uint64_t)(ARGUMENTS_AT + 8 * DEVICE_ARGUMENT) << 32 | (ARGUMENTS_AT + 8 * RING_ARGUMENT);
	uint64_t done_ns = 0;

	if (jobs < 2 || jobs > JOBS_MOST)
		return 2;
	for (int i = 0; i < jobs; i++) {
		uint64_t queue_ns = now_ns(), run_ns;

		syscall(SYS_kcmp, CONTEXT, i + 1, where, text("gfx"), text("pci:3"));
		pause_ms(2);
		run_ns = now_ns();
		if (i)
			idle_ns[i - 1] = run_ns - done_ns;
		queued_ns[i] = run_ns - queue_ns;
		syscall(SYS_get_mempolicy, CONTEXT, i + 1, where, 0, REFUSED);
		pause_ms(i + 1 == stalled ? 200 : 3);
		done_ns = now_ns();
		ran_ns[i] = done_ns - run_ns;
		syscall(SYS_set_mempolicy_home_node, CONTEXT, i + 1, 0, REFUSED);
		pause_ms(5);
	}
	printf("pid %d\n", getpid());
	tell("queue", queued_ns, jobs);
	tell("run", ran_ns, jobs);
	tell("idle", idle_ns, jobs - 1);
	return 0;
}
