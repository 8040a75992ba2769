// SPDX-License-Identifier: GPL-2.0
/* base/maps_record.c: perf's records of mappings, right ones and broken ones. */
#include <linux/perf_event.h>
#include <stddef.h>
#include <stdlib.h>

#include "../../src/base/maps_record.h"
#include "tap.h"

struct record {
	struct perf_event_header header;
	u32 pid, tid;
	u64 address, len, offset;
	u32 major, minor;
	u64 inode, generation;
	u32 prot, flags;
	char path[64];
};

enum { PATH_AT = offsetof(struct record, path) };

static struct record good(const char *path)
{
	struct record record = {
		.header = { .type = PERF_RECORD_MMAP2 }, .pid = 4711, .address = 0x7f00, .len = 0x100, .inode = 12
	};

	strcpy(record.path, path);
	return record;
}

/* The record's first bytes alone, with one behind them. */
static bool take(const struct record *record, size_t bytes, u32 *pid, struct mapping *mapping)
{
	static unsigned char *copy;

	free(copy);
	copy = malloc(bytes + 1);
	memcpy(copy, record, bytes);
	return mapping_of_record(copy, bytes, pid, mapping);
}

static void test_mappings(void)
{
	struct record record = good("/lib/libcuda.so.1");
	struct mapping mapping;
	u32 pid = 0;

	ok(take(&record, sizeof(record), &pid, &mapping), "record of a mapping is taken");
	is(pid, 4711, "mapping is its process's");
	is(mapping.end, 0x8000, "mapping ends where its length says");
	is_text(mapping.path, "/lib/libcuda.so.1", "mapping has its path");
	ok(!mapping.deleted, "mapping of a file that is there is not said to be gone");
	record = good("/lib/old (deleted)");
	ok(take(&record, sizeof(record), &pid, &mapping), "record of a file that is gone is taken");
	ok(mapping.deleted, "mapping of a file that is gone says so");
	is_text(mapping.path, "/lib/old", "mapping of a file that is gone has its path");
	memset(record.path, 'x', sizeof(record.path));
	ok(take(&record, sizeof(record), &pid, &mapping), "record of a path without an end is taken");
	is(strlen(mapping.path), sizeof(record.path), "path without an end stops with its record");
	ok(!take(&record, PATH_AT, &pid, &mapping), "record without a path is refused");
	ok(take(&record, PATH_AT + 1, &pid, &mapping), "record with a path of one byte is taken");
	ok(!take(&record, 4, &pid, &mapping), "record shorter than its header is refused");
	record = good("/lib/a");
	record.inode = 0;
	ok(!take(&record, sizeof(record), &pid, &mapping), "mapping of no file is refused");
	record = good("/lib/a");
	record.len = ~0ULL;
	ok(!take(&record, sizeof(record), &pid, &mapping), "mapping that goes round the end of memory is refused");
	record.len = 0;
	ok(!take(&record, sizeof(record), &pid, &mapping), "mapping of no length is refused");
	record = good("/lib/a");
	record.header.type = PERF_RECORD_COMM;
	ok(!take(&record, sizeof(record), &pid, &mapping), "record of another kind is refused");
}

static void test_losses(void)
{
	struct {
		struct perf_event_header header;
		u64 id, count;
	} lost = { { .type = PERF_RECORD_LOST }, 1, 17 };

	is(mappings_lost((const unsigned char *)&lost, sizeof(lost)), 17, "record of losses tells how many");
	is(mappings_lost((const unsigned char *)&lost, sizeof(lost) - 1), 0, "record of losses that is cut tells none");
	lost.header.type = PERF_RECORD_MMAP2;
	is(mappings_lost((const unsigned char *)&lost, sizeof(lost)), 0, "record of another kind tells no losses");
}

int main(void)
{
	test_mappings();
	test_losses();
	return tap_end();
}
