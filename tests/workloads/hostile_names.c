// SPDX-License-Identifier: GPL-2.0
/* Threads whose names no terminal should get: hostile_names MILLISECONDS. Each sleeps and runs in turns. */
#include <pthread.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

static const char *const names[] = {
	"\033[31mred\033[0m",
	"\033]0;own\a",
	"\xc2\x9b"
	"5m",
	"a\rb\nc",
	"\xe2\x80\xae"
	"drowssap",
	"\xe2\x81\xa6x\xe2\x81\xa9",
	"zero\xe2\x80\x8bwidth",
	"\xef\xbb\xbf"
	"bom",
	"\xff\xfe bytes",
	"cut by len \xe6\xbc",
	"tag\xf3\xa0\x81\xa1",
	"\xd8\x9cmark",
};
enum { NAMES = sizeof(names) / sizeof(names[0]) };

static struct timespec until;

static int is_over(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec > until.tv_sec || (now.tv_sec == until.tv_sec && now.tv_nsec >= until.tv_nsec);
}

static void *live(void *name)
{
	prctl(PR_SET_NAME, name);
	while (!is_over()) {
		for (volatile int i = 0; i < 20000; i++)
			;
		usleep(4000);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	long ms = argc > 1 ? atol(argv[1]) : 1000;
	pthread_t threads[NAMES];

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_nsec += ms % 1000 * 1000000;
	until.tv_sec += ms / 1000 + until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	for (int i = 0; i < NAMES; i++)
		if (pthread_create(&threads[i], NULL, live, (void *)names[i]))
			return 1;
	for (int i = 0; i < NAMES; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
