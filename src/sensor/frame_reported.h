/* SPDX-License-Identifier: GPL-2.0 */
/* Functions that present, where processes say that they are: believed of that process alone, and only if a function of
 * the graphics stack begins there. All else is refused and counted. */
#ifndef TACTUS_SENSOR_FRAME_REPORTED_H
#define TACTUS_SENSOR_FRAME_REPORTED_H

#include <stdbool.h>

#include "../../core/types.h"
#include "../base/say.h"
#include "../base/allowance.h"

struct reported_place {
	u32 pid, charged_to;
	int pid_fd; /* readable when the process has ended */
	u64 device, inode;
};

enum { HASTY_MAX = 64, PROVEN_MAX = 64 };

/* A function that began at a reported address, in a file as it was then. */
struct reported_proven {
	u64 device, inode, offset, changed_ns;
};

struct reported_places {
	struct reported_place *places;
	u32 len, room;
	struct allowance allowance;
	/* Processes that were refused within the last second: they cost nothing more. */
	struct {
		u32 pid;
		u64 until_ns;
	} hasty[HASTY_MAX];
	u32 hasty_next;
	/* Looking through a big library takes longer than a game's first frames. */
	struct reported_proven proven[PROVEN_MAX];
	u32 proven_next;
	u64 refused;
};

/* A place that may be probed. `open` opens the file until reported_forget is called. */
struct reported_function {
	u32 pid, charged_to;
	int fd, pid_fd;
	char open[32];
	u64 device, inode, offset, changed_ns;
};

void reported_open(struct reported_places *reported);
void reported_close(struct reported_places *reported);

/* Whether something may be done at a process's word now: 0, and then reported_worked is to be called when it is done;
 * -ESRCH it is gone, -EDQUOT its user has had as much as he may have. */
int reported_may_work(struct reported_places *reported, u32 pid, u32 *uid, u64 now_ns);
void reported_worked(struct reported_places *reported, u32 uid, u64 began_ns);

/* What is at an address of a process. Returns 0 or -errno with a reason: then it is refused. */
int reported_find(struct reported_places *reported, u32 pid, u64 address, struct reported_function *function,
		  struct reason *why);
/* It has a probe now. */
void reported_keep(struct reported_places *reported, struct reported_function *function);
/* It has none, or had it before. */
void reported_forget(struct reported_places *reported, struct reported_function *function);

/* Calls `ended` for each place of a process that has ended, and forgets it. */
void reported_review(struct reported_places *reported, void (*ended)(void *data, const struct reported_place *place),
		     void *data);

#endif
