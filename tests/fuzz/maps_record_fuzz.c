// SPDX-License-Identifier: GPL-2.0
/* Fuzzing the reader of perf's records of mappings: any bytes as one record. What it takes must lie in the record and
 * make sense. */
#include <stdlib.h>
#include <string.h>

#include "../../src/base/maps_record.h"

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	/* A byte behind it, and nothing behind that. */
	unsigned char *record = malloc(size + 1);
	struct mapping mapping;
	u32 pid;

	memcpy(record, data, size);
	if (mappings_lost(record, size) && mapping_of_record(record, size, &pid, &mapping))
		abort();
	if (mapping_of_record(record, size, &pid, &mapping)) {
		const char *begin = (const char *)record;

		if (mapping.path < begin || mapping.path + strlen(mapping.path) > begin + size)
			abort();
		if (mapping.end <= mapping.start || !mapping.inode || !mapping.executable ||
		    path_base(mapping.path) < mapping.path)
			abort();
	}
	free(record);
	return 0;
}
