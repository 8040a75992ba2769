// SPDX-License-Identifier: GPL-2.0
/* A thread that takes the name "summoned", which a rule makes urgent, and prints after how many microseconds it has a
 * pressing nice value, -1 if it never has, and how much longer than it asked for it slept meanwhile, at the worst. */
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { STEP_US = 100, PATIENCE_US = 60 * 1000000 };

static long long now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000LL + now.tv_nsec / 1000;
}

int main(void)
{
	long long began_us = now_us(), before_us = began_us, late_us = 0;

	prctl(PR_SET_NAME, "summoned");
	while (getpriority(PRIO_PROCESS, 0) >= 0) {
		if (before_us - began_us > PATIENCE_US) {
			puts("-1 0");
			return 1;
		}
		usleep(STEP_US);
		long long after_us = now_us();

		if (after_us - before_us - STEP_US > late_us)
			late_us = after_us - before_us - STEP_US;
		before_us = after_us;
	}
	printf("%lld %lld\n", now_us() - began_us, late_us);
	return 0;
}
