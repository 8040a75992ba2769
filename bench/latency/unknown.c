// SPDX-License-Identifier: GPL-2.0
/* Threads that no rule knows: they wake at no steady pace and work for no steady time. Whatever tactus does for others,
 * these must not wait longer than without it. Prints one line of name=value pairs: how late each kind woke, and how
 * long it was kept from its work altogether. Usage: unknown SECONDS SKIP_S */
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { SAMPLES_MOST = 1 << 16, SPIN_STEPS = 2000 };

/* Sleeps and works for times between these, drawn anew each time, by a seed of its own: the same in each run. */
struct kind {
	const char *name;
	int64_t sleep_least_ns, sleep_most_ns;
	int64_t work_least_ns, work_most_ns;
	int by_children; /* each time a new process does the work */
	uint64_t state;
	int64_t late_ns[SAMPLES_MOST], kept_ns[SAMPLES_MOST];
	size_t len;
};

static struct kind kinds[] = {
	/* A driver's event handler, a watchdog: seldom, and for next to nothing. */
	{ .name = "seldom",
	  .sleep_least_ns = 5000000,
	  .sleep_most_ns = 60000000,
	  .work_least_ns = 20000,
	  .work_most_ns = 80000 },
	/* A worker of a pool: for some milliseconds, when there is something. */
	{ .name = "worker",
	  .sleep_least_ns = 2000000,
	  .sleep_most_ns = 50000000,
	  .work_least_ns = 500000,
	  .work_most_ns = 6000000 },
	/* Half of its share and more, in parts. */
	{ .name = "busy",
	  .sleep_least_ns = 1000000,
	  .sleep_most_ns = 60000000,
	  .work_least_ns = 1000000,
	  .work_most_ns = 20000000 },
	/* A shell script's commands. */
	{ .name = "newborn",
	  .sleep_least_ns = 20000000,
	  .sleep_most_ns = 120000000,
	  .work_least_ns = 300000,
	  .work_most_ns = 3000000,
	  .by_children = 1 },
};
enum { KINDS = sizeof(kinds) / sizeof(kinds[0]) };

static int64_t from_ns, end_ns;

static int64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static void sleep_until(int64_t due_ns)
{
	struct timespec due = { due_ns / 1000000000, due_ns % 1000000000 };

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL) == EINTR)
		;
}

static void work(int64_t cpu_ns)
{
	int64_t until_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) + cpu_ns;

	while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < until_ns)
		for (volatile int i = 0; i < SPIN_STEPS; i++)
			;
}

static int64_t draw(struct kind *kind, int64_t least, int64_t most)
{
	kind->state ^= kind->state << 13;
	kind->state ^= kind->state >> 7;
	kind->state ^= kind->state << 17;
	return least + (int64_t)(kind->state % (uint64_t)(most - least));
}

static void work_in_child(int64_t cpu_ns)
{
	pid_t child = fork();

	if (!child) {
		pthread_setname_np(pthread_self(), "command");
		work(cpu_ns);
		_exit(0);
	}
	if (child > 0)
		waitpid(child, NULL, 0);
}

static void *live(void *data)
{
	struct kind *kind = data;

	/* What is learned of one kind is not for the others. */
	pthread_setname_np(pthread_self(), kind->name);
	kind->state = 88172645463325252ull + (uint64_t)(kind - kinds) * 7919;
	for (;;) {
		int64_t due_ns = clock_ns(CLOCK_MONOTONIC) + draw(kind, kind->sleep_least_ns, kind->sleep_most_ns);
		int64_t cpu_ns = draw(kind, kind->work_least_ns, kind->work_most_ns), woke_ns;

		if (due_ns >= end_ns)
			return NULL;
		sleep_until(due_ns);
		woke_ns = clock_ns(CLOCK_MONOTONIC);
		if (kind->by_children)
			work_in_child(cpu_ns);
		else
			work(cpu_ns);
		if (due_ns < from_ns || kind->len == SAMPLES_MOST)
			continue;
		kind->late_ns[kind->len] = woke_ns - due_ns;
		kind->kept_ns[kind->len++] = clock_ns(CLOCK_MONOTONIC) - due_ns - cpu_ns;
	}
}

static int by_value(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

static void print_times(const char *kind, const char *what, int64_t *ns, size_t len)
{
	qsort(ns, len, sizeof(*ns), by_value);
	if (len)
		printf("%s_%s_p50_us=%.0f %s_%s_p99_us=%.0f %s_%s_max_us=%.0f ", kind, what, (double)ns[len / 2] / 1000,
		       kind, what, (double)ns[len * 99 / 100] / 1000, kind, what, (double)ns[len - 1] / 1000);
}

int main(int argc, char **argv)
{
	pthread_t threads[KINDS];

	if (argc != 3)
		return 2;
	from_ns = clock_ns(CLOCK_MONOTONIC) + (int64_t)(atof(argv[2]) * 1e9);
	end_ns = from_ns + (int64_t)(atof(argv[1]) * 1e9);
	for (int i = 0; i < KINDS; i++)
		if (pthread_create(&threads[i], NULL, live, &kinds[i]))
			return 1;
	for (int i = 0; i < KINDS; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < KINDS; i++) {
		print_times(kinds[i].name, "late", kinds[i].late_ns, kinds[i].len);
		print_times(kinds[i].name, "kept", kinds[i].kept_ns, kinds[i].len);
	}
	puts("");
	return 0;
}
