/* SPDX-License-Identifier: GPL-2.0 */
/* What /proc says of a process: its name, program, command line, environment. Each is read up to a limit, since a
 * process can make them as long as it likes, and any may be missing, since it may end at any time. */
#ifndef TACTUS_BASE_PROCESS_H
#define TACTUS_BASE_PROCESS_H

#include <stdbool.h>
#include <stddef.h>

#include "../../core/types.h"

enum { PROCESS_EXE_SIZE = 4096, PROCESS_WORDS_SIZE = 16 << 10, PROCESS_ENVIRON_SIZE = 64 << 10 };

struct process_texts {
	char comm[COMM_LEN * 2];
	char exe[PROCESS_EXE_SIZE]; /* empty for a thread of the kernel's */
	char words[PROCESS_WORDS_SIZE];
	size_t words_len;
	char environ[PROCESS_ENVIRON_SIZE];
	size_t environ_len;
};

/* Returns 0, or -errno if there is no such process, or its program is not known. */
int process_read(struct process_texts *texts, u32 pid);

/* The path of its program, cut if it is longer. Returns its length or -errno. */
int process_read_exe(u32 pid, char *exe, size_t size);

/* Calls `each` for every process that there is, in the order of their pids. Returns 0 or -errno. */
int processes_each(void (*each)(void *data, u32 pid), void *data);

#endif
