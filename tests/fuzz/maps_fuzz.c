// SPDX-License-Identifier: GPL-2.0
/* Fuzzing the parser of /proc/PID/maps: any bytes as one line. What it takes must lie in the line and make sense. */
#include <stdlib.h>
#include <string.h>

#include "../../src/base/maps.h"

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	char *line = malloc(size + 1);
	struct mapping mapping;

	memcpy(line, data, size);
	line[size] = '\0';
	if (mapping_parse(line, &mapping)) {
		if (mapping.path < line || mapping.path + strlen(mapping.path) > line + size)
			abort();
		if (mapping.end <= mapping.start || path_base(mapping.path) < mapping.path)
			abort();
	}
	free(line);
	return 0;
}
