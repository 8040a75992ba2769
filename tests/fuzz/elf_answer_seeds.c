// SPDX-License-Identifier: GPL-2.0
/* Makes the answers that fuzzing starts from: two functions, none, and a yes. Usage: elf_answer_seeds FOLDER */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "../../src/base/elf_answer.h"

static int put(FILE *file, const struct elf_record *record, const char *text)
{
	struct elf_record whole = *record;

	whole.text_len = (u32)strlen(text);
	return fwrite(&whole, sizeof(whole), 1, file) != 1 || fwrite(text, 1, whole.text_len, file) != whole.text_len;
}

static FILE *begin(const char *folder, const char *name)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return fopen(path, "wb");
}

int main(int argc, char **argv)
{
	static const struct elf_record first = { .offset = 16, .address = 0x1010, .bytes = 8, .bits = 64 },
				       second = { .offset = 32, .address = 0x1020, .bits = 32 }, two = { .result = 2 },
				       none = { .result = -ENOENT }, yes = { 0 };
	FILE *file;

	if (argc != 2 || !(file = begin(argv[1], "two")))
		return 1;
	if (put(file, &first, "swap") || put(file, &second, "sleep") || put(file, &two, "") || fclose(file))
		return 1;
	if (!(file = begin(argv[1], "none")) || put(file, &none, "it exports no function s*") || fclose(file))
		return 1;
	return !(file = begin(argv[1], "yes")) || put(file, &yes, "") || fclose(file);
}
