// SPDX-License-Identifier: GPL-2.0
/* The database as bytes: PDDB 1 and 2 made by hand as the seed lays them out, our own layout, and every fault of each.
 * Needs no kernel and no root. */
#include "../../src/model/procdb_format.h"

#include <stdlib.h>
#include <zlib.h>

#include "tap.h"

struct memory {
	u8 bytes[4096];
	size_t len, at;
	size_t step; /* read no more than this at once; 0: all */
};

static long read_memory(void *data, void *into, size_t most)
{
	struct memory *memory = data;
	size_t left = memory->len - memory->at;

	if (most > left)
		most = left;
	if (memory->step && most > memory->step)
		most = memory->step;
	memcpy(into, memory->bytes + memory->at, most);
	memory->at += most;
	return (long)most;
}

static int write_memory(void *data, const void *bytes, size_t len)
{
	struct memory *memory = data;

	if (memory->len + len > sizeof(memory->bytes))
		return -1;
	memcpy(memory->bytes + memory->len, bytes, len);
	memory->len += len;
	return 0;
}

static void put(struct memory *memory, u64 value, int bytes)
{
	for (int i = 0; i < bytes; i++)
		memory->bytes[memory->len++] = (u8)(value >> (8 * i));
}

static void put_text(struct memory *memory, const char *text, size_t size)
{
	memset(memory->bytes + memory->len, 0, size);
	memcpy(memory->bytes + memory->len, text, strlen(text));
	memory->len += size;
}

static void put_header(struct memory *memory, u32 version, u32 count)
{
	put_text(memory, "PDDB", 4);
	put(memory, version, 4);
	put(memory, count, 4);
}

static void put_pddb(struct memory *memory, u32 version, const char *comm, u64 tier, u64 base)
{
	put_text(memory, comm, 16);
	put(memory, tier, 1);
	put(memory, 0xaaaaaaaaaaaaaa, 7);
	put(memory, base + 1, 8);
	if (version == 2) {
		put(memory, base + 2, 8);
		put(memory, base + 3, 8);
		put(memory, base + 4, 8);
	}
	put(memory, base + 5, 4);
	put(memory, base + 6, 4);
}

static struct procdb db;
static struct procdb_report report;

static int decode(struct memory *memory)
{
	struct procdb_bytes bytes = { .read = read_memory, .data = memory, .size = memory->len };
	struct procdb whole = db;
	int error;

	procdb_free(&whole);
	procdb_init(&db, 0);
	memory->at = 0;
	error = procdb_decode(&db, &bytes, &report, 12345);
	return error;
}

static const struct profile *found(const char *comm, const char *exe)
{
	static const struct profile none;
	struct kind_key key = kind_key_of(comm, exe);
	const struct profile *profile = procdb_find(&db, &key);

	return profile ? profile : &none;
}

static void test_pddb(u32 version)
{
	struct memory memory = { 0 };
	const struct profile *got;

	put_header(&memory, version, 3);
	put_pddb(&memory, version, "cc1", 0, 1000);
	put_pddb(&memory, version, "Xorg", 2, 2000);
	put_pddb(&memory, version, "fifteen-letters", 1, 3000);
	is(memory.len, 12 + 3 * (version == 1 ? 40 : 64), "PDDB %u file is as long as its format says", version);
	for (memory.step = 0; memory.step < 8; memory.step += 7) {
		is(decode(&memory), 0, "file is read %zu bytes at once", memory.step);
		is(report.faults, 0, "file made by hand has no fault");
		is(db.len, 3, "file made by hand has three entries");
		got = found("cc1", "");
		is(got->figures.avg_runtime_ns, 1001, "entry has its average run");
		is(got->figures.runtime_dev_ns, version == 2 ? 1002 : 0, "entry has the deviation of its run");
		is(got->figures.wakeup_freq, version == 2 ? 1003 : 0, "entry has its wake-ups");
		is(got->figures.csw_rate, version == 2 ? 1004 : 0, "entry has its switches");
		is(got->observations, 1005, "entry has its observations");
		is(got->tier_votes[TIER_BATCH], 1006, "entry has all votes for its tier");
		is(got->tier_votes[TIER_INTERACTIVE] + got->tier_votes[TIER_LATENCY_CRITICAL], 0,
		   "entry has no votes for other tiers");
		is(got->last_seen_s, 12345, "entry is seen now, since the file does not tell");
		is(found("Xorg", "")->tier_votes[TIER_LATENCY_CRITICAL], 2006, "tier 2 is latency-critical");
		is(found("fifteen-letters", "")->tier_votes[TIER_INTERACTIVE], 3006, "tier 1 of a file is interactive");
	}
	memory.len += 3;
	is(decode(&memory) + (int)report.faults, 0, "bytes after the last entry are no fault of PDDB's");
}

/* Decodes what must have a fault. */
static void damaged(struct memory *memory, size_t entries, const char *words)
{
	is(decode(memory), 0, "%s: file is read without an error", words);
	ok(report.faults, "fault of %s is counted", words);
	ok(strstr(report.first.text, words), "fault of %s is told: %s", words, report.first.text);
	is(db.len, entries, "%s: %zu entries are whole", words, entries);
}

