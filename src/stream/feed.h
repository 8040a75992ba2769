/* SPDX-License-Identifier: GPL-2.0 */
/* A socket by which 'tactus run' sends its status to others on the machine, and the other end of it.
 * Packets are whole statuses; a reader that does not keep up misses some and holds nobody up. */
#ifndef TACTUS_STREAM_FEED_H
#define TACTUS_STREAM_FEED_H

#include <stddef.h>

#include "../base/say.h"

struct feed;

/* Where the socket is: $TACTUS_FEED, else /run/tactus/run.sock. */
const char *feed_path(void);

/* Returns 0 or -errno with the reason. -EADDRINUSE: another run has it. */
int feed_open(struct feed **feed, struct reason *why);

/* Lets in who has called since, and sends them this. */
void feed_send(struct feed *feed, const void *packet, size_t bytes);

/* How many packets readers missed, being too slow. */
unsigned long feed_dropped(const struct feed *feed);

void feed_close(struct feed *feed);

/* The other end: a descriptor to receive packets from, or -errno with the reason. */
int feed_listen(struct reason *why);

#endif
