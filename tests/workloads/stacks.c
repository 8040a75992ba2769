// SPDX-License-Identifier: GPL-2.0
/* Two threads with functions of known names: one waits for a pipe in wait_in_a, called by wait_in_b; the other writes
 * to it in wake_in_c, called by wake_in_d. Both are pinned to one CPU, and the waker stays on it for a while after each
 * write, so that the other one waits for the CPU too. Prints how often. */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { SLEEP_NS = 5000000, BURN_NS = 3000000 };

#define named __attribute__((noinline, noclone, noipa))

/* A C library without frame pointers would hide who calls it. */
static inline long call(long number, long one, const void *two, long three)
{
#ifdef __x86_64__
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(number), "D"(one), "S"(two), "d"(three)
			 : "rcx", "r11", "memory");
	return result;
#else
	register long x8 __asm__("x8") = number;
	register long x0 __asm__("x0") = one;
	register const void *x1 __asm__("x1") = two;
	register long x2 __asm__("x2") = three;

	__asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2) : "memory");
	return x0;
#endif
}

static int ends[2];
static volatile long taken, given;

named long wait_in_a(void)
{
	char byte;
	long got = call(SYS_read, ends[0], &byte, 1);

	taken = taken + got;
	return got;
}

named long wait_in_b(void)
{
	long got = wait_in_a();

	given = given + 0;
	return got;
}

named long wake_in_c(void)
{
	volatile char byte = 0; /* which needs a frame */
	long put = call(SYS_write, ends[1], (const void *)&byte, 1);

	given = given + put;
	return put;
}

named long wake_in_d(void)
{
	long put = wake_in_c();

	taken = taken + 0;
	return put;
}

static void pin(void)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(0, &one);
	sched_setaffinity(0, sizeof(one), &one);
}

static void *waiter(void *unused)
{
	(void)unused;
	prctl(PR_SET_NAME, "stack-waiter");
	pin();
	while (wait_in_b() == 1)
		;
	return NULL;
}

static long since_ns(const struct timespec *from)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (now.tv_sec - from->tv_sec) * 1000000000L + now.tv_nsec - from->tv_nsec;
}

int main(int argc, char **argv)
{
	int times = argc > 1 ? atoi(argv[1]) : 50;
	struct timespec pause = { .tv_nsec = SLEEP_NS }, from;
	pthread_t thread;

	prctl(PR_SET_NAME, "stack-waker");
	if (pipe(ends) || pthread_create(&thread, NULL, waiter, NULL))
		return 1;
	pin();
	/* Nobody whom it wakes pushes it off. */
	sched_setscheduler(0, SCHED_FIFO, &(struct sched_param){ .sched_priority = 1 });
	for (int i = 0; i < times; i++) {
		nanosleep(&pause, NULL);
		wake_in_d();
		clock_gettime(CLOCK_MONOTONIC, &from);
		while (since_ns(&from) < BURN_NS)
			;
	}
	close(ends[1]);
	pthread_join(thread, NULL);
	printf("%d\n", times);
	return 0;
}
