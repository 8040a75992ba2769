/* SPDX-License-Identifier: GPL-2.0 */
/* The socket by which 'tactus run' hears requests of others on the machine (control.h) and sends its status to those
 * who follow it, and the other end of it. Packets are whole; a reader that does not keep up misses some and holds
 * nobody up.
 */
#ifndef TACTUS_STREAM_FEED_H
#define TACTUS_STREAM_FEED_H

#include <stddef.h>
#include <sys/types.h>

#include "../base/say.h"
#include "control.h"

struct feed;

/* Where the socket is: $TACTUS_FEED, else /run/tactus/run.sock. */
const char *feed_path(void);

/* Returns 0 or -errno with the reason. -EADDRINUSE: another run has it. */
int feed_open(struct feed **feed, struct reason *why);

/* Who asks, and where the reply goes. */
struct feed_asker {
	int fd;
	uid_t uid;
	uid_t charged; /* who made its user namespace, where it is of one: users there are his */
};

/* Replies to a request that is sound. False: it was refused. */
typedef bool (*feed_answer)(void *data, const struct feed_asker *asker, const struct control_request *request);

/* Lets in who has called since, and hears at most one request of each. Call it ten times a second. */
void feed_hear(struct feed *feed, feed_answer answer, void *data);

/* Requests that were refused or not understood. */
unsigned long feed_refused(const struct feed *feed);

/* Sends this to all who follow. */
void feed_send(struct feed *feed, const void *packet, size_t bytes);

/* How many packets readers missed, being too slow. */
unsigned long feed_dropped(const struct feed *feed);

void feed_close(struct feed *feed);

/* The other end: a descriptor to send requests and receive packets by, or -errno with the reason. The second has asked
 * for every status already, to which the first packet is the reply. */
int feed_call(struct reason *why);
int feed_listen(struct reason *why);

#endif
