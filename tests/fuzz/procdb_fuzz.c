// SPDX-License-Identifier: GPL-2.0
/* Any bytes as a database. What is read is written again in both layouts, and our own must come back the same.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "../../src/model/procdb_format.h"

struct memory {
	uint8_t *bytes;
	size_t len, at;
};

static long read_memory(void *data, void *into, size_t most)
{
	struct memory *memory = data;
	size_t left = memory->len - memory->at, some = most < left ? most : left;

	if (some)
		memcpy(into, memory->bytes + memory->at, some);
	memory->at += some;
	return (long)some;
}

static int write_memory(void *data, const void *bytes, size_t len)
{
	struct memory *memory = data;

	memory->bytes = realloc(memory->bytes, memory->len + len);
	if (!memory->bytes)
		abort();
	memcpy(memory->bytes + memory->len, bytes, len);
	memory->len += len;
	return 0;
}

static void check_fault(void *data, u64 offset, const char *what)
{
	if (offset > *(const size_t *)data + 1)
		abort();
	/* It is printed as it is. */
	for (; *what; what++)
		if ((unsigned char)*what < ' ' || (unsigned char)*what > '~' || *what == '"' || *what == '\\')
			abort();
}

static void decode(struct procdb *db, struct memory *memory, struct procdb_report *report)
{
	struct procdb_bytes bytes = { .read = read_memory, .data = memory, .size = memory->len };

	report->fault = check_fault;
	report->data = &memory->len;
	procdb_init(db, 0);
	if (procdb_decode(db, &bytes, report, 1))
		abort();
}

static void check_profile(struct profile *profile)
{
	struct kind_seen seen = { .tier_votes = { -1, 1, 0 }, .threads = 1 };

	if (profile_confidence_ppm(profile) > PROCDB_PPM || profile_tier_ppm(profile) > PROCDB_PPM ||
	    profile_role_ppm(profile) > PROCDB_PPM || profile_tier(profile) >= TIERS || profile_role(profile) >= ROLES)
		abort();
	if (profile_guess(profile).confidence > 100)
		abort();
	profile_learn(profile, &seen, profile->last_seen_s);
	profile_add(profile, profile);
}

/* Half of the inputs get checksums that are right, so that what is behind them is tried too. */
static void mend(uint8_t *bytes, size_t size)
{
	if (size < PDDB_OWN_HEADER_BYTES || bytes[4] != 1 || bytes[5] != 1 || !(bytes[16] & 1))
		return;
	for (size_t at = 0, len = 28; at + len + 4 <= size; at += len + 4, len = 196) {
		uint32_t sum = (uint32_t)crc32(0, bytes + at, (uInt)len);

		memcpy(bytes + at + len, &sum, 4);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct memory input = { .len = size }, own = { 0 }, pddb = { 0 };
	struct procdb_report report = { 0 }, again = { 0 };
	struct procdb db, same, added;
	u64 votes;

	input.bytes = malloc(size + 1);
	if (!input.bytes)
		abort();
	memcpy(input.bytes, data, size);
	mend(input.bytes, size);
	decode(&db, &input, &report);
	procdb_encode(&db, PDDB_OWN, 1, write_memory, &own);
	procdb_encode(&db, PDDB_2, 1, write_memory, &pddb);
	decode(&same, &own, &again);
	if (again.faults || same.origin != db.origin || same.len != db.len ||
	    (db.len && memcmp(same.all, db.all, db.len * sizeof(*db.all)) != 0))
		abort();
	/* Whatever it says, it is added once. */
	procdb_init(&added, 0);
	if (procdb_merge(&same, &db, &added, &votes) < 0 || procdb_merge(&same, &db, &added, &votes) ||
	    same.len != db.len || procdb_summary(&same).profiles != db.len || same.parts_len != db.parts_len)
		abort();
	procdb_keep_own(&same);
	procdb_content(&same);
	procdb_free(&added);
	procdb_free(&same);
	memset(&again, 0, sizeof(again));
	decode(&same, &pddb, &again);
	if (again.faults)
		abort();
	for (size_t i = 0; i < db.len; i++)
		check_profile(&db.all[i]);
	procdb_use(&db, 1ULL << 40);
	procdb_age(&db, 30);
	procdb_free(&same);
	procdb_free(&db);
	free(input.bytes);
	free(own.bytes);
	free(pddb.bytes);
	return 0;
}
