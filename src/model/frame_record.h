/* SPDX-License-Identifier: GPL-2.0 */
/* All that is known of one frame, as one row. Parts of it come after its present (the display shows it, the compositor
 * presents it, the GPU has drawn it): a record waits for them, at most until two more frames have come. */
#ifndef TACTUS_MODEL_FRAME_RECORD_H
#define TACTUS_MODEL_FRAME_RECORD_H

#include "path.h"

enum { LATE_PARTS = 6, RECORDS_KEPT = 4, RECORDS_AWAITED = 2, GPU_SPANS = 8 };

/* A record that is as old as this waits for nothing any more. */
#define RECORD_WAITS_NS (NSEC_PER_SEC / 2)

/* Of a figure that the stream of events does not tell. */
#define FRAME_UNKNOWN 0x8000000000000000ull

/* A frame that was late, or one of the longest. */
struct late_frame {
	u64 number; /* of the process, from 1 */
	u64 at_ns;
	u64 interval_ns; /* 0: the first one, or the first after a pause */
	u64 late_ns;
	u64 target_ns; /* 0: not known yet */
	u32 tid;
	bool has_cause;
	struct path_item cause;		    /* what most of the excess went into */
	u64 usual_ns;			    /* of that kind, in frames that were on time */
	struct path_item parts[LATE_PARTS]; /* what all of its time went into: the cause first, then the longest */
	u32 parts_len;
	u64 rest_ns; /* in smaller parts */
	u32 moves;   /* of the thread, in this frame */
	u64 gpu_ns;  /* that the thread was in calls to the GPU's driver, in this frame */
	u64 usual_gpu_ns;
};

enum frame_part {
	FRAME_CPU,    /* that the process's threads ran, since the frame before */
	FRAME_SUBMIT, /* from the last submit of any of its threads to the present */
	FRAME_GPU,    /* that the GPU had work begun since the frame before: its fences, those at once counted once */
	FRAME_COMPOSITOR, /* from handing the picture over until the Wayland server presents */
	FRAME_SHOWN,	  /* from the present until the display shows it */
	FRAME_PHASE,	  /* from the display's last vblank to the present */
	/* Signed: by how much longer the frame before was shown than the time between the beginnings of the two. */
	FRAME_ANIMATION_ERROR,
	FRAME_PARTS,
};

struct frame_record {
	struct late_frame frame;
	u64 parts_ns[FRAME_PARTS]; /* FRAME_UNKNOWN: not known */
	u64 dropped;		   /* periods of the display without a frame before it */
	u64 vblanks_missed;	   /* the same, by the display's own count */
};

/* When a GPU had work. Ends come in order. */
struct gpu_busy {
	u64 from_ns[GPU_SPANS], to_ns[GPU_SPANS];
	u32 len;
	u64 before_ns; /* of spans that are no longer here */
};

/* A record that waits for its last parts. */
struct frame_pending {
	struct frame_record record;
	struct gpu_busy busy;
	u64 sent_number; /* as the kernel half counts */
	u64 began_ns;	 /* 0: not known */
	u64 shown_at_ns; /* 0: not known */
};

/* Of a stream: its last frames, in a circle. */
struct frame_records {
	struct frame_pending last[RECORDS_KEPT];
	u32 first, len;
	struct gpu_busy busy; /* of the frame that is not presented yet */
	u64 ran_before_ns;    /* CPU time of the process at the last frame */
	u64 began_before_ns, up_before_ns;
};

/* What a CPU runs, for the CPU time of processes. */
struct frame_run {
	u32 pid; /* 0: nobody that is known */
	u64 since_ns;
};

struct frame_runs {
	struct frame_run *cpus;
	u32 len;
	u64 from_ns; /* from here on it is known who runs; 0: it is not */
};

struct frames;
struct frame_process;
struct frame_stream;
struct pace_verdict;

/* Who runs, for all frames that come. False for want of memory. */
bool frame_runs_handle(struct frames *frames, const struct threads *threads, const struct event_header *event);

/* A frame of the stream: its record begins to wait. */
void frame_record_begin(struct frames *frames, const struct threads *threads, struct frame_process *process,
			struct frame_stream *stream, const struct event_frame *event, const struct late_frame *frame,
			const struct pace_verdict *verdict);

/* What comes later. */
void frame_record_fence(struct frames *frames, const struct threads *threads, const struct event_fence *event);
void frame_record_shown(struct frame_stream *stream, u64 at_ns, u64 missed);
void frame_record_composited(struct frame_stream *stream, u64 had_ns);

/* The next record that waits for nothing any more, or for anything at all, true; *process is whose. `now_ns`: ~0 at the
 * end, when none waits. Takes it from the waiting ones and counts it in the percentiles. */
bool frames_next_record(struct frames *frames, u64 now_ns, struct frame_record *record,
			const struct frame_process **process);

/* A sorted part of a late frame's time: the cause first. */
void late_frame_parts(struct late_frame *late, const struct path *path);

#endif
