// SPDX-License-Identifier: GPL-2.0
/* Has kernel threads do work for it, by ioctls: N times it fills a terminal until the kernel's worker stops for want of
 * room, then flushes what is there, by which the worker is queued again, inside the ioctl. What it writes queues the
 * worker too, outside any ioctl. Usage: tty_work N. */
#include <pty.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

enum { ROOM = 4095, WRITTEN = 6000, SETTLE_US = 50000, PATIENCE = 2000 };

static int waiting_bytes(int fd)
{
	int bytes = 0;

	return ioctl(fd, FIONREAD, &bytes) ? -1 : bytes;
}

/* Until so many bytes are there, or two seconds have passed. */
static int wait_for(int fd, int least)
{
	for (int i = 0; i < PATIENCE; i++) {
		if (waiting_bytes(fd) >= least)
			return 1;
		usleep(1000);
	}
	return 0;
}

int main(int argc, char **argv)
{
	static char filling[WRITTEN];
	int times = argc > 1 ? atoi(argv[1]) : 0, master, slave;
	struct termios raw;

	if (times < 1 || openpty(&master, &slave, NULL, NULL, NULL))
		return 2;
	tcgetattr(slave, &raw);
	cfmakeraw(&raw);
	tcsetattr(slave, TCSANOW, &raw);
	for (int i = 0; i < times; i++) {
		if (write(master, filling, sizeof(filling)) != (ssize_t)sizeof(filling) || !wait_for(slave, ROOM))
			return 1;
		/* It has to find that there is no room. */
		usleep(SETTLE_US);
		if (ioctl(slave, TCFLSH, TCIFLUSH))
			return 1;
		usleep(SETTLE_US);
	}
	printf("pid=%d\n", getpid());
	return 0;
}
