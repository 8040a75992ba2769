/* SPDX-License-Identifier: GPL-2.0 */
/* How a command asks a 'tactus run' for something, and waits for the reply. */
#ifndef TACTUS_VIEW_ASK_RUN_H
#define TACTUS_VIEW_ASK_RUN_H

#include <stddef.h>

#include "../base/say.h"
#include "../stream/control.h"

/* Returns a descriptor from which what follows the reply can be received, or -errno with the reason. A reply other than
 * CONTROL_DONE is one: -EPERM it was refused, -ECANCELED it failed. */
int ask_run(enum control_verb verb, u32 pid, struct control_reply *reply, struct reason *why);

/* The next packet: how many bytes it has, cut to `size` in the buffer; 0: none came. */
size_t ask_run_next(int fd, void *packet, size_t size);

#endif
