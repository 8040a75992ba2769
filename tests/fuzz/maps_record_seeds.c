// SPDX-License-Identifier: GPL-2.0
/* Makes the inputs that fuzzing the reader of perf's records starts from. Usage: maps_record_seeds FOLDER */
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>

#include "../../core/types.h"

static int save(const char *folder, const char *name, u32 type, const void *body, size_t bytes, const char *path)
{
	struct perf_event_header header = { .type = type };
	unsigned char record[256] = { 0 };
	size_t path_bytes = path ? strlen(path) + 1 : 0;
	char file_path[4096];
	FILE *file;

	header.size = (u16)(sizeof(header) + bytes + path_bytes);
	memcpy(record, &header, sizeof(header));
	memcpy(record + sizeof(header), body, bytes);
	if (path)
		memcpy(record + sizeof(header) + bytes, path, path_bytes);
	snprintf(file_path, sizeof(file_path), "%s/%s", folder, name);
	file = fopen(file_path, "wb");
	return !file || fwrite(record, header.size, 1, file) != 1 || fclose(file);
}

int main(int argc, char **argv)
{
	const struct {
		u32 pid, tid;
		u64 address, len, offset;
		u32 major, minor;
		u64 inode, generation;
		u32 prot, flags;
	} mapped = { 4711, 4711, 0x7f0000000000, 0x20000, 0x1000, 8, 1, 1234, 1, 5, 2 };
	const u64 lost[] = { 1, 17 };

	return argc != 2 ||
	       save(argv[1], "mapped", PERF_RECORD_MMAP2, &mapped, sizeof(mapped), "/usr/lib/libcuda.so.1") ||
	       save(argv[1], "deleted", PERF_RECORD_MMAP2, &mapped, sizeof(mapped), "/tmp/libEGL.so (deleted)") ||
	       save(argv[1], "lost", PERF_RECORD_LOST, lost, sizeof(lost), NULL);
}
