// SPDX-License-Identifier: GPL-2.0
/* Waits on one file descriptor for signals and on the clock for the rest.
 * Signals are blocked and read, not handled: nothing runs at an unexpected moment. */
#include "loop.h"

#include "../../core/sched_config.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

/* A ring is readable again as soon as one event is in it: between two readings so much time is left for more to come.
 */
enum { REST_NS = 5 * NSEC_PER_MSEC };
/* What is urgent comes in bursts too, as a program's libraries do. */
enum { URGENT_REST_NS = NSEC_PER_MSEC / 2 };

static struct {
	bool taken, came;
} requests;

static sigset_t taken_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGCHLD);
	if (requests.taken)
		sigaddset(&set, SIGUSR1);
	return set;
}

static struct {
	sigset_t mask;
	struct sigaction pipe, file_size;
	bool taken;
} inherited;

void loop_take_signals(void)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN };
	sigset_t set = taken_signals();

	sigprocmask(SIG_BLOCK, &set, &inherited.mask);
	/* A closed pipe is an error of the write that met it, and so is a file that grows past the user's limit. */
	sigaction(SIGPIPE, &ignore, &inherited.pipe);
	sigaction(SIGXFSZ, &ignore, &inherited.file_size);
	inherited.taken = true;
}

void loop_take_requests(void)
{
	requests.taken = true;
}

bool loop_was_requested(void)
{
	bool came = requests.came;

	requests.came = false;
	return came;
}

void loop_give_back_signals(void)
{
	if (!inherited.taken)
		return;
	sigaction(SIGPIPE, &inherited.pipe, NULL);
	sigaction(SIGXFSZ, &inherited.file_size, NULL);
	sigprocmask(SIG_SETMASK, &inherited.mask, NULL);
}

bool loop_signal_waits(void)
{
	sigset_t waiting;

	return !sigpending(&waiting) && (sigismember(&waiting, SIGINT) == 1 || sigismember(&waiting, SIGTERM) == 1 ||
					 sigismember(&waiting, SIGHUP) == 1);
}

u64 clock_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (u64)now.tv_sec * NSEC_PER_SEC + (u64)now.tv_nsec;
}

static u64 earlier(u64 a, u64 b)
{
	return a < b ? a : b;
}

/* Takes the signals that have come. True if one of them asks for the end. While a command runs, the end is the
 * command's to decide: it has got the terminal's Ctrl-C too, and is sent any other. */
static bool signal_says_end(int signal_fd, struct child *child)
{
	struct signalfd_siginfo info;
	bool end = false;

	while (read(signal_fd, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		if (info.ssi_signo == SIGUSR1) {
			requests.came = true;
			continue;
		}
		if (info.ssi_signo == SIGCHLD) {
			if (child)
				child_reap(child);
			continue;
		}
		if (!child || !child->pid || child->ended) {
			end = true;
		} else if (info.ssi_code <= 0 || child->has_own_group) { /* sent to this one alone: pass it on */
			kill(child->has_own_group ? -child->pid : child->pid, (int)info.ssi_signo);
		}
	}
	return end;
}

/* What a descriptor is due for: heard at once, but not twice in a row without a rest. */
struct listening {
	struct pollfd *ready;
	int fd;
	u64 from_ns;
};

/* Listens from its time on; returns when to wake for that. */
static u64 listen_to(struct listening *listening, u64 now_ns)
{
	bool listens = listening->fd > 0 && now_ns >= listening->from_ns;

	listening->ready->fd = listens ? listening->fd : -1;
	listening->ready->revents = 0;
	return listening->fd > 0 && !listens ? listening->from_ns : ~0ULL;
}

enum loop_end loop_run(const struct loop *loop)
{
	sigset_t set = taken_signals();
	int signal_fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
	u64 start_ns = clock_now_ns(), tick_at_ns = start_ns + loop->tick_ns;
	struct pollfd ready[3] = { { signal_fd, POLLIN, 0 }, { -1, POLLIN, 0 }, { -1, POLLIN, 0 } };
	struct listening ticks = { &ready[1], loop->fd, 0 }, urgent = { &ready[2], loop->urgent_fd, 0 };
	enum loop_end end;

	for (;;) {
		u64 now_ns = clock_now_ns(), wake_ns = ~0ULL;
		struct timespec wait, *timeout = NULL;

		end = LOOP_TIME;
		if (loop->duration_ns && now_ns - start_ns >= loop->duration_ns)
			break;
		end = LOOP_ITSELF;
		if ((loop->tick_ns && now_ns >= tick_at_ns) || ready[1].revents) {
			if (loop->tick_ns && now_ns >= tick_at_ns)
				tick_at_ns += ((now_ns - tick_at_ns) / loop->tick_ns + 1) * loop->tick_ns;
			if (!loop->tick(loop->data))
				break;
			ticks.from_ns = now_ns + (loop->prompt ? PROMPT_REST_NS : REST_NS);
		}
		if (ready[2].revents) {
			loop->urgent(loop->data);
			urgent.from_ns = now_ns + URGENT_REST_NS;
		}
		if (loop->duration_ns)
			wake_ns = start_ns + loop->duration_ns;
		if (loop->tick_ns)
			wake_ns = earlier(wake_ns, tick_at_ns);
		wake_ns = earlier(wake_ns, earlier(listen_to(&ticks, now_ns), listen_to(&urgent, now_ns)));
		if (wake_ns != ~0ULL) {
			u64 left_ns = wake_ns > now_ns ? wake_ns - now_ns : 0;

			wait = (struct timespec){ (time_t)(left_ns / NSEC_PER_SEC), (long)(left_ns % NSEC_PER_SEC) };
			timeout = &wait;
		}
		if (ppoll(ready, 3, timeout, NULL) < 0 && errno != EINTR)
			break;
		end = LOOP_SIGNAL;
		if (signal_says_end(signal_fd, loop->child))
			break;
		end = LOOP_COMMAND;
		if (loop->child && loop->child->ended)
			break;
	}
	close(signal_fd);
	return end;
}
