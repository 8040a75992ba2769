// SPDX-License-Identifier: GPL-2.0
/* Opens the file, has it read in a process apart, and takes only an answer that can be. */
#include "elf.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "elf_answer.h"
#include "elf_apart.h"
#include "regular.h"

static u64 unanswered;

static int open_file(const char *path, struct elf_question *question, struct reason *why)
{
	struct stat seen;
	int fd = regular_open(path, &seen);

	if (fd == -EINVAL) {
		reason_set(why, "it is no file");
		return -ENOEXEC;
	}
	if (fd < 0)
		reason_set(why, "it can't be read: %s", strerror(-fd));
	else
		question->file_bytes = (u64)seen.st_size;
	return fd;
}

static int ask_open(int fd, const struct elf_question *question, elf_take take, void *data, struct reason *why)
{
	void *answer;
	size_t len;
	int result = elf_apart_ask(fd, question, &answer, &len, why);

	if (!result)
		result = elf_take_answer(answer, len, question, take, data, why);
	free(answer);
	unanswered += result < 0 && result != -ENOENT && result != -ENOEXEC && result != -E2BIG;
	return result;
}

static int ask(const char *path, struct elf_question *question, elf_take take, void *data, struct reason *why)
{
	int fd = open_file(path, question, why), result;

	if (fd < 0)
		return fd;
	result = ask_open(fd, question, take, data, why);
	close(fd);
	return result;
}

u64 elf_unanswered(void)
{
	return unanswered;
}

/* False: it is longer than any that is asked for. */
static bool add_pattern(struct elf_question *question, u32 number, const char *pattern)
{
	return number < ELF_PATTERNS &&
	       (size_t)snprintf(question->patterns[number], ELF_PATTERN_SIZE, "%s", pattern) < ELF_PATTERN_SIZE;
}

int elf_symbols(const char *path, const char *pattern, int (*take)(void *data, const struct elf_symbol *symbol),
		void *data, struct reason *why)
{
	struct elf_question question = { .what = ELF_SYMBOLS };

	if (add_pattern(&question, 0, pattern))
		return ask(path, &question, take, data, why);
	reason_set(why, "such a name is too long");
	return -EINVAL;
}

bool elf_needs(const char *path, const char *pattern)
{
	struct elf_question question = { .what = ELF_NEEDS };
	struct reason why;

	return add_pattern(&question, 0, pattern) && !ask(path, &question, NULL, NULL, &why);
}

static int take_first(void *data, const struct elf_symbol *symbol)
{
	struct elf_symbol *first = data;

	*first = *symbol;
	return 1;
}

int elf_symbol(const char *path, const char *name, u64 *offset, struct reason *why)
{
	struct elf_symbol found = { 0 };
	int taken = elf_symbols(path, name, take_first, &found, why);

	if (taken < 0)
		return taken;
	if (found.bits != 64) {
		reason_set(why, "it is a %u-bit library", found.bits);
		return -ENOTSUP;
	}
	*offset = found.offset;
	return 0;
}

int elf_begins_function(const char *path, u64 offset, struct reason *why)
{
	struct elf_question question = { .what = ELF_BEGINS, .offset = offset };

	return ask(path, &question, NULL, NULL, why);
}

int elf_functions_at(int fd, u64 file_bytes, const u64 *offsets, u32 len, elf_take take, void *data, struct reason *why)
{
	struct elf_question question = { .what = ELF_COVERS, .file_bytes = file_bytes };

	question.offsets_len = len < ELF_OFFSETS ? len : ELF_OFFSETS;
	memcpy(question.offsets, offsets, question.offsets_len * sizeof(*offsets));
	return ask_open(fd, &question, take, data, why);
}

bool elf_exports_any(const char *path, const char *const *patterns)
{
	struct elf_question question = { .what = ELF_EXPORTS_ANY };
	struct reason why;

	for (u32 i = 0; patterns[i]; i++)
		if (!add_pattern(&question, i, patterns[i]))
			return false;
	return !ask(path, &question, NULL, NULL, &why);
}
