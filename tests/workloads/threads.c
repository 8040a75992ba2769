// SPDX-License-Identifier: GPL-2.0
/* Makes COUNT threads one after another, each of which works for a moment and ends; with RATE, so many a second.
 * Usage: threads COUNT [RATE [NAME]]   (NAME: what the process calls itself, any bytes) */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>

static void *work(void *unused)
{
	for (volatile int i = 0; i < 2000; i++)
		;
	return unused;
}

int main(int argc, char **argv)
{
	int count = argc > 1 ? atoi(argv[1]) : 1;
	long rate = argc > 2 ? atol(argv[2]) : 0;
	struct timespec next;

	if (argc > 3)
		prctl(PR_SET_NAME, argv[3]);
	clock_gettime(CLOCK_MONOTONIC, &next);
	for (int i = 0; i < count; i++) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, work, NULL))
			return 1;
		pthread_join(thread, NULL);
		if (rate) {
			next.tv_nsec += 1000000000L / rate;
			next.tv_sec += next.tv_nsec / 1000000000L;
			next.tv_nsec %= 1000000000L;
			clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
		}
	}
	return 0;
}
