// SPDX-License-Identifier: GPL-2.0
/* Presents at a fixed pace on one CPU and delays known frames by known amounts, for known reasons:
 *   delays PERIOD_MS FRAMES CPU [NUMBER:MS:REASON]...   with the reasons compute, mutex, hog, sleep,
 * server (another process that computes before it answers)
 * Prints each delayed frame's number, by how many ms it came later than a period after the one before it, by its own
 * clock, the reason, and the tid of whoever was the reason; and frames that took nearly a quarter longer than they
 * should without that, for the reason "machine". At last "presented FRAMES NS": from the first
 * to the last. It begins once tactus's probes are in place: with DELAYS_SAID=FILE, where 'tactus frames -v' says that
 * of libEGL, for the DELAYS_SAID_TIMES-th time; else after DELAYS_WAIT_MS. */
#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int to_holder[2], from_holder[2], to_hog[2], to_server[2], from_server[2];
static long holder_tid;
static pid_t hog_pid, server_pid;

static long long now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static void spin(int ms)
{
	long long end_ns = now_ns() + ms * 1000000LL;

	while (now_ns() < end_ns)
		;
}

static void tell(int fd, int ms)
{
	if (write(fd, &ms, sizeof(ms)) != sizeof(ms))
		abort();
}

static int hear(int fd)
{
	int ms = 0;

	return read(fd, &ms, sizeof(ms)) == sizeof(ms) ? ms : -1;
}

/* Holds the mutex for so long, asleep. */
static void *hold(void *unused)
{
	int ms;

	(void)unused;
	pthread_setname_np(pthread_self(), "holder");
	holder_tid = syscall(SYS_gettid);
	tell(from_holder[1], 0);
	while ((ms = hear(to_holder[0])) >= 0) {
		pthread_mutex_lock(&mutex);
		tell(from_holder[1], 0);
		usleep((useconds_t)ms * 1000);
		pthread_mutex_unlock(&mutex);
	}
	return NULL;
}

/* A process of a higher priority on the same CPU. */
static void burn(void)
{
	struct sched_param urgent = { .sched_priority = 10 };
	int ms;

	close(to_hog[1]);
	if (sched_setscheduler(0, SCHED_FIFO, &urgent))
		perror("delays: no realtime priority");
	while ((ms = hear(to_hog[0])) >= 0)
		spin(ms);
	_exit(0);
}

/* As a display's server does: answers each request after a while of work, on another CPU. */
static void serve(int cpu)
{
	struct sched_param urgent = { .sched_priority = 5 };
	cpu_set_t cpus;
	int ms;

	CPU_ZERO(&cpus);
	CPU_SET(cpu, &cpus);
	sched_setaffinity(0, sizeof(cpus), &cpus);
	if (sched_setscheduler(0, SCHED_FIFO, &urgent))
		perror("delays: no realtime priority");
	close(to_server[1]);
	while ((ms = hear(to_server[0])) >= 0) {
		spin(ms);
		tell(from_server[1], 0);
	}
	_exit(0);
}

static long delay(const char *reason, int ms)
{
	long tid = 0;

	if (!strcmp(reason, "compute")) {
		spin(ms);
		tid = getpid();
	} else if (!strcmp(reason, "sleep")) {
		usleep((useconds_t)ms * 1000);
		tid = getpid();
	} else if (!strcmp(reason, "mutex")) {
		tell(to_holder[1], ms);
		hear(from_holder[0]);
		pthread_mutex_lock(&mutex);
		pthread_mutex_unlock(&mutex);
		tid = holder_tid;
	} else if (!strcmp(reason, "hog")) {
		tell(to_hog[1], ms);
		tid = hog_pid;
	} else if (!strcmp(reason, "server")) {
		tell(to_server[1], ms);
		hear(from_server[0]);
		tid = server_pid;
	}
	return tid;
}

/* How often the file says that the library's probes are in place; other programs have one of that name elsewhere. */
static int times_said(const char *path, const char *library)
{
	FILE *file = fopen(path, "r");
	char line[4096];
	int times = 0;

	while (file && fgets(line, sizeof(line), file))
		times += strstr(line, library) && strstr(line, "probes are in place");
	if (file)
		fclose(file);
	return times;
}

