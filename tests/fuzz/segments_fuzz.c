// SPDX-License-Identifier: GPL-2.0
/* Fuzzing names of segments and lines of their index: any text. A machine's name that is sound leads nowhere as part of
 * a path, and a line's file lies in its folder. */
#include <stdlib.h>
#include <string.h>

#include "../../src/model/segment_index.h"

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

static void require(int held)
{
	if (!held)
		abort();
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	char *text = malloc(size + 1), host[SEGMENT_HOST_SIZE] = "", file[SEGMENT_NAME_SIZE];

	require(text != NULL);
	memcpy(text, data, size);
	text[size] = '\0';
	/* Not terminated where it ends for who asks. */
	if (segment_host(host, text, strlen(text) - (size && strlen(text) ? data[0] % strlen(text) : 0)))
		require(host[0] && strlen(host) < sizeof(host) && !strncmp(text, host, strlen(host)));
	if (segment_host_is_sound(host))
		require(!strchr(host, '/') && !strpbrk(host, "\n\r\t =%\\") && strcmp(host, "..") != 0 &&
			strcmp(host, ".") != 0);
	if (segment_line_file(text, file))
		require(file[0] && strlen(file) < sizeof(file) && !strchr(file, '/'));
	require(!segment_is_of(text, text));
	if (host[0])
		segment_is_of(text, host);
	free(text);
	return 0;
}
