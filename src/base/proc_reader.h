/* SPDX-License-Identifier: GPL-2.0 */
/* The processes that read for proc_apart.c, and what they are asked and answer. */
#ifndef TACTUS_BASE_PROC_READER_H
#define TACTUS_BASE_PROC_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "../../core/types.h"

enum { PROC_NAME_SIZE = 64 };

struct proc_question {
	u32 pid;
	bool only_find; /* the answer's descriptor is the file, found and not opened; else it is read into the
			   question's */
	char name[PROC_NAME_SIZE];
};

struct proc_answer {
	s32 error; /* 0 or -errno */
	pid_t reader;
	u64 waited_ns; /* for the kernel or the process, not for a CPU */
	u64 cpu_ns;
};

/* One message with at most one descriptor, -1: none. Sending and receiving return false if the other side is gone, and
 * when it would have to be waited for and `flags` say not to. */
bool proc_send(int fd, const void *bytes, size_t size, int sent_fd, int flags);
bool proc_receive(int fd, void *bytes, size_t size, int *received_fd, int flags);

/* For who has just been forked: forks a reader for each socket that comes, and ends with its parent. */
void proc_be_forker(int fd, pid_t asker) __attribute__((noreturn));

#endif
