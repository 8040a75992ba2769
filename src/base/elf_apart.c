// SPDX-License-Identifier: GPL-2.0
/* Three processes: this program asks; the forker, which was forked from it at the start, never looks into a file; and
 * for each question it forks a reader, which ends with the answer. A forker rather than forks of this program: this one
 * can't make another user of a child once it has given up its capabilities, and its children would share the memory of
 * its BPF maps. A reader for each question, so that one file can't have a hand in what is read in the next. */
#include "elf_apart.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include "confine.h"
#include "elf_answer.h"
#include "loop.h"
#include "vec.h"

/* Of the largest file that is looked into: 4 MB and a few milliseconds. A machine may be slow and busy. */
enum { READER_BYTES = 32 << 20, READER_CPU_S = 1, READER_S = 2, PATIENCE_MS = 2500 };
enum { DESCRIPTORS = 8, PROCESSES = 8 };

static int forker_fd = -1;
static pid_t forker;

/* To read, to answer and to have memory. */
#define READER_CALLS SYS_pread64, SYS_write, SYS_brk, SYS_munmap, SYS_exit_group

static const int reader_calls[] = { READER_CALLS };
static const int forker_calls[] = { READER_CALLS,  SYS_recvmsg,	  SYS_clone,  SYS_close,
				    SYS_prlimit64, SYS_setitimer, SYS_seccomp };

enum {
	READER_CALLS_LEN = sizeof(reader_calls) / sizeof(reader_calls[0]),
	FORKER_CALLS_LEN = sizeof(forker_calls) / sizeof(forker_calls[0])
};

/* A question with its file, and where the answer goes. False: nobody asks any more. */
static bool receive(int fd, struct elf_question *question, int fds[2])
{
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(2 * sizeof(int))];
	} control;
	struct iovec bytes = { question, sizeof(*question) };
	struct msghdr message = {
		.msg_iov = &bytes, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control)
	};
	struct cmsghdr *head;

	fds[0] = fds[1] = -1;
	if (recvmsg(fd, &message, MSG_CMSG_CLOEXEC) != (ssize_t)sizeof(*question))
		return false;
	head = CMSG_FIRSTHDR(&message);
	if (head && head->cmsg_type == SCM_RIGHTS && head->cmsg_len == CMSG_LEN(2 * sizeof(int)))
		memcpy(fds, CMSG_DATA(head), 2 * sizeof(int));
	return true;
}

/* Whatever it meets, it ends soon: by itself, by its CPU time or by the clock. */
static void be_reader(const struct elf_question *question, int file_fd, int answer_fd)
{
	const struct rlimit cpu = { READER_CPU_S, READER_CPU_S };
	const struct itimerval end = { .it_value.tv_sec = READER_S };

	setrlimit(RLIMIT_CPU, &cpu);
	setitimer(ITIMER_REAL, &end, NULL);
	confine_calls(reader_calls, READER_CALLS_LEN);
	elf_write_answer(file_fd, question, answer_fd);
	_exit(EXIT_SUCCESS);
}

/* Signals are for others, but for the one by which a reader ends. Readers that have ended are nobody's business: who
 * asked sees the end of the answer. */
static void be_deaf(void)
{
	sigset_t most;

	signal(SIGCHLD, SIG_IGN);
	signal(SIGALRM, SIG_DFL);
	sigfillset(&most);
	sigdelset(&most, SIGALRM);
	sigprocmask(SIG_SETMASK, &most, NULL);
}

static void be_forker(int fd, pid_t asker)
{
	struct elf_question question;
	bool is_another, is_filtered;
	int fds[2];

	be_deaf();
	confine_files(fd);
	prctl(PR_SET_NAME, "tactus-reader");
	is_another = confine_user();
	/* Only now: who becomes another user is no longer told of his parent's death. */
	prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	if (getppid() != asker)
		_exit(EXIT_FAILURE);
	confine_limits(READER_BYTES, DESCRIPTORS, PROCESSES);
	is_filtered = confine_calls(forker_calls, FORKER_CALLS_LEN);
	/* Neither: that is no confinement. */
	if (!is_another && !is_filtered)
		_exit(EXIT_FAILURE);
	while (receive(fd, &question, fds)) {
		if (fds[0] >= 0 && !syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0)) {
			close(fd);
			be_reader(&question, fds[0], fds[1]);
		}
		close(fds[0]);
		close(fds[1]);
	}
	_exit(EXIT_SUCCESS);
}

