// SPDX-License-Identifier: GPL-2.0
/* What real programs are measured beside: burden FILE SECONDS JOBS hogs|storm, or burden FILE SECONDS JOBS each
 * COMMAND..., which runs the command over and over. FILE has for each job a count of the pieces of work that it has
 * done, as 64-bit numbers, and can be read at any time. It ends by itself, and with its parent. */
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { JOBS_MOST = 256, PIECE_ROUNDS = 200000, CHILD_PIECES = 40 };

extern char **environ;
static volatile double sink;
static int64_t end_ns;

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static void piece(void)
{
	double value = 1;

	for (int i = 0; i < PIECE_ROUNDS; i++)
		value = value * 1.0000001 + 1e-9;
	sink = value;
}

static void hog(volatile uint64_t *done, char **unused)
{
	(void)unused;
	while (now_ns() < end_ns) {
		piece();
		++*done;
	}
}

/* As make does with small files: a process of some ten milliseconds after another. */
static void storm(volatile uint64_t *done, char **unused)
{
	unsigned random = (unsigned)getpid();

	(void)unused;
	while (now_ns() < end_ns) {
		unsigned pieces = 1 + (random = random * 1103515245 + 12345) / 65536 % CHILD_PIECES;
		pid_t pid = fork();

		if (pid < 0)
			_exit(1);
		if (!pid) {
			for (unsigned i = 0; i < pieces; i++)
				piece();
			_exit(0);
		}
		waitpid(pid, NULL, 0);
		*done += pieces;
	}
}

static void each(volatile uint64_t *done, char **command)
{
	while (now_ns() < end_ns) {
		int status;
		pid_t pid;

		if (posix_spawnp(&pid, command[0], NULL, NULL, command, environ) || waitpid(pid, &status, 0) < 0 ||
		    status)
			_exit(1);
		++*done;
	}
}

static void end_with_parent(pid_t parent)
{
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		_exit(1);
}

int main(int argc, char **argv)
{
	int jobs = argc > 4 ? atoi(argv[3]) : 0, fd;
	void (*what)(volatile uint64_t *, char **) = NULL;
	volatile uint64_t *done;
	pid_t self = getpid();

	if (jobs > 0 && jobs <= JOBS_MOST)
		what = !strcmp(argv[4], "hogs")		      ? hog
		       : !strcmp(argv[4], "storm")	      ? storm
		       : !strcmp(argv[4], "each") && argc > 5 ? each
							      : NULL;
	if (!what) {
		fprintf(stderr, "usage: burden FILE SECONDS JOBS hogs|storm|each COMMAND...\n");
		return 2;
	}
	end_with_parent(getppid());
	fd = open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0644);
	if (fd < 0 || ftruncate(fd, jobs * (off_t)sizeof(*done))) {
		perror(argv[1]);
		return 1;
	}
	done = mmap(NULL, (size_t)jobs * sizeof(*done), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (done == MAP_FAILED) {
		perror(argv[1]);
		return 1;
	}
	end_ns = now_ns() + (int64_t)(atof(argv[2]) * 1e9);
	for (int i = 0; i < jobs; i++)
		if (!fork()) {
			end_with_parent(self);
			what(done + i, argv + 5);
			_exit(0);
		}
	while (wait(NULL) > 0)
		;
	return 0;
}
