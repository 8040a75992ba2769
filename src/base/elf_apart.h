/* SPDX-License-Identifier: GPL-2.0 */
/* ELF files are read in a process apart, which has nothing but that file and a pipe, so that a file which gets the
 * better of the reader gets nothing else. */
#ifndef TACTUS_BASE_ELF_APART_H
#define TACTUS_BASE_ELF_APART_H

#include <stddef.h>
#include <sys/types.h>

#include "elf_read.h"

/* Starts the process that such processes are forked from: small, with one thread, and a user of its own, which it can
 * become only while this one has the capability for it. So call it before anything is loaded, opened or given up; else
 * the first question does. Returns 0 or -errno with a reason. */
int elf_apart_start(struct reason *why);

/* 0: there is none. For tests. */
pid_t elf_apart_process(void);

/* Has the question answered about an open file. Returns 0 and the answer, to be taken by elf_take_answer and freed, or
 * -errno with a reason. */
int elf_apart_ask(int fd, const struct elf_question *question, void **answer, size_t *len, struct reason *why);

#endif
