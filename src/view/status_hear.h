/* SPDX-License-Identifier: GPL-2.0 */
/* The statuses of a run that is at work, as its socket sends them. */
#ifndef TACTUS_VIEW_STATUS_HEAR_H
#define TACTUS_VIEW_STATUS_HEAR_H

#include "status.h"

enum status_heard { STATUS_NONE_YET, STATUS_HEARD, STATUS_ENDED };

/* The next status from feed_listen()'s descriptor, without waiting. STATUS_ENDED: the run has ended, is of another
 * version or does not let this user follow it. */
enum status_heard status_next(int fd, struct run_status *status);

/* Waits until a run says something, which it does once a second. False: none is at work. */
bool status_ask(struct run_status *status);

#endif
