// SPDX-License-Identifier: GPL-2.0
/* Fuzzing what is taken from a process that read a library and may have been taken over by it: any bytes as an answer.
 * What is taken must be what was asked for, and what is refused has a reason. */
#include <stdlib.h>
#include <string.h>

#include "../../src/base/elf_answer.h"

enum { FILE_BYTES = 4096 };

static int take(void *data, const struct elf_symbol *symbol)
{
	++*(int *)data;
	if (symbol->offset >= FILE_BYTES || (symbol->bits != 32 && symbol->bits != 64) || !symbol->name[0] ||
	    strlen(symbol->name) > ELF_NAME_MAX)
		abort();
	return 0;
}

static int take_named(void *data, const struct elf_symbol *symbol)
{
	if (symbol->name[0] != 's')
		abort();
	return take(data, symbol);
}

static int take_covering(void *data, const struct elf_symbol *symbol)
{
	if (symbol->offset > 100)
		abort();
	return take(data, symbol);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	struct elf_question question = {
		.file_bytes = FILE_BYTES, .patterns = { "s*" }, .offsets_len = 2, .offsets = { 16, 100 }
	};

	for (question.what = ELF_SYMBOLS; question.what <= ELF_COVERS; question.what++) {
		struct reason why = { "" };
		int taken = 0,
		    result = elf_take_answer(data, size, &question,
					     question.what == ELF_COVERS ? take_covering : take_named, &taken, &why);

		if (result < 0 ? taken || !why.text[0] : result != taken)
			abort();
		for (const char *at = why.text; *at; at++)
			if (*at < ' ' || *at > '~')
				abort();
	}
	return 0;
}
