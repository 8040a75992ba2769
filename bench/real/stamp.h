/* SPDX-License-Identifier: GPL-2.0 */
/* What a measured program leaves behind: a record for each frame, step or answer, in the file that STAMPS_INTO names.
 */
#ifndef STAMP_H
#define STAMP_H

#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

struct stamp {
	int64_t end_ns; /* by CLOCK_MONOTONIC */
	int64_t took_ns;
};

static inline int64_t stamp_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000LL + now.tv_nsec;
}

/* One small write a record, so that all but the last is there whatever becomes of the program. */
static inline void stamp_write(int64_t end_ns, int64_t took_ns)
{
	static int fd = -1;
	struct stamp stamp = { end_ns, took_ns };

	if (fd < 0) {
		const char *into = getenv("STAMPS_INTO");

		fd = into ? open(into, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644) : -1;
	}
	if (fd >= 0 && write(fd, &stamp, sizeof(stamp)) != sizeof(stamp))
		_exit(1);
}

/* From the last end of the same kind to this one. */
static inline void stamp_interval(void)
{
	static int64_t last_ns;
	int64_t now_ns = stamp_now_ns();

	if (last_ns)
		stamp_write(now_ns, now_ns - last_ns);
	last_ns = now_ns;
}

static inline void stamp_sleep_until(int64_t due_ns)
{
	struct timespec due = { due_ns / 1000000000, due_ns % 1000000000 };

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL))
		;
}

#endif
