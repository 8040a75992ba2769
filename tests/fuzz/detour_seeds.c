// SPDX-License-Identifier: GPL-2.0
/* Makes the inputs that fuzzing the reader of counts starts from: the head of a file and its first rows; and the
 * beginnings of functions. Usage: detour_seeds FOLDER */
#include <stdio.h>
#include <string.h>

#include "../../core/detour.h"

static int save(const char *folder, const char *name, const void *bytes, size_t len)
{
	char path[4096];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	file = fopen(path, "wb");
	return !file || fwrite(bytes, len, 1, file) != 1 || fclose(file);
}

int main(int argc, char **argv)
{
	static const u8 code[] = { 0xf3, 0x0f, 0x1e, 0xfa, 0x41, 0x57, 0x41, 0x56, 0x55, 0x53 };
	const struct detour_counts head = {
		.magic = DETOUR_COUNTS_MAGIC, .version = DETOUR_VERSION, .len = DETOUR_ROWS, .pid = 4711
	};
	const struct detour_row row = { .calls = 1000, .sent = 10, .offset = 4096, .used = 1 };
	u8 counts[sizeof(head) + 2 * sizeof(row)] = { 0 };

	memcpy(counts, &head, sizeof(head));
	memcpy(counts + sizeof(head), &row, sizeof(row));
	return argc != 2 || save(argv[1], "counts", counts, sizeof(counts)) ||
	       save(argv[1], "code", code, sizeof(code));
}
