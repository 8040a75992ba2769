// SPDX-License-Identifier: GPL-2.0
/* Which threads sleep until an input device sends something: those of processes that have it open, by the system call
 * each sleeps in. Asked only after the device has sent something. */
#include "input.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <unistd.h>

#include "../base/open_files.h"
#include "../base/system.h"

enum {
	FDS_MAX = 16,	  /* of one device in one process */
	POLLED_MAX = 256, /* descriptors in one poll or select that are looked at */
	EPOLL_DEPTH = 3,  /* sets within sets */
	EPOLL_TEXT_SIZE = 16 << 10,
};

/* A process that has the device open. */
struct holder {
	u32 pid;
	int proc_fd; /* its folder in /proc */
	int fds[FDS_MAX];
	u32 fds_len;
};

static bool holds(const struct holder *holder, int fd)
{
	for (u32 i = 0; i < holder->fds_len; i++)
		if (holder->fds[i] == fd)
			return true;
	return false;
}

/* The number that a name consists of; -1: it is something else. */
static int number_of(const char *name)
{
	char *end;
	long number = strtol(name, &end, 10);

	return end == name || *end || number < 0 || number > 1 << 30 ? -1 : (int)number;
}

struct search {
	struct holder *holder;
	u64 node;
};

static bool look_for_device(void *data, int folder_fd, const char *name)
{
	struct search *search = data;
	struct holder *holder = search->holder;
	struct statx info;
	char target[32];

	/* Only what looks like a device is asked for its number, whatever its name is there; and whoever serves the
	 * file, which may be a user's program, is not asked. */
	open_file_target(folder_fd, name, target, sizeof(target));
	if (target[0] == '/' && target[1] && !statx(folder_fd, name, AT_STATX_DONT_SYNC, STATX_TYPE, &info) &&
	    S_ISCHR(info.stx_mode) && makedev(info.stx_rdev_major, info.stx_rdev_minor) == search->node)
		holder->fds[holder->fds_len++] = number_of(name);
	return holder->fds_len < FDS_MAX;
}

/* Fills in the descriptors under which the process has the device. Returns whether there is one. */
static bool find_fds(struct holder *holder, u64 node, u64 *cut)
{
	struct search search = { holder, node };

	holder->fds_len = 0;
	*cut += open_files_each(holder->pid, look_for_device, &search) == -E2BIG;
	return holder->fds_len > 0;
}

static bool polls(const struct holder *holder, u64 address, u64 len)
{
	struct pollfd polled[POLLED_MAX];
	size_t count = len < POLLED_MAX ? (size_t)len : POLLED_MAX;
	struct iovec here = { polled, count * sizeof(polled[0]) };
	struct iovec there = { (void *)(uintptr_t)address, here.iov_len };
	ssize_t got = count ? process_vm_readv((pid_t)holder->pid, &here, 1, &there, 1, 0) : 0;

	for (size_t i = 0; got > 0 && i < (size_t)got / sizeof(polled[0]); i++)
		if ((polled[i].events & (POLLIN | POLLRDNORM)) && holds(holder, polled[i].fd))
			return true;
	return false;
}

static bool selects(const struct holder *holder, u64 len, u64 address)
{
	u64 set[POLLED_MAX / 64] = { 0 };
	struct iovec here = { set, sizeof(set) }, there = { (void *)(uintptr_t)address, sizeof(set) };

	if (!address)
		return false;
	/* A set has as many bytes as its descriptors need. */
	if (len < POLLED_MAX)
		here.iov_len = there.iov_len = (size_t)(len + 63) / 64 * 8;
	if (process_vm_readv((pid_t)holder->pid, &here, 1, &there, 1, 0) <= 0)
		return false;
	for (u32 i = 0; i < holder->fds_len; i++) {
		u64 fd = (u64)holder->fds[i];

		if (fd < len && fd < POLLED_MAX && (set[fd / 64] >> (fd % 64) & 1))
			return true;
	}
	return false;
}

