// SPDX-License-Identifier: GPL-2.0
/* See hide.h. */
#include "hide.h"

#include <string.h>

bool hide_variable(void *file, size_t size, const char *name)
{
	size_t len = strlen(name) + 1; /* with the byte that ends it */
	char *at = file, *end = at + size;
	bool found = false;

	while ((at = memmem(at, (size_t)(end - at), name, len))) {
		/* Otherwise it is the end of another name. */
		if (at > (char *)file && !at[-1]) {
			at[0] = 'X';
			found = true;
		}
		at += len;
	}
	return found;
}
