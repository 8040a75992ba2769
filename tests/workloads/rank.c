// SPDX-License-Identifier: GPL-2.0
/* One rank of a training job of which every delay is known: `rank LIBCUDA LIBNCCL SECONDS KIND DELAY_MS`. A process
 * "loader" hands it a batch each step, it launches kernels, waits for the GPU, and then for all other ranks in an
 * all-reduce of tests/fakes/libnccl.c, by the barrier in $FAKE_NCCL_BARRIER. KIND says by what each of its steps takes
 * so much longer: data (the loader sleeps), lock (the thread "holder" keeps a mutex), hog (a process "hog" runs on its
 * CPU three times as long, and the rank is of the idle policy), sync (the GPU takes longer), work (it computes for so
 * much CPU time, before all others on its machine, so that it does not wait for a CPU instead), rest (it sleeps:
 * nothing that it does), or none. */
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

enum { KERNELS = 6, SYNC_US = 4000, LOAD_US = 1000, BEGIN_US = 100000, HOG_TIMES = 3 };

typedef int (*launch_fn)(void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
			 unsigned block_y, unsigned block_z, unsigned shared_bytes, void *stream, void **arguments,
			 void **extra);
typedef int (*reduce_fn)(const void *from, void *to, size_t count, int type, int op, void *comm, void *stream);
static launch_fn launch;
static reduce_fn reduce;
static int (*synchronize)(void *stream);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int to_loader[2], from_loader[2], to_holder[2], from_holder[2], to_hog[2];
static useconds_t delay_us;

static void must(int holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "rank: %s failed\n", what);
	exit(1);
}

/* Where a hog is to be in the rank's way it must not be in the loader's, which would then be what the rank waits for.
 */
static void load(char kind)
{
	char wish;

	must(kind != 'h' || !sched_setscheduler(0, SCHED_RR, &(struct sched_param){ .sched_priority = 1 }),
	     "sched_setscheduler");
	prctl(PR_SET_NAME, "loader");
	prctl(PR_SET_PDEATHSIG, 9);
	while (read(to_loader[0], &wish, 1) == 1) {
		usleep(wish == 'd' ? delay_us : LOAD_US);
		must(write(from_loader[1], &wish, 1) == 1, "write");
	}
	_exit(0);
}

static void *hold(void *unused)
{
	char wish;

	(void)unused;
	prctl(PR_SET_NAME, "holder");
	while (read(to_holder[0], &wish, 1) == 1) {
		pthread_mutex_lock(&lock);
		must(write(from_holder[1], &wish, 1) == 1, "write");
		usleep(delay_us);
		pthread_mutex_unlock(&lock);
	}
	return NULL;
}

static double now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void work(void)
{
	struct timespec begin, now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
	do
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	while ((now.tv_sec - begin.tv_sec) * 1000000 + (now.tv_nsec - begin.tv_nsec) / 1000 < (long)delay_us);
}

static void be_hog(void)
{
	char wish;

	prctl(PR_SET_NAME, "hog");
	prctl(PR_SET_PDEATHSIG, 9);
	while (read(to_hog[0], &wish, 1) == 1)
		for (double end_s = now_s() + HOG_TIMES * delay_us / 1e6; now_s() < end_s;)
			;
	_exit(0);
}

static void one_step(char kind)
{
	char wish = kind == 'd' ? 'd' : 'x';

	must(write(to_loader[1], &wish, 1) == 1 && read(from_loader[0], &wish, 1) == 1, "the loader");
	for (uintptr_t kernel = 1; kernel <= KERNELS; kernel++)
		launch((void *)kernel, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL);
	if (kind == 'l')
		must(write(to_holder[1], &wish, 1) == 1 && read(from_holder[0], &wish, 1) == 1, "the holder");
	pthread_mutex_lock(&lock);
	pthread_mutex_unlock(&lock);
	if (kind == 'w')
		work();
	if (kind == 'r')
		usleep(delay_us);
	if (kind == 'h')
		must(write(to_hog[1], &wish, 1) == 1, "the hog");
	synchronize((void *)(uintptr_t)(kind == 's' ? delay_us : SYNC_US));
	reduce(NULL, NULL, 1, 7, 0, (void *)1, NULL);
}

static void find_libraries(const char *cuda_path, const char *nccl_path)
{
	void *cuda = dlopen(cuda_path, RTLD_NOW), *nccl = dlopen(nccl_path, RTLD_NOW);
	int (*init)(unsigned int flags) = cuda ? (int (*)(unsigned int))dlsym(cuda, "cuInit") : NULL;

	must(cuda && nccl && init, "dlopen");
	launch = (launch_fn)dlsym(cuda, "cuLaunchKernel");
	synchronize = (int (*)(void *))dlsym(cuda, "cuStreamSynchronize");
	reduce = (reduce_fn)dlsym(nccl, "ncclAllReduce");
	must(launch && synchronize && reduce && !init(0), "the libraries");
}

int main(int argc, char **argv)
{
	char kind = argc == 6 ? argv[4][0] : 0;
	double end_s;
	cpu_set_t own;
	pthread_t holder;
	unsigned long steps = 0;

	must(kind, "usage: rank LIBCUDA LIBNCCL SECONDS KIND DELAY_MS");
	find_libraries(argv[1], argv[2]);
	delay_us = (useconds_t)atoi(argv[5]) * 1000;
	must(!pipe(to_loader) && !pipe(from_loader) && !pipe(to_holder) && !pipe(from_holder) && !pipe(to_hog), "pipe");
	if (fork() == 0) {
		close(to_loader[1]);
		load(kind);
	}
	pthread_create(&holder, NULL, hold, NULL);
	/* The hog and the loop on one CPU, where the loop stands behind everybody: so the hog is in nobody else's way
	 * for long.
	 */
	if (kind == 'h') {
		struct sched_param param = { .sched_priority = 0 };

		CPU_ZERO(&own);
		CPU_SET(sched_getcpu(), &own);
		must(!sched_setaffinity(0, sizeof(own), &own), "sched_setaffinity");
		if (fork() == 0) {
			close(to_loader[1]);
			close(to_hog[1]);
			be_hog();
		}
		must(!sched_setscheduler(0, SCHED_IDLE, &param), "sched_setscheduler");
	}
	must(kind != 'w' || !sched_setscheduler(0, SCHED_RR, &(struct sched_param){ .sched_priority = 1 }),
	     "sched_setscheduler");
	usleep(BEGIN_US);
	/* The rank that is told so ends all of them: who waits at the barrier is ended by who started it. */
	for (end_s = now_s() + atof(argv[3]); now_s() < end_s; steps++)
		one_step(kind);
	printf("%lu steps\n", steps);
	return 0;
}
