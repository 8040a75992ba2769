// SPDX-License-Identifier: GPL-2.0
/* A thread that works by a clock on one CPU, and a process of a higher priority that takes the CPU at known moments:
 *   clocked PERIOD_US WORK_US PERIODS CPU [BEAT:BEFORE_US:FOR_US]...
 * The other one begins that long before the period, or after it if BEFORE_US is negative. Prints the tids of both, and
 * each period at which the thread came to run an eighth of a period late or more, with when it was due and by how much
 * it was late, as it saw it itself. */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static long long now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static void sleep_until(long long at_ns)
{
	struct timespec at = { at_ns / 1000000000, at_ns % 1000000000 };

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL))
		;
}

static void spin_until(long long end_ns)
{
	while (now_ns() < end_ns)
		;
}

static void be_urgent(int priority)
{
	struct sched_param urgent = { .sched_priority = priority };

	if (sched_setscheduler(0, SCHED_FIFO, &urgent)) {
		perror("clocked: no realtime priority");
		exit(1);
	}
}

static void take_the_cpu(int argc, char **argv, long long begin_ns, long long period_ns)
{
	prctl(PR_SET_NAME, "taker");
	be_urgent(10);
	for (int i = 5; i < argc; i++) {
		long long period, before_us, for_us, from_ns;

		if (sscanf(argv[i], "%lld:%lld:%lld", &period, &before_us, &for_us) != 3)
			exit(1);
		from_ns = begin_ns + period * period_ns - before_us * 1000;
		sleep_until(from_ns);
		spin_until(from_ns + for_us * 1000);
	}
	exit(0);
}

int main(int argc, char **argv)
{
	long long period_ns, work_ns, begin_ns, periods;
	cpu_set_t cpus;
	pid_t taker;

	if (argc < 5)
		return 1;
	period_ns = atoll(argv[1]) * 1000;
	work_ns = atoll(argv[2]) * 1000;
	periods = atoll(argv[3]);
	CPU_ZERO(&cpus);
	CPU_SET(atoi(argv[4]), &cpus);
	sched_setaffinity(0, sizeof(cpus), &cpus);
	be_urgent(5);
	begin_ns = now_ns() + 100000000;
	taker = fork();
	if (taker == 0)
		take_the_cpu(argc, argv, begin_ns, period_ns);
	printf("clocked %d taker %d\n", getpid(), taker);
	for (long long period = 0; period < periods; period++) {
		long long due_ns = begin_ns + period * period_ns, late_ns;

		sleep_until(due_ns);
		late_ns = now_ns() - due_ns;
		if (late_ns > period_ns / 8)
			printf("late %lld %lld %lld\n", period, due_ns, late_ns);
		spin_until(now_ns() + work_ns);
	}
	fflush(stdout);
	waitpid(taker, NULL, 0);
	return 0;
}
