// SPDX-License-Identifier: GPL-2.0
/* Fuzzing the reader of libraries' symbols: any bytes as a file. What it finds must lie in the file; what it refuses
 * has a reason. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../../src/base/elf_read.h"
#include "../../src/model/wine_code.h"

static size_t file_bytes;

static int take(void *data, const struct elf_symbol *symbol)
{
	*(size_t *)data += strlen(symbol->name);
	if (symbol->offset >= file_bytes || (symbol->bits != 32 && symbol->bits != 64))
		abort();
	return 0;
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	static int fd = -1;
	struct reason why = { "" };
	struct elf_question question = { .file_bytes = size, .what = ELF_NEEDS, .patterns = { "lib?*" } };
	const u64 places[] = { 8, 16, size / 2, size, size ? data[size - 1] : ~0ULL };
	size_t sum = 0;

	if (wine_convention_of_code(data, (u32)(size < WINE_CODE_BYTES ? size : WINE_CODE_BYTES)) >= WINE_CONVENTIONS)
		abort();

	if (fd < 0)
		fd = memfd_create("library", MFD_CLOEXEC);
	if (ftruncate(fd, 0) || pwrite(fd, data, size, 0) != (ssize_t)size)
		abort();
	file_bytes = size;
	elf_read(fd, &question, NULL, NULL, &why);
	question = (struct elf_question){ .file_bytes = size,
					  .what = ELF_EXPORTS_ANY,
					  .patterns = { "*GetDeviceProcAddr", "s[v-x]ap" } };
	elf_read(fd, &question, NULL, NULL, &why);
	/* Where a function begins there is code of the file. */
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		question = (struct elf_question){ .file_bytes = size, .what = ELF_BEGINS, .offset = places[i] };
		if (!elf_read(fd, &question, NULL, NULL, &why) && places[i] >= size)
			abort();
	}
	question = (struct elf_question){ .file_bytes = size, .what = ELF_COVERS, .offsets_len = 5 };
	memcpy(question.offsets, places, sizeof(places));
	if (elf_read(fd, &question, take, &sum, &why) > 5)
		abort();
	question = (struct elf_question){ .file_bytes = size, .what = ELF_SYMBOLS, .patterns = { "*" } };
	why.text[0] = '\0';
	if (elf_read(fd, &question, take, &sum, &why) <= 0 && !why.text[0])
		abort();
	return 0;
}
