// SPDX-License-Identifier: GPL-2.0
/* One reader is enough as long as processes let themselves be read. One that is kept waiting is left to it, charged to
 * the process's user, and taken back when it has come to its end after all. */
#include "proc_apart.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "allowance.h"
#include "loop.h"
#include "owner.h"
#include "proc_reader.h"

enum { READERS = 16, USERS_READERS = 12, HUNG_EACH = 2 };
/* What is read comes at once. On a busy machine a reader may have to wait for a CPU first: that is not held against the
 * process, but not waited for without end either. */
enum { SOON_MS = 2, PATIENCE_MS = 500, PATIENCE_IF_BUSY_MS = 3000, LOOK_MS = 20 };
enum { BURST_NS = 400 * NSEC_PER_MSEC, PAYS_PARTS = 20 };
/* Of processes that have ended: all of them together are one. */
#define UNKNOWN_USER 0xfffffffeu

enum reader_state { NO_READER, IDLE, ASKED, HUNG };

struct reader {
	enum reader_state state;
	int fd;
	pid_t pid;
	bool is_charged; /* while it is HUNG, to this user */
	u32 user;
};

static int forker_fd = -1;
static pid_t forker;
static struct reader readers[READERS];
static u64 cpu_ns, unanswered;
/* Readers that hang, and time that was spent waiting. */
static struct allowance allowance = { .held_each = HUNG_EACH,
				      .held_users = USERS_READERS,
				      .held_all = READERS,
				      .burst_ns = BURST_NS,
				      .pays_parts = PAYS_PARTS };

int proc_apart_start(struct reason *why)
{
	pid_t self = getpid();
	int fds[2];

	if (forker)
		return 0;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds)) {
		reason_set(why, "no process can be made that reads /proc: %s", strerror(errno));
		return -errno;
	}
	forker = fork();
	if (!forker)
		proc_be_forker(fds[1], self);
	close(fds[1]);
	if (forker > 0) {
		forker_fd = fds[0];
		return 0;
	}
	forker = 0;
	reason_set(why, "no process can be made that reads /proc: %s", strerror(errno));
	close(fds[0]);
	return -EAGAIN;
}

pid_t proc_apart_process(void)
{
	return forker;
}

u64 proc_apart_cpu_ns(void)
{
	return cpu_ns;
}

u64 proc_apart_unanswered(void)
{
	return unanswered;
}

static bool is_waiting_for_cpu(pid_t pid)
{
	char path[32], text[256] = "";
	const char *end;
	ssize_t got;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	got = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[got > 0 ? got : 0] = '\0';
	end = strrchr(text, ')');
	return end && end[1] == ' ' && end[2] == 'R';
}

static u32 user_of(u32 pid)
{
	u32 user;

	return process_charged_to(pid, &user) ? UNKNOWN_USER : user;
}

static void reader_gone(struct reader *reader)
{
	close(reader->fd);
	*reader = (struct reader){ .state = NO_READER, .fd = -1 };
}

/* Waits until there is something to read, as long as that may take. *waited_ns grows by the time in which the reader
 * was seen to wait for other than a CPU. False: it hangs. */
static bool wait_until_readable(const struct reader *reader, int fd, u64 *waited_ns)
{
	struct pollfd ready = { .fd = fd, .events = POLLIN };
	u64 began_ns = clock_now_ns(), looked_ns = began_ns;
	int got = poll(&ready, 1, SOON_MS);

	while (got <= 0) {
		u64 now_ns;

		got = poll(&ready, 1, LOOK_MS);
		now_ns = clock_now_ns();
		/* Who looks may have waited for a CPU as well: a look counts for two at most. */
		if (!is_waiting_for_cpu(reader->pid))
			*waited_ns += now_ns - looked_ns < 2 * LOOK_MS * (u64)NSEC_PER_MSEC
					      ? now_ns - looked_ns
					      : 2 * LOOK_MS * (u64)NSEC_PER_MSEC;
		looked_ns = now_ns;
		if (got <= 0 && (*waited_ns > PATIENCE_MS * (u64)NSEC_PER_MSEC ||
				 now_ns - began_ns > PATIENCE_IF_BUSY_MS * (u64)NSEC_PER_MSEC))
			return false;
	}
	return true;
}

static void hang(struct reader *reader, u32 pid, u64 waited_ns)
{
	reader->user = user_of(pid);
	reader->state = HUNG;
	reader->is_charged = allowance_hold(&allowance, reader->user);
	allowance_worked(&allowance, reader->user, clock_now_ns(), waited_ns);
	unanswered++;
}

/* Those that have come to their end. */
static void take_back(void)
{
	for (u32 i = 0; i < READERS; i++) {
		struct reader *reader = &readers[i];
		bool charged = reader->is_charged;
		struct proc_answer answer;
		u32 user = reader->user;
		int found;

		if (reader->state != HUNG)
			continue;
		if (proc_receive(reader->fd, &answer, sizeof(answer), &found, MSG_DONTWAIT))
			reader->state = IDLE;
		else if (errno != EAGAIN)
			reader_gone(reader);
		else
			continue;
		if (found >= 0)
			close(found);
		if (charged)
			allowance_release(&allowance, user);
	}
}

/* Whether the process may be read now: its user's do not keep others from being read. */
static bool may_ask(u32 pid)
{
	u32 uid;

	take_back();
	/* Nobody ever kept one waiting, as on most machines. Who has ended keeps none. */
	if ((!allowance.users_len && !allowance.all_held) || process_charged_to(pid, &uid))
		return true;
	for (u32 i = 0; uid && i < allowance.users_len; i++)
		if (allowance.users[i].uid == uid && allowance.users[i].held >= HUNG_EACH)
			return false;
	return allowance_may_work(&allowance, uid, clock_now_ns());
}

