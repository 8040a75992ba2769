/* SPDX-License-Identifier: GPL-2.0 */
/* Frames of every process that presents: how many, how long each took, which were late and why. From events of kind
 * frame and, for the reasons, the scheduler's. */
#ifndef TACTUS_MODEL_FRAMES_H
#define TACTUS_MODEL_FRAMES_H

#include "../../core/frame.h"
#include "../../core/pace.h"
#include "../../core/vblank.h"
#include "frame_record.h"
#include "path.h"

enum { FRAMES_WORST = 10, FRAMES_SHOWN = 24, FRAMES_DISPLAYS = 16 };

/* Of a thread that presents. Each has a pace of its own. */
struct frame_stream {
	u32 tid;
	struct pace pace;
	u64 usual_ns[PATH_KINDS][PATH_WHOSE]; /* moving averages over frames that were on time */
	u64 moves_before;
	u64 gpu_ns, usual_gpu_ns; /* in calls to the GPU's driver, since its last frame and usually */
	u64 number;		  /* of its last frame, as the kernel half counts */
	bool flips;		  /* the display itself: it learns when its pictures are up */
	u32 display;		  /* which one */
	u32 shown_seq;		  /* in which of the display's periods the last one came up */
	u64 shown_at_ns;	  /* 0: none did */
	struct handover handover; /* to its Wayland server */
	u64 handed_number;	  /* of the frame that it was, as the kernel half counts */
	bool hands_over;
	struct frame_records *records; /* NULL: nobody wants them */
	struct frame_stream *next;
};

struct frame_list {
	u64 *ns;
	size_t len, room;
};

struct frame_process {
	u32 pid;
	struct comm comm;
	struct frame_stream *streams;
	u64 frames, late, dropped, stutters, pauses;
	u64 frames_before;  /* frames_restart: those that have numbers and are not counted */
	u64 vblanks_missed; /* periods of the display without a new picture, where it says so */
	u64 first_ns, last_ns;
	u64 target_ns; /* of the last frame; 0: uncapped or not known */
	u64 *intervals_ns;
	size_t len, room;
	u64 *server_ns; /* from handing a picture to its server until that presents, where both are seen */
	size_t server_len, server_room;
	struct frame_list parts[FRAME_PARTS]; /* of the records that were taken */
	u64 ran_ns;			      /* of its threads that were on a CPU and left it */
	u64 submitted_ns;		      /* when the last submit of any of its threads began; 0: there was none */
	bool has_fences;
	bool has_jobs; /* then these tell when the GPU worked, without the time in queues */
	/* Since frames_turn_over: */
	u64 line_frames, line_late, line_dropped;
	size_t line_from;	    /* index into intervals_ns */
	u64 shown_ns[FRAMES_SHOWN]; /* the last ones, for a sparkline */
	u32 shown_next, shown_len;
	struct late_frame worst[FRAMES_WORST]; /* the longest first */
	u32 worst_len;
	struct frame_process *next;
};

/* To which process one presents. */
struct frame_server {
	u32 pid, server_pid;
	u64 at_ns; /* when it was told last */
	struct frame_server *next;
};

enum {
	FRAMES_ROWS_MAX = 4096, /* processes, their streams and servers: whoever presents, there are not more */
	FRAMES_TIMES_MAX = 1 << 24,
};

struct frames {
	size_t rows_len, times_len;
	u64 rows_refused;		 /* events for which there was no row and no room or memory for one */
	struct frame_process *processes; /* in the order of their first frames */
	struct frame_server *servers;
	struct history history;
	struct vblank_clock displays[FRAMES_DISPLAYS];
	u32 displays_len;
	u64 displays_refused; /* there was no room for them */
	bool explains;
	bool keeps_records;
	struct frame_runs runs;
	u64 lost_ns; /* the last time at which events were missing */
	bool failed; /* something is missing for want of memory or room */
};

struct frame_times {
	u64 p50_ns, p95_ns, p99_ns, p999_ns, max_ns;
	u64 low1_ns, low01_ns; /* mean of the longest 1 and 0.1 percent */
	u64 sum_ns;
	size_t len;
};

void frames_init(struct frames *frames, bool explains);
void frames_free(struct frames *frames);

/* For all that asks after a process or a display. NULL: it is not known. */
struct frame_process *frames_process(const struct frames *frames, u32 pid);
const struct vblank_clock *frames_clock(const struct frames *frames, const struct frame_stream *stream);

/* False for want of memory or room. */
bool frames_keep(struct frames *frames, struct frame_list *list, u64 value);

/* Takes an event that `threads` has taken. True, with *late filled and *process set, if it was a frame that was late.
 */
bool frames_handle(struct frames *frames, struct threads *threads, const struct event_header *event,
		   struct late_frame *late, const struct frame_process **process);

/* The time that the compositor had its pictures for, by percentiles; `len` 0: that is not known. */
struct frame_times frame_server_times(const struct frame_process *process);

/* Of one part of its records, by absolute amount; `len` 0: it is known of none. */
struct frame_times frame_part_times(const struct frame_process *process, enum frame_part part);

/* Of intervals from this index on. */
struct frame_times frame_times(const struct frame_process *process, size_t from);

/* A line has been shown: the next counts from here. */
void frames_turn_over(struct frames *frames);

/* Counting begins anew, once the threads' has; paces stay known, and the numbers of frames go on. */
void frames_restart(struct frames *frames);

/* For who shows lines only, for days: the same, and times of frames before are not needed any more. */
void frames_turn_over_for_good(struct frames *frames);

/* Processes, threads and servers that have ended, or of which nothing came since then, make room. */
void frames_forget(struct frames *frames, const struct threads *threads, u64 since_ns);

#endif
