// SPDX-License-Identifier: GPL-2.0
/* Threads that present a few frames by a function of a library, and then burn: "burner LIBRARY FUNCTION FRAMES THREADS
 * ON_US OFF_US". Each works ON_US and sleeps OFF_US for ever; OFF_US of 0 spins. Presents when a line comes on standard
 * input, and again at each other. Prints "mapped", and "tid N" for each thread. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static unsigned (*swap)(void *, void *);
static long frames, on_us, off_us;
static volatile int turns;

static long long now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static void *burn(void *unused)
{
	struct timespec off = { off_us / 1000000, off_us % 1000000 * 1000 };
	int seen = 0;

	(void)unused;
	printf("tid %ld\n", syscall(SYS_gettid));
	fflush(stdout);
	for (;;) {
		long long until_ns = now_ns() + on_us * 1000;

		if (turns != seen)
			for (long i = 0; i < frames; i++) {
				swap(NULL, NULL);
				usleep(1000);
			}
		seen = turns;
		while (now_ns() < until_ns)
			;
		if (off_us)
			nanosleep(&off, NULL);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	void *library = argc > 6 ? dlopen(argv[1], RTLD_NOW) : NULL;
	pthread_t thread;

	if (!library)
		return fprintf(stderr, "burner: %s\n", argc > 6 ? dlerror() : "usage"), 1;
	swap = (unsigned (*)(void *, void *))dlsym(library, argv[2]);
	frames = atol(argv[3]);
	on_us = atol(argv[5]);
	off_us = atol(argv[6]);
	if (!swap)
		return fprintf(stderr, "burner: no function\n"), 1;
	alarm(1800);
	puts("mapped");
	fflush(stdout);
	for (int i = 0; i < atoi(argv[4]); i++)
		if (pthread_create(&thread, NULL, burn, NULL))
			return 1;
	while (getchar() != EOF)
		turns++;
	pause();
	return 0;
}
