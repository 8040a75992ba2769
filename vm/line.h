/* SPDX-License-Identifier: GPL-2.0 */
/* The line between the host (attend.c) and the guest (init.c): a virtio serial port, the same bytes in the same order.
 * Output and exit status share it, so the status can't overtake output that a slow reader has not taken yet. */
#ifndef TACTUS_VM_LINE_H
#define TACTUS_VM_LINE_H

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#define LINE_PORT "/dev/vport0p1"

/* To the guest: a frame of these texts, each ended by a zero byte. */
enum job_text {
	JOB_DIRECTORY, /* where the command runs */
	JOB_CACHE,     /* a second folder that must stay visible */
	JOB_KERNEL,    /* the name that the user chose it by */
	JOB_IMAGE,     /* the folder with the kernel's modules and its config */
	JOB_COMMAND,
	JOB_TEXTS
};

/* To the host: frames of output; then one of length 0, followed by the status as one byte. */
struct line_head {
	uint32_t length;
};

/* A port takes at most 32 KiB at a time. */
#define LINE_CHUNK (32 * 1024)

static inline int line_write(int fd, const void *from, size_t length)
{
	const char *at = from;
	ssize_t written;

	while (length > 0) {
		written = write(fd, at, length);
		if (written < 0 && errno == EINTR)
			continue;
		if (written < 0)
			return -1;
		at += written;
		length -= (size_t)written;
	}
	return 0;
}

#endif
