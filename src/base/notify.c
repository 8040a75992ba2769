// SPDX-License-Identifier: GPL-2.0
/* A datagram to the socket that the environment names: a path, or a name of no file, which begins with @.
 */
#include "notify.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static struct {
	int fd; /* 0: nobody is told */
	u64 every_ns, sent_ns;
} notify;

u64 notify_watchdog_ns(const char *usec, const char *pid, u32 own_pid)
{
	char *end;
	unsigned long long number;

	if (!usec || usec[0] < '0' || usec[0] > '9')
		return 0;
	errno = 0;
	number = strtoull(usec, &end, 10);
	if (errno || *end || number > ~0ULL / NSEC_PER_USEC)
		return 0;
	if (pid && strtoul(pid, NULL, 10) != own_pid)
		return 0;
	return (u64)number * NSEC_PER_USEC / 3;
}

static void find_out(void)
{
	const char *name = getenv("NOTIFY_SOCKET");
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	size_t len = name ? strlen(name) : 0;
	int fd;

	if (len < 2 || len >= sizeof(address.sun_path) || (name[0] != '/' && name[0] != '@'))
		return;
	memcpy(address.sun_path, name, len);
	if (name[0] == '@')
		address.sun_path[0] = '\0';
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return;
	if (connect(fd, (const struct sockaddr *)&address, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len))) {
		close(fd);
		return;
	}
	notify.fd = fd;
	notify.every_ns = notify_watchdog_ns(getenv("WATCHDOG_USEC"), getenv("WATCHDOG_PID"), (u32)getpid());
}

void notify_open(void)
{
	find_out();
	unsetenv("NOTIFY_SOCKET");
	unsetenv("WATCHDOG_USEC");
	unsetenv("WATCHDOG_PID");
}

bool notify_send(const char *state)
{
	return notify.fd > 0 && send(notify.fd, state, strlen(state), MSG_NOSIGNAL | MSG_DONTWAIT) >= 0;
}

void notify_status(bool is_ready, const char *words)
{
	char state[512];

	snprintf(state, sizeof(state), "%sSTATUS=%s", is_ready ? "READY=1\n" : "", words);
	notify_send(state);
}

void notify_alive(u64 now_ns)
{
	if (!notify.every_ns || now_ns - notify.sent_ns < notify.every_ns)
		return;
	if (notify_send("WATCHDOG=1"))
		notify.sent_ns = now_ns;
}
