// SPDX-License-Identifier: GPL-2.0
/* A thread that works by a clock, as pace does, and makes a sleeping child when it gets SIGUSR1: "forker PERIOD_US
 * WORK_US MS". Prints "child PID". The child ends with it. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t asked;

static void on_signal(int number)
{
	(void)number;
	asked = 1;
}

static long long now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000LL + now.tv_nsec;
}

int main(int argc, char **argv)
{
	long long period_ns = argc > 3 ? atoll(argv[1]) * 1000 : 0, work_ns = period_ns ? atoll(argv[2]) * 1000 : 0;
	long long next_ns = now_ns(), end_ns = next_ns + (period_ns ? atoll(argv[3]) * 1000000 : 0);

	signal(SIGUSR1, on_signal);
	for (; next_ns < end_ns; next_ns += period_ns) {
		struct timespec next = { next_ns / 1000000000, next_ns % 1000000000 };
		long long done_ns;
		pid_t child;

		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
		done_ns = now_ns() + work_ns;
		while (now_ns() < done_ns)
			;
		if (!asked)
			continue;
		asked = 0;
		child = fork();
		if (!child) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			for (;;)
				pause();
		}
		printf("child %d\n", (int)child);
		fflush(stdout);
	}
	return 0;
}