/* Whether an epoll set watches one of the device's descriptors, by itself or through another set. */
static bool epoll_has(const struct holder *holder, int epoll_fd, int depth)
{
	char path[32], target[32], *text = malloc(EPOLL_TEXT_SIZE);
	const char *at = text;
	bool has = false;
	ssize_t got;
	int fd;

	snprintf(path, sizeof(path), "fdinfo/%d", epoll_fd);
	fd = text ? openat(holder->proc_fd, path, O_RDONLY | O_CLOEXEC) : -1;
	got = fd < 0 ? 0 : read(fd, text, EPOLL_TEXT_SIZE - 1);
	if (fd >= 0)
		close(fd);
	if (text)
		text[got > 0 ? got : 0] = '\0';
	while (!has && (fd = epoll_next_target(&at)) >= 0) {
		has = holds(holder, fd);
		if (has || depth >= EPOLL_DEPTH)
			continue;
		snprintf(path, sizeof(path), "fd/%d", fd);
		got = readlinkat(holder->proc_fd, path, target, sizeof(target) - 1);
		target[got > 0 ? got : 0] = '\0';
		if (!strcmp(target, "anon_inode:[eventpoll]"))
			has = epoll_has(holder, fd, depth + 1);
	}
	free(text);
	return has;
}

static bool thread_waits(const struct holder *holder, u32 tid)
{
	u64 args[WAIT_CALL_ARGS];
	char path[48], line[256];

	snprintf(path, sizeof(path), "task/%u/syscall", tid);
	if (read_line_at(holder->proc_fd, path, line, sizeof(line)))
		return false;
	switch (wait_call_parse(line, args)) {
	case WAIT_CALL_READ:
		return args[0] < 1 << 30 && holds(holder, (int)args[0]);
	case WAIT_CALL_POLL:
		return polls(holder, args[0], args[1]);
	case WAIT_CALL_SELECT:
		return selects(holder, args[0], args[1]);
	case WAIT_CALL_EPOLL:
		return args[0] < 1 << 30 && epoll_has(holder, (int)args[0], 0);
	default:
		return false;
	}
}

/* Opens a process's folder and finds the device in it. Returns false, with nothing left open, if it is not there. */
static bool holder_open(struct holder *holder, u32 pid, u64 node, u64 *cut)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/%u", pid);
	holder->pid = pid;
	holder->proc_fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (holder->proc_fd < 0)
		return false;
	if (find_fds(holder, node, cut))
		return true;
	close(holder->proc_fd);
	return false;
}

u32 find_holders(u64 node, u32 *pids, u32 max, u64 *cut)
{
	DIR *dir = opendir("/proc");
	const struct dirent *entry;
	struct holder holder;
	u32 len = 0;

	while (dir && (entry = readdir(dir))) {
		int pid = number_of(entry->d_name);

		if (pid <= 0 || pid == getpid() || !holder_open(&holder, (u32)pid, node, cut))
			continue;
		close(holder.proc_fd);
		if (len < max)
			pids[len] = (u32)pid;
		len++;
	}
	if (dir)
		closedir(dir);
	return len;
}

void find_waiters(u32 pid, u64 node, void (*waits)(void *data, u32 pid, u32 tid), void *data)
{
	struct holder holder;
	const struct dirent *entry;
	u64 cut = 0;
	int dir_fd;
	DIR *dir;

	if (!holder_open(&holder, pid, node, &cut))
		return;
	dir_fd = openat(holder.proc_fd, "task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	dir = dir_fd < 0 ? NULL : fdopendir(dir_fd);
	while (dir && (entry = readdir(dir))) {
		int tid = number_of(entry->d_name);

		if (tid > 0 && thread_waits(&holder, (u32)tid))
			waits(data, pid, (u32)tid);
	}
	if (dir)
		closedir(dir);
	else if (dir_fd >= 0)
		close(dir_fd);
	close(holder.proc_fd);
}
