/* SPDX-License-Identifier: GPL-2.0 */
/* Functions that present, where processes say that they are: believed of that process alone, and only if a function of
 * the graphics stack begins there. All else is refused and counted. */
#ifndef TACTUS_SENSOR_FRAME_TOLD_H
#define TACTUS_SENSOR_FRAME_TOLD_H

#include <stdbool.h>

#include "../../core/types.h"
#include "../base/say.h"
#include "../model/allowance.h"

struct told_place {
	u32 pid, charged_to;
	int pid_fd; /* readable when the process has ended */
	u64 device, inode;
};

enum { HASTY_MAX = 64, PROVEN_MAX = 64 };

/* A function that began where one was told to, in a file as it was then. */
struct told_proven {
	u64 device, inode, offset, changed_ns;
};

struct told_places {
	struct told_place *places;
	u32 len, room;
	struct allowance allowance;
	/* Processes that were refused within the last second: they cost nothing more. */
	struct {
		u32 pid;
		u64 until_ns;
	} hasty[HASTY_MAX];
	u32 hasty_next;
	/* Looking through a big library takes longer than a game's first frames. */
	struct told_proven proven[PROVEN_MAX];
	u32 proven_next;
	u64 refused;
};

/* A place that may be probed. `open` opens the file until told_forget is called. */
struct told_function {
	u32 pid, charged_to;
	int fd, pid_fd;
	char open[32];
	u64 device, inode, offset, changed_ns;
};

void told_open(struct told_places *told);
void told_close(struct told_places *told);

/* Whether something may be done at a process's word now: 0, and then told_worked is to be called when it is done;
 * -ESRCH it is gone, -EDQUOT its user has had as much as he may have. */
int told_may_work(struct told_places *told, u32 pid, u32 *uid, u64 now_ns);
void told_worked(struct told_places *told, u32 uid, u64 began_ns);

/* What is at an address of a process. Returns 0 or -errno with a reason: then it is refused. */
int told_find(struct told_places *told, u32 pid, u64 address, struct told_function *function, struct reason *why);
/* It has a probe now. */
void told_keep(struct told_places *told, struct told_function *function);
/* It has none, or had it before. */
void told_forget(struct told_places *told, struct told_function *function);

/* Calls `ended` for each place of a process that has ended, and forgets it. */
void told_review(struct told_places *told, void (*ended)(void *data, const struct told_place *place), void *data);

#endif
