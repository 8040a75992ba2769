/* SPDX-License-Identifier: GPL-2.0 */
/* The command after `--`: made first, started only when everything that watches it is in place,
 * so that nothing of it is missed. */
#ifndef TACTUS_BASE_CHILD_H
#define TACTUS_BASE_CHILD_H

#include <stdbool.h>
#include <sys/types.h>

#include "privileges.h"

struct child {
	pid_t pid;	    /* 0: no command was given */
	int gate_fd;	    /* closing it lets the command start */
	int report_fd;	    /* gives errno if exec failed, end of file if it worked */
	bool has_own_group; /* from its start: the terminal's Ctrl-C does not reach it */
	bool ended;
	int status; /* exit status as a shell would give it */
};

/* Forks the process that will become the command, of that user. Returns 0 or -errno. */
int child_prepare(struct child *child, char **argv, const struct run_as *as);

/* Lets the command start. Returns 0, or the exit status to end with after it has said why the command cannot start. */
int child_start(struct child *child, char **argv);

/* Takes note of an ended child without waiting. */
void child_reap(struct child *child);

/* Ends a command that was prepared and never started. */
void child_abandon(struct child *child);

#endif
