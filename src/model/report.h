/* SPDX-License-Identifier: GPL-2.0 */
/* What a page about a stream of events shows over time, in bounded room however long the stream is: waits by how long
 * they were, CPUs by what ran there, who waited behind whom, counts, frames, and the late ones with their paths.
 * Time is cut into bins, which become twice as long whenever there would be too many. */
#ifndef TACTUS_MODEL_REPORT_H
#define TACTUS_MODEL_REPORT_H

#include "../../core/role.h"
#include "frames.h"
#include "misses.h"
#include "report_frames.h"
#include "report_names.h"

enum {
	REPORT_BINS = 240,
	REPORT_BIN_NS = NSEC_PER_MSEC, /* the shortest */
	REPORT_OCTAVES = 25,	       /* of waits: under a microsecond, then powers of two of it to over 8 s */
	REPORT_KINDS = ROLES + 1,      /* of CPU time: roles, and threads that are not watched */
	REPORT_UNWATCHED = ROLES,
	REPORT_CPUS = 128,			/* that have a lane of their own; all are in the sums */
	REPORT_BEHIND_NS = 100 * NSEC_PER_USEC, /* a wait from which on somebody is looked for who was in the way */
	REPORT_PAIRS = 8192,
	REPORT_EFFECTS = 64,
	REPORT_MISS_CAUSES = 64,
	REPORT_FORGETS = 4096, /* after so many ends of threads what those did is forgotten */
};

enum report_count {
	REPORT_SWITCHES,
	REPORT_WAKEUPS,
	REPORT_MOVES,
	REPORT_SUBMITS,
	REPORT_LAUNCHES,
	REPORT_COPIES,
	REPORT_SYNCHRONISATION_NS,
	REPORT_PREEMPTS,      /* by tactus's scheduler: somebody was pushed off a CPU, */
	REPORT_DECIDED_MOVES, /* a thread was moved, */
	REPORT_URGENT_MISSES, /* an urgent one waited longer than it may */
	REPORT_LOST,
	REPORT_COUNTS,
};

/* Waits of those of one name behind those of another. */
struct report_pair {
	u16 waiter, culprit; /* names */
	u64 waits, wait_ns, max_ns;
};

/* What a CPU does now. */
struct report_cpu {
	u32 tid;
	u64 since_ns;		       /* 0: not known */
	u64 (*kinds_ns)[REPORT_KINDS]; /* of each bin; NULL: there was no room for a lane */
};

/* Who had the CPU when a thread by a timer ran too late. */
enum report_in_the_way { REPORT_NOT_KNOWN, REPORT_ITSELF, REPORT_IDLE_CPU, REPORT_ANOTHER };
struct report_miss_cause {
	u32 tid;
	u16 name; /* for REPORT_ANOTHER */
	enum report_in_the_way who;
	u64 misses;
};

struct report_effect {
	u64 at_ns, acted_p99_ns, held_p99_ns, span_ns;
	u32 pid, cause_pid, what;
	u16 name, cause_name;
};

struct report {
	u64 from_ns, to_ns; /* from the first event that counts to the last */
	u64 bin_ns;
	u32 bins; /* in use */
	u64 events;
	u32 waits[ROLES][REPORT_BINS][REPORT_OCTAVES];
	u64 kinds_ns[REPORT_BINS][REPORT_KINDS]; /* of all CPUs */
	u64 counts[REPORT_COUNTS][REPORT_BINS];
	struct report_cpu *cpus;
	u32 cpus_len, lanes;
	struct report_names names;
	struct report_pair *pairs;
	size_t pairs_len, pairs_room;
	struct map by_pair;
	u64 pairs_refused, pairs_refused_ns; /* waits of pairs for which there was no room */
	struct report_frames frames;
	struct report_effect effects[REPORT_EFFECTS];
	u32 effects_len;
	u64 effects_all;
	struct report_miss_cause miss_causes[REPORT_MISS_CAUSES]; /* at the end the most frequent first */
	u32 miss_causes_len;
	u64 misses_refused; /* for whose cause there was no room */
	u32 ends;	    /* of threads, since the last time that something was forgotten */
	bool failed;	    /* something is missing for want of memory */
};

/* NULL for want of memory. `explain` may be NULL. */
struct report *report_new(u32 cpus_len, report_explain explain);
void report_free(struct report *report);

/* Takes an event that `threads` and `frames`, which explains, have taken; the wait that it ended, or NULL; the frame
 * if it was one, of that process. */
void report_handle(struct report *report, struct threads *threads, const struct frames *frames,
		   const struct event_header *event, const struct wait *ended, const struct late_frame *frame,
		   const struct frame_process *process);

/* Takes a deadline miss. */
void report_take_miss(struct report *report, const struct threads *threads, const struct miss *miss);

/* Adds to a count that is not of one event: of CUDA's calls, what its model makes of them. */
void report_count(struct report *report, enum report_count what, u64 time_ns, u64 amount);
/* The same for a span, each part of it where it lies. */
void report_count_span(struct report *report, enum report_count what, u64 from_ns, u64 to_ns);

/* What is shown begins here: all that was counted before is forgotten. */
void report_restart(struct report *report, u64 now_ns);

/* Nothing more comes. */
void report_end(struct report *report, const struct threads *threads, u64 now_ns);

/* Of a wait: the row of the heat map, and where that begins. */
u32 report_octave(u64 wait_ns);
u64 report_octave_low_ns(u32 octave);

#endif
