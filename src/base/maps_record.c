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
	struct mmap2_record raw;
	char *path = (char *)record + path_at;

	if (!is_of(record, bytes, PERF_RECORD_MMAP2, sizeof(raw) + 1))
		return false;
	memcpy(&raw, record + sizeof(struct perf_event_header), sizeof(raw));
	if (!raw.inode || !raw.len || raw.len > ~0ULL - raw.address)
		return false;
	record[bytes] = '\0';
	*pid = raw.pid;
	*mapping = (struct mapping){ .executable = true,
				     .start = raw.address,
				     .end = raw.address + raw.len,
				     .offset = raw.offset,
				     .inode = raw.inode,
				     .major = raw.major,
				     .minor = raw.minor };
	mapping->deleted = path_was_deleted(path);
	mapping->path = path;
	return true;
}

u64 mappings_lost(const unsigned char *record, size_t bytes)
{
	struct lost_record raw = { 0, 0 };

	if (is_of(record, bytes, PERF_RECORD_LOST, sizeof(raw)))
		memcpy(&raw, record + sizeof(struct perf_event_header), sizeof(raw));
	return raw.count;
}
