// SPDX-License-Identifier: GPL-2.0
/* Fuzzing the reader of a traced program's counts: any bytes, repeated to a file's size or as they are. What it hands
 * over adds up; and how a function may be led past its probe, for any code. */
#include <stdlib.h>
#include <string.h>

#include "../../src/model/detour.h"

enum { MOST = 1 << 20 };

struct taking {
	struct detour_seen seen[DETOUR_ROWS];
	size_t rows;
	u64 calls;
};

static void take(void *data, u32 number, const struct detour_row *row)
{
	struct taking *taking = data;
	struct detour_seen *seen, before;

	taking->rows++;
	taking->calls += row->calls;
	if (number >= DETOUR_ROWS || taking->calls > MOST || row->used != 1 || row->sent > row->calls ||
	    row->trapped > row->calls - row->sent || row->failed > row->calls - row->sent - row->trapped)
		abort();
	seen = &taking->seen[number];
	seen->is_whole = row->offset & 1;
	before = *seen;
	detour_seen_take(seen, row);
	if (seen->calls < before.calls || seen->failed < before.failed || seen->returned < before.returned ||
	    seen->failed > seen->calls || seen->returned > seen->calls)
		abort();
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	unsigned char *bytes = malloc(DETOUR_COUNTS_BYTES);
	struct detour_place place = { 0 };
	size_t head = sizeof(struct detour_counts);
	struct taking taking = { .rows = 0 };
	int got;

	got = detour_counts_read(data, size, MOST, take, &taking);
	if (got >= 0 && (size_t)got != taking.rows)
		abort();
	/* A head, and what comes behind it as rows, again and again. */
	memset(bytes, 0, DETOUR_COUNTS_BYTES);
	memcpy(bytes, data, size < DETOUR_COUNTS_BYTES ? size : DETOUR_COUNTS_BYTES);
	for (size_t at = size, len = size - head; size > head && at < DETOUR_COUNTS_BYTES; at += len) {
		len = DETOUR_COUNTS_BYTES - at < size - head ? DETOUR_COUNTS_BYTES - at : size - head;
		memcpy(bytes + at, data + head, len);
	}
	/* And once more, as they are when the program has gone on: the rows the other way round. */
	for (int sequence = 0; sequence < 2; sequence++) {
		taking.rows = taking.calls = 0;
		got = detour_counts_read(bytes, DETOUR_COUNTS_BYTES, MOST, take, &taking);
		if (got > DETOUR_ROWS || (got >= 0 && (size_t)got != taking.rows))
			abort();
		for (size_t i = 0; i < DETOUR_ROWS / 2; i++) {
			struct detour_row *rows = (void *)(bytes + head), row = rows[i];

			rows[i] = rows[DETOUR_ROWS - 1 - i];
			rows[DETOUR_ROWS - 1 - i] = row;
		}
	}
	if (size >= CUDA_CODE_BYTES && detour_place_of(&place, data) &&
	    (place.behind <= place.shift || place.behind > place.shift + 2 || place.reg > 15))
		abort();
	free(bytes);
	return 0;
}
