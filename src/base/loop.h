/* SPDX-License-Identifier: GPL-2.0 */
/* How long a command goes on: until its time is up, its command has ended, a signal asks for it, or it stops itself.
 * A tick can be asked for on the way. */
#ifndef TACTUS_BASE_LOOP_H
#define TACTUS_BASE_LOOP_H

#include <stdbool.h>

#include "../../core/types.h"
#include "child.h"

enum loop_end { LOOP_TIME, LOOP_COMMAND, LOOP_SIGNAL, LOOP_ITSELF };

struct loop {
	u64 duration_ns; /* 0: no limit */
	u64 tick_ns;	 /* 0: no tick */
	struct child *child;
	bool (*tick)(void *data); /* false ends the loop */
	int fd;			  /* tick also when this is readable; 0: none */
	bool prompt;		  /* that soon, though it costs more */
	/* Called soon after this is readable, whatever the ticks do; 0: none. */
	int urgent_fd;
	void (*urgent)(void *data);
	void *data;
};

/* Call before anything is opened: from here on SIGINT and SIGTERM end the loop instead of the program, so that no end
 * leaves something half done. */
void loop_take_signals(void);

/* Call before that: SIGUSR1 is a request, neither the program's end nor the command's business. */
void loop_take_requests(void);
/* Whether one came since the last time that this was asked. */
bool loop_was_requested(void);

/* Puts back what the program was started with: for a command, before exec. */
void loop_give_back_signals(void);

/* For who runs no loop: whether one that asks for the end has come. */
bool loop_signal_waits(void);

enum loop_end loop_run(const struct loop *loop);

u64 clock_now_ns(void);

#endif
