// SPDX-License-Identifier: GPL-2.0
/* Makes the inputs that fuzzing the reader of rings starts from: launches at a ring's beginning and around its end.
 * Usage: told_seeds FOLDER */
#include <stdio.h>
#include <string.h>

#include "../../core/detour.h"

enum { LAUNCHES = 8 };

static int save(const char *folder, const char *name, u64 taken)
{
	u64 head[] = { taken + 3, taken + 5, taken + LAUNCHES, taken, 10, 500 };
	struct detour_launch launches[LAUNCHES];
	char path[4096];
	FILE *file;
	int error;

	memset(launches, 0, sizeof(launches));
	for (u64 i = 0; i < LAUNCHES; i++) {
		launches[i].sequence = taken + i + 1;
		launches[i].event = (struct event_cuda_launch){ .head = { .time_ns = 100 * i, .tid = 4711 },
								.function = (u32)i,
								.kernel = 77 };
	}
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	file = fopen(path, "wb");
	error = !file || fwrite(head, sizeof(head), 1, file) != 1 || fwrite(launches, sizeof(launches), 1, file) != 1;
	return (file && fclose(file)) || error;
}

int main(int argc, char **argv)
{
	return argc != 2 || save(argv[1], "first", 0) || save(argv[1], "round", DETOUR_REPORTS_LEN - 4) ||
	       save(argv[1], "late", ~0ULL - 3);
}