static void test_pddb_faults(void)
{
	struct memory whole = { 0 }, memory;

	put_header(&whole, 2, 2);
	put_pddb(&whole, 2, "a", 0, 10);
	put_pddb(&whole, 2, "b", 1, 20);
	for (size_t len = 0; len < 12; len++) {
		memory = whole;
		memory.len = len;
		damaged(&memory, 0, "too short");
	}
	memory = whole;
	memory.bytes[0] = 'X';
	damaged(&memory, 0, "bad magic 58 44 44 42");
	memory = whole;
	memory.bytes[4] = 3;
	damaged(&memory, 0, "unknown version 3");
	memory = whole;
	memory.len--;
	damaged(&memory, 1, "truncated");
	memory = whole;
	memory.len = 12;
	damaged(&memory, 0, "truncated");
	memory = whole;
	memset(memory.bytes + 8, 0xff, 4);
	damaged(&memory, 2, "4294967295 entries announced, room for 2: expected 274877906892 bytes, got 140");
	memory = whole;
	/* Times 64 plus 12 this is 12 again in 32 bits. */
	memory.bytes[8] = 0;
	memory.bytes[11] = 4;
	damaged(&memory, 2, "67108864 entries announced");
	memory = whole;
	memory.bytes[12 + 16] = 3;
	damaged(&memory, 1, "at byte 12: entry 0 has a tier out of range");
	memory = whole;
	memory.bytes[12 + 64] = 'a';
	damaged(&memory, 1, "at byte 76: entry 1 has the same key");
	memory = whole;
	memset(memory.bytes + 12, 'n', 16);
	damaged(&memory, 1, "a name without an end");
	memory = whole;
	memset(memory.bytes + 12 + 24, 0xff, 32);
	is(decode(&memory) + (int)report.faults, 0, "figures beyond all measure are read");
	is(found("a", "")->figures.avg_runtime_ns, PROCDB_FIGURE_MOST, "figures beyond all measure are cut");
}

static struct profile sample(void)
{
	struct profile profile = { .key = kind_key_of("worker", "/usr/bin/program"),
				   .tier_votes = { 1, 2, 3 },
				   .role_votes = { 4, 5, 6, 7, 8, 9, 10, 11 },
				   .observations = 12,
				   .figures = { 13, 14, 15, 16 },
				   .first_seen_s = 17,
				   .last_seen_s = 18,
				   .use_day = 19,
				   .days = { { 19, { 20, 21, 22 } }, { 18, { 1, 0, 65535 } } } };

	return profile;
}

/* Our own layout, by hand. */
static struct memory own_by_hand(void)
{
	struct memory memory = { 0 };

	put_header(&memory, 257, 1);
	put(&memory, 200, 4);
	put(&memory, 99, 8);
	put(&memory, 19, 4);
	put(&memory, crc32(0, memory.bytes, 28), 4);
	put_text(&memory, "worker", 16);
	put_text(&memory, "/usr/bin/program", 48);
	for (u64 value = 1; value <= 12; value++)
		put(&memory, value, 4);
	for (u64 value = 13; value <= 18; value++)
		put(&memory, value, 8);
	for (u64 value = 19; value <= 22; value++)
		put(&memory, value, 2);
	put(&memory, 18 | 1ULL << 16 | 65535ULL << 48, 8);
	put(&memory, 0, 8);
	put(&memory, 0, 8);
	put(&memory, 19, 4);
	put(&memory, crc32(0, memory.bytes + 32, 196), 4);
	return memory;
}

static void is_same_profile(const struct profile *got, const struct profile *want)
{
	is_text(got->key.comm.text, want->key.comm.text, "entry of our own file reads back with its name");
	is_text(got->key.exe.text, want->key.exe.text, "entry of our own file reads back with its program");
	for (u32 i = 0; i < TIERS; i++)
		is(got->tier_votes[i], want->tier_votes[i], "entry reads back with its votes for tier %u", i);
	for (u32 i = 0; i < ROLES; i++)
		is(got->role_votes[i], want->role_votes[i], "entry reads back with its votes for role %u", i);
	is(got->observations, want->observations, "entry reads back with its observations");
	is(got->figures.avg_runtime_ns, want->figures.avg_runtime_ns, "entry reads back with its average run");
	is(got->figures.runtime_dev_ns, want->figures.runtime_dev_ns, "entry reads back with its deviation");
	is(got->figures.wakeup_freq, want->figures.wakeup_freq, "entry reads back with its wake-ups");
	is(got->figures.csw_rate, want->figures.csw_rate, "entry reads back with its switches");
	is(got->first_seen_s, want->first_seen_s, "entry reads back with when it was first seen");
	is(got->last_seen_s, want->last_seen_s, "entry reads back with when it was last seen");
	is(got->use_day, want->use_day, "entry reads back with the day of use on which it was last seen");
	for (u32 day = 0; day < PROCDB_DAYS; day++) {
		is(got->days[day].day, want->days[day].day, "entry reads back with day %u", day);
		for (u32 i = 0; i < TIERS; i++)
			is(got->days[day].tier_votes[i], want->days[day].tier_votes[i],
			   "entry reads back with day %u's votes for tier %u", day, i);
	}
}

