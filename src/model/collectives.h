/* SPDX-License-Identifier: GPL-2.0 */
/* Calls of NCCL's: how often each was made on each communicator, of how many bytes and which type, and how long the
 * call took. That is the call's own time: the work is done on a stream later. */
#ifndef TACTUS_MODEL_COLLECTIVES_H
#define TACTUS_MODEL_COLLECTIVES_H

#include "cuda.h"

enum { COLLECTIVES_MAX = 4096 };

struct collective {
	u32 pid, function;
	u32 type;	  /* ncclDataType_t; NCCL_TYPES: a call that has none */
	u64 communicator; /* 0: none */
	u64 count, bytes, ns, longest_ns, failed;
};

struct collectives {
	struct collective *all; /* in the order of their first call */
	size_t len, room;
	bool failed; /* some are missing for want of memory or room */
};

void collectives_free(struct collectives *collectives);

/* Takes an event that `cuda` has taken; other calls are none of its business. */
void collectives_handle(struct collectives *collectives, const struct cuda *cuda, const struct event_header *event);

#endif
