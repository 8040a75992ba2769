// SPDX-License-Identifier: GPL-2.0
/* Takes PERF_RECORD_MMAP2 and PERF_RECORD_LOST apart. */
#include "maps_record.h"

#include <linux/perf_event.h>
#include <string.h>

/* What follows the header of a PERF_RECORD_MMAP2, up to the path. */
struct mmap2_record {
	u32 pid, tid;
	u64 address, len, offset;
	u32 major, minor;
	u64 inode, inode_generation;
	u32 prot, flags;
};

/* And of a PERF_RECORD_LOST. */
struct lost_record {
	u64 id, count;
};

/* Whether a record is of this type and has so many bytes behind its header, or more. */
static bool is_of(const unsigned char *record, size_t bytes, u32 type, size_t behind)
{
	struct perf_event_header header;

	if (bytes < sizeof(header) + behind)
		return false;
	memcpy(&header, record, sizeof(header));
	return header.type == type;
}

bool mapping_of_record(unsigned char *record, size_t bytes, u32 *pid, struct mapping *mapping)
{
	size_t path_at = sizeof(struct perf_event_header) + sizeof(struct mmap2_record);
	struct mmap2_record told;
	char *path = (char *)record + path_at;

	if (!is_of(record, bytes, PERF_RECORD_MMAP2, sizeof(told) + 1))
		return false;
	memcpy(&told, record + sizeof(struct perf_event_header), sizeof(told));
	if (!told.inode || !told.len || told.len > ~0ULL - told.address)
		return false;
	record[bytes] = '\0';
	*pid = told.pid;
	*mapping = (struct mapping){ .executable = true,
				     .start = told.address,
				     .end = told.address + told.len,
				     .offset = told.offset,
				     .inode = told.inode,
				     .major = told.major,
				     .minor = told.minor };
	mapping->deleted = path_was_deleted(path);
	mapping->path = path;
	return true;
}

u64 mappings_lost(const unsigned char *record, size_t bytes)
{
	struct lost_record told = { 0, 0 };

	if (is_of(record, bytes, PERF_RECORD_LOST, sizeof(told)))
		memcpy(&told, record + sizeof(struct perf_event_header), sizeof(told));
	return told.count;
}
