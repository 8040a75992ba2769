// SPDX-License-Identifier: GPL-2.0
/* A reader has one socket for questions and answers, and nothing of this program's: it may have to be left behind, and
 * is not to keep a hook or a pipe with it. What it may do is to look into /proc. */
#include "proc_reader.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "confine.h"
#include "loop.h"

#ifndef CAP_CHECKPOINT_RESTORE
#define CAP_CHECKPOINT_RESTORE 40
#endif

enum { MORE_BYTES = 1 << 20, DESCRIPTORS = 8, PROCESSES = 64, PIECE_BYTES = 32 << 10 };

#define READER_CALLS                                                                                            \
	SYS_recvmsg, SYS_openat, SYS_read, SYS_write, SYS_sendmsg, SYS_close, SYS_getrusage, SYS_clock_gettime, \
		SYS_getpid, SYS_exit_group

static const int reader_calls[] = { READER_CALLS };
static const int forker_calls[] = { READER_CALLS, SYS_clone, SYS_prctl, SYS_getppid, SYS_seccomp };

enum {
	READER_CALLS_LEN = sizeof(reader_calls) / sizeof(reader_calls[0]),
	FORKER_CALLS_LEN = sizeof(forker_calls) / sizeof(forker_calls[0])
};

union one_descriptor {
	struct cmsghdr head;
	char room[CMSG_SPACE(sizeof(int))];
};

bool proc_send(int fd, const void *bytes, size_t size, int sent_fd, int flags)
{
	union one_descriptor control = {
		.head = { .cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS }
	};
	struct iovec part = { (void *)bytes, size };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };

	if (sent_fd >= 0) {
		memcpy(CMSG_DATA(&control.head), &sent_fd, sizeof(sent_fd));
		message.msg_control = &control;
		message.msg_controllen = sizeof(control);
	}
	return sendmsg(fd, &message, MSG_NOSIGNAL | flags) == (ssize_t)size;
}

bool proc_receive(int fd, void *bytes, size_t size, int *received_fd, int flags)
{
	union one_descriptor control;
	struct iovec part = { bytes, size };
	struct msghdr message = {
		.msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control)
	};
	const struct cmsghdr *head;
	ssize_t got;

	*received_fd = -1;
	do
		got = recvmsg(fd, &message, MSG_CMSG_CLOEXEC | flags);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		return false;
	head = CMSG_FIRSTHDR(&message);
	if (head && head->cmsg_type == SCM_RIGHTS && head->cmsg_len == CMSG_LEN(sizeof(int)))
		memcpy(received_fd, CMSG_DATA(head), sizeof(*received_fd));
	if (got == (ssize_t)size)
		return true;
	if (*received_fd >= 0)
		close(*received_fd);
	*received_fd = -1;
	errno = ECONNRESET;
	return false;
}

/* False: who asked wants no more of it. */
static bool write_all(int fd, const char *bytes, size_t len)
{
	while (len) {
		ssize_t put = write(fd, bytes, len);

		if (put <= 0)
			return false;
		bytes += put;
		len -= (size_t)put;
	}
	return true;
}

static u64 ns_of(struct timeval time)
{
	return (u64)time.tv_sec * NSEC_PER_SEC + (u64)time.tv_usec * NSEC_PER_USEC;
}

struct meter {
	struct rusage usage;
	u64 began_ns;
};

static struct meter meter_begin(void)
{
	struct meter meter = { .began_ns = clock_now_ns() };

	getrusage(RUSAGE_SELF, &meter.usage);
	return meter;
}

/* Who did not go to sleep waited for nothing but a CPU. */
static void meter_end(const struct meter *meter, struct proc_answer *answer)
{
	const struct rusage *before = &meter->usage;
	struct rusage now;

	getrusage(RUSAGE_SELF, &now);
	answer->cpu_ns += ns_of(now.ru_stime) + ns_of(now.ru_utime) - ns_of(before->ru_stime) - ns_of(before->ru_utime);
	if (now.ru_nvcsw != before->ru_nvcsw)
		answer->waited_ns += clock_now_ns() - meter->began_ns;
}

static ssize_t read_piece(int fd, char *piece, struct proc_answer *answer)
{
	struct meter meter = meter_begin();
	ssize_t got, len = 0;

	while (len < PIECE_BYTES && (got = read(fd, piece + len, (size_t)(PIECE_BYTES - len))) != 0) {
		if (got < 0) {
			answer->error = -errno;
			break;
		}
		len += got;
	}
	meter_end(&meter, answer);
	return len;
}

static int open_it(const struct proc_question *question, struct proc_answer *answer)
{
	char path[PROC_NAME_SIZE + 24];
	struct meter meter = meter_begin();
	int fd;

	snprintf(path, sizeof(path), "/proc/%u/%.*s", question->pid, PROC_NAME_SIZE - 1, question->name);
	fd = open(path, (question->only_find ? O_PATH : O_RDONLY) | O_CLOEXEC);
	answer->error = fd < 0 ? -errno : 0;
	meter_end(&meter, answer);
	return fd;
}

static void be_reader(int fd)
{
	static char piece[PIECE_BYTES];
	struct proc_question question;
	int into;

	/* Its first word is who it is. */
	proc_send(fd, &(struct proc_answer){ .reader = getpid() }, sizeof(struct proc_answer), -1, 0);
	while (proc_receive(fd, &question, sizeof(question), &into, 0)) {
		struct proc_answer answer = { .reader = getpid() };
		int found = open_it(&question, &answer);
		ssize_t len;

		while (into >= 0 && !answer.error && (len = read_piece(found, piece, &answer)) > 0)
			if (!write_all(into, piece, (size_t)len))
				break;
		if (into >= 0)
			close(into);
		proc_send(fd, &answer, sizeof(answer), question.only_find ? found : -1, 0);
		if (found >= 0)
			close(found);
	}
	_exit(EXIT_SUCCESS);
}

void proc_be_forker(int fd, pid_t asker)
{
	static const u64 kept = 1ULL << CAP_SYS_PTRACE | 1ULL << CAP_DAC_READ_SEARCH | 1ULL << CAP_CHECKPOINT_RESTORE;
	pid_t self;
	sigset_t all;
	int reader_fd;
	char byte;

	signal(SIGCHLD, SIG_IGN);
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	confine_files(fd);
	prctl(PR_SET_NAME, "tactus-looks");
	confine_capabilities(kept);
	prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	if (getppid() != asker)
		_exit(EXIT_FAILURE);
	confine_limits(MORE_BYTES, DESCRIPTORS, PROCESSES);
	confine_calls(forker_calls, FORKER_CALLS_LEN);
	self = getpid();
	while (proc_receive(fd, &byte, sizeof(byte), &reader_fd, 0)) {
		if (reader_fd >= 0 && !syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0)) {
			prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
			if (getppid() != self)
				_exit(EXIT_FAILURE);
			close(fd);
			confine_calls(reader_calls, READER_CALLS_LEN);
			be_reader(reader_fd);
		}
		if (reader_fd >= 0)
			close(reader_fd);
	}
	_exit(EXIT_SUCCESS);
}
