/* SPDX-License-Identifier: GPL-2.0 */
/* Where a training step's time goes: steps of each process that launches kernels, found by the rhythm of its launches,
 * and what each went into, followed through whoever its thread waited for (model/path.h). */
#ifndef TACTUS_MODEL_STEPS_H
#define TACTUS_MODEL_STEPS_H

#include "cuda.h"
#include "path.h"
#include "rhythm.h"

/* What time went into. Time in calls that wait for the GPU or copy is counted as such, whether the thread ran or slept
 * in them, and so may be in the last two as well. */
enum step_part {
	STEP_CPU_WAIT,	 /* it, or whom it waited for, could run and had no CPU */
	STEP_DATA,	 /* it waited for another process: the DataLoader's worker */
	STEP_LOCK,	 /* it waited for another thread of its process that launches nothing: a lock or a queue */
	STEP_SYNC,	 /* in calls that wait for the GPU, small copies among them */
	STEP_COPY,	 /* in calls that copy a megabyte and more, and in those that wait for one right behind it */
	STEP_COLLECTIVE, /* in calls of NCCL's */
	STEP_RAN,	 /* it ran, or a thread that launches for it */
	STEP_SLEPT,	 /* it slept until a timer or a device woke it */
	STEP_UNKNOWN,
	STEP_PARTS
};

/* The longest call of a part. */
struct step_call {
	u64 ns, bytes;
	u32 function;
	u32 copy; /* enum cuda_copy */
};

struct step {
	u64 number; /* of the process, from 1 */
	u64 at_ns;  /* its end */
	u64 wall_ns;
	u64 usual_ns; /* what its like took before */
	u32 tid;
	bool is_slow;
	u64 parts_ns[STEP_PARTS];
	u64 cpu_ns; /* of all threads of the process */
	u64 launches, copies, copy_bytes, waits, collectives;
	enum step_part part; /* of a slow one: what there was most more of than usual */
	u64 usual_part_ns;
	bool has_cause;
	struct path_item cause; /* the largest item of that part */
	struct step_call call;	/* and the longest call, of parts that are calls */
};

enum { STEPS_WORST = 10, STEPS_PROCESSES = 64, STEPS_TIMES_MAX = 1 << 20, STEP_LAUNCHERS = 16, STEP_SPANS = 32 };

/* A collective call: what its thread did meanwhile was to wait for the other ranks. */
struct step_span {
	u64 from_ns, to_ns;
	u32 tid;
};

struct step_process {
	u32 pid;
	struct comm comm;
	struct rhythm rhythm;
	u64 from_ns;	 /* the step that is under way; 0: none is */
	u64 cpu_from_ns; /* CPU time of the process then */
	struct step now; /* counted so far */
	struct step_call calls[STEP_PARTS];
	struct step_span spans[STEP_SPANS]; /* in the order of time; later ones than fit count as other calls do */
	u32 spans_len;
	struct event_cuda_call copied; /* the last copy that returned before it was done, if nothing came behind it */
	u32 launchers[STEP_LAUNCHERS]; /* threads that launch, in the last steps */
	u32 launchers_len;
	u64 steps, slow;
	u64 ranges; /* that the program named, in steps or not */
	u64 usual_ns;
	u64 usual_parts_ns[STEP_PARTS];
	struct step sum; /* of all */
	u64 *times_ns;
	size_t times_len, times_room;
	u64 slow_by[STEP_PARTS];
	struct step worst[STEPS_WORST]; /* the longest first */
	u32 worst_len;
	u64 last_ns; /* when it did something */
	struct step_process *next;
};

struct steps {
	struct step_process *processes;
	u32 processes_len;
	u64 refused; /* events of processes for which there was no place or memory */
	struct history history;
	const char *marker; /* what the user says that steps begin with: a kernel's, function's or range's name, or a
			     * part of it; NULL: the rhythm says */
	bool failed;	    /* something is missing for want of memory or room */
};

struct step_times {
	u64 p50_ns, p99_ns, max_ns;
};

void steps_init(struct steps *steps, const char *marker);
void steps_free(struct steps *steps);

/* Takes an event that `threads` and `cuda` have taken. True, with *step filled and *process set, if a step has ended.
 */
bool steps_handle(struct steps *steps, struct threads *threads, const struct cuda *cuda,
		  const struct event_header *event, struct step *step, const struct step_process **process);

/* For who watches for days: processes that have ended, or did nothing since then, make room. */
void steps_forget(struct steps *steps, const struct threads *threads, u64 since_ns);

struct step_times step_times(const struct step_process *process);

const char *step_part_name(enum step_part part);

#endif
