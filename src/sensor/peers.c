// SPDX-License-Identifier: GPL-2.0
/* A process's sockets are duplicated into this one for a moment (pidfd_getfd) and asked for the other end.
 * That changes nothing for their owner; it takes the right to trace it. */
#include "peers.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

enum { PEER_PATH = sizeof(((struct sockaddr_un *)0)->sun_path) + 1 };

/* Fills in the other end of a connected unix socket. False: it is not one. */
static bool peer_of(int socket_fd, struct peer *peer, char path[PEER_PATH])
{
	struct sockaddr_un address = { 0 };
	socklen_t len = sizeof(address), cred_len = sizeof(struct ucred);
	struct ucred cred = { 0 };
	size_t path_len;

	if (getpeername(socket_fd, (struct sockaddr *)&address, &len) || address.sun_family != AF_UNIX)
		return false;
	path_len = len > offsetof(struct sockaddr_un, sun_path) ? len - offsetof(struct sockaddr_un, sun_path) : 0;
	if (path_len > sizeof(address.sun_path))
		path_len = sizeof(address.sun_path);
	memcpy(path, address.sun_path, path_len);
	path[path_len] = '\0';
	if (path_len && !path[0])
		path[0] = '@';
	if (!getsockopt(socket_fd, SOL_SOCKET, SO_PEERCRED, &cred, &cred_len) && cred.pid > 0)
		peer->pid = (u32)cred.pid;
	peer->path = path;
	return true;
}

static bool is_socket(int dir_fd, const char *name)
{
	char target[16];
	ssize_t len = readlinkat(dir_fd, name, target, sizeof(target));

	return len > 7 && !strncmp(target, "socket:", 7);
}

static int ask_all(DIR *fds, int pid_fd, void (*take)(void *data, const struct peer *peer), void *data)
{
	char path[PEER_PATH];
	struct dirent *entry;
	int sockets = 0, refused = 0;

	while ((entry = readdir(fds))) {
		struct peer peer = { 0 };
		int fd;

		if (!isdigit((unsigned char)entry->d_name[0]) || !is_socket(dirfd(fds), entry->d_name))
			continue;
		fd = (int)syscall(SYS_pidfd_getfd, pid_fd, atoi(entry->d_name), 0);
		if (fd < 0) {
			/* One that was closed meanwhile is none. */
			refused = errno == EBADF ? refused : -errno;
			continue;
		}
		if (peer_of(fd, &peer, path)) {
			take(data, &peer);
			sockets++;
		}
		close(fd);
	}
	return sockets ? sockets : refused;
}

int peers_of(u32 pid, void (*take)(void *data, const struct peer *peer), void *data, struct reason *why)
{
	int pid_fd = (int)syscall(SYS_pidfd_open, (pid_t)pid, 0), result;
	char path[32];
	DIR *fds;

	if (pid_fd < 0) {
		result = -errno;
		reason_set(why, "process %u: %s", pid, strerror(-result));
		return result;
	}
	snprintf(path, sizeof(path), "/proc/%u/fd", pid);
	fds = opendir(path);
	result = fds ? ask_all(fds, pid_fd, take, data) : -errno;
	if (result < 0)
		reason_set(why, "process %u's sockets can't be looked at: %s", pid, strerror(-result));
	if (fds)
		closedir(fds);
	close(pid_fd);
	return result;
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
