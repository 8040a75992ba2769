/* SPDX-License-Identifier: GPL-2.0 */
/* A stream of events as a trace for viewers: what the files of it share. A part of the stream that is not wanted only
 * makes known what was before. */
#ifndef TACTUS_VIEW_EXPORT_TRACE_H
#define TACTUS_VIEW_EXPORT_TRACE_H

#include "../model/cuda.h"
#include "../model/frames.h"
#include "../model/inputs.h"
#include "../model/misses.h"
#include "../model/moves.h"
#include "../model/stacks.h"
#include "../model/steps.h"
#include "../sink/trace.h"

/* What a thread has a track for. */
enum lane_kind {
	LANE_ROLE,
	LANE_TIER,
	LANE_FRAMES,
	LANE_WAITS,
	LANE_IN_THE_WAY,
	LANE_MISSES,
	LANE_MOVES,
	LANE_SCHEDULER,
	LANE_SUBMITS,
	LANE_CUDA,
	LANE_LAUNCHES,
	LANE_STEPS,
	LANE_IOCTLS,
	LANE_DRIVER_WORK,
	LANE_INPUT,
	LANE_LIFE,
	LANE_STACKS,
	LANE_KINDS
};

/* What belongs to no thread: by kind, and a number that tells several apart. */
enum place_kind {
	PLACE_PROCESS,	  /* by pid */
	PLACE_FRAMES,	  /* counters of a process: a second */
	PLACE_LAUNCHES,	  /* the same */
	PLACE_MEMORY,	  /* counter, by GPU and pid */
	PLACE_QUEUE,	  /* counter, by CPU */
	PLACE_FENCES,	  /* by context */
	PLACE_RING,	  /* of a GPU: what it does, */
	PLACE_RING_QUEUE, /* and what waits for it */
	PLACE_DEVICE,	  /* input device */
	PLACE_DISPLAY,
	PLACE_XIDS,
	PLACE_LOSSES,
	PLACE_END,
};

enum { THREAD_LANES = 24, PLACE_LANES = 8, PLACES_MOST = 1 << 14, WAITS_REMEMBERED = 4 };
enum { EXPORT_NAME_SIZE = 512, PLACE_NAME_SIZE = 96, WORDED_KERNELS = 256 };

struct lane {
	struct trace_track track;
	u64 free_ns; /* what is on it has ended by then */
	enum lane_kind kind;
};

/* A wait that has a flow to who was in the way. */
struct noted_wait {
	u64 from_ns, to_ns;
	u32 behind_tid;
	u64 flow;
};

struct thread_lanes {
	struct trace_track track; /* the thread's own; id 0: none yet */
	u32 queued_for;		  /* the CPU whose queue it is counted in, plus one; 0: none */
	u32 len;
	u64 role_since_ns, tier_since_ns; /* 0: none is known */
	struct event_role role;
	struct noted_wait waits[WAITS_REMEMBERED];
	u32 waits_next;
	struct lane lanes[THREAD_LANES];
};

struct place {
	enum place_kind kind;
	u64 key;
	u32 len;
	u64 count;   /* counters: since the last second, or now */
	u64 most;    /* of a queue, since it was last written */
	u64 written; /* the value that was last written; of a ring, until when it worked */
	bool is_written;
	char name[PLACE_NAME_SIZE];
	struct lane lanes[PLACE_LANES];
};

struct exporter {
	const struct trace_form *form;
	void *sink;
	struct threads *threads;
	u64 over_ns; /* waits longer than this say who was in the way */
	struct frames frames;
	struct misses misses;
	struct moves moves;
	struct cuda cuda; /* names only */
	struct steps steps;
	struct inputs inputs;
	struct stacks stacks;	  /* names of functions */
	struct event_stack *away; /* whose functions have no names yet */
	size_t away_len, away_room;
	struct place **places;
	size_t places_len, places_room;
	struct map by_place;
	/* Names of kernels in words, by their place in memory: to make them takes longer than to write a launch. */
	struct {
		const struct cuda_kernel *kernel;
		const char *name;
		size_t len;
		char *words;
	} worded[WORDED_KERNELS];
	u64 last_id, last_flow;
	u64 from_ns;		  /* the wanted part's beginning */
	u64 second_ns, queues_ns; /* when counters were last written */
	u64 events, marks;
	u64 unplaced; /* marks for which there was no track left */
	bool failed;  /* something is missing for want of memory */
};

