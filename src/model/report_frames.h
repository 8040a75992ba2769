/* SPDX-License-Identifier: GPL-2.0 */
/* Frames for a page: each of them as long as there is room, then the longest of two, of four and so on; of the late
 * ones the latest with what every moment went into; and how many were late for which cause. */
#ifndef TACTUS_MODEL_REPORT_FRAMES_H
#define TACTUS_MODEL_REPORT_FRAMES_H

#include "frames.h"
#include "report_names.h"

enum {
	REPORT_FRAMES = 1 << 17, /* of all processes together */
	REPORT_PRESENTERS = 16,	 /* processes whose frames are shown */
	REPORT_LATE = 256,	 /* frames with a path */
	REPORT_STEPS = 48,	 /* of a path: the longest */
	REPORT_CAUSES = 256,
	REPORT_WORDS_SIZE = 240,
};

/* Says why a frame was late. */
typedef void (*report_explain)(char *into, size_t size, const struct threads *threads, const struct late_frame *late);

/* One frame, or the longest of several in a row. */
struct report_frame {
	u64 at_ns;
	u64 interval_ns;
	u64 number;
	bool is_late;	/* any of them */
	bool is_judged; /* it was known by then how often frames come */
};

struct report_presenter {
	u32 pid;
	u32 each;    /* frames that an entry stands for */
	u32 in_last; /* and the last one so far */
	struct report_frame *all;
	size_t len, room;
};

struct report_step {
	u64 from_ns, to_ns;
	u8 kind; /* enum path_kind */
	u8 woken_by;
	u16 cpu;
	u32 tid, other_tid;
	u16 name, other_name;
};

struct report_late {
	struct late_frame frame;
	u32 pid;
	u16 process_name;
	char words[REPORT_WORDS_SIZE];
	struct report_step steps[REPORT_STEPS]; /* in order of time */
	u32 steps_len;
	u64 not_shown_ns; /* in steps that are left out */
	struct {
		u16 name, other_name;
	} parts[LATE_PARTS]; /* of the frame's parts: whose they were then */
};

/* Whose doing it was that frames of a process were late. */
enum report_blame {
	REPORT_BLAME_CPU,    /* a thread on the path waited for a CPU, behind those of this name */
	REPORT_BLAME_ITSELF, /* the thread that presents ran longer than usual */
	REPORT_BLAME_WORK,   /* it waited for a thread of this name, which ran */
	REPORT_BLAME_SLEEP,  /* it slept, until one of this name, a timer or a device woke it */
	REPORT_BLAME_GPU,    /* it was in calls to the GPU's driver */
	REPORT_BLAME_UNKNOWN,
	REPORT_BLAMES,
};

struct report_cause {
	u32 pid;
	enum report_blame blame;
	u16 name;
	u64 frames, late_ns;
};

struct report_frames {
	report_explain explain;
	struct report_presenter presenters[REPORT_PRESENTERS];
	u32 presenters_len;
	u64 presenters_refused; /* frames of processes for which there was no room */
	size_t kept;		/* of all presenters */
	struct report_late *late[REPORT_LATE];
	u32 late_len;
	u64 late_all;
	struct report_cause causes[REPORT_CAUSES];
	u32 causes_len;
	u64 causes_refused;
	bool failed;
};

void report_frames_free(struct report_frames *frames);
void report_frames_restart(struct report_frames *frames);

/* Takes a frame of that process. `model` explains. */
void report_frames_take(struct report_frames *frames, struct report_names *names, const struct threads *threads,
			const struct frames *model, const struct late_frame *frame,
			const struct frame_process *process);

/* Puts late frames and causes into order: by time, and the most frequent first. */
void report_frames_order(struct report_frames *frames);

enum report_blame report_blame_of(const struct late_frame *frame);

#endif
