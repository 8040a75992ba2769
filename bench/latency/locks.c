// SPDX-License-Identifier: GPL-2.0
/* A thread that wakes every 5 ms and takes a mutex, which a thread that never sleeps holds for 1 ms of every 4: how
 * late the first has the mutex, and how late it is done. Prints one line of name=value pairs. Usage: locks SECONDS
 * SKIP_S */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum {
	PERIOD_NS = 5000000,
	URGENT_WORK_NS = 200000,
	HELD_WORK_NS = 1000000,
	FREE_WORK_NS = 3000000,
	SPIN_STEPS = 500,
	SAMPLES_MOST = 1 << 16
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static atomic_int is_over;
static atomic_llong rounds;
static int64_t locked_ns[SAMPLES_MOST];
static size_t len, contended;

static int64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static void work(int64_t cpu_ns)
{
	int64_t until_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) + cpu_ns;

	while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < until_ns)
		for (volatile int i = 0; i < SPIN_STEPS; i++)
			;
}

static void *hold(void *unused)
{
	(void)unused;
	pthread_setname_np(pthread_self(), "holder");
	while (!is_over) {
		work(FREE_WORK_NS);
		pthread_mutex_lock(&mutex);
		work(HELD_WORK_NS);
		pthread_mutex_unlock(&mutex);
		rounds++;
	}
	return NULL;
}

static int by_value(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

int main(int argc, char **argv)
{
	int64_t due_ns = clock_ns(CLOCK_MONOTONIC), from_ns, end_ns;
	pthread_t holder;

	if (argc != 3 || pthread_create(&holder, NULL, hold, NULL))
		return 2;
	from_ns = due_ns + (int64_t)(atof(argv[2]) * 1e9);
	end_ns = from_ns + (int64_t)(atof(argv[1]) * 1e9);
	pthread_setname_np(pthread_self(), "taker");
	for (; due_ns < end_ns && len < SAMPLES_MOST; due_ns += PERIOD_NS) {
		struct timespec due = { due_ns / 1000000000, due_ns % 1000000000 };
		int was_held;

		while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL) == EINTR)
			;
		was_held = pthread_mutex_trylock(&mutex) != 0;
		if (was_held)
			pthread_mutex_lock(&mutex);
		if (due_ns >= from_ns) {
			locked_ns[len++] = clock_ns(CLOCK_MONOTONIC) - due_ns;
			contended += (size_t)was_held;
		}
		work(URGENT_WORK_NS);
		pthread_mutex_unlock(&mutex);
		/* What could not be done in time is left out. */
		while (due_ns + PERIOD_NS < clock_ns(CLOCK_MONOTONIC))
			due_ns += PERIOD_NS;
	}
	is_over = 1;
	pthread_join(holder, NULL);
	qsort(locked_ns, len, sizeof(*locked_ns), by_value);
	if (len)
		printf("n=%zu contended=%zu p50_us=%.0f p90_us=%.0f p99_us=%.0f max_us=%.0f holder_rounds=%lld\n", len,
		       contended, (double)locked_ns[len / 2] / 1000, (double)locked_ns[len * 9 / 10] / 1000,
		       (double)locked_ns[len * 99 / 100] / 1000, (double)locked_ns[len - 1] / 1000, (long long)rounds);
	return 0;
}