/* `base` tells the numbers of one file's tracks from those of others. */
void exporter_open(struct exporter *exporter, const struct trace_form *form, void *sink, struct threads *threads,
		   u64 over_ns, u64 base);
void exporter_close(struct exporter *exporter);

/* What is known as the wanted part begins. */
void exporter_begin(struct exporter *exporter, u64 now_ns);
/* Takes an event that `threads` has taken, and the wait that it ended, or NULL. `is_before`: nothing is written of it.
 */
void exporter_take(struct exporter *exporter, const struct event_header *event, const struct wait *ended,
		   bool is_before);
/* Nothing comes after that time. */
void exporter_end(struct exporter *exporter, u64 now_ns);

/* Tracks. NULL for want of room or memory, which is counted. */
struct thread_lanes *export_lanes_of(struct exporter *exporter, struct thread *thread);
struct place *export_place(struct exporter *exporter, enum place_kind kind, u64 key);
/* A track of the thread, or of the place, that is free in that span; it is taken up to its end. */
const struct trace_track *export_thread_lane(struct exporter *exporter, u32 tid, enum lane_kind kind, u64 from_ns,
					     u64 to_ns);
const struct trace_track *export_place_lane(struct exporter *exporter, struct place *place, const char *name,
					    u64 from_ns, u64 to_ns);
const struct trace_track *export_counter(struct exporter *exporter, struct place *place, u32 pid, const char *name,
					 const char *unit);

/* Writes a mark on a track of the thread. */
void export_mark(struct exporter *exporter, u32 tid, enum lane_kind kind, const struct trace_mark *mark);

/* Kinds of events, each in its file. */
void export_sched(struct exporter *exporter, const struct event_header *event, const struct wait *ended);
/* Writes the longest run queues since they were last written. */
void export_queues(struct exporter *exporter);
void export_miss(struct exporter *exporter, const struct miss *miss);
void export_move(struct exporter *exporter, const struct move *move);
void export_running(struct exporter *exporter, u64 now_ns);
void export_thread_known(struct exporter *exporter, const struct thread *thread, u64 now_ns, u32 cpu);
void export_role(struct exporter *exporter, struct thread *thread, const struct event_role *event, u64 now_ns);
void export_role_ends(struct exporter *exporter, struct thread *thread, u64 now_ns);
void export_frame(struct exporter *exporter, const struct event_frame *event, const struct late_frame *frame,
		  const struct frame_process *process, bool is_late);
/* An arrow to who is to blame, from what ended at frame->at_ns and is called `what`; 0: nobody is. */
u64 export_flow_to_guilty(struct exporter *exporter, const struct late_frame *frame, const char *what);
void export_step(struct exporter *exporter, const struct step *step);
void export_range(struct exporter *exporter, const struct event_cuda_name *event);
void export_driver_work(struct exporter *exporter, const struct event_cuda_work *event);
void export_job(struct exporter *exporter, const struct event_fence *event);
/* NULL: nothing new, but names may be. `is_last`: no more come. */
void export_stacks(struct exporter *exporter, const struct event_stack *event, bool is_last);
void export_other(struct exporter *exporter, const struct event_header *event);

#define NUMBER_ARG(of, value)                                       \
	{                                                           \
		.name = (of), .kind = ARG_NUMBER, .number = (value) \
	}
#define SIGNED_ARG(of, value)                                                 \
	{                                                                     \
		.name = (of), .kind = ARG_SIGNED, .number = (u64)(s64)(value) \
	}
#define HEX_ARG(of, value)                                       \
	{                                                        \
		.name = (of), .kind = ARG_HEX, .number = (value) \
	}
#define TEXT_ARG(of, value)                                     \
	{                                                       \
		.name = (of), .kind = ARG_TEXT, .text = (value) \
	}
#define ARGS(list) .args = (list), .args_len = sizeof(list) / sizeof((list)[0])

#endif
