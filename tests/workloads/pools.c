// SPDX-License-Identifier: GPL-2.0
/* Work that an urgent thread waits for, in three shapes that a count of each thread's waits does not find: `pools
 * WORKERS SECONDS`. A thread "feeder" takes a batch from each of so many processes "loader" in turn, twenty a second in
 * all; a thread "master" meets as many threads "team" at a barrier, whose last one wakes it; processes "decode" and
 * "filter" hand on to "player" what it plays, over pipes, and nobody answers them. Nothing has a period. Prints "NAME
 * TID". */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

enum { WORKERS_MOST = 64, STEP_US = 50000, REGION_US = 10000, PART_US = 400, PIECE_US = 15000 };

static int workers, ask[WORKERS_MOST][2], answer[2], raw[2], played[2];
static pthread_barrier_t begins, ends;

static double now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* From nothing to twice as much, each time anew. */
static int about_us(int us)
{
	return rand() % (2 * us);
}

static void compute_us(int us)
{
	for (double end_s = now_s() + us / 1e6; now_s() < end_s;)
		;
}

static void say_name(const char *name)
{
	prctl(PR_SET_NAME, name);
	printf("%s %d\n", name, gettid());
	fflush(stdout);
	srand((unsigned)gettid());
}

static void give(int fd)
{
	char byte = 0;

	if (write(fd, &byte, 1) != 1)
		_exit(0);
}

static void take(int fd)
{
	char byte;

	if (read(fd, &byte, 1) != 1)
		_exit(0);
}

static void be_loader(int number)
{
	say_name("loader");
	for (;;) {
		take(ask[number][0]);
		compute_us(about_us(500));
		give(answer[1]);
	}
}

static void *feed(void *unused)
{
	(void)unused;
	say_name("feeder");
	for (int step = 0;; step++) {
		usleep((useconds_t)about_us(STEP_US));
		give(ask[step % workers][1]);
		take(answer[0]);
	}
	return NULL;
}

static void *be_team(void *unused)
{
	(void)unused;
	say_name("team");
	for (;;) {
		pthread_barrier_wait(&begins);
		compute_us(about_us(PART_US));
		pthread_barrier_wait(&ends);
	}
	return NULL;
}

static void *command(void *unused)
{
	(void)unused;
	say_name("master");
	for (;;) {
		usleep((useconds_t)about_us(REGION_US));
		pthread_barrier_wait(&begins);
		pthread_barrier_wait(&ends);
	}
	return NULL;
}

static void be_decode(int unused)
{
	(void)unused;
	say_name("decode");
	for (;;) {
		usleep((useconds_t)about_us(PIECE_US));
		compute_us(300);
		give(raw[1]);
	}
}

static void be_filter(int unused)
{
	(void)unused;
	say_name("filter");
	for (;;) {
		take(raw[0]);
		compute_us(300);
		give(played[1]);
	}
}

static void be_player(int unused)
{
	(void)unused;
	say_name("player");
	for (;;)
		take(played[0]);
}

static void start(void (*be)(int number), int number)
{
	if (fork())
		return;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	be(number);
}

int main(int argc, char **argv)
{
	pthread_t thread;

	workers = argc > 2 ? atoi(argv[1]) : 0;
	if (workers < 1 || workers > WORKERS_MOST || pipe(answer) || pipe(raw) || pipe(played) ||
	    pthread_barrier_init(&begins, NULL, (unsigned)workers + 1) ||
	    pthread_barrier_init(&ends, NULL, (unsigned)workers + 1))
		return 2;
	for (int i = 0; i < workers; i++) {
		if (pipe(ask[i]))
			return 2;
		start(be_loader, i);
	}
	start(be_player, 0);
	start(be_filter, 0);
	start(be_decode, 0);
	pthread_create(&thread, NULL, feed, NULL);
	pthread_create(&thread, NULL, command, NULL);
	for (int i = 0; i < workers; i++)
		pthread_create(&thread, NULL, be_team, NULL);
	sleep((unsigned)atoi(argv[2]));
	_exit(0);
}
