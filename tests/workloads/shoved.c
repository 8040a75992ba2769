// SPDX-License-Identifier: GPL-2.0
/* A thread that works 8 ms of every 16, free to run on any CPU, beside a realtime thread that takes the CPU where it is
 * for 20 ms of every 60: shoved BURSTS. Prints how many bursts met the thread at work, and during how many of these it
 * stood still all the while. Works and bursts are measured in CPU time, so that a slow machine changes nothing. */
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static volatile int cpu_of_worker, is_at_work, is_over;
static volatile long steps;

static int64_t now_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static void sleep_ns(int64_t span_ns)
{
	struct timespec span = { span_ns / 1000000000LL, span_ns % 1000000000LL };

	nanosleep(&span, NULL);
}

static void *work(void *unused)
{
	while (!is_over) {
		int64_t begin_ns = now_ns(CLOCK_THREAD_CPUTIME_ID);

		is_at_work = 1;
		while (now_ns(CLOCK_THREAD_CPUTIME_ID) - begin_ns < 8000000) {
			cpu_of_worker = sched_getcpu();
			steps++;
		}
		is_at_work = 0;
		sleep_ns(8000000);
	}
	return unused;
}

int main(int argc, char **argv)
{
	const struct sched_param realtime = { .sched_priority = 50 };
	int bursts = argc > 1 ? atoi(argv[1]) : 100, met = 0, still = 0;
	pthread_t worker;

	pthread_create(&worker, NULL, work, NULL);
	if (pthread_setschedparam(pthread_self(), SCHED_FIFO, &realtime)) {
		perror("shoved: SCHED_FIFO");
		return 1;
	}
	while (bursts--) {
		int64_t begin_ns;
		cpu_set_t there;
		long before;
		int meets;

		sleep_ns(40000000);
		CPU_ZERO(&there);
		CPU_SET(cpu_of_worker, &there);
		sched_setaffinity(0, sizeof(there), &there);
		meets = is_at_work;
		before = steps;
		begin_ns = now_ns(CLOCK_THREAD_CPUTIME_ID);
		while (now_ns(CLOCK_THREAD_CPUTIME_ID) - begin_ns < 20000000)
			;
		met += meets;
		still += meets && steps == before;
	}
	is_over = 1;
	pthread_join(worker, NULL);
	printf("%d %d\n", met, still);
	return 0;
}
