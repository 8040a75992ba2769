/* SPDX-License-Identifier: GPL-2.0 */
/* A window cut into pieces of one length, for who shows each by itself. A piece ends between two events: what happened
 * before belongs to it, live and from a recording alike. */
#ifndef TACTUS_CAPTURE_INTERVALS_H
#define TACTUS_CAPTURE_INTERVALS_H

#include "capture.h"

/* The window begins with capture->threads.first_ns. */
void intervals_begin(struct capture *capture);

/* Everything before now_ns has been handed over: hands over the pieces that are over. */
void intervals_pass(struct capture *capture, u64 now_ns);

/* After the last event: whether enough of a piece is left over to be shown. */
bool intervals_have_rest(const struct capture *capture);

#endif
