// SPDX-License-Identifier: GPL-2.0
/* A process's sockets are duplicated into this one for a moment (pidfd_getfd) and asked for the other end.
 * That changes nothing for their owner; it takes the right to trace it. */
#include "peers.h"

#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "../base/open_files.h"

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77 /* Linux 6.5 */
#endif

enum {
	PEER_PATH = sizeof(((struct sockaddr_un *)0)->sun_path) + 1,
	SEARCHES_MAX = 8, /* for those who listen, for one process's sockets */
};

/* Fills in the address as text. False: it is none of a unix socket. */
static bool path_of(int fd, int (*name)(int fd, struct sockaddr *address, socklen_t *len), char path[PEER_PATH])
{
	struct sockaddr_un address = { 0 };
	socklen_t len = sizeof(address);
	size_t path_len;

	if (name(fd, (struct sockaddr *)&address, &len) || address.sun_family != AF_UNIX)
		return false;
	path_len = len > offsetof(struct sockaddr_un, sun_path) ? len - offsetof(struct sockaddr_un, sun_path) : 0;
	if (path_len > sizeof(address.sun_path))
		path_len = sizeof(address.sun_path);
	memcpy(path, address.sun_path, path_len);
	path[path_len] = '\0';
	if (path_len && !path[0])
		path[0] = '@';
	return true;
}

static bool is_socket(int folder_fd, const char *name)
{
	char target[16];

	open_file_target(folder_fd, name, target, sizeof(target));
	return !strncmp(target, "socket:", 7);
}

struct asking {
	int pid_fd;
	void (*take)(void *data, const struct peer *peer);
	void *data;
	int sockets, refused;
	u32 searches;
};

static bool ask(void *data, int folder_fd, const char *name)
{
	struct asking *asking = data;
	struct peer peer = { .searches = &asking->searches };
	char path[PEER_PATH];

	if (!is_socket(folder_fd, name))
		return true;
	peer.fd = (int)syscall(SYS_pidfd_getfd, asking->pid_fd, atoi(name), 0);
	if (peer.fd < 0) {
		/* One that was closed meanwhile is none. */
		asking->refused = errno == EBADF ? asking->refused : -errno;
		return true;
	}
	if (path_of(peer.fd, getpeername, path)) {
		peer.path = path;
		asking->take(asking->data, &peer);
		asking->sockets++;
	}
	close(peer.fd);
	return true;
}

int peers_of(u32 pid, void (*take)(void *data, const struct peer *peer), void *data, bool *is_cut, struct reason *why)
{
	struct asking asking = { .pid_fd = (int)syscall(SYS_pidfd_open, (pid_t)pid, 0), .take = take, .data = data };
	int result;

	if (asking.pid_fd < 0) {
		result = -errno;
		reason_set(why, "process %u: %s", pid, strerror(-result));
		return result;
	}
	result = open_files_each(pid, ask, &asking);
	*is_cut |= result == -E2BIG;
	if (!result || result == -E2BIG)
		result = asking.sockets ? asking.sockets : asking.refused;
	if (result < 0)
		reason_set(why, "process %u's sockets can't be looked at: %s", pid, strerror(-result));
	close(asking.pid_fd);
	return result;
}

struct search {
	int pid_fd;
	const char *path;
	bool found;
};

static bool look_for_listener(void *data, int folder_fd, const char *name)
{
	struct search *search = data;
	char path[PEER_PATH];
	int fd, listens = 0;
	socklen_t len = sizeof(listens);

	if (!is_socket(folder_fd, name))
		return true;
	fd = (int)syscall(SYS_pidfd_getfd, search->pid_fd, atoi(name), 0);
	if (fd < 0)
		return true;
	search->found = !getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &len) && listens &&
			path_of(fd, getsockname, path) && !strcmp(path, search->path);
	close(fd);
	return !search->found;
}

/* Before Linux 6.5 there is only the number that the process had: whoever has it now is believed to be the same if a
 * socket with that very address listens in it. */
static int listener_by_number(const struct peer *peer)
{
	struct search search = { .path = peer->path };
	socklen_t len = sizeof(struct ucred);
	struct ucred cred = { 0 };

	if (getsockopt(peer->fd, SOL_SOCKET, SO_PEERCRED, &cred, &len))
		return -ESRCH;
	/* None here, or the service manager, which does not end. */
	if (cred.pid <= 1)
		return cred.pid;
	if (!peer->path[0] || ++*peer->searches > SEARCHES_MAX)
		return -ESRCH;
	search.pid_fd = (int)syscall(SYS_pidfd_open, cred.pid, 0);
	if (search.pid_fd < 0)
		return -ESRCH;
	open_files_each((u32)cred.pid, look_for_listener, &search);
	close(search.pid_fd);
	return search.found ? cred.pid : -ESRCH;
}

/* The number that a pidfd's process has here: 0 in another namespace, -1 if it is gone. */
static int number_of(int pid_fd)
{
	char path[48], line[128];
	int pid = -1;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", pid_fd);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "Pid: %d", &pid) == 1)
			break;
	if (file)
		fclose(file);
	return pid;
}

int peer_process(const struct peer *peer)
{
	struct pollfd end = { .fd = -1, .events = POLLIN };
	socklen_t len = sizeof(end.fd);
	int pid;

	if (getsockopt(peer->fd, SOL_SOCKET, SO_PEERPIDFD, &end.fd, &len))
		return errno == ENOPROTOOPT ? listener_by_number(peer) : -ESRCH;
	pid = number_of(end.fd);
	/* Readable when it has ended. Asked last: until then the number was its own. */
	if (pid < 0 || poll(&end, 1, 0))
		pid = -ESRCH;
	close(end.fd);
	return pid;
}

u32 process_of(u32 tid)
{
	char path[32], line[128];
	u32 pid = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%u/status", tid);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "Tgid: %u", &pid) == 1)
			break;
	if (file)
		fclose(file);
	return pid;
}
