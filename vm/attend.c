/* SPDX-License-Identifier: GPL-2.0 */
/* The host's end of the line: starts QEMU, gives the guest its job, passes its output on and notes how it ended.
 * attend OUTCOME LIMIT DIRECTORY CACHE KERNEL IMAGE QEMU...; the command is in the environment as CMD. */
#define _GNU_SOURCE
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>

#include "line.h"

/* Where QEMU finds its end: run.sh names this descriptor in QEMU's options. */
#define QEMU_LINE_FD 3

enum { ARG_OUTCOME = 1, ARG_LIMIT, ARG_JOB, ARG_QEMU = ARG_JOB + JOB_COMMAND };

struct job {
	char *bytes;
	size_t length;
	size_t sent;
};

/* What has come from the guest and is not dealt with yet, and how much of the present frame is still to come. */
struct answer {
	char bytes[2 * LINE_CHUNK];
	size_t length;
	size_t frame_left;
	int status; /* -1 until the guest has told it */
};

static void fail(const char *what)
{
	fprintf(stderr, "tactus: vm: %s: %s\n", what, strerror(errno));
	exit(EXIT_FAILURE);
}

static struct job job_make(char **texts, const char *command)
{
	const char *all[JOB_TEXTS];
	struct line_head head = { 0 };
	struct job job = { 0 };
	char *at;
	int i;

	for (i = 0; i < JOB_TEXTS; i++) {
		all[i] = i == JOB_COMMAND ? command : texts[i];
		head.length += (uint32_t)strlen(all[i]) + 1;
	}
	job.length = sizeof(head) + head.length;
	job.bytes = malloc(job.length);
	if (!job.bytes)
		fail("no memory");
	memcpy(job.bytes, &head, sizeof(head));
	at = job.bytes + sizeof(head);
	for (i = 0; i < JOB_TEXTS; i++)
		at = stpcpy(at, all[i]) + 1;
	return job;
}

/* QEMU must not outlive this process, however this process ends: a guest without a reader would spin for ever. */
static pid_t qemu_start(char **words, int line, int other_end)
{
	pid_t parent = getpid();
	pid_t pid = fork();

	if (pid != 0)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(EXIT_FAILURE);
	close(other_end);
	if (line != QEMU_LINE_FD) {
		dup2(line, QEMU_LINE_FD);
		close(line);
	}
	dup2(STDERR_FILENO, STDOUT_FILENO);
	execvp(words[0], words);
	fail(words[0]);
	return -1;
}

static int ms_until(const struct timespec *end)
{
	struct timespec now;
	long long left;

	clock_gettime(CLOCK_MONOTONIC, &now);
	left = (end->tv_sec - now.tv_sec) * 1000LL + (end->tv_nsec - now.tv_nsec) / 1000000;
	return left > 0 ? (int)left : 0;
}

/* The job waits in the socket until the guest has opened its port; a long command does not fit at once. */
static void job_send(struct job *job, int line)
{
	ssize_t sent = send(line, job->bytes + job->sent, job->length - job->sent, MSG_DONTWAIT | MSG_NOSIGNAL);

	if (sent > 0)
		job->sent += (size_t)sent;
}

static void answer_drop(struct answer *answer, size_t length)
{
	answer->length -= length;
	memmove(answer->bytes, answer->bytes + length, answer->length);
}

static void answer_pass_on(struct answer *answer)
{
	size_t length = answer->frame_left < answer->length ? answer->frame_left : answer->length;

	if (line_write(STDOUT_FILENO, answer->bytes, length) < 0)
		fail("cannot write the output");
	answer->frame_left -= length;
	answer_drop(answer, length);
}

static void answer_take(struct answer *answer)
{
	struct line_head head;

	while (answer->status < 0) {
		if (answer->frame_left > 0 && answer->length > 0) {
			answer_pass_on(answer);
			continue;
		}
		if (answer->length < sizeof(head))
			return;
		memcpy(&head, answer->bytes, sizeof(head));
		if (head.length == 0 && answer->length == sizeof(head))
			return;
		answer_drop(answer, sizeof(head));
		answer->frame_left = head.length;
		if (head.length == 0)
			answer->status = (unsigned char)answer->bytes[0];
	}
}

/* Returns the word for run.sh: how the guest ended. */
static const char *attend(struct answer *answer, struct job *job, int line, int limit_s)
{
	struct pollfd wait = { .fd = line };
	struct timespec end;
	ssize_t got;

	clock_gettime(CLOCK_MONOTONIC, &end);
	end.tv_sec += limit_s;
	while (answer->status < 0) {
		wait.events = job->sent < job->length ? POLLIN | POLLOUT : POLLIN;
		if (poll(&wait, 1, ms_until(&end)) < 0 && errno != EINTR)
			fail("poll");
		if (ms_until(&end) == 0)
			return "limit";
		if (wait.revents & POLLOUT)
			job_send(job, line);
		if (!(wait.revents & (POLLIN | POLLHUP | POLLERR)))
			continue;
		got = read(line, answer->bytes + answer->length, sizeof(answer->bytes) - answer->length);
		if (got <= 0)
			return "lost";
		answer->length += (size_t)got;
		answer_take(answer);
	}
	return "status";
}

static void note_outcome(const char *path, const char *word, int status)
{
	FILE *file = fopen(path, "w");

	if (!file || fprintf(file, "%s %d\n", word, status) < 0 || fclose(file) != 0)
		fail(path);
}

int main(int count, char **words)
{
	static struct answer answer = { .status = -1 };
	const char *command = getenv("CMD");
	const char *word;
	struct job job;
	int ends[2];
	pid_t qemu;

	if (count <= ARG_QEMU || !command) {
		fprintf(stderr, "tactus: attend: is called by vm/run.sh\n");
		return EXIT_FAILURE;
	}
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	job = job_make(&words[ARG_JOB], command);
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) < 0)
		fail("socketpair");
	qemu = qemu_start(&words[ARG_QEMU], ends[1], ends[0]);
	if (qemu < 0)
		fail("fork");
	close(ends[1]);
	word = attend(&answer, &job, ends[0], atoi(words[ARG_LIMIT]));
	kill(qemu, SIGKILL);
	waitpid(qemu, NULL, 0);
	note_outcome(words[ARG_OUTCOME], word, answer.status);
	free(job.bytes);
	return EXIT_SUCCESS;
}
