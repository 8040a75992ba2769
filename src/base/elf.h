/* SPDX-License-Identifier: GPL-2.0 */
/* Where in a library's file its functions are, which is what a probe in user space is put on.
 * Files may be anything, cut, changed while they are read, or made to deceive: they get a reason, never trust, and are
 * read in a process apart (elf_apart.h). */
#ifndef TACTUS_BASE_ELF_H
#define TACTUS_BASE_ELF_H

#include <stdbool.h>

#include "../../core/types.h"
#include "say.h"

struct elf_symbol {
	const char *name; /* valid during the call */
	u64 offset;	  /* in the file */
	u64 address;	  /* in memory, from where the library is loaded */
	u64 bytes;	  /* 0: it does not say */
	u32 bits;	  /* 32 or 64: of the library */
};

/* Calls `take` for each function that a library exports and whose name matches the shell pattern, until it returns
 * other than 0; a name without wildcards is reported once. Returns how many it was called for, or -errno with a reason:
 * -ENOEXEC it is no library that can be read, -ENOENT it is one and has no such function. */
int elf_symbols(const char *path, const char *pattern, int (*take)(void *data, const struct elf_symbol *symbol),
		void *data, struct reason *why);

/* Whether a library needs another one, whose name matches the shell pattern, to be loaded with it. */
bool elf_needs(const char *path, const char *pattern);

/* One function of a 64-bit library, by its name. Returns 0 or -errno with a reason, -ENOTSUP for a 32-bit library. */
int elf_symbol(const char *path, const char *name, u64 *offset, struct reason *why);

/* Whether a function begins at this offset of the file, by its table of frames (.eh_frame_hdr) or its exported symbols.
 * Returns 0 or -errno with a reason. */
int elf_begins_function(const char *path, u64 offset, struct reason *why);

/* The functions that lie at these offsets of an open file, exported or not: calls `take` for those that are known, each
 * once, in any order. Returns how many, or -errno with a reason. */
int elf_functions_at(int fd, u64 file_bytes, const u64 *offsets, u32 len,
		     int (*take)(void *data, const struct elf_symbol *symbol), void *data, struct reason *why);

/* Whether a library exports a function whose name matches one of the patterns, which end with NULL. */
bool elf_exports_any(const char *path, const char *const *patterns);

/* How many questions got no answer, or one that cannot be: whoever was to read the file did not come to its end. */
u64 elf_unanswered(void);

#endif
