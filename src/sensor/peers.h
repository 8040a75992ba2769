/* SPDX-License-Identifier: GPL-2.0 */
/* Whom a process talks to over unix sockets: display servers, sound servers, buses.
 * Asked once when it matters; nothing is kept. */
#ifndef TACTUS_SENSOR_PEERS_H
#define TACTUS_SENSOR_PEERS_H

#include "../base/say.h"
#include "../../core/types.h"

struct peer {
	u32 pid;	  /* who listens, or made the pair; 0: it can't be seen from here (another pid namespace) */
	const char *path; /* the address connected to, "@" for a leading NUL; empty for a socket pair. Any bytes. */
};

/* Calls `take` for each connected unix socket of a process. Returns how many there are, or -errno with a reason. The
 * peer of a socket that a service manager opened for a server is the service manager. */
int peers_of(u32 pid, void (*take)(void *data, const struct peer *peer), void *data, struct reason *why);

/* The process of a thread; 0 if there is no such thread. */
u32 process_of(u32 tid);

#endif
