// SPDX-License-Identifier: GPL-2.0
/* Preloaded into a program that presents by GLX: every 10 frames writes a line "TIME_NS CPU_NS FRAMES" into the file
 * FRAMES_INTO: the monotonic clock, the CPU time of the process with all its threads, and its frames so far. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { FRAMES_A_LINE = 10 };

static long long now_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return now.tv_sec * 1000000000ll + now.tv_nsec;
}

void glXSwapBuffers(void *display, unsigned long drawable)
{
	static void (*next)(void *, unsigned long);
	static FILE *into;
	static long frames;

	if (!next) {
		next = dlsym(RTLD_NEXT, "glXSwapBuffers");
		into = fopen(getenv("FRAMES_INTO"), "w");
		if (!into)
			exit(1);
		setlinebuf(into);
	}
	if (frames++ % FRAMES_A_LINE == 0)
		fprintf(into, "%lld %lld %ld\n", now_ns(CLOCK_MONOTONIC), now_ns(CLOCK_PROCESS_CPUTIME_ID), frames - 1);
	next(display, drawable);
}
