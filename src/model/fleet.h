/* SPDX-License-Identifier: GPL-2.0 */
/* Which rank of a training job holds the others up, and by what, from figures of all of them. Ranks do the same work
 * and wait for each other at the end of each step: the one that is late is the one that waits less. */
#ifndef TACTUS_MODEL_FLEET_H
#define TACTUS_MODEL_FLEET_H

#include "metrics_names.h"
#include "steps.h"

enum { FLEET_RANKS_MOST = 1 << 12, FLEET_HOST_SIZE = 64 };

enum fleet_cause {
	FLEET_NONE,   /* it holds nobody up */
	FLEET_CPU,    /* it waited for CPUs */
	FLEET_DATA,   /* for another process: its DataLoader */
	FLEET_LOCK,   /* for another thread of its own */
	FLEET_GPU,    /* for its GPU, or for copies */
	FLEET_WORK,   /* it worked longer itself */
	FLEET_NOT_IT, /* nothing that it did: what it waited for is elsewhere */
	FLEET_CAUSES
};

struct fleet_rank {
	char host[FLEET_HOST_SIZE];
	char rank[RANK_NAME_SIZE];
	double steps, slow_steps, launches, wait_s, cpu_s;
	double step_s;
	double parts_s[STEP_PARTS];
	/* Found: */
	bool is_judged;		   /* there were steps enough */
	double shares[STEP_PARTS]; /* of a step's time */
	double waits_less;	   /* than the median, as a share of a step */
	enum fleet_cause cause;
	double cause_share, cause_median;
};

struct fleet {
	struct fleet_rank *ranks;
	size_t len, room;
	double medians[STEP_PARTS];
	double step_s;	 /* the median's */
	double crowding; /* the median's wait for CPUs, for each second of what it does */
	size_t judged, blamed;
	size_t refused;
};

/* A figure of one rank: `figure` is one of those below, `part` of STEP_SECONDS only. */
enum fleet_figure { FLEET_STEPS, FLEET_SLOW_STEPS, FLEET_LAUNCHES, FLEET_WAIT_S, FLEET_CPU_S, FLEET_STEP_S };
/* False: there is no room or memory. */
bool fleet_take(struct fleet *fleet, const char *host, const char *rank, enum fleet_figure figure, const char *part,
		double value);

/* Once all are taken: fills what is found, and puts ranks in order of their numbers. */
void fleet_judge(struct fleet *fleet);
void fleet_free(struct fleet *fleet);

const char *fleet_cause_name(enum fleet_cause cause);
/* "its DataLoader" */
const char *fleet_cause_words(enum fleet_cause cause);

#endif
