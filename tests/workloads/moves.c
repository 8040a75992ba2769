// SPDX-License-Identifier: GPL-2.0
/* Threads that are moved between CPUs 0 and 1 for known reasons, one process each. Prints "toggled TID MOVES" for one
 * that spins and is sent to and fro, "asleep TID MOVES" for one that is so while it sleeps, "execs TID MOVES" for one
 * that starts itself anew beside a hog and has found itself elsewhere so often, "naps TID MOVES" for one that wakes
 * beside a hog, and "spins TID MOVES" for those that are one too many, with how often they found themselves elsewhere.
 */
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
	TOGGLES = 10,
	TRIES = 200,
	ENOUGH = 5,
	HOGS = 4,
	SPINNERS = 3,
	NAPS = 30,
	NAP_MOVES = 10,
	SPIN_MS = 2500,
	MOST_MS = 60000
};

static long long now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000LL + now.tv_nsec / 1000000;
}

static void spin(long long ms)
{
	for (long long end_ms = now_ms() + ms; now_ms() < end_ms;)
		;
}

/* For as long as that, or until one of all that look has found itself elsewhere: a busy kernel takes its time. Returns
 * how often this one did. */
static int spin_and_look(volatile int *moved)
{
	long long began_ms = now_ms();
	int cpu = sched_getcpu(), moves = 0;

	while (now_ms() < began_ms + SPIN_MS || (!*moved && now_ms() < began_ms + MOST_MS)) {
		if (sched_getcpu() == cpu)
			continue;
		cpu = sched_getcpu();
		moves++;
		*moved = 1;
	}
	return moves;
}

/* CPU -1: both. */
static void pin(pid_t pid, int cpu)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	for (int i = 0; i < 2; i++)
		if (cpu < 0 || i == cpu)
			CPU_SET(i, &cpus);
	sched_setaffinity(pid, sizeof(cpus), &cpus);
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static pid_t hog_on(int cpu)
{
	pid_t pid = fork();

	if (pid == 0) {
		/* Else the kernel may count all of them together as one, by their session. */
		setsid();
		pin(0, cpu);
		for (;;)
			;
	}
	return pid;
}

static void toggle(const char *name, int sleeps)
{
	int go[2], ready[2];
	char byte = 0;
	pid_t pid;

	if (pipe(go) || pipe(ready))
		exit(1);
	/* It begins there and is not moved for that. */
	pin(0, 0);
	pid = fork();
	if (pid == 0) {
		if (write(ready[1], &byte, 1) != 1)
			exit(1);
		/* One that sleeps does nothing at all until it is told, on the other CPU, to say that it is there. */
		while (sleeps)
			if (read(go[0], &byte, 1) != 1 || write(ready[1], &byte, 1) != 1)
				exit(1);
		for (;;)
			;
	}
	pin(0, -1);
	if (read(ready[0], &byte, 1) != 1)
		exit(1);
	for (int i = 1; i <= TOGGLES; i++) {
		usleep(20000);
		pin(pid, i % 2);
		if (sleeps && (write(go[1], &byte, 1) != 1 || read(ready[0], &byte, 1) != 1))
			exit(1);
	}
	usleep(20000);
	printf("%s %d %d\n", name, pid, TOGGLES);
	end(pid);
}

/* The program's own file in memory: to open one in a file system may take a sleep, and who wakes from that is placed.
 */
static int own_file(void)
{
	int fd = memfd_create("moves", 0), from = open("/proc/self/exe", O_RDONLY);
	char bytes[4096];
	ssize_t got;

	while ((got = read(from, bytes, sizeof(bytes))) > 0)
		if (write(fd, bytes, (size_t)got) != got)
			exit(1);
	return fd;
}

/* Called anew by itself: `moves again END_MS MOVES CPU FILE`. Not moved while the other CPU has as much to do: it goes
 * on until that is over. */
