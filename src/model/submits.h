/* SPDX-License-Identifier: GPL-2.0 */
/* What threads submit to GPUs, how long the driver's calls take and which stand out, how long the GPU takes until it
 * has done it, and how much memory it uses. From events of kinds submit, fence and gpu_memory. */
#ifndef TACTUS_MODEL_SUBMITS_H
#define TACTUS_MODEL_SUBMITS_H

#include "../../core/hist.h"
#include "../../core/stall.h"
#include "threads.h"

/* One thread's submits of one kind to one driver. */
struct submit_row {
	u32 tid, pid;
	u64 start_ns; /* of the thread: with its tid, who it is */
	struct comm comm;
	u32 driver; /* enum gpu_driver */
	u32 work;   /* enum gpu_work */
	u64 submits, refused;
	u64 first_ns, last_ns; /* when the first and the last began */
	struct hist took_ns;
	struct hist interval_ns;
	struct stall_window tooks, gaps;
	u64 ioctl_stalls, gap_stalls;
	bool is_reported; /* when a GPU has done what this thread gave it */
	struct submit_row *next;
};

/* When a queue of a GPU had work and when it had none. It does one thing after the other, so that beginnings and ends
 * come in order. */
struct gpu_use {
	u64 first_ns, until_ns;
	u64 busy_ns;
	struct hist idle_ns;
};

struct fence_row {
	struct comm driver, timeline;
	struct hist took_ns;
	struct gpu_use use;
	struct stall_window tooks;
	u64 stalls;
	u64 last_ns;
	struct fence_row *next;
};

/* A ring of a GPU that the kernel's scheduler for GPUs feeds. */
struct ring_row {
	struct comm device, ring;
	struct hist queue_ns;  /* in the scheduler's queue */
	struct hist behind_ns; /* on the ring, behind the job before */
	struct hist run_ns;
	struct gpu_use use;
	struct stall_window queues, runs;
	u64 stalls;
	u64 last_ns;
	struct ring_row *next;
};

struct memory_row {
	u32 gpu, pid;
	u64 bytes, most_bytes;
	u64 last_ns;
	struct memory_row *next;
};

/* Rows of all lists together; whatever a recording claims, there are not more. */
enum { SUBMIT_ROWS_MAX = 4096 };

struct submits {
	u32 len;
	struct submit_row *rows; /* each list in the order of the first event */
	struct fence_row *fences;
	struct ring_row *rings;
	struct memory_row *memories;
	u64 refused; /* events for which there was no row and no room or memory for one */
};

enum stall_kind {
	STALL_NONE,
	STALL_IOCTL,
	STALL_GAP,
	STALL_FENCE, /* the GPU took so long, with what was before it */
	STALL_QUEUE, /* a job waited so long in the queue */
	STALL_RUN,   /* the ring took so long over a job */
};

/* A submit, or work of a GPU, that stood out. */
struct stall {
	enum stall_kind kind;
	const struct submit_row *row;	      /* of an ioctl or a gap */
	const struct comm *driver, *timeline; /* of the others */
	u32 tid;
	u64 at_ns;
	u64 span_ns;
	u64 usual_ns;
};

/* Takes an event that `threads` has taken. True, with *stall filled, if it stood out; of two reasons
 * the longer one is reported. */
bool submits_handle(struct submits *submits, const struct threads *threads, const struct event_header *event,
		    struct stall *stall);
void submits_free(struct submits *submits);

/* For who watches for days: what has ended, or of which nothing came since then, makes room. Memory of a whole GPU
 * stays as it was told last. */
void submits_forget(struct submits *submits, const struct threads *threads, u64 since_ns);

/* Counting begins anew; what is usual stays known. */
void submits_restart(struct submits *submits);

/* In hundredths of a percent: how long the queue had work, of the time from its first to its last. */
u64 gpu_use_percent(const struct gpu_use *use);

/* Whether nothing is reported of what becomes of the driver's work: neither fences nor jobs of those that submit to it.
 */
bool submits_unreported(const struct submits *submits, u32 driver);

/* Jobs and fences that are done so far, of all rows. */
u64 submits_done(const struct submits *submits);

/* Submits a second, in hundredths, from the first to the last. */
u64 submit_rate(const struct submit_row *row);

#endif
