// SPDX-License-Identifier: GPL-2.0
/* Fuzzing the reader of a traced program's counts: any bytes, repeated to a file's size or as they are. What it hands
 * over adds up; and how a function may be led past its probe, for any code. */
#include <stdlib.h>
#include <string.h>

#include "../../src/model/detour.h"

static void take(void *data, const struct detour_row *row)
{
	*(size_t *)data += 1;
	if (row->used != 1 || row->sent > row->calls || row->trapped > row->calls - row->sent ||
	    row->failed > row->calls - row->sent - row->trapped)
		abort();
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	unsigned char *bytes = malloc(DETOUR_COUNTS_BYTES);
	struct detour_place place = { 0 };
	size_t taken = 0, head = sizeof(struct detour_counts);
	struct event_cuda_launch event;
	struct detour_launch launch;
	int got;

	got = detour_counts_read(data, size, take, &taken);
	if (got >= 0 && (size_t)got != taken)
		abort();
	/* A head, and what comes behind it as rows, again and again. */
	for (size_t at = 0; at < DETOUR_COUNTS_BYTES; at++)
		bytes[at] = at < size ? data[at] : size > head ? data[head + (at - head) % (size - head)] : 0;
	taken = 0;
	got = detour_counts_read(bytes, DETOUR_COUNTS_BYTES, take, &taken);
	if (got > DETOUR_ROWS || (got >= 0 && (size_t)got != taken))
		abort();
	if (size >= CUDA_CODE_BYTES && detour_place_of(&place, data) &&
	    (place.behind <= place.shift || place.behind > place.shift + 2 || place.reg > 15))
		abort();
	if (size >= sizeof(launch)) {
		memcpy(&launch, data, sizeof(launch));
		if (detour_launch_read(&launch, launch.turn - 1, 64, &event) &&
		    (event.head.kind != EVENT_CUDA_LAUNCH || !event.function || event.function >= 64))
			abort();
	}
	free(bytes);
	return 0;
}
