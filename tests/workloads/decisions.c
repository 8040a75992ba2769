// SPDX-License-Identifier: GPL-2.0
/* What a scheduler has to decide about, with a realtime thread that takes CPUs away:
 *   decisions late BURSTS     a thread on CPU 0 works by a clock of 5 ms; after a second the realtime thread takes that
 * CPU for 10 ms of every 100, from 1 ms before it is due. Prints both tids and how often it began more than 2 ms late,
 * by its own clock. decisions shove SECONDS   a thread works without a pause on any CPU; the realtime thread takes the
 * CPU where it is for 0.3 ms of every 1. Prints its tid, how often that was, and how often it found itself on another
 *                             CPU. */
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { PERIOD_NS = 5000000, KNOWN_PERIODS = 300, BURST_NS = 10000000, EVERY_PERIODS = 20, LATE_NS = 2000000 };
enum { SHOVE_NS = 300000, SHOVE_EVERY_NS = 1000000 };

static volatile int cpu_of_worker, is_over;
static volatile long moves;
static long amount;
static int64_t begin_ns;
static pid_t worker_tid;

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static void sleep_until(int64_t at_ns)
{
	struct timespec at = { at_ns / 1000000000LL, at_ns % 1000000000LL };

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
}

static void spin_until(int64_t at_ns)
{
	while (now_ns() < at_ns)
		;
}

static void go_to(int cpu)
{
	cpu_set_t there;

	CPU_ZERO(&there);
	CPU_SET(cpu, &there);
	sched_setaffinity(0, sizeof(there), &there);
}

static void *be_clocked(void *unused)
{
	long late = 0;

	go_to(0);
	worker_tid = gettid();
	for (long period = 0; period < KNOWN_PERIODS + (amount + 1) * EVERY_PERIODS; period++) {
		int64_t due_ns = begin_ns + period * PERIOD_NS;

		/* What is due already it did not wait for. */
		if (now_ns() < due_ns) {
			sleep_until(due_ns);
			late += now_ns() - due_ns > LATE_NS;
		}
		spin_until(now_ns() + PERIOD_NS / 20);
	}
	moves = late;
	return unused;
}

static void *be_shoved(void *unused)
{
	worker_tid = gettid();
	cpu_of_worker = sched_getcpu();
	while (!is_over) {
		int cpu = sched_getcpu();

		moves += cpu != cpu_of_worker;
		cpu_of_worker = cpu;
	}
	return unused;
}

int main(int argc, char **argv)
{
	const struct sched_param realtime = { .sched_priority = 50 };
	int is_late = argc > 2 && !strcmp(argv[1], "late");
	pthread_t worker;
	long bursts = 0;

	if (argc < 3)
		return 2;
	amount = atol(argv[2]);
	begin_ns = now_ns() + 100000000;
	pthread_create(&worker, NULL, is_late ? be_clocked : be_shoved, NULL);
	if (pthread_setschedparam(pthread_self(), SCHED_FIFO, &realtime)) {
		perror("decisions: SCHED_FIFO");
		return 1;
	}
	if (is_late)
		go_to(0);
	for (; is_late && bursts < amount; bursts++) {
		int64_t due_ns = begin_ns + (KNOWN_PERIODS + bursts * EVERY_PERIODS) * (int64_t)PERIOD_NS;

		sleep_until(due_ns - 1000000);
		spin_until(due_ns + BURST_NS - 1000000);
	}
	for (; !is_late && now_ns() < begin_ns + amount * 1000000000LL; bursts++) {
		go_to(cpu_of_worker);
		spin_until(now_ns() + SHOVE_NS);
		sleep_until(now_ns() + SHOVE_EVERY_NS - SHOVE_NS);
	}
	is_over = 1;
	pthread_join(worker, NULL);
	printf("tid=%d\ntaker=%d\nbursts=%ld\n%s=%ld\n", worker_tid, gettid(), bursts, is_late ? "late" : "moves",
	       moves);
	return 0;
}
