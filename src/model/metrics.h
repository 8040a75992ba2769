/* SPDX-License-Identifier: GPL-2.0 */
/* Figures for engines that gather them from many machines: what threads did, added up by role, by control group and by
 * rank of a training job, and never by thread, so that there are few series however many threads there are. Counts only
 * grow; who reads them takes differences. From what the kernel half has added up (core/sums.h). */
#ifndef TACTUS_MODEL_METRICS_H
#define TACTUS_MODEL_METRICS_H

#include <stdbool.h>
#include <stddef.h>

#include "../../core/role.h"
#include "../../core/sums.h"
#include "../base/map.h"
#include "metrics_names.h"
#include "steps.h"

enum {
	/* Edges are powers of two: the first bucket ends at 16 us, the last but one at 1 s, and then all. */
	METRICS_FIRST_OCTAVE = 14,
	METRICS_OCTAVES = 17,
	METRICS_BUCKETS = METRICS_OCTAVES + 1,
	METRICS_GROUPS_DEFAULT = 64,
	METRICS_GROUPS_MOST = 1000,
	METRICS_RANKS_MOST = 128,
	METRICS_RANKS_OF_USER = 64,
	METRICS_PROCESSES_MOST = 1 << 16,
	METRICS_ROWS_MOST = 1 << 18,
	METRICS_IDS_MOST = 1 << 14, /* numbers of control groups that are remembered */
};
/* A group that did nothing for so long gives its place away where there is none left. */
#define METRICS_IDLE_NS (300ULL * NSEC_PER_SEC)

/* One wait, or one frame, as an example of a bucket. */
struct metrics_example {
	u64 value_ns; /* 0: there is none */
	u64 at_ns;    /* when it ended, CLOCK_MONOTONIC */
	u32 pid;
	struct comm comm;
	struct comm behind; /* "": nobody is known */
};

struct metrics_hist {
	u64 counts[METRICS_BUCKETS]; /* of each bucket alone */
	u64 total;
	u64 sum_ns;
	struct metrics_example examples[METRICS_BUCKETS]; /* since the last reading */
};

struct metrics_sums {
	u64 cpu_ns, wait_ns, waits, runs, wakeups;
};

struct metrics_role {
	struct metrics_sums sums;
	struct metrics_hist waits;
	u64 inversion_ns; /* of long waits, mostly behind a less urgent thread */
	u64 moved[DISTANCES];
};

struct metrics_group {
	struct group_name name;
	struct metrics_sums sums;
	u64 active_ns; /* when it last did something */
};

struct metrics_rank {
	struct rank_name name;
	u32 uid; /* whose processes say so */
	struct metrics_sums sums;
	u64 steps, slow_steps, launches;
	u64 step_ns, parts_ns[STEP_PARTS];
	u64 active_ns;
};

/* What one row says that others must be known for. */
struct metrics_row {
	u32 tid, pid;
	u16 role, tier;
	u32 behind_tid;
	u64 behind_ns;
	struct sums_wait longest;
	struct comm comm;
};

struct metrics {
	struct metrics_role roles[ROLES][TIERS];
	u64 threads[ROLES][TIERS]; /* that did something between the last two readings */
	struct metrics_group *groups;
	u32 groups_len, groups_most;
	struct metrics_sums others; /* in groups for which there is no place */
	u64 groups_refused;
	struct map by_id; /* of a control group: place in groups, plus two; 1: among the others */
	struct metrics_rank ranks[METRICS_RANKS_MOST];
	u32 ranks_len;
	u64 ranks_refused;
	u64 ranks_apart;   /* of a job that another user had first */
	struct map by_pid; /* see metrics.c */
	struct metrics_row *rows;
	size_t rows_len, rows_room;
	struct map by_tid; /* place in rows, plus one */
	u64 rows_refused;
	u64 taken; /* rows */
};

/* Returns 0 or -ENOMEM. */
int metrics_init(struct metrics *metrics, u32 groups_most);
void metrics_free(struct metrics *metrics);

/* Whether the row's group or process is new: then its name is to be found out, and said, before the row is added. */
bool metrics_wants_group(const struct metrics *metrics, u64 cgroup);
bool metrics_wants_rank(const struct metrics *metrics, const struct sums_head *head);
bool metrics_knows_process(const struct metrics *metrics, u32 pid);
/* NULL: nothing is known of it. A job is the user's who had it first, until it does nothing more: another who says that
 * his process is of it is refused, and so is who has too many. */
void metrics_name_group(struct metrics *metrics, u64 cgroup, const struct group_name *name, u64 now_ns);
void metrics_name_rank(struct metrics *metrics, u32 pid, const struct comm *comm, const struct rank_name *name, u32 uid,
		       u64 now_ns);

/* What a thread did. */
void metrics_add(struct metrics *metrics, const struct sums_row *row, u64 now_ns);

/* All rows of a reading have come: what they say of each other is added. */
void metrics_settle(struct metrics *metrics);

/* A step of a training job has ended, in that process. */
void metrics_add_step(struct metrics *metrics, u32 pid, const struct step *step, u64 now_ns);

/* Examples are of the time since the last reading: it is over. */
void metrics_begin_anew(struct metrics *metrics);

void metrics_hist_add(struct metrics_hist *hist, u64 value_ns, const struct metrics_example *example);
u32 metrics_bucket(u64 value_ns);
/* The largest value that falls into a bucket; the last has none. */
u64 metrics_bucket_ns(u32 bucket);

#endif
