/* SPDX-License-Identifier: GPL-2.0 */
/* Filters that let nothing through: said before anything is watched where that is sure, else at the end.
 */
#ifndef TACTUS_CAPTURE_CAPTURE_FILTER_H
#define TACTUS_CAPTURE_CAPTURE_FILTER_H

#include "capture.h"

/* Returns 0, or after a message the status to end with. */
int capture_check_filter(const struct capture *capture, const struct filter *filter);

/* The same of CPUs alone: those of a recording's machine. */
int capture_check_cpus(const struct capture *capture, const struct filter *filter);

/* An empty table could mean that nothing happened. */
void capture_say_if_none_matched(const struct capture *capture, const struct filter *filter);

#endif
