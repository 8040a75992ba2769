// SPDX-License-Identifier: GPL-2.0
/* Has a kernel thread work for it, by ioctls: N times it adds a loop device and removes it, for which the kernel's
 * kdevtmpfs is woken to make the node and to remove it. Usage: loop_nodes N. Prints its pid and how many ioctls
 * succeeded. */
#include <fcntl.h>
#include <linux/loop.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { FIRST = 1000, RANGE = 100000 };

int main(int argc, char **argv)
{
	int times = argc > 1 ? atoi(argv[1]) : 0, fd = open("/dev/loop-control", O_RDWR | O_CLOEXEC), done = 0;

	if (times < 1 || fd < 0)
		return 2;
	for (int i = 0; i < times; i++) {
		long number = FIRST + getpid() % RANGE;

		if (ioctl(fd, LOOP_CTL_ADD, number) < 0)
			continue;
		done++;
		usleep(2000);
		while (ioctl(fd, LOOP_CTL_REMOVE, number) < 0)
			usleep(10000);
		done++;
	}
	printf("pid=%d\ndone=%d\n", getpid(), done);
	return 0;
}
