// SPDX-License-Identifier: GPL-2.0
/* Notes the time, becomes another program, which is a copy of this one, and tells: PID, the time before exec, the time
 * in main. Then it waits, with so many threads more that wake now and then. Usage: stamp PATH [SECONDS [THREADS]]
 * (times in ns of CLOCK_MONOTONIC) */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static unsigned long long now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (unsigned long long)now.tv_sec * 1000000000 + (unsigned long long)now.tv_nsec;
}

/* The more there are the less often, so that they leave the machine to others. */
static void *wake_now_and_then(void *threads)
{
	for (;;)
		usleep(200000 + 1000 * *(unsigned int *)threads);
	return NULL;
}

static int make_threads(unsigned int count)
{
	static unsigned int threads;
	pthread_attr_t attributes;
	pthread_t thread;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, 32 << 10);
	threads = count;
	for (unsigned int i = 0; i < count; i++)
		if (pthread_create(&thread, &attributes, wake_now_and_then, &threads))
			return (int)i;
	return (int)count;
}

int main(int argc, char **argv)
{
	const char *before = getenv("STAMP_NS");
	double seconds = argc > 1 ? atof(argv[1]) : 0;
	char text[32];

	if (before) {
		printf("%d %s %llu\n", (int)getpid(), before, now_ns());
		fflush(stdout);
		if (argc > 2)
			printf("%d threads\n", make_threads((unsigned int)atoi(argv[2])));
		fflush(stdout);
		usleep((useconds_t)(seconds * 1e6));
		return 0;
	}
	if (argc < 2)
		return 2;
	snprintf(text, sizeof(text), "%llu", now_ns());
	setenv("STAMP_NS", text, 1);
	execv(argv[1], argv + 1);
	perror(argv[1]);
	return 127;
}
