/* SPDX-License-Identifier: GPL-2.0 */
/* What has to stand before the first event of a recording that does not begin where its stream did: as few events as
 * make known who the threads are, who runs, who waits since when, what threads are for, and at what pace frames came.
 */
#ifndef TACTUS_MODEL_LEAD_IN_H
#define TACTUS_MODEL_LEAD_IN_H

#include <stdbool.h>
#include <stddef.h>

#include "../../core/event.h"

enum {
	/* Before a part, so much is kept as it was: waits and frames go on across its beginning. */
	LEAD_IN_WHOLE_NS = 100 * NSEC_PER_MSEC,
};

struct lead_in;

/* Of frames, and of names of CUDA's, the last so many are kept; 0: all, so that frames keep their numbers. NULL for
 * want of memory. */
struct lead_in *lead_in_open(size_t frames_most);
void lead_in_close(struct lead_in *lead_in);

/* The next event of the stream. */
void lead_in_take(struct lead_in *lead_in, const struct event_header *event);

/* Hands over what makes known what was taken, in its order. */
void lead_in_give(struct lead_in *lead_in, void (*handle)(void *data, const struct event_header *event), void *data);

/* Before an event of the part is written, after it was taken: hands over the functions on the stacks that it refers to,
 * where they are not in the part yet. False: the event is a function on a stack that nothing in the part refers to. */
bool lead_in_give_functions(struct lead_in *lead_in, const struct event_header *event,
			    void (*handle)(void *data, const struct event_header *event), void *data);
/* Of how many of the part's stacks no function is known; and whether one may have gone for want of room. */
size_t lead_in_nameless(const struct lead_in *lead_in);
bool lead_in_dropped_functions(const struct lead_in *lead_in);

/* Hands over who runs on each CPU, as at the end of a recording. */
void lead_in_give_closing(const struct lead_in *lead_in, u64 now_ns,
			  void (*handle)(void *data, const struct event_header *event), void *data);

/* Bytes that it takes, more or less; and whether something is missing for want of memory. */
size_t lead_in_bytes(const struct lead_in *lead_in);
bool lead_in_failed(const struct lead_in *lead_in);

#endif