static void test_own(void)
{
	struct memory hand = own_by_hand(), made = { 0 };
	struct profile profile = sample();

	is(hand.len, 232, "our own: a header of 32 bytes and 200 an entry");
	is(decode(&hand), 0, "file of our own is read");
	is(report.faults, 0, "file of our own has no fault");
	is_same_profile(found("worker", "/usr/bin/program"), &profile);
	is(procdb_encode(&db, PDDB_OWN, 99, write_memory, &made), 1, "entry of our own file is written");
	is(made.len, hand.len, "file of our own is written as long as made by hand");
	ok(!memcmp(made.bytes, hand.bytes, made.len < hand.len ? made.len : hand.len),
	   "file of our own is written byte by byte as made by hand");
}

static void test_origin(void)
{
	struct memory hand = own_by_hand(), made = { 0 }, memory;
	size_t noticed = 0;

	put_text(&hand, "ORIG", 4);
	put(&hand, 0x1122334455667788, 8);
	put(&hand, crc32(0, hand.bytes + 232, 12), 4);
	is(decode(&hand), 0, "file that says which database it is is read");
	is(report.faults, 0, "file that says which database it is has no fault");
	ok(db.origin == 0x1122334455667788, "database's own number is read");
	is(procdb_encode(&db, PDDB_OWN, 99, write_memory, &made), 1, "file that says which database it is is written");
	is(made.len, hand.len, "file that says which database it is is written as long as made by hand");
	ok(!memcmp(made.bytes, hand.bytes, made.len < hand.len ? made.len : hand.len),
	   "file that says which database it is is written byte by byte as made by hand");
	for (size_t bit = 232 * 8; bit < hand.len * 8; bit++) {
		memory = hand;
		memory.bytes[bit / 8] ^= (u8)(1 << (bit % 8));
		noticed += decode(&memory) == 0 && report.faults && db.len == 1 && !db.origin;
	}
	is(noticed, 16 * 8, "every single wrong bit of a database's own number is noticed, and the rest is read");
	memory = hand;
	memory.len--;
	damaged(&memory, 1, "15 bytes after the last entry");
}

static void test_own_faults(void)
{
	struct memory whole = own_by_hand(), memory;
	size_t noticed = 0;

	for (size_t bit = 0; bit < whole.len * 8; bit++) {
		memory = whole;
		memory.bytes[bit / 8] ^= (u8)(1 << (bit % 8));
		noticed += decode(&memory) == 0 && report.faults;
	}
	is(noticed, whole.len * 8, "every single wrong bit of a file is noticed");
	memory = whole;
	memory.bytes[40] ^= 1;
	damaged(&memory, 0, "at byte 32: entry 0 has a wrong checksum");
	memory = whole;
	memory.bytes[17] ^= 1;
	damaged(&memory, 1, "the header has a wrong checksum");
	memory = whole;
	memory.len = 20;
	damaged(&memory, 0, "the header ends early");
	memory = whole;
	memory.len++;
	damaged(&memory, 1, "1 bytes after the last entry");
	memory = whole;
	memset(memory.bytes + 8, 0xff, 4);
	damaged(&memory, 1, "wrong checksum");
}

static void test_export(void)
{
	struct profile profile = sample();
	struct memory made = { 0 };
	struct procdb mine;

	procdb_init(&mine, 0);
	profile.figures = (struct kind_figures){ 1000, 0, 7, 8 };
	procdb_add(&mine, &profile);
	profile.key = kind_key_of("worker", "/usr/bin/other");
	profile.tier_votes[TIER_LATENCY_CRITICAL] = 14;
	procdb_add(&mine, &profile);
	profile.key = kind_key_of("unsure", "");
	profile.observations = 2;
	procdb_add(&mine, &profile);
	is(procdb_encode(&mine, PDDB_2, 99, write_memory, &made), 1,
	   "PDDB 2 is written: kinds of one name are one, unsure ones none");
	is(made.len, 76, "entry in the seed's format takes 64 bytes");
	is(made.bytes[4], 2, "file in the seed's format is version 2");
	is(decode(&made), 0, "file in the seed's format is read back");
	is(found("worker", "")->tier_votes[TIER_LATENCY_CRITICAL], 23, "tier that won has the sum of votes");
	is(found("worker", "")->observations, 24, "observations of one kind in two programs are added");
	is(found("worker", "")->figures.csw_rate, 8, "figures of one kind in the seed's format read back");
	procdb_free(&mine);
}

int main(void)
{
	procdb_init(&db, 0);
	test_pddb(1);
	test_pddb(2);
	test_pddb_faults();
	test_own();
	test_origin();
	test_own_faults();
	test_export();
	procdb_free(&db);
	return tap_end();
}