static int start_reader(struct reader *reader)
{
	struct proc_answer hello = { 0 };
	struct reason why;
	int fds[2], unused, error = proc_apart_start(&why);
	u64 waited_ns = 0;

	if (error)
		return error;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds))
		return -errno;
	error = proc_send(forker_fd, "", 1, fds[1], MSG_DONTWAIT) ? 0 : -EAGAIN;
	close(fds[1]);
	*reader = (struct reader){ .state = IDLE, .fd = fds[0], .pid = forker };
	/* A forker waits for nobody. */
	if (!error && (!wait_until_readable(reader, fds[0], &waited_ns) ||
		       !proc_receive(fds[0], &hello, sizeof(hello), &unused, MSG_DONTWAIT)))
		error = -EAGAIN;
	reader->pid = hello.reader;
	if (error)
		reader_gone(reader);
	return error;
}

/* An idle one, or one more. Returns its number or -errno. */
static int choose_reader(void)
{
	int none = -1, error;

	for (int i = 0; i < READERS; i++) {
		if (readers[i].state == IDLE)
			return i;
		if (readers[i].state == NO_READER && none < 0)
			none = i;
	}
	if (none < 0)
		return -EBUSY;
	error = start_reader(&readers[none]);
	return error ? error : none;
}

/* Returns the reader's number or -errno. */
static int ask(u32 pid, const char *name, bool only_find, int into)
{
	struct proc_question question = { .pid = pid, .only_find = only_find };
	int number = may_ask(pid) ? choose_reader() : -EBUSY;

	snprintf(question.name, sizeof(question.name), "%s", name);
	/* One that was killed is noticed when it is asked: then another is. */
	for (int tries = 0; number >= 0 && tries < 2; tries++) {
		if (proc_send(readers[number].fd, &question, sizeof(question), into, MSG_DONTWAIT)) {
			readers[number].state = ASKED;
			return number;
		}
		reader_gone(&readers[number]);
		number = choose_reader();
	}
	unanswered++;
	return number < 0 ? number : -ECHILD;
}

/* The answer itself, which comes last. Returns what the reader says, or -errno. */
static int take_answer(struct reader *reader, u32 pid, u64 *waited_ns, int *found)
{
	struct proc_answer answer;

	*found = -1;
	if (!wait_until_readable(reader, reader->fd, waited_ns)) {
		hang(reader, pid, *waited_ns);
		return -ETIMEDOUT;
	}
	if (!proc_receive(reader->fd, &answer, sizeof(answer), found, MSG_DONTWAIT)) {
		reader_gone(reader);
		unanswered++;
		return -ECHILD;
	}
	reader->state = IDLE;
	cpu_ns += answer.cpu_ns;
	if (answer.waited_ns > SOON_MS * (u64)NSEC_PER_MSEC)
		allowance_worked(&allowance, user_of(pid), clock_now_ns(), answer.waited_ns);
	return answer.error;
}

int proc_file_open(struct proc_file *file, u32 pid, const char *name)
{
	char path[PROC_NAME_SIZE + 24];
	int pipe_fds[2];

	*file = (struct proc_file){ .fd = -1, .reader = -1, .pid = pid };
	if (pid == (u32)getpid()) {
		snprintf(path, sizeof(path), "/proc/%u/%s", pid, name);
		file->fd = open(path, O_RDONLY | O_CLOEXEC);
		return file->fd < 0 ? -errno : 0;
	}
	if (pipe2(pipe_fds, O_CLOEXEC))
		return -errno;
	file->reader = ask(pid, name, false, pipe_fds[1]);
	file->fd = pipe_fds[0];
	close(pipe_fds[1]);
	if (file->reader >= 0)
		return 0;
	close(pipe_fds[0]);
	return file->reader;
}

ssize_t proc_file_read(struct proc_file *file, void *into, size_t size)
{
	struct reader *reader = file->reader >= 0 ? &readers[file->reader] : NULL;
	ssize_t got;
	int found, error;

	/* It has said all it could. */
	if (file->fd < 0)
		return 0;
	if (reader && !wait_until_readable(reader, file->fd, &file->waited_ns)) {
		hang(reader, file->pid, file->waited_ns);
		file->reader = -1;
		close(file->fd);
		file->fd = -1;
		return -ETIMEDOUT;
	}
	got = read(file->fd, into, size);
	if (got || !reader)
		return got < 0 ? -errno : got;
	close(file->fd);
	file->fd = -1;
	file->reader = -1;
	error = take_answer(reader, file->pid, &file->waited_ns, &found);
	return error < 0 ? error : 0;
}

void proc_file_close(struct proc_file *file)
{
	int found;

	if (file->fd >= 0)
		close(file->fd);
	file->fd = -1;
	if (file->reader >= 0)
		take_answer(&readers[file->reader], file->pid, &file->waited_ns, &found);
	file->reader = -1;
}

ssize_t proc_apart_read(u32 pid, const char *name, char *into, size_t size)
{
	struct proc_file file;
	ssize_t got = 1, len = 0;
	int error = proc_file_open(&file, pid, name);

	if (error)
		return error;
	while (got > 0 && (size_t)len < size) {
		got = proc_file_read(&file, into + len, size - (size_t)len);
		len += got > 0 ? got : 0;
	}
	proc_file_close(&file);
	return got < 0 ? got : len;
}

int proc_apart_find(u32 pid, const char *name)
{
	int number, found, error;
	u64 waited_ns = 0;

	number = ask(pid, name, true, -1);
	if (number < 0)
		return number;
	error = take_answer(&readers[number], pid, &waited_ns, &found);
	return error < 0 ? error : found >= 0 ? found : -ENOENT;
}
