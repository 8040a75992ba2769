/* SPDX-License-Identifier: GPL-2.0 */
/* From what an input device reports to the frame that follows: through the thread that reads it, and whom that one
 * wakes before it sleeps again, to the present of the first frame that was begun after, and to the display that shows
 * it. From events of kinds input_wake, wakeup, switch, frame, commit, served and vblank. */
#ifndef TACTUS_MODEL_TO_FRAME_H
#define TACTUS_MODEL_TO_FRAME_H

#include "../../core/hist.h"
#include "threads.h"

enum {
	TO_FRAME_CARRIERS = 64, /* threads that have what was read, until they sleep */
	TO_FRAME_WAITING = 64,	/* reports on their way to a frame or a display */
	TO_FRAME_THREADS = 4,	/* of one process that got it */
	TO_FRAME_SERVERS = 64,
	TO_FRAME_ROWS = 256,
};

/* After so long without a frame nothing follows; after so long without a word nobody tells when it is shown. */
#define TO_FRAME_MOST_NS NSEC_PER_SEC
#define TO_FRAME_SHOWN_MOST_NS (NSEC_PER_SEC / 4)

/* Of a stage that is not known. */
#define TO_FRAME_UNKNOWN 0x8000000000000000ull

/* Where a report has got to. */
enum to_frame_stage { TO_FRAME_READ, TO_FRAME_PRESENTED, TO_FRAME_HANDED_OVER, TO_FRAME_COMPOSITED };

/* A report on its way. Spans are from the report on. */
struct to_frame_way {
	enum to_frame_stage stage;
	u32 pid;
	u32 device;
	u32 tids[TO_FRAME_THREADS];
	u32 tids_len;
	u64 report_ns; /* the oldest that the frame answers */
	u64 read_ns;
	u32 reports;	/* that it answers */
	u32 begins_tid; /* presented after it was read, and is now in a frame that was begun after */
	u32 present_tid;
	u64 presented_ns;
	u64 number;	    /* of the frame, as the kernel half counts */
	u32 presents_after; /* further ones of that thread */
	u32 flip_tid;	    /* whose flip shows it */
	u64 flip_ns;
	u64 shown_at_ns; /* 0: not yet */
};

/* A report that has come to its end. */
struct to_frame {
	u32 device, pid, tid; /* who presented */
	struct comm comm;
	u64 report_ns; /* when */
	u32 reports;
	u64 run_ns;	/* until its reader ran */
	u64 present_ns; /* until the frame was presented */
	u64 shown_ns;	/* until the display showed it, or TO_FRAME_UNKNOWN */
};

struct to_frame_row {
	u32 device, pid;
	struct comm comm;
	u64 reports;
	struct hist run_ns, present_ns, shown_ns;
};

struct to_frames {
	struct {
		u32 tid;
		u32 device;
		u64 report_ns;
	} carriers[TO_FRAME_CARRIERS];
	u32 carriers_len;
	struct to_frame_way ways[TO_FRAME_WAITING];
	u32 ways_len;
	struct {
		u32 pid, server_pid;
	} servers[TO_FRAME_SERVERS];
	u32 servers_len;
	struct to_frame_row rows[TO_FRAME_ROWS];
	u32 rows_len;
	u64 without_frame; /* reports that were read and that no frame followed */
	u64 refused;	   /* for which there was no room */
};

/* Takes an event that `threads` has taken. */
void to_frames_handle(struct to_frames *to_frames, const struct threads *threads, const struct event_header *event);

/* The next report that has come to its end; `now_ns` ~0: all have. Counts it in its row. */
bool to_frames_next(struct to_frames *to_frames, const struct threads *threads, u64 now_ns, struct to_frame *done);

/* Counting begins anew. */
void to_frames_restart(struct to_frames *to_frames);

#endif
