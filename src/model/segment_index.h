/* SPDX-License-Identifier: GPL-2.0 */
/* Names of segments, HOST-YYYYMMDDTHHMMSSZ-NUMBER.tactus, and the lines of their index. Names and lines may be
 * anybody's: a folder of segments comes from other machines. */
#ifndef TACTUS_MODEL_SEGMENT_INDEX_H
#define TACTUS_MODEL_SEGMENT_INDEX_H

#include <stdbool.h>
#include <stddef.h>

#include "../../core/types.h"

#define SEGMENT_END ".tactus"
#define SEGMENT_NEWEST (~0ULL)
enum { SEGMENT_NAME_SIZE = 256, SEGMENT_LINE_SIZE = 1024, SEGMENT_HOST_SIZE = 65 };

/* "web1" of "web1-20261118T030000Z-0001", which is so long. False: it is not called so. */
bool segment_host(char host[SEGMENT_HOST_SIZE], const char *base, size_t len);

/* Whether it can be part of a folder's name: it leads nowhere, and every engine for tables reads it as it is. */
bool segment_host_is_sound(const char *host);

/* Whether a file of that name is a segment of that machine. */
bool segment_is_of(const char *name, const char *host);

/* A file. Its place is the number of its line in the index, from 1; 0: it has none. */
struct segment {
	char name[SEGMENT_NAME_SIZE];
	u64 bytes;
	u64 place;
};

int segments_by_name(const void *a, const void *b);

/* The oldest first: as the index has them, since names tell what the clock showed, which may have been set back since.
 * One without a line goes behind those whose names come before its own. */
void segments_put_in_order(struct segment *all, size_t len);

/* The file that a line of an index is about. False: it is no such line. */
bool segment_line_file(const char *line, char file[SEGMENT_NAME_SIZE]);

#endif
