/* SPDX-License-Identifier: GPL-2.0 */
/* A process beside a run that does nothing but wait for its death, and then undoes what the run has changed: a run that
 * is killed cannot do that itself. Nor can one that stands still, stopped or stuck in the kernel: what it has given to
 * others is taken back for it meanwhile. */
#ifndef TACTUS_SCHED_KEEPER_H
#define TACTUS_SCHED_KEEPER_H

#include <stdbool.h>
#include <sys/types.h>

/* Call as early as possible: it holds what the process has at that time. `undo` is called in the keeper, with a text to
 * fill with what to say of it: it returns true when there is nothing more to do, and is called again, for a second,
 * until it does. `relieve` is called there when the run has not said for some seconds that it goes on. Returns its pid,
 * or -errno. */
pid_t keeper_start(bool (*undo)(char *words, size_t size), void (*relieve)(char *words, size_t size));

/* The run goes on: call at every tick. Returns whether it was relieved meanwhile. */
bool keeper_heartbeat(void);

/* Whether it still waits; if not, its end has been taken note of. */
bool keeper_waits(pid_t keeper);

/* Nothing is left to undo, or the next start has to do it. */
void keeper_end(pid_t keeper);

#endif
