// SPDX-License-Identifier: GPL-2.0
/* A loop as training has it: worker processes prepare batches and hand them over pipes to one thread, which takes one
 * from each, computes a fixed amount, and begins anew. Each step is stamped. Usage: train WORKERS WORKER_US STEP_US Two
 * batches fit into a pipe, as data loaders keep some ahead. It goes on until it is ended. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>

#include "stamp.h"

enum { WORKERS_MOST = 64, BATCH_BYTES = 32768, TRIALS = 20, TRIAL_ROUNDS = 200000 };

static volatile double sink;

/* The same work whatever CPU it gets and whenever. */
static void compute(int64_t rounds)
{
	double value = 1;

	for (int64_t i = 0; i < rounds; i++)
		value = value * 1.0000001 + 1e-9;
	sink = value;
}

static int64_t cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return now.tv_sec * 1000000000LL + now.tv_nsec;
}

/* The best of some trials: others on the machine only make one slower. */
static double rounds_a_us(void)
{
	int64_t least_ns = INT64_MAX;

	for (int i = 0; i < TRIALS; i++) {
		int64_t began_ns = cpu_ns(), took_ns;

		compute(TRIAL_ROUNDS);
		took_ns = cpu_ns() - began_ns;
		if (took_ns < least_ns)
			least_ns = took_ns;
	}
	return TRIAL_ROUNDS * 1000.0 / (double)least_ns;
}

static void prepare(int to, int64_t rounds)
{
	static char batch[BATCH_BYTES];

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (unsigned number = 0;; number++) {
		compute(rounds);
		memset(batch, (int)number, sizeof(batch));
		for (size_t done = 0; done < sizeof(batch);) {
			ssize_t wrote = write(to, batch + done, sizeof(batch) - done);

			if (wrote <= 0)
				_exit(0);
			done += (size_t)wrote;
		}
	}
}

static void take(int from)
{
	static char batch[BATCH_BYTES];

	for (size_t done = 0; done < sizeof(batch);) {
		ssize_t got = read(from, batch + done, sizeof(batch) - done);

		if (got <= 0)
			_exit(1);
		done += (size_t)got;
	}
}

int main(int argc, char **argv)
{
	int workers = argc == 4 ? atoi(argv[1]) : 0, from[WORKERS_MOST];
	double speed;

	if (workers < 1 || workers > WORKERS_MOST) {
		fprintf(stderr, "usage: train WORKERS WORKER_US STEP_US\n");
		return 2;
	}
	speed = rounds_a_us();
	for (int i = 0; i < workers; i++) {
		int ends[2];
		pid_t pid;

		if (pipe(ends) || (pid = fork()) < 0) {
			perror("train");
			return 1;
		}
		if (!pid)
			prepare(ends[1], (int64_t)(atof(argv[2]) * speed));
		close(ends[1]);
		from[i] = ends[0];
	}
	for (;;) {
		for (int i = 0; i < workers; i++)
			take(from[i]);
		compute((int64_t)(atof(argv[3]) * speed));
		stamp_interval();
	}
}
