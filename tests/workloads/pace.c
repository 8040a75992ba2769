// SPDX-License-Identifier: GPL-2.0
/* A thread with a known behaviour, or several one after the other: "pace 5000 200 2000" works 200 us every 5000 us for
 * 2000 ms; a work of 0 sleeps, a period of 0 spins. More triples follow on. Prints its tid and when each begins.
 * Periods that it came too late for it makes up for at once; with "skip" as the first word it leaves them out. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static long long now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static void work_until(long long end_ns)
{
	while (now_ns() < end_ns)
		;
}

int main(int argc, char **argv)
{
	int skips = argc > 1 && !strcmp(argv[1], "skip");

	for (int i = 1 + skips; i + 2 < argc; i += 3) {
		long long period_ns = atoll(argv[i]) * 1000, work_ns = atoll(argv[i + 1]) * 1000;
		long long begin_ns = now_ns(), end_ns = begin_ns + atoll(argv[i + 2]) * 1000000, next_ns = begin_ns;

		printf("%ld %lld\n", syscall(SYS_gettid), begin_ns);
		fflush(stdout);
		if (!period_ns)
			work_until(end_ns);
		while (period_ns && next_ns < end_ns) {
			struct timespec next = { next_ns / 1000000000, next_ns % 1000000000 };

			clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
			work_until(now_ns() + work_ns);
			do
				next_ns += period_ns;
			while (skips && next_ns < now_ns());
		}
	}
	return 0;
}
