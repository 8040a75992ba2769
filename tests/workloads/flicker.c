// SPDX-License-Identifier: GPL-2.0
/* A process that becomes itself again and again: each time nothing is known of it, and soon after it is judged, so that
 * what it is told changes many times a second: "flicker UNTIL_NS", by the monotonic clock; "flicker" prints now. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { NAPS = 130, NAP_NS = 120000 };

int main(int argc, char **argv)
{
	struct timespec now, nap = { .tv_nsec = NAP_NS };

	clock_gettime(CLOCK_MONOTONIC, &now);
	if (argc < 2)
		return printf("%lld\n", now.tv_sec * 1000000000LL + now.tv_nsec) < 0;
	if (now.tv_sec * 1000000000LL + now.tv_nsec > atoll(argv[1]))
		return 0;
	for (int i = 0; i < NAPS; i++)
		nanosleep(&nap, NULL);
	execv("/proc/self/exe", argv);
	return 1;
}
