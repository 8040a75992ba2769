/* SPDX-License-Identifier: GPL-2.0 */
/* The command and what it has started in its process group, for who has to end them all.
 */
#ifndef TACTUS_BASE_CHILD_GROUP_H
#define TACTUS_BASE_CHILD_GROUP_H

#include "child.h"

/* In the new process, before exec. A group of its own, unless that would take it from the terminal: it is then ended by
 * looking for its descendants. */
void child_group_enter(void);

/* Sends a signal (0: none) to all of them. False: there is none left. */
bool child_group_signal(const struct child *child, int signal);

#endif
