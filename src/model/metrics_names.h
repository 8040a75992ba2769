/* SPDX-License-Identifier: GPL-2.0 */
/* What figures are gathered by: the unit, container or control group that a process is in, by its cgroup's path, and
 * the rank of a training job, by its environment. Both are what others chose: parsed here, with bounds, and believed of
 * that process alone. */
#ifndef TACTUS_MODEL_METRICS_NAMES_H
#define TACTUS_MODEL_METRICS_NAMES_H

#include <stdbool.h>
#include <stddef.h>

#include "../../core/types.h"

enum { GROUP_NAME_SIZE = 64, JOB_NAME_SIZE = 48, RANK_NAME_SIZE = 12 };

enum group_kind { GROUP_CGROUP, GROUP_UNIT, GROUP_CONTAINER, GROUP_KINDS };

struct group_name {
	enum group_kind kind;
	u32 user; /* in whose slice it is; 0: in none */
	char text[GROUP_NAME_SIZE];
};

const char *group_kind_name(enum group_kind kind);

/* Of a text like /proc/PID/cgroup: the line of the unified hierarchy. False: it has none. */
bool group_name_parse(struct group_name *name, const char *text, size_t len);

struct rank_name {
	char job[JOB_NAME_SIZE];
	char rank[RANK_NAME_SIZE];
};

/* Of a text like /proc/PID/environ: SLURM's, torchrun's, Open MPI's and MPICH's variables, or TACTUS_JOB and
 * TACTUS_RANK, which go before. False: it is of no job. */
bool rank_name_parse(struct rank_name *name, const char *environment, size_t len);

/* The same rank of a job that another user had first: JOB#UID, a name that no environment can give. */
void rank_name_of_user(struct rank_name *apart, const struct rank_name *name, u32 uid);

#endif