static void exec_again(int file, long long end_ms, int moves)
{
	char words[4][24];
	int here;

	if (now_ms() > end_ms || moves == ENOUGH) {
		printf("execs %d %d\n", getpid(), moves);
		exit(0);
	}
	/* Beside the hog, and free to leave it. */
	pin(0, 0);
	pin(0, -1);
	here = sched_getcpu();
	snprintf(words[0], sizeof(words[0]), "%lld", end_ms);
	snprintf(words[1], sizeof(words[1]), "%d", moves);
	snprintf(words[2], sizeof(words[2]), "%d", here);
	snprintf(words[3], sizeof(words[3]), "%d", file);
	fexecve(file, (char *[]){ "moves", "again", words[0], words[1], words[2], words[3], NULL }, environ);
	exit(1);
}

static int is_asleep(pid_t pid)
{
	char path[32], line[128] = "";
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	fd = open(path, O_RDONLY);
	if (fd < 0 || read(fd, line, sizeof(line) - 1) < 0)
		exit(1);
	close(fd);
	return strstr(line, ") S ") != NULL;
}

/* It sleeps where the hogs are, free to leave them, and is woken: from the other CPU, which is busy until then and so
 * takes nobody over, and from the hogs' own while the other is idle. Where it is placed is the kernel's choice, which
 * depends on what else runs, and a CPU that falls idle may take it over after it was placed: so it is asked often in
 * both ways, and until it has found itself elsewhere several times. */
static void nap(volatile int *moved)
{
	long long end_ms = now_ms() + MOST_MS;
	char byte = 0;
	pid_t pid;
	int go[2];

	if (pipe(go))
		exit(1);
	*moved = 0;
	pid = fork();
	if (pid == 0) {
		close(go[1]);
		for (;;) {
			pin(0, 0);
			pin(0, -1);
			if (read(go[0], &byte, 1) != 1)
				break;
			*moved += sched_getcpu() != 0;
		}
		exit(0);
	}
	setpriority(PRIO_PROCESS, 0, -20);
	for (int i = 0; i < NAPS || (*moved < NAP_MOVES && now_ms() < end_ms); i++) {
		pin(0, i % 2);
		for (int tries = 0; tries < TRIES && !is_asleep(pid); tries++)
			i % 2 ? spin(1) : usleep(1000);
		if (write(go[1], &byte, 1) != 1)
			exit(1);
		i % 2 ? spin(1) : usleep(1000);
	}
	close(go[1]);
	end(pid);
	printf("naps %d %d\n", pid, *moved);
	setpriority(PRIO_PROCESS, 0, 0);
	pin(0, -1);
}

int main(int argc, char **argv)
{
	pid_t hogs[HOGS], pid, spinners[SPINNERS];
	volatile int *moved;

	setlinebuf(stdout);
	if (argc == 6 && !strcmp(argv[1], "again")) {
		int moved = sched_getcpu() != atoi(argv[4]);

		exec_again(atoi(argv[5]), atoll(argv[2]), atoi(argv[3]) + moved);
	}
	moved = mmap(NULL, sizeof(*moved), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (moved == MAP_FAILED)
		return 1;
	toggle("toggled", 0);
	toggle("asleep", 1);
	for (int i = 0; i < HOGS; i++)
		hogs[i] = hog_on(0);
	usleep(20000);
	pid = fork();
	if (pid == 0) {
		/* Else it is pushed off before it has got to its exec, and an idle CPU takes it over. */
		setpriority(PRIO_PROCESS, 0, -20);
		exec_again(own_file(), now_ms() + MOST_MS, 0);
	}
	waitpid(pid, NULL, 0);
	nap(moved);
	for (int i = 0; i < HOGS; i++)
		end(hogs[i]);
	*moved = 0;
	for (int i = 0; i < SPINNERS; i++) {
		spinners[i] = fork();
		if (spinners[i] == 0) {
			printf("spins %d %d\n", getpid(), spin_and_look(moved));
			exit(0);
		}
	}
	for (int i = 0; i < SPINNERS; i++)
		waitpid(spinners[i], NULL, 0);
	return 0;
}
