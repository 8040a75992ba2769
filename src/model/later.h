/* SPDX-License-Identifier: GPL-2.0 */
/* Programs that are to be looked at again: whose turn is when, in bounded room, of which each user has a part. */
#ifndef TACTUS_MODEL_LATER_H
#define TACTUS_MODEL_LATER_H

#include <stdbool.h>

#include "../../core/types.h"

/* Who starts programs without end has no look at those of others fall out. */
enum { LATER_MAX = 1024, LATER_OF_USER = LATER_MAX / 4 };

struct later_look {
	u32 pid, user;
	u32 step;
	u64 started_ns;
};

struct later {
	struct later_look all[LATER_MAX];
	u32 len;
	u64 refused; /* for which there was no room */
};

/* False: there is no room, which is counted. */
bool later_add(struct later *later, const struct later_look *look);
/* A program has become another, or its looks are over. */
void later_forget(struct later *later, u32 pid);

#endif
