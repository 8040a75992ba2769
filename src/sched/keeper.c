// SPDX-License-Identifier: GPL-2.0
/* The keeper: deaf to every signal that can be ignored, the last that the kernel takes when memory is short, in a
 * session of its own, with no file but stderr. */
#include "keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../../core/types.h"

enum { TRIES = 20, TRY_NS = 50 * NSEC_PER_MSEC, LOOK_MS = 500, NICE_MOST = -20 };
/* A busy machine may hold a run up, which is more pressing than all others, for a moment. */
#define STANDS_STILL_NS (5ull * NSEC_PER_SEC)

/* Shared by both. */
struct pulse {
	u64 heartbeat_ns; /* 0: not begun */
	u32 is_relieved;
};
static struct pulse *pulse;

static u64 now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (u64)now.tv_sec * NSEC_PER_SEC + (u64)now.tv_nsec;
}

/* A descriptor of the process, moved away from those that are closed; -1 where the kernel has none. */
static int watch_process(pid_t pid)
{
	return (int)syscall(SYS_pidfd_open, pid, 0);
}

static void close_all_but(int kept)
{
	if (kept > STDERR_FILENO + 1)
		syscall(SYS_close_range, STDERR_FILENO + 1, kept - 1, 0);
	syscall(SYS_close_range, kept > STDERR_FILENO ? kept + 1 : STDERR_FILENO + 1, ~0u, 0);
	/* Who reads what the run prints must see its end. */
	close(STDIN_FILENO);
	close(STDOUT_FILENO);
}

/* It has to be there when it is needed. */
static void become_hard_to_kill(void)
{
	int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	setsid();
	prctl(PR_SET_NAME, "tactus-keeper");
	if (fd >= 0) {
		/* Refused: then it dies as others do. */
		if (write(fd, "-1000", 5) < 0)
			errno = 0;
		close(fd);
	}
	if (chdir("/") < 0)
		errno = 0;
}

/* Nobody may be reading: said if there is room for it. */
static void say(const char *words)
{
	struct pollfd room = { STDERR_FILENO, POLLOUT, 0 };
	char line[512];
	int len = snprintf(line, sizeof(line), "tactus: %s\n", words);

	if (poll(&room, 1, 0) > 0 && (room.revents & POLLOUT) && write(STDERR_FILENO, line, (size_t)len) < 0)
		errno = 0;
}

static bool stands_still(void)
{
	u64 heartbeat_ns = pulse ? __atomic_load_n(&pulse->heartbeat_ns, __ATOMIC_ACQUIRE) : 0;

	return heartbeat_ns && now_ns() - heartbeat_ns > STANDS_STILL_NS;
}

static void wait_for_death(pid_t run, int run_fd, void (*relieve)(char *words, size_t size))
{
	struct pollfd ended = { run_fd, POLLIN, 0 };

	while (getppid() == run) {
		char words[400] = "";

		if (poll(&ended, 1, LOOK_MS) > 0)
			return;
		if (!stands_still() || __atomic_exchange_n(&pulse->is_relieved, 1, __ATOMIC_ACQ_REL))
			continue;
		relieve(words, sizeof(words));
		if (words[0])
			say(words);
	}
}

static void keep(pid_t run, bool (*undo)(char *words, size_t size), void (*relieve)(char *words, size_t size))
{
	const struct timespec step = { .tv_nsec = TRY_NS };
	char words[400] = "";
	int run_fd;

	become_hard_to_kill();
	run_fd = watch_process(run);
	close_all_but(run_fd);
	wait_for_death(run, run_fd, relieve);
	/* Beside threads that have been made pressing; not before, since one that weighs so much makes others late. */
	setpriority(PRIO_PROCESS, 0, NICE_MOST);
	for (int i = 0; i < TRIES && !undo(words, sizeof(words)); i++)
		nanosleep(&step, NULL);
	if (words[0])
		say(words);
}

bool keeper_heartbeat(void)
{
	if (!pulse)
		return false;
	__atomic_store_n(&pulse->heartbeat_ns, now_ns(), __ATOMIC_RELEASE);
	return __atomic_exchange_n(&pulse->is_relieved, 0, __ATOMIC_ACQ_REL);
}

pid_t keeper_start(bool (*undo)(char *words, size_t size), void (*relieve)(char *words, size_t size))
{
	pid_t run = getpid(), keeper;

	if (!pulse)
		pulse = mmap(NULL, sizeof(*pulse), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (pulse == MAP_FAILED)
		pulse = NULL;

	fflush(NULL);
	keeper = fork();
	if (keeper < 0)
		return -errno;
	if (!keeper) {
		keep(run, undo, relieve);
		_exit(EXIT_SUCCESS);
	}
	return keeper;
}

bool keeper_waits(pid_t keeper)
{
	return keeper > 0 && waitpid(keeper, NULL, WNOHANG) == 0;
}

void keeper_end(pid_t keeper)
{
	if (keeper <= 0)
		return;
	kill(keeper, SIGKILL);
	while (waitpid(keeper, NULL, 0) < 0 && errno == EINTR)
		;
}
