/* SPDX-License-Identifier: GPL-2.0 */
/* What can be asked of an ELF file, and reading the answer out of it, in the process that calls. The program itself has
 * that done in another (elf_apart.h); tests and fuzzing call it here. */
#ifndef TACTUS_BASE_ELF_READ_H
#define TACTUS_BASE_ELF_READ_H

#include "elf.h"

enum elf_what {
	ELF_SYMBOLS,	 /* functions whose name fits the first pattern */
	ELF_NEEDS,	 /* whether it needs a library whose name does */
	ELF_EXPORTS_ANY, /* whether it exports a function whose name fits one of the patterns */
	ELF_BEGINS,	 /* whether a function begins at the offset */
	ELF_COVERS,	 /* the functions that the offsets lie in, exported or not */
};

enum { ELF_OFFSETS = 64, ELF_PATTERNS = 8, ELF_PATTERN_SIZE = 64, ELF_NAME_MAX = 255 };

struct elf_question {
	u64 file_bytes; /* how long the file is */
	u64 offset;
	u32 what;
	u32 offsets_len;
	u64 offsets[ELF_OFFSETS];
	char patterns[ELF_PATTERNS][ELF_PATTERN_SIZE]; /* up to the first that is empty */
};

typedef int (*elf_take)(void *data, const struct elf_symbol *symbol);

/* Returns how many functions were taken, for the other questions 0 for yes, or -errno with a reason: -ENOENT it is not
 * so, -ENOEXEC it is no library that can be read. */
int elf_read(int fd, const struct elf_question *question, elf_take take, void *data, struct reason *why);

/* Whether one of the offsets lies in the function. */
bool elf_covers_any(const struct elf_question *question, const struct elf_symbol *symbol);

/* A pattern without wildcards is a name. */
bool elf_name_fits(const char *pattern, const char *name);

#endif
