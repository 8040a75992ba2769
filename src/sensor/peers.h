/* SPDX-License-Identifier: GPL-2.0 */
/* Whom a process talks to over unix sockets: display servers, sound servers, buses.
 * Asked once when it matters; nothing is kept. */
#ifndef TACTUS_SENSOR_PEERS_H
#define TACTUS_SENSOR_PEERS_H

#include <stdbool.h>

#include "../base/say.h"
#include "../../core/types.h"

/* Valid until the call that it is handed to returns. */
struct peer {
	int fd;		  /* the socket itself */
	const char *path; /* the address connected to, "@" for a leading NUL; empty for a socket pair. Any bytes. */
	u32 *searches;	  /* that were made for those who listen, see peer_process */
};

/* Calls `take` for each connected unix socket of a process. Returns how many there are, or -errno with a reason. Sets
 * *is_cut if the process has more descriptors than are looked at. */
int peers_of(u32 pid, void (*take)(void *data, const struct peer *peer), void *data, bool *is_cut, struct reason *why);

/* The process that listens at the other end, or made the pair, if it still lives: a number alone may be another's by
 * now. Of a socket that a service manager opened for a server it is the service manager. 0: it is in another pid
 * namespace; -ESRCH: it has ended, or that is not known. */
int peer_process(const struct peer *peer);

/* The process of a thread; 0 if there is no such thread. */
u32 process_of(u32 tid);

#endif
