// SPDX-License-Identifier: GPL-2.0
/* Makes N ioctls of one number on a device and says what each took by the clock: what a hook on the driver's function
 * adds to that is its cost. Usage: ioctls DEVICE N. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <time.h>

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

int main(int argc, char **argv)
{
	long times = argc > 2 ? atol(argv[2]) : 0;
	int fd = argc > 1 ? open(argv[1], O_RDWR | O_CLOEXEC) : -1;
	char structure[64] = "";
	uint64_t before;

	if (fd < 0 || times < 1)
		return 2;
	before = now_ns();
	for (long i = 0; i < times; i++)
		ioctl(fd, 0xc040462a, structure);
	printf("ioctl_ns=%.1f\n", (double)(now_ns() - before) / (double)times);
	return 0;
}