static void wait_for_probes(const void *function)
{
	enum { TRIES_MOST = 6000, TRY_EVERY_US = 20000 };
	const char *path = getenv("DELAYS_SAID"), *times = getenv("DELAYS_SAID_TIMES"), *ms = getenv("DELAYS_WAIT_MS");
	char library[PATH_MAX];
	Dl_info info;

	if (!path || !dladdr(function, &info) || !realpath(info.dli_fname, library)) {
		usleep(ms ? (useconds_t)atoi(ms) * 1000 : 1500000);
		return;
	}
	for (int tries = 0; tries < TRIES_MOST && times_said(path, library) < (times ? atoi(times) : 1); tries++)
		usleep(TRY_EVERY_US);
}

int main(int argc, char **argv)
{
	void *library = dlopen("libEGL.so.1", RTLD_NOW);
	unsigned (*swap)(void *, void *) = library ? dlsym(library, "eglSwapBuffers") : NULL;
	long long period_ns = argc > 3 ? atoll(argv[1]) * 1000000 : 0, next_ns, at_ns, last_ns = 0, first_ns = 0;
	pthread_t holder;
	struct sched_param above_others = { .sched_priority = 5 };
	cpu_set_t cpus;

	if (!swap || !period_ns || pipe(to_holder) || pipe(from_holder) || pipe(to_hog) || pipe(to_server) ||
	    pipe(from_server)) {
		fprintf(stderr, "usage: delays PERIOD_MS FRAMES CPU [NUMBER:MS:REASON]... (needs libEGL.so.1)\n");
		return 1;
	}
	setlinebuf(stdout);
	server_pid = fork();
	if (server_pid == 0 && !prctl(PR_SET_PDEATHSIG, SIGKILL))
		serve(atoi(argv[3]) ? 0 : 1);
	CPU_ZERO(&cpus);
	CPU_SET(atoi(argv[3]), &cpus);
	sched_setaffinity(0, sizeof(cpus), &cpus);
	/* So that nobody else on the machine delays it. */
	if (sched_setscheduler(0, SCHED_FIFO, &above_others))
		perror("delays: no realtime priority");
	hog_pid = fork();
	if (hog_pid == 0 && !prctl(PR_SET_PDEATHSIG, SIGKILL))
		burn();
	pthread_create(&holder, NULL, hold, NULL);
	hear(from_holder[0]);
	wait_for_probes((void *)swap);
	next_ns = now_ns();
	for (int frame = 1; frame <= atoi(argv[2]); frame++) {
		char reason[16] = "machine";
		long tid = -1;
		double late_ms;

		spin(1);
		for (int i = 4; i < argc; i++) {
			int number, ms, at = 0;

			if (sscanf(argv[i], "%d:%d:%n", &number, &ms, &at) == 2 && at && number == frame) {
				snprintf(reason, sizeof(reason), "%s", argv[i] + at);
				tid = delay(reason, ms);
			}
		}
		at_ns = now_ns();
		late_ms = (double)(at_ns - last_ns - period_ns) / 1e6;
		/* Nothing is late before PACE_ENOUGH intervals are known. */
		if (tid >= 0 || (frame > 8 && late_ms > (double)period_ns / 4e6 - 0.5))
			printf("%d %.1f %s %ld\n", frame, late_ms, reason, tid);
		last_ns = at_ns;
		first_ns = first_ns ? first_ns : at_ns;
		swap(NULL, NULL);
		/* A late frame moves those after it. */
		next_ns += period_ns;
		if (next_ns < now_ns())
			next_ns = now_ns() + period_ns;
		while (now_ns() < next_ns) {
			struct timespec until = { next_ns / 1000000000, next_ns % 1000000000 };

			clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
		}
	}
	printf("presented %s %lld\n", argv[2], last_ns - first_ns);
	close(to_hog[1]);
	close(to_server[1]);
	return 0;
}
