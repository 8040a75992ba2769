/* SPDX-License-Identifier: GPL-2.0 */
/* The rows of 'tactus top': threads below their processes, or either alone, chosen and put into order.
 * Plain records: what they look like is not known here. */
#ifndef TACTUS_MODEL_TOP_ROWS_H
#define TACTUS_MODEL_TOP_ROWS_H

#include "top.h"

enum top_group { TOP_TREE, TOP_ONLY_THREADS, TOP_ONLY_PROCESSES, TOP_GROUPS };

enum top_order {
	TOP_BY_CPU,
	TOP_BY_P99,
	TOP_BY_WORST,
	TOP_BY_WAITS,
	TOP_BY_FPS,
	TOP_BY_GPU,
	TOP_BY_CUDA,
	TOP_BY_MISSES,
	TOP_BY_NAME,
	TOP_BY_TID,
	TOP_ORDERS,
};

enum { TOP_FILTER_SIZE = 32 };

/* What somebody wants to see. */
struct top_choice {
	enum top_group group;
	enum top_order order;
	bool reversed;
	bool idle_too;		      /* also who did nothing in the last turns */
	char filter[TOP_FILTER_SIZE]; /* a part of a name or a role, or a whole tid or pid; "": all */
};

struct top_row {
	bool is_process;
	bool is_below; /* its process's row comes before it */
	bool is_last;  /* of those below one process */
	u32 tid, pid;  /* a process's tid is its pid */
	u32 threads;   /* of a process, that are in its sums */
	struct comm comm;
	bool ended, has_role;
	u32 role, tier, prio; /* of a process: of its most urgent thread */
	u64 cpu_hundredths;   /* of one CPU, in percent */
	u64 waits_tenths;     /* a second */
	struct top_wait_summary wait;
	u64 worst_ns[TOP_SHOWN]; /* of each turn, the oldest first */
	struct top_other behind; /* amount 0: nobody */
	u64 fps_tenths, late_frames;
	u64 submits_tenths, launches_tenths;
	u64 misses, pushes; /* so far */
	struct top_counts all;
};

/* All zeroes is an empty one. Its memory is used again and again. */
struct top_rows {
	struct top_row *all;
	size_t len;
	size_t hidden; /* that the choice leaves out */
	struct top_rows_making *making;
};

/* In place of what is there. Returns 0 or -ENOMEM. */
int top_rows_make(struct top_rows *rows, const struct top *top, const struct threads *threads,
		  const struct top_choice *choice);
void top_rows_free(struct top_rows *rows);

/* "cpu", "p99", ... */
const char *top_order_name(enum top_order order);
const char *top_group_name(enum top_group group);
/* TOP_ORDERS if no order has this name. */
enum top_order top_order_parse(const char *word);

#endif
