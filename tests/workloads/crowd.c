// SPDX-License-Identifier: GPL-2.0
/* Many threads at once. "crowd wake COUNT ROUNDS": so many wait, are all woken at once, work for a moment and wait
 * again. "crowd turn COUNT 0": likewise, once for each line on standard input, which is answered by one when all have
 * come back. "crowd move COUNT MS": so many spin while their affinities change all the time; prints how often they were
 * changed, how many ran where they may not, and the longest that one of them got nothing done, in ms. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { STACK_BYTES = 32768, HERD = 1000 };

struct mover {
	pthread_t thread;
	_Atomic int only_cpu;	    /* -1: may run anywhere */
	_Atomic int is_reported;    /* the affinity is the one above */
	_Atomic long long alive_ms; /* when it last did something */
	_Atomic long long gap_ms;
	_Atomic int strayed;
};

struct herd {
	pthread_barrier_t begin, end;
};

static int rounds;
static bool by_lines;
static _Atomic int stop;
static _Atomic long worked;

static long long now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000LL + now.tv_nsec / 1000000;
}

static void *wait_and_work(void *data)
{
	struct herd *herd = data;

	for (int i = 0; i < rounds || by_lines; i++) {
		pthread_barrier_wait(&herd->begin);
		for (volatile int j = 0; j < 1000; j++)
			;
		atomic_fetch_add(&worked, 1);
		pthread_barrier_wait(&herd->end);
	}
	return NULL;
}

static int start(pthread_t *thread, void *(*run)(void *), void *data)
{
	pthread_attr_t attributes;
	int error;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, STACK_BYTES);
	error = pthread_create(thread, &attributes, run, data);
	pthread_attr_destroy(&attributes);
	if (error)
		fprintf(stderr, "crowd: a thread could not be made: %s\n", strerror(error));
	return error;
}

static int wake(int count)
{
	pthread_t *threads = calloc((size_t)count, sizeof(*threads));
	int herds_len = count / HERD;
	struct herd *herds = calloc((size_t)herds_len, sizeof(*herds));
	long long made_ms = now_ms(), begun_ms;

	for (int i = 0; i < herds_len; i++) {
		pthread_barrier_init(&herds[i].begin, NULL, HERD + 1);
		pthread_barrier_init(&herds[i].end, NULL, HERD + 1);
	}
	for (int i = 0; i < count; i++)
		if (start(&threads[i], wait_and_work, &herds[i / HERD]))
			exit(1);
	begun_ms = now_ms();
	while (by_lines) {
		puts("all are there");
		fflush(stdout);
		if (getchar() == EOF)
			_exit(0);
		for (int i = 0; i < herds_len; i++) {
			pthread_barrier_wait(&herds[i].begin);
			pthread_barrier_wait(&herds[i].end);
		}
	}
	for (int i = 0; i < rounds * herds_len; i++) {
		pthread_barrier_wait(&herds[i % herds_len].begin);
		pthread_barrier_wait(&herds[i % herds_len].end);
	}
	for (int i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	printf("%d threads made in %lld ms, %ld times woken and back in %lld ms\n", count, begun_ms - made_ms,
	       (long)worked, now_ms() - begun_ms);
	free(threads);
	free(herds);
	return 0;
}

static void *spin(void *data)
{
	struct mover *mover = data;

	while (!stop) {
		int only = mover->only_cpu, told = mover->is_reported, cpu = sched_getcpu();
		long long now = now_ms(), gap = now - mover->alive_ms;

		/* The order stood before and after it was asked where it is. */
		if (told && mover->is_reported && only == mover->only_cpu && only >= 0 && cpu != only)
			mover->strayed = 1;
		if (gap > mover->gap_ms)
			mover->gap_ms = gap;
		mover->alive_ms = now;
	}
	return NULL;
}

static int move(int count, int lasts_ms)
{
	struct mover *movers = calloc((size_t)count, sizeof(*movers));
	long long end_ms = now_ms() + lasts_ms, gap_ms = 0;
	int cpus = (int)sysconf(_SC_NPROCESSORS_ONLN), changes = 0, strayed = 0;

	for (int i = 0; i < count; i++) {
		movers[i].alive_ms = now_ms();
		movers[i].only_cpu = -1;
		if (start(&movers[i].thread, spin, &movers[i]))
			exit(1);
	}
	for (; now_ms() < end_ms; changes++) {
		struct mover *mover = &movers[changes % count];
		int only = changes / count % (cpus + 1) - 1;
		cpu_set_t set;

		CPU_ZERO(&set);
		for (int cpu = 0; cpu < cpus; cpu++)
			if (only < 0 || cpu == only)
				CPU_SET(cpu, &set);
		mover->is_reported = 0;
		mover->only_cpu = only;
		if (pthread_setaffinity_np(mover->thread, sizeof(set), &set))
			return 1;
		mover->is_reported = 1;
		usleep(200);
	}
	stop = 1;
	for (int i = 0; i < count; i++) {
		pthread_join(movers[i].thread, NULL);
		strayed += movers[i].strayed;
		gap_ms = movers[i].gap_ms > gap_ms ? movers[i].gap_ms : gap_ms;
	}
	printf("%d %d %lld\n", changes, strayed, gap_ms);
	free(movers);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc != 4)
		return 2;
	rounds = atoi(argv[3]);
	by_lines = !strcmp(argv[1], "turn");
	if (!strcmp(argv[1], "move"))
		return move(atoi(argv[2]), rounds);
	return atoi(argv[2]) % HERD ? 2 : wake(atoi(argv[2]));
}
