/* SPDX-License-Identifier: GPL-2.0 */
/* A capture from a recording: all of it, or the part that is asked for. And what it shares with a live one. */
#ifndef TACTUS_CAPTURE_REPLAY_H
#define TACTUS_CAPTURE_REPLAY_H

#include "capture.h"

/* As capture_run. */
int capture_replay(struct capture *capture, const struct options *options);

/* Applies an event to what is known, and hands it to the view. `data` is the capture. */
void capture_give(void *data, const struct event_header *event);

/* How many threads that ended are kept; 0: all. */
size_t capture_ended_most(const struct capture_request *request);

/* Nothing is written to before it is sure that there is something to write. */
int capture_open_outputs(const struct capture_request *request, const struct options *options);

#endif
