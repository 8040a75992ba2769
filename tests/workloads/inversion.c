// SPDX-License-Identifier: GPL-2.0
/* Two threads that spin on one CPU for some seconds, and beside other work until the second has had its part. Usage:
 * inversion CPU SECONDS nice|realtime|same nice: -5 against 5, the lower one gets its slices too. realtime: a FIFO
 * thread against a plain one, which the kernel lets run for some 5 % of each second so that it does not starve. same:
 * no inversion, both nice 0.
 * Prints "waiter TID runner TID" at the start and "ran LEAST_NS MOST_NS" at the end: the sum of the runner's runs over
 * 1 ms as it saw them itself, when those within a tenth of that are left out and when they are counted.
 * Exit status 2: bad usage, 3: the priority is not allowed here. */
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { NICE_HIGH = -5, NICE_LOW = 5, FIFO_PRIO = 50, RUNNER_LEAST_NS = 50000000, RUN_NS = 1000000 };

static const char *mode;
static double end_s;
static long long runner_least_ns;
static pthread_barrier_t ready;
static sem_t waiter_is_set;
static pid_t tids[2];
static long long least_ns, most_ns;
static atomic_int refused, runner_is_done;

static double now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static long long own_cpu_ns(void)
{
	struct timespec ran;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ran);
	return ran.tv_sec * 1000000000LL + ran.tv_nsec;
}

static long long now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static long switches(void)
{
	struct rusage usage = { 0 };

	getrusage(RUSAGE_THREAD, &usage);
	return usage.ru_nvcsw + usage.ru_nivcsw;
}

static void note_run(long long ran_ns)
{
	least_ns += ran_ns > RUN_NS + RUN_NS / 10 ? ran_ns : 0;
	most_ns += ran_ns > RUN_NS - RUN_NS / 10 ? ran_ns : 0;
}

/* The runner's own account: a run is over when the kernel has counted a switch. Time that passes without one is its
 * own, though whoever runs this machine as a guest may have taken the CPU away meanwhile. */
static void run_noting(void)
{
	long long at_ns = now_ns(), begin_ns = at_ns, was_ns;
	long counted = switches(), now_counted;

	while (!refused && (now_s() < end_s || own_cpu_ns() < runner_least_ns)) {
		was_ns = at_ns;
		at_ns = now_ns();
		now_counted = switches();
		if (now_counted == counted)
			continue;
		counted = now_counted;
		note_run(was_ns - begin_ns);
		begin_ns = at_ns = now_ns();
	}
	note_run(at_ns - begin_ns);
}

static int take_priority(int is_runner)
{
	struct sched_param fifo = { .sched_priority = FIFO_PRIO };

	if (strcmp(mode, "nice") == 0)
		return setpriority(PRIO_PROCESS, (id_t)gettid(), is_runner ? NICE_LOW : NICE_HIGH);
	if (strcmp(mode, "realtime") == 0 && !is_runner)
		return sched_setscheduler(0, SCHED_FIFO, &fifo);
	return setpriority(PRIO_PROCESS, (id_t)gettid(), 0);
}

static void *spin(void *arg)
{
	int is_runner = *(const int *)arg;

	pthread_setname_np(pthread_self(), is_runner ? "inv-runner" : "inv-waiter");
	tids[is_runner] = gettid();
	/* The lower priority first: the waiter may keep the runner from it for long. */
	if (is_runner && take_priority(is_runner))
		refused = 1;
	pthread_barrier_wait(&ready);
	/* Both are known and the first line is out before one of them can keep the other from going on. */
	pthread_barrier_wait(&ready);
	if (!is_runner && take_priority(is_runner))
		refused = 1;
	/* Until the waiter has its priority, it would wait for the runner with another one. */
	if (is_runner)
		sem_wait(&waiter_is_set);
	else
		sem_post(&waiter_is_set);
	if (is_runner)
		run_noting();
	runner_is_done |= is_runner;
	while (!refused && (now_s() < end_s || !runner_is_done))
		;
	return NULL;
}

int main(int argc, char **argv)
{
	static const int roles[2] = { 0, 1 };
	pthread_t threads[2];
	cpu_set_t cpus;

	if (argc != 4)
		return 2;
	mode = argv[3];
	end_s = now_s() + atof(argv[2]);
	runner_least_ns = atof(argv[2]) < 0.5 ? 0 : RUNNER_LEAST_NS;
	CPU_ZERO(&cpus);
	CPU_SET((size_t)atoi(argv[1]), &cpus);
	if (sched_setaffinity(0, sizeof(cpus), &cpus))
		return 2;
	pthread_barrier_init(&ready, NULL, 3);
	sem_init(&waiter_is_set, 0, 0);
	for (int i = 0; i < 2; i++)
		if (pthread_create(&threads[i], NULL, spin, (void *)&roles[i]))
			return 3;
	pthread_barrier_wait(&ready);
	printf("waiter %d runner %d\n", (int)tids[0], (int)tids[1]);
	fflush(stdout);
	pthread_barrier_wait(&ready);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	printf("ran %lld %lld\n", least_ns, most_ns);
	return refused ? 3 : 0;
}
