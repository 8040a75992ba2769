/* SPDX-License-Identifier: GPL-2.0 */
/* Whose a thread is, for what it may use of the CPUs by being urgent: a user, and a control group near the top, since a
 * user may have many user numbers and make many groups below its own. */
#ifndef TACTUS_SCHED_OWNERS_H
#define TACTUS_SCHED_OWNERS_H

#include "../../core/urgency.h"

struct owner {
	u64 key; /* of a user its number, of a group a hash of its path */
	int is_group;
	u32 threads; /* that are kept of it */
	u32 urgent;  /* of them urgent now */
	struct urgency_account account;
	u64 burnt_ns; /* by urgent threads that burn, since the last filling */
};

struct owners;

struct owners *owners_new(void);
void owners_free(struct owners *owners);

/* Those of a thread, each with one thread more. `group` is NULL for one that is in none; where there are too many
 * owners, those that come later share one. Returns 0 or -errno. */
int owners_find(struct owners *owners, u32 tid, struct owner **user, struct owner **group);

/* For a look: every account has what came in, and nothing is burnt yet. */
void owners_fill(struct owners *owners, u32 cpus, u64 now_ns);

#endif
