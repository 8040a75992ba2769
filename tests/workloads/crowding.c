// SPDX-License-Identifier: GPL-2.0
/* One that crowds out others if it is urgent, and one that is crowded out: "crowding crowd THREADS WORK_US PERIOD_US
 * SECONDS" has threads that all work at the same time, period after period, and "crowding bystander SECONDS" wakes at
 * no steady pace for next to nothing and prints how late it ran, the 95th percentile in us. Pin both to one CPU. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

enum { LATES_MOST = 100000 };

static uint64_t time_of(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void work(uint64_t work_ns)
{
	uint64_t until_ns = time_of(CLOCK_THREAD_CPUTIME_ID) + work_ns;

	while (time_of(CLOCK_THREAD_CPUTIME_ID) < until_ns)
		;
}

static void sleep_until(uint64_t at_ns)
{
	struct timespec at = { .tv_sec = (time_t)(at_ns / 1000000000), .tv_nsec = (long)(at_ns % 1000000000) };

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL))
		;
}

static uint64_t work_ns, period_ns, end_ns;

static void *crowd(void *data)
{
	(void)data;
	prctl(PR_SET_NAME, "crowd");
	while (time_of(CLOCK_MONOTONIC) < end_ns) {
		sleep_until((time_of(CLOCK_MONOTONIC) / period_ns + 1) * period_ns);
		work(work_ns);
	}
	return NULL;
}

static int by_size(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static void stand_by(void)
{
	static uint64_t late_ns[LATES_MOST];
	uint64_t random = 1, at_ns, piece_ns;
	size_t len = 0;

	prctl(PR_SET_NAME, "bystander");
	while (len < LATES_MOST && time_of(CLOCK_MONOTONIC) < end_ns) {
		random = random * 6364136223846793005ULL + 1442695040888963407ULL;
		at_ns = time_of(CLOCK_MONOTONIC) + 2000000 + (random >> 33) % 10000000;
		sleep_until(at_ns);
		piece_ns = work_ns / 2 + (random >> 40) % work_ns;
		work(piece_ns);
		late_ns[len++] = time_of(CLOCK_MONOTONIC) - at_ns - piece_ns;
	}
	qsort(late_ns, len, sizeof(*late_ns), by_size);
	printf("%llu\n", len ? (unsigned long long)late_ns[len * 95 / 100] / 1000 : 0);
}

int main(int argc, char **argv)
{
	uint64_t now_ns = time_of(CLOCK_MONOTONIC);
	pthread_t threads[16];
	int len;

	if (argc == 4 && !strcmp(argv[1], "bystander") && atoi(argv[2]) > 0) {
		work_ns = strtoull(argv[2], NULL, 10) * 1000;
		end_ns = now_ns + strtoull(argv[3], NULL, 10) * 1000000000;
		stand_by();
		return 0;
	}
	if (argc != 6 || strcmp(argv[1], "crowd") != 0 || (len = atoi(argv[2])) < 1 || len > 16)
		return 2;
	work_ns = strtoull(argv[3], NULL, 10) * 1000;
	period_ns = strtoull(argv[4], NULL, 10) * 1000;
	end_ns = now_ns + strtoull(argv[5], NULL, 10) * 1000000000;
	for (int i = 1; i < len; i++)
		if (pthread_create(&threads[i], NULL, crowd, NULL))
			return 1;
	crowd(NULL);
	for (int i = 1; i < len; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