int elf_apart_start(struct reason *why)
{
	pid_t self = getpid();
	int fds[2];

	if (forker)
		return 0;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds)) {
		reason_set(why, "a separate process can't read it: %s", strerror(errno));
		return -errno;
	}
	forker = fork();
	if (!forker)
		be_forker(fds[1], self);
	close(fds[1]);
	if (forker > 0) {
		forker_fd = fds[0];
		return 0;
	}
	forker = 0;
	reason_set(why, "a separate process can't read it: %s", strerror(errno));
	close(fds[0]);
	return -EAGAIN;
}

pid_t elf_apart_process(void)
{
	return forker;
}

static int send_question(int fd, const struct elf_question *question, int answer_fd)
{
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(2 * sizeof(int))];
	} control = {
		.head = { .cmsg_len = CMSG_LEN(2 * sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS }
	};
	struct elf_question copy = *question;
	struct iovec bytes = { &copy, sizeof(copy) };
	struct msghdr message = {
		.msg_iov = &bytes, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control)
	};
	int fds[2] = { fd, answer_fd };

	memcpy(CMSG_DATA(&control.head), fds, sizeof(fds));
	return sendmsg(forker_fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 ? -errno : 0;
}

/* All of the answer, within its bounds of time and size. Returns 0 or -errno. */
static int read_answer(int fd, char **answer, size_t *len)
{
	u64 until_ns = clock_now_ns() + PATIENCE_MS * (u64)NSEC_PER_MSEC;
	size_t room = 0;

	for (;;) {
		struct pollfd ready = { .fd = fd, .events = POLLIN };
		u64 now_ns = clock_now_ns();
		ssize_t got;

		if (*len == room && room >= ELF_ANSWER_MAX)
			return -EMSGSIZE;
		if (!vec_reserve(*answer, room, *len + 1, 4096))
			return -ENOMEM;
		if (now_ns >= until_ns || !poll(&ready, 1, (int)((until_ns - now_ns) / NSEC_PER_MSEC) + 1))
			return -ETIMEDOUT;
		got = read(fd, *answer + *len, room - *len);
		if (got < 0 && errno != EINTR && errno != EAGAIN)
			return -errno;
		if (!got)
			return *len ? 0 : -ECHILD;
		*len += got > 0 ? (size_t)got : 0;
	}
}

static const char *words_of(int error)
{
	switch (error) {
	case -ECHILD:
		return "the process that was to read it ended without a word";
	case -ETIMEDOUT:
		return "the process that reads it comes to no end";
	case -EPIPE:
	case -ECONNRESET:
		return "the process that starts readers of libraries is gone";
	default:
		return strerror(-error);
	}
}

int elf_apart_ask(int fd, const struct elf_question *question, void **answer, size_t *len, struct reason *why)
{
	char *bytes = NULL;
	int pipe_fds[2];
	int error = elf_apart_start(why);

	*answer = NULL;
	*len = 0;
	if (error)
		return error;
	if (pipe2(pipe_fds, O_CLOEXEC)) {
		reason_set(why, "a separate process can't read it: %s", strerror(errno));
		return -errno;
	}
	error = send_question(fd, question, pipe_fds[1]);
	close(pipe_fds[1]);
	if (!error)
		error = read_answer(pipe_fds[0], &bytes, len);
	close(pipe_fds[0]);
	if (!error) {
		*answer = bytes;
		return 0;
	}
	free(bytes);
	reason_set(why, "it can't be read: %s", words_of(error));
	return error;
}
