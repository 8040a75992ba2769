/* SPDX-License-Identifier: GPL-2.0 */
/* How one process tells another what it read in an ELF file. Who wrote it may have been taken over by the file: every
 * number and byte is checked again by who takes it. */
#ifndef TACTUS_BASE_ELF_ANSWER_H
#define TACTUS_BASE_ELF_ANSWER_H

#include <stddef.h>

#include "elf_read.h"

/* More than the 16384 functions that a libcuda may have take at most. */
enum { ELF_ANSWER_MAX = 2 << 20 };

/* One for each function, its name behind it; and one at the end, with the reason behind it. */
struct elf_record {
	u64 offset, address, bytes;
	u32 bits;     /* 0: it is the last */
	s32 result;   /* in the last: what elf_read returned */
	u32 text_len; /* of what is behind it, without a NUL */
	u32 unused;
};

/* Reads the answer out of the file, as elf_read does, and writes it. A name without wildcards is reported once. */
void elf_write_answer(int file_fd, const struct elf_question *question, int to_fd);

/* Checks a whole answer, and then calls `take` as elf_read does. Returns what elf_read returned there, -E2BIG with a
 * reason if there were too many functions, or -EBADMSG if something in it cannot be. */
int elf_take_answer(const void *answer, size_t len, const struct elf_question *question, elf_take take, void *data,
		    struct reason *why);

#endif
