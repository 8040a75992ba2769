/* SPDX-License-Identifier: GPL-2.0 */
/* tactus record --segments: the stream goes into one recording after the other, each of which can be read by itself,
 * for months; the oldest go where the folder has become too large. */
#ifndef TACTUS_VIEW_RECORD_SEGMENTS_H
#define TACTUS_VIEW_RECORD_SEGMENTS_H

#include "../../core/event.h"
#include "../stream/recording.h"

struct segment_wishes {
	u64 span_ns; /* 0: none */
	const char *folder;
	u64 segment_mb; /* one ends early that is as large as this */
	u64 keep_mb;	/* all together; 0: nothing goes */
};

const char *segments_take_span(struct segment_wishes *wishes, const char *value);

struct segments;

/* NULL after a message. */
struct segments *segments_open(const struct segment_wishes *wishes);
void segments_close(struct segments *segments);

/* The next event of the stream. */
void segments_take(struct segments *segments, const struct recording_info *info, const struct event_header *event);

/* Now and then. False, after a message: the disk takes no more. */
bool segments_tick(struct segments *segments);

/* After the last event. False after a message. */
bool segments_end(struct segments *segments);

struct segments_sums {
	u64 segments, removed, events, bytes; /* written, and taken away again */
	bool has_failed;		      /* after a message */
};
struct segments_sums segments_sums(const struct segments *segments);

#endif
