// SPDX-License-Identifier: GPL-2.0
/* A thread that does a known amount of each thing, and what the kernel itself says it did: the ground truth for
 * accounts. Prints "PID TID", waits for a line on stdin, lets the worker work, prints the growth of the kernel's
 * counters as JSON, and waits for the end of stdin. The worker is asleep whenever counters are read. */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { SLEEPS = 300, MOVES = 40, SPIN_MS = 600 };

static int gate[2];
static atomic_int worker_tid, finished, rival_runs = 1;
static int cpus[2], moves;

struct counters {
	long long voluntary, involuntary, cpu_ns, wait_ns, runs;
};

static void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set) < 0)
		abort();
}

static void spin_ms(int ms)
{
	struct timespec from, now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
	do
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	while ((now.tv_sec - from.tv_sec) * 1000LL + (now.tv_nsec - from.tv_nsec) / 1000000 < ms);
}

static void *rival(void *unused)
{
	pin(cpus[0]);
	while (atomic_load(&rival_runs))
		;
	return unused;
}

static void *worker(void *unused)
{
	struct timespec one_ms = { .tv_nsec = 1000000 };
	pthread_t other;
	char byte;

	pin(cpus[0]);
	atomic_store(&worker_tid, (int)syscall(SYS_gettid));
	if (read(gate[0], &byte, 1) != 1)
		return NULL;
	for (int i = 0; i < SLEEPS; i++)
		nanosleep(&one_ms, NULL);
	for (int i = 1; i <= moves; i++)
		pin(cpus[i % 2]);
	/* Beside a rival on the same CPU it is pushed off again and again. */
	pthread_create(&other, NULL, rival, NULL);
	spin_ms(SPIN_MS);
	atomic_store(&rival_runs, 0);
	pthread_join(other, NULL);
	atomic_store(&finished, 1);
	if (read(gate[0], &byte, 1) != 1)
		return NULL;
	return unused;
}

static long long status_field(const char *text, const char *name)
{
	const char *at = strstr(text, name);

	return at ? atoll(at + strlen(name)) : -1;
}

static size_t read_file(const char *name, char *text, size_t size)
{
	char path[64];
	ssize_t got;
	int fd;

	snprintf(path, sizeof(path), "/proc/self/task/%d/%s", atomic_load(&worker_tid), name);
	fd = open(path, O_RDONLY);
	got = read(fd, text, size - 1);
	close(fd);
	text[got > 0 ? got : 0] = '\0';
	return got > 0 ? (size_t)got : 0;
}

static struct counters counters(pthread_t thread)
{
	struct counters now;
	struct timespec used;
	char text[4096];
	clockid_t clock;

	read_file("status", text, sizeof(text));
	now.voluntary = status_field(text, "\nvoluntary_ctxt_switches:");
	now.involuntary = status_field(text, "nonvoluntary_ctxt_switches:");
	read_file("schedstat", text, sizeof(text));
	if (sscanf(text, "%lld %lld %lld", &now.cpu_ns, &now.wait_ns, &now.runs) != 3)
		now.wait_ns = now.runs = 0;
	/* A kernel without scheduler statistics gives zeros there; this clock is the same figure and always there. */
	pthread_getcpuclockid(thread, &clock);
	clock_gettime(clock, &used);
	now.cpu_ns = used.tv_sec * 1000000000LL + used.tv_nsec;
	return now;
}

static void wait_until_asleep(void)
{
	char text[512];

	do {
		usleep(20000);
		read_file("stat", text, sizeof(text));
	} while (!strstr(text, ") S "));
}

int main(void)
{
	struct counters before, after;
	cpu_set_t allowed;
	pthread_t thread;
	char line[16];
	int found = 0;

	sched_getaffinity(0, sizeof(allowed), &allowed);
	for (int cpu = 0; cpu < CPU_SETSIZE && found < 2; cpu++)
		if (CPU_ISSET(cpu, &allowed))
			cpus[found++] = cpu;
	moves = found == 2 ? MOVES : 0;
	if (found < 2)
		cpus[1] = cpus[0];
	if (pipe(gate) < 0 || pthread_create(&thread, NULL, worker, NULL))
		return 2;
	pin(cpus[1]);
	while (!atomic_load(&worker_tid))
		usleep(1000);
	wait_until_asleep();
	printf("%d %d\n", getpid(), atomic_load(&worker_tid));
	fflush(stdout);
	if (!fgets(line, sizeof(line), stdin))
		return 1;
	before = counters(thread);
	if (write(gate[1], "", 1) != 1)
		return 1;
	while (!atomic_load(&finished))
		usleep(10000);
	wait_until_asleep();
	after = counters(thread);
	printf("{\"tid\":%d,\"voluntary\":%lld,\"involuntary\":%lld,\"cpu_ns\":%lld,\"wait_ns\":%lld,\"runs\":%lld,"
	       "\"moves\":%d}\n",
	       atomic_load(&worker_tid), after.voluntary - before.voluntary, after.involuntary - before.involuntary,
	       after.cpu_ns - before.cpu_ns, after.wait_ns - before.wait_ns, after.runs - before.runs, moves);
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin))
		;
	return 0;
}
