/* SPDX-License-Identifier: GPL-2.0 */
/* What a service tells who started it, as sd_notify(3) describes it: that it is ready, how it stands, that it goes on.
 * Where nobody asked to be told ($NOTIFY_SOCKET) nothing happens. */
#ifndef TACTUS_BASE_NOTIFY_H
#define TACTUS_BASE_NOTIFY_H

#include <stdbool.h>

#include "../../core/types.h"

/* Takes what there is to know from the environment, and out of it, so that children tell nothing. */
void notify_open(void);

/* Such as "READY=1". False: nobody is told. */
bool notify_send(const char *state);
/* The line of 'systemctl status', with "READY=1" before it if it is. */
void notify_status(bool is_ready, const char *words);

/* Call it at every turn of the loop: it is sent at a third of what $WATCHDOG_USEC allows. */
void notify_alive(u64 now_ns);

/* A third of a number of microseconds in nanoseconds; 0: the text is none, or the watchdog is another process's. */
u64 notify_watchdog_ns(const char *usec, const char *pid, u32 own_pid);

#endif
