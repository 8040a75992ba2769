/* SPDX-License-Identifier: GPL-2.0 */
/* What can be read of another process only while the kernel has that process's memory lock: its command line, its
 * environment, its mappings. A user can keep the lock of a process of his own for as long as he likes, by pages that a
 * file system of his has to bring. So a process apart reads; who reads too long is left to wait, and another takes its
 * place. */
#ifndef TACTUS_BASE_PROC_APART_H
#define TACTUS_BASE_PROC_APART_H

#include <stddef.h>
#include <sys/types.h>

#include "say.h"
#include "../../core/types.h"

/* Starts the process that readers are forked from. While this one is small; else the first question does. Returns 0 or
 * -errno with a reason. */
int proc_apart_start(struct reason *why);

/* 0: there is none. For tests. */
pid_t proc_apart_process(void);

/* A process's file as it is being read. */
struct proc_file {
	int fd;	    /* what has been read comes here */
	int reader; /* who reads; -1: this process, since it is about itself */
	u32 pid;
	u64 waited_ns;
};

/* Opens /proc/PID/NAME. Returns 0 or -errno; -EBUSY: its user makes readers wait, and others' turn comes first. */
int proc_file_open(struct proc_file *file, u32 pid, const char *name);
/* Up to `size` bytes. Returns how many, 0 at the end, or -errno; -ETIMEDOUT: the process keeps its reader waiting. */
ssize_t proc_file_read(struct proc_file *file, void *into, size_t size);
/* Before the end, too. */
void proc_file_close(struct proc_file *file);

/* As much of it as there is room for. Returns how much or -errno. */
ssize_t proc_apart_read(u32 pid, const char *name, char *into, size_t size);

/* Finds /proc/PID/NAME without opening what it leads to (O_PATH). Returns a descriptor or -errno, as above. */
int proc_apart_find(u32 pid, const char *name);

/* CPU time of all readers so far. */
u64 proc_apart_cpu_ns(void);

/* How many times something of a process could not be had in time, or was not asked for since its user's others could
 * not. */
u64 proc_apart_unanswered(void);

#endif
