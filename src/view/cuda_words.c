// SPDX-License-Identifier: GPL-2.0
/* How the tables and exports of 'tactus cuda' name a kernel: short, whole, or as the program has it.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "../sink/demangle.h"
#include "cuda_view.h"

char *cuda_kernel_words(const struct cuda_kernel *kernel, enum kernel_names names, bool *shortened)
{
	char text[SHORT_NAME_MOST + 1], *whole = NULL;

	if (!kernel->name) {
		snprintf(text, sizeof(text), "%s 0x%" PRIx64,
			 kernel->shape == SHAPE_LAUNCH_GRAPH  ? "graph"
			 : kernel->shape == SHAPE_LAUNCH_HOST ? "host function"
							      : "kernel",
			 kernel->handle);
		return strdup(text);
	}
	if (names != NAMES_MANGLED)
		whole = demangle(kernel->name);
	if (!whole)
		whole = strdup(kernel->name);
	if (!whole || names != NAMES_SHORT)
		return whole;
	*shortened |= shorten_name(text, sizeof(text), whole);
	free(whole);
	return strdup(text);
}
