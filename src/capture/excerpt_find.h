/* SPDX-License-Identifier: GPL-2.0 */
/* Where in a recording a frame is, for --around. */
#ifndef TACTUS_CAPTURE_EXCERPT_FIND_H
#define TACTUS_CAPTURE_EXCERPT_FIND_H

#include "../base/options.h"

/* Looks through the recording for the frame that `part` is around, among those of what the filter lets through, and
 * sets what it is from and to. Returns 0, or -1 with the reason. */
int excerpt_find_frame(struct excerpt *part, const struct options *options, struct reason *why);

#endif
