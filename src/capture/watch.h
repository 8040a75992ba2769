/* SPDX-License-Identifier: GPL-2.0 */
/* A live command's frame: the command after `--` is held until the sensors are in place, then everything goes on until
 * the time is up, the command has ended or a signal comes. */
#ifndef TACTUS_CAPTURE_WATCH_H
#define TACTUS_CAPTURE_WATCH_H

#include "../base/child.h"
#include "../base/loop.h"
#include "../base/options.h"

struct watch {
	const struct options *options;
	struct child child;
	int urgent_fd;		    /* as in base/loop.h */
	void (*urgent)(void *data); /* gets the data of watch_wait */
	bool prompt;
};

/* Takes the signals and prepares the command, if one was given. Call before anything is opened. */
int watch_prepare(struct watch *watch, const struct options *options);

/* Lets the command start. Returns 0, or the status to end with. */
int watch_start(struct watch *watch);

/* Ticks every tick_ns, and whenever fd (if not 0) is readable. */
enum loop_end watch_wait(struct watch *watch, u64 tick_ns, int fd, bool (*tick)(void *), void *data);

/* Ends what is still running of the command and gives the status to end with: the command's, or 0. */
int watch_end(struct watch *watch);

/* Lets go of a command that was never started, and gives back `status`. */
int watch_abandon(struct watch *watch, int status);

#endif
