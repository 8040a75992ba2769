/* SPDX-License-Identifier: GPL-2.0 */
/* What single events add to the figures: frames and why they were late, timers that were missed, what GPUs are given
 * and how they stall, calls into CUDA, and the steps of training jobs. Each by few words, however many processes there
 * are. */
#ifndef TACTUS_MODEL_METRICS_EVENTS_H
#define TACTUS_MODEL_METRICS_EVENTS_H

#include "cuda.h"
#include "frames.h"
#include "metrics.h"
#include "misses.h"
#include "submits.h"

enum late_cause {
	LATE_CPU_WAIT, /* a thread that the frame needed had no CPU */
	LATE_RAN,      /* its thread worked longer than usual */
	LATE_OTHER,    /* it waited for another thread, which worked */
	LATE_SLEPT,    /* it slept, until a timer, a device or somebody unknown woke it */
	LATE_GPU,      /* it was in calls of the GPU's driver */
	LATE_UNKNOWN,
	LATE_CAUSES
};

enum {
	METRICS_CUDA_NAMES = 32,
	METRICS_CUDA_ROWS = 1024,
	METRICS_STALLS = STALL_RUN + 1,
	METRICS_DRIVERS = GPU_DRIVERS
};

/* Processes of one name; the last place has all for which there was none. */
struct metrics_cuda {
	struct comm comm;
	u64 launches, copies, copied_bytes, syncs, sync_ns, collectives, collective_ns;
};

struct metrics_events {
	struct frames frames;
	struct misses misses;
	struct submits submits;
	struct cuda cuda;
	struct steps steps;
	bool with_cuda;

	struct metrics_hist frame_times;
	u64 late[LATE_CAUSES];
	u64 dropped;
	u64 missed[ROLES];
	u64 stalls[METRICS_STALLS];
	u64 submitted[METRICS_DRIVERS], submit_ns[METRICS_DRIVERS];
	struct metrics_cuda of[METRICS_CUDA_NAMES + 1];
	u32 of_len;
	u64 frames_seen; /* so far; for who watches closely only while there are any */
	u64 turned_ns;	 /* when models last let go of what is over */
};

void metrics_events_init(struct metrics_events *events, bool with_cuda);
void metrics_events_free(struct metrics_events *events);

/* Takes an event that `threads` has taken. True, with *step and *process set, if a step of a training job has ended. */
bool metrics_events_handle(struct metrics_events *events, struct threads *threads, const struct event_header *event,
			   struct step *step, const struct step_process **process);

/* Examples have been handed out: the next are of the time from here on. */
void metrics_events_told(struct metrics_events *events);

enum late_cause late_cause_of(const struct late_frame *late);
const char *late_cause_name(enum late_cause cause);
const char *metrics_stall_name(u32 kind);

#endif
