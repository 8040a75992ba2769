// SPDX-License-Identifier: GPL-2.0
/* A training loop in small: `train LIBRARY SECONDS`. Two processes "loader" compute batches, a thread
 * "collector" takes them over a pipe and hands each to the first thread "trainer", which launches kernels by the
 * libcuda of that path, lets a thread "backward" do its part and waits for the GPU. Nothing of it has a period. A
 * process "bystander" wakes the collector too, over another pipe, and nobody waits for it. SIGUSR1 ends the launches,
 * the rest goes on. Prints "NAME TID" for each, and at the end "steps N". */
#include <dlfcn.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { LOADERS = 2, LAUNCHES = 20, WORK_US = 500, LOAD_US = 1500, GPU_US = 2000, BYSTANDER_US = 5000 };

typedef int (*launch_fn)(void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
			 unsigned block_y, unsigned block_z, unsigned shared_bytes, void *stream, void **arguments,
			 void **extra);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t some = PTHREAD_COND_INITIALIZER;
static int batches, backward_is_due, is_over;
static volatile sig_atomic_t launches_are_over;
static int ask[2], answer[2], aside[2];

static double now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Around so much, each time anew. */
static int about_us(int us)
{
	return us / 4 + rand() % us * (rand() % 4) / 2;
}

static void compute_us(int us)
{
	us = about_us(us);
	for (double end_s = now_s() + us / 1e6; now_s() < end_s;)
		;
}

static void say_name(const char *name)
{
	prctl(PR_SET_NAME, name);
	printf("%s %d\n", name, gettid());
	fflush(stdout);
}

static void be_loader(void)
{
	char byte;

	srand((unsigned)getpid());
	say_name("loader");
	while (read(ask[0], &byte, 1) == 1) {
		compute_us(LOAD_US);
		if (write(answer[1], &byte, 1) != 1)
			break;
	}
	_exit(0);
}

static void be_bystander(void)
{
	char byte = 0;

	say_name("bystander");
	/* A session of its own and another parent: it does not belong to the trainer. */
	while (usleep((useconds_t)about_us(BYSTANDER_US)) == 0 && write(aside[1], &byte, 1) == 1)
		;
	_exit(0);
}

static void *collect(void *unused)
{
	struct pollfd from[] = { { answer[0], POLLIN, 0 }, { aside[0], POLLIN, 0 } };
	char byte;

	(void)unused;
	say_name("collector");
	while (!is_over && poll(from, 2, 100) >= 0) {
		if ((from[1].revents & POLLIN) && read(aside[0], &byte, 1) != 1)
			break;
		if (!(from[0].revents & POLLIN) || read(answer[0], &byte, 1) != 1)
			continue;
		pthread_mutex_lock(&lock);
		batches++;
		pthread_cond_broadcast(&some);
		pthread_mutex_unlock(&lock);
	}
	return NULL;
}

static void *go_backward(void *unused)
{
	(void)unused;
	say_name("backward");
	pthread_mutex_lock(&lock);
	while (!is_over) {
		while (!backward_is_due && !is_over)
			pthread_cond_wait(&some, &lock);
		pthread_mutex_unlock(&lock);
		compute_us(WORK_US);
		pthread_mutex_lock(&lock);
		backward_is_due = 0;
		pthread_cond_broadcast(&some);
	}
	pthread_mutex_unlock(&lock);
	return NULL;
}

static void step(launch_fn launch)
{
	char byte = 0;

	if (write(ask[1], &byte, 1) != 1)
		exit(1);
	pthread_mutex_lock(&lock);
	while (!batches)
		pthread_cond_wait(&some, &lock);
	batches--;
	pthread_mutex_unlock(&lock);
	compute_us(WORK_US);
	for (int i = 0; launch && i < LAUNCHES; i++)
		launch(NULL, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL);
	pthread_mutex_lock(&lock);
	backward_is_due = 1;
	pthread_cond_broadcast(&some);
	while (backward_is_due)
		pthread_cond_wait(&some, &lock);
	pthread_mutex_unlock(&lock);
	usleep((useconds_t)about_us(GPU_US));
}

static void end_launches(int signal)
{
	launches_are_over = signal;
}

static pid_t start(void (*be)(void))
{
	pid_t pid = fork();

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	be();
	_exit(0);
}

/* Its parent ends at once. It ends with the pipe. */
static void start_bystander(void)
{
	pid_t pid = fork();

	if (!pid) {
		setsid();
		close(aside[0]);
		if (!fork())
			be_bystander();
		_exit(0);
	}
	waitpid(pid, NULL, 0);
}

int main(int argc, char **argv)
{
	double end_s = now_s() + (argc > 2 ? atof(argv[2]) : 0);
	void *library = argc > 2 ? dlopen(argv[1], RTLD_NOW) : NULL;
	launch_fn launch = library ? (launch_fn)dlsym(library, "cuLaunchKernel") : NULL;
	pthread_t threads[2];
	long steps = 0;

	signal(SIGPIPE, SIG_IGN);
	signal(SIGUSR1, end_launches);
	if (!launch || pipe(ask) || pipe(answer) || pipe(aside))
		return 2;
	start_bystander();
	for (int i = 0; i < LOADERS; i++)
		start(be_loader);
	say_name("trainer");
	if (pthread_create(&threads[0], NULL, collect, NULL) || pthread_create(&threads[1], NULL, go_backward, NULL))
		return 2;
	while (now_s() < end_s) {
		step(launches_are_over ? NULL : launch);
		steps++;
	}
	printf("steps %ld\n", steps);
	fflush(stdout);
	_exit(0);
}
