/* SPDX-License-Identifier: GPL-2.0 */
/* The database as bytes. All numbers are little-endian.
 *
 * PDDB 1 and 2: "PDDB", version, count (u32 each), then entries of 40 or 64 bytes: comm 16, tier 1, padding 7,
 * avg_runtime_ns 8, [version 2: runtime_dev_ns 8, wakeup_freq 8, csw_rate 8,] observations 4, votes 4. They know one
 * tier and the sum of all votes, no program, no roles and no times, and hold confident profiles only.
 *
 * Version 257, our own: a header of 32 bytes: "PDDB", version, count, bytes an entry (200), time saved 8 (seconds since
 * 1970; a clock that can't be right leaves it as it was), days of use 4, CRC-32 of the 28 bytes before it; then
 * entries: comm 16, program 48, tier votes 3 x 4 (batch, interactive, latency-critical), role votes 8 x 4 (order of
 * enum role), observations 4, avg_runtime_ns 8, runtime_dev_ns 8, wakeup_freq 8, csw_rate 8, first seen 8, last seen 8
 * (seconds since 1970), days 4 x (day since 1970 2, tier votes 3 x 2), day of use on which it was last seen 4, CRC-32
 * of the 196 bytes before it; then, but for older ones, 16 bytes: "ORIG", the database's own number 8, CRC-32 of the 12
 * bytes before it. An export goes on with what it has of others: a database of this layout for each, all its own. */
#ifndef TACTUS_MODEL_PROCDB_FORMAT_H
#define TACTUS_MODEL_PROCDB_FORMAT_H

#include "../base/say.h"
#include "procdb.h"

enum {
	PDDB_1 = 1,
	PDDB_2 = 2,
	PDDB_OWN = 257,
	PDDB_HEADER_BYTES = 12,
	PDDB_1_ENTRY_BYTES = 40,
	PDDB_2_ENTRY_BYTES = 64,
	PDDB_OWN_HEADER_BYTES = 32,
	PDDB_OWN_ENTRY_BYTES = 200,
	PDDB_ORIGIN_BYTES = 16,
	PDDB_PARTS_MOST = 4096,
};

/* Where the bytes come from, in their order. read returns how many it got, 0 at the end, or -errno. */
struct procdb_bytes {
	long (*read)(void *data, void *into, size_t most);
	void *data;
	u64 size; /* of all of them */
};

/* What reading found. `fault` is called for each fault with the place in the file; it may be NULL. */
struct procdb_report {
	void (*fault)(void *data, u64 offset, const char *what);
	void *data;
	u32 version;	     /* 0: not known */
	u64 announced, read; /* without its parts */
	u64 faults;
	struct reason first; /* fault, with its place */
};

/* Adds everything that is whole to an empty database. `now_s` is when entries without a time count as seen. Faults are
 * no error: what is whole has been read. Returns 0 or -errno: no memory, or the bytes can't be had. */
int procdb_decode(struct procdb *db, const struct procdb_bytes *bytes, struct procdb_report *report, u64 now_s);

/* Writes as version PDDB_2 or PDDB_OWN. Returns the number of profiles written, or -errno. */
long procdb_encode(const struct procdb *db, u32 version, u64 now_s,
		   int (*write)(void *data, const void *bytes, size_t len), void *data);

#endif
