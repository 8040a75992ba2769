// SPDX-License-Identifier: GPL-2.0
/* Seeds for the fuzzing of databases: one of each version, one as long as a recording's block, and an
 * export with what others learned. */
#include <stdio.h>
#include <string.h>

#include "../../src/model/procdb_format.h"

enum { MANY = 280 };

static int write_file(void *data, const void *bytes, size_t len)
{
	return fwrite(bytes, 1, len, data) == len ? 0 : -1;
}

int main(int argc, char **argv)
{
	static const u8 pddb1[12 + 40] = { 'P', 'D', 'D', 'B', 1, 0, 0, 0, 1, 0, 0, 0, 'c', 'c', '1' };
	struct profile profile = { .tier_votes = { 5, 1, 0 }, .observations = 6, .figures = { 1000, 10, 2, 3 } };
	static const char *const names[] = { "cc1", "as", "ld" };
	struct procdb db;
	char path[4096];
	FILE *file;

	procdb_init(&db, 0);
	for (int i = 0; i < 3; i++) {
		profile.key = kind_key_of(names[i], "/usr/bin/x");
		procdb_add(&db, &profile);
	}
	for (int i = 0; argc > 1 && i < 6; i++) {
		db.origin = i >= 3 ? 0x1122334455667788 : 0;
		for (int more = 0; i == 4 && more < MANY; more++) {
			char name[COMM_LEN];

			snprintf(name, sizeof(name), "kind%d", more);
			profile.key = kind_key_of(name, "/usr/bin/x");
			procdb_add(&db, &profile);
		}
		if (i == 5) {
			struct procdb *part = procdb_part(&db);

			if (!part || procdb_add(part, &profile))
				return 1;
			part->origin = 1;
		}
		snprintf(path, sizeof(path), "%s/%d", argv[1], i);
		file = fopen(path, "w");
		if (!file)
			return 1;
		if (i == 0)
			fwrite(pddb1, 1, sizeof(pddb1), file);
		else
			procdb_encode(&db, i == 1 ? PDDB_2 : PDDB_OWN, 1, write_file, file);
		if (fclose(file))
			return 1;
	}
	procdb_free(&db);
	return 0;
}
