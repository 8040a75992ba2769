// SPDX-License-Identifier: GPL-2.0
/* Threads that end as soon as they are there: short_lived COUNT. A few at a time; each takes a name of its own. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>

enum { AT_A_TIME = 64 };

static void *live(void *data)
{
	char name[16];

	snprintf(name, sizeof(name), "\033[%dm%zx", (int)((size_t)data % 8), (size_t)data);
	prctl(PR_SET_NAME, name);
	return NULL;
}

int main(int argc, char **argv)
{
	size_t count = argc > 1 ? (size_t)atol(argv[1]) : 1000;
	pthread_t threads[AT_A_TIME];

	for (size_t made = 0; made < count; made += AT_A_TIME) {
		for (int i = 0; i < AT_A_TIME; i++)
			if (pthread_create(&threads[i], NULL, live, (void *)(made + (size_t)i)))
				return 1;
		for (int i = 0; i < AT_A_TIME; i++)
			pthread_join(threads[i], NULL);
	}
	printf("%zu threads lived\n", count);
	return 0;
}
