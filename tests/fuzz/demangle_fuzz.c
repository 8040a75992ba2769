// SPDX-License-Identifier: GPL-2.0
/* Fuzzing names in words: any bytes as a kernel's name, and any bytes as the words to shorten. Words have a bounded
 * length, short ones a smaller one, and what is not shortened is as it was. */
#include <stdlib.h>
#include <string.h>

#include "../../src/sink/demangle.h"

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

static void check_short(const char *name, size_t size)
{
	char *out = malloc(size);
	int is_shorter = shorten_name(out, size, name);

	if (strlen(out) > SHORT_NAME_MOST || (!is_shorter && strcmp(out, name) != 0))
		abort();
	free(out);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	char *name = malloc(size + 3), *words;

	memcpy(name, "_Z", 2);
	memcpy(name + 2, data, size);
	name[size + 2] = '\0';
	words = demangle(name);
	if (words && strlen(words) > DEMANGLED_MAX)
		abort();
	check_short(name + 2, size % 200 + 1);
	check_short(words ? words : name, SHORT_NAME_MOST + 1);
	free(words);
	free(name);
	return 0;
}
