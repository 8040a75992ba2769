// SPDX-License-Identifier: GPL-2.0
/* Fuzzing the reader of libraries' symbols: any bytes as a file. What it finds must lie in the file; what it refuses
 * has a reason. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../../src/base/elf.h"

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
	static char path[64];
	struct reason why = { "" };
	static const char *const patterns[] = { "*GetDeviceProcAddr", "s[v-x]ap", NULL };
	const u64 places[] = { 8, 16, size / 2, size, size ? data[size - 1] : ~0ULL };
	size_t sum = 0;

	if (fd < 0) {
		fd = memfd_create("library", MFD_CLOEXEC);
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	}
	if (ftruncate(fd, 0) || pwrite(fd, data, size, 0) != (ssize_t)size)
		abort();
	file_bytes = size;
	elf_needs(path, "lib?*");
	elf_exports_any(path, patterns);
	/* Where a function begins there is code of the file. */
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		if (!elf_begins_function(path, places[i], &why) && places[i] >= size)
			abort();
	why.text[0] = '\0';
	if (elf_symbols(path, "*", take, &sum, &why) <= 0 && !why.text[0])
		abort();
	return 0;
}
