/* SPDX-License-Identifier: GPL-2.0 */
/* tactus record --ring: the last seconds are kept in memory, and written when something happens. */
#ifndef TACTUS_VIEW_RECORD_RING_H
#define TACTUS_VIEW_RECORD_RING_H

#include <stdbool.h>

#include "../../core/event.h"
#include "../stream/recording.h"

struct ring_wishes {
	u64 span_ns;   /* 0: no ring */
	u64 memory_mb; /* at most */
	bool on_late_frame, on_xid;
};

/* For take_own: --ring, --memory, --on. */
const char *ring_take_span(struct ring_wishes *wishes, const char *value);
const char *ring_take_memory(struct ring_wishes *wishes, const char *value);
const char *ring_take_causes(struct ring_wishes *wishes, const char *value);

struct record_ring;

/* `path` is the first file's name; those after it are path.1, path.2 and so on. NULL after a message. */
struct record_ring *record_ring_open(const struct ring_wishes *wishes, const char *path, bool json);
void record_ring_close(struct record_ring *ring);

/* The next event of the stream. */
void record_ring_take(struct record_ring *ring, const struct event_header *event);

/* Now and then: writes what is asked for, in a process of its own that says what it wrote. */
void record_ring_tick(struct record_ring *ring, const struct recording_info *info, u64 now_ns);

/* After the last event: writes what is still asked for, and waits until it is written. */
void record_ring_end(struct record_ring *ring, const struct recording_info *info);

struct record_ring_sums {
	u64 events;	   /* seen */
	u64 dumps, failed; /* written, and not */
	u64 skipped;	   /* causes so soon after a dump that there was none for them */
	u64 pressed_out;   /* events that went before their time, since there was no room */
	u64 bytes_most;	   /* that were kept at once */
};
struct record_ring_sums record_ring_sums(const struct record_ring *ring);

#endif
